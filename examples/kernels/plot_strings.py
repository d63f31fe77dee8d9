"""
Which language is it?
=====================

A string kernel compares texts by the parts they share, without a dictionary and without knowing what a word is. Here it
sees short sentences in five languages, letter by letter. The kernel matrix shows that sentences of the same language
are alike and so, more faintly, are those of related languages.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from mercer import SVC
from mercer.kernels import Spectrum, Subsequence

# %%
# The texts
# ---------
# Everyday sentences, eight in each language.

TEXTS = {
    "English": "where is the station|the bread is on the table|I would like a glass of water|what time is it now|"
    "my brother lives in the old house|we are going to the market today|the book was very good|she reads every evening",
    "German": "wo ist der Bahnhof|das Brot ist auf dem Tisch|ich hätte gern ein Glas Wasser|wie spät ist es jetzt|"
    "mein Bruder wohnt in dem alten Haus|wir gehen heute auf den Markt|das Buch war sehr gut|sie liest jeden Abend",
    "Dutch": "waar is het station|het brood ligt op de tafel|ik wil graag een glas water|hoe laat is het nu|"
    "mijn broer woont in het oude huis|wij gaan vandaag naar de markt|het boek was heel goed|zij leest elke avond",
    "Italian": "dove si trova la stazione|il pane è sulla tavola|vorrei un bicchiere di acqua|che ore sono adesso|"
    "mio fratello abita nella vecchia casa|oggi andiamo al mercato|il libro era molto bello|lei legge ogni sera",
    "Spanish": "dónde está la estación|el pan está en la mesa|quisiera un vaso de agua|qué hora es ahora|"
    "mi hermano vive en la casa vieja|hoy vamos al mercado|el libro era muy bueno|ella lee todas las noches",
}
texts = [text for block in TEXTS.values() for text in block.split("|")]
language = np.repeat(list(TEXTS), 8)

# %%
# Two kernels
# -----------
# Substrings of one to three letters, and subsequences of three letters that may have gaps.

kernels = {
    "substrings (Spectrum)": Spectrum(length=(1, 3)).normalized(),
    "subsequences with gaps (Subsequence)": Subsequence(length=3, decay=0.5).normalized(),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
for axis, (name, kernel) in zip(axes, kernels.items(), strict=True):
    predicted = cross_val_predict(SVC(kernel=kernel, C=10.0), texts, language, cv=8)
    right = np.mean(predicted == language)
    print(f"{name}: {right:.0%} of the sentences are recognised when they are held out")
    gram = kernel(texts)
    np.fill_diagonal(gram, np.nan)  # every text is most like itself
    axis.imshow(gram, cmap="viridis", vmin=np.nanquantile(gram, 0.02), vmax=np.nanquantile(gram, 0.99))
    places = np.arange(5) * 8 + 3.5
    axis.set(title=f"{name}\n{right:.0%} recognised, eight-fold", xticks=places, yticks=places)
    axis.set_xticklabels(list(TEXTS))
    axis.set_yticklabels(list(TEXTS), rotation=90, va="center")
    for edge in range(8, 40, 8):
        axis.axhline(edge - 0.5, color="white", linewidth=0.8)
        axis.axvline(edge - 0.5, color="white", linewidth=0.8)
figure.suptitle("The normalised kernel of forty sentences: the brighter, the more alike")

# %%
# What tells German from Dutch
# ----------------------------
# Substring counts are explicit features with names, so the weights of a model can be read.

pair = [text for text, name in zip(texts, language, strict=True) if name in ("German", "Dutch")]
kernel = Spectrum(length=(2, 3))
model = SVC(kernel=kernel, C=10.0).fit(pair, np.repeat(["German", "Dutch"], 8))
names = np.array(kernel.feature_names(pair))
weights = kernel.feature_map(pair)[model.support_].T @ model.dual_coef_[0]
order = np.argsort(weights)
chosen = np.r_[order[:10], order[-10:]]

figure, axis = plt.subplots(figsize=(9, 3.4), layout="constrained")
axis.bar(range(20), weights[chosen], color=np.where(weights[chosen] < 0, "#E69F00", "#0072B2"))
axis.set_xticks(range(20), [name.replace(" ", "_") for name in names[chosen]])
axis.set(title="Substrings of largest weight: Dutch to the left, German to the right", ylabel="weight")
axis.axhline(0, color="black", linewidth=0.8)
plt.show()
