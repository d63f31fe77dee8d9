"""
Words, norms and dimensions
===========================

A document is a vector with a coordinate for each word of the dictionary, 1 if the word occurs. The dimension is the
size of the dictionary, tens of thousands; the squared norm is only the number of distinct words in the document, and a
few weights on a few dozen words determine the topic. Section 15.2.2 of the textbook argues that this is why learning
with a margin takes fewer documents than the dimension suggests. Here this is tested on real documents: the docstrings
of NumPy, SciPy and scikit-learn.
"""

import importlib
import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

from mercer import SVC, Regularization, theory

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"

# %%
# The documents
# -------------
# The opening paragraphs of docstrings, before the list of parameters, if they have at least a dozen words. The topic:
# is it about statistics or not?

STATISTICS = ("scipy.stats", "scipy.stats.mstats", "scipy.stats.qmc", "numpy.random")
OTHERS = (
    *("numpy.linalg", "scipy.linalg", "scipy.sparse", "scipy.sparse.linalg", "scipy.signal", "scipy.fft"),
    *("scipy.ndimage", "scipy.special", "scipy.optimize", "sklearn.ensemble", "sklearn.linear_model"),
    *("sklearn.metrics", "sklearn.cluster", "sklearn.decomposition", "sklearn.preprocessing", "sklearn.tree"),
)
SECTIONS = re.compile(r"\n(Parameters|Returns|Notes|Attributes|Examples|Methods|See Also|References)\n-")


def openings(modules):
    """What comes first in the docstring of each public function and class; every text once."""
    found = {}
    for name in modules:
        module = importlib.import_module(name)
        members = (getattr(module, each, None) for each in sorted(module.__all__))
        texts = (SECTIONS.split(inspect.getdoc(member) or "")[0] for member in members if callable(member))
        found |= {text: None for text in texts if len(text.split()) >= 12}
    return list(found)


positive, negative = openings(STATISTICS), openings(OTHERS)
negative = [text for text in negative if text not in set(positive)]
y = np.repeat([1, -1], [len(positive), len(negative)])
X, dictionary = theory.bag_of_words([*positive, *negative])
lengths = np.asarray(X.sum(axis=1)).ravel()
print(f"{X.shape[0]} documents, {len(positive)} of them about statistics; a dictionary of {len(dictionary)} words")
print(f"distinct words: {np.median(lengths):.0f} in the median document, rho² = {lengths.max():.0f} in the longest")

# %%
# Learning with the lambda of Corollary 15.7
# ------------------------------------------
# For each bound B on the norm there is a lambda. Two thirds of the documents are for training.

order = np.random.default_rng(0).permutation(len(y))
train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
m, rho = len(train), theory.radius_about_origin(X[train])

rows = []
for B in np.geomspace(0.3, 300.0, 13):
    C = Regularization.from_lambda(theory.soft_svm_lambda(m, rho, B))
    model = SVC(C=C, kernel="linear", bias="none").fit(X[train], y[train])
    hinges = [np.maximum(0.0, 1.0 - y[part] * model.decision_function(X[part])).mean() for part in (train, test)]
    rows.append([model.coef_.power(2).sum(), *hinges, np.mean(model.predict(X[test]) != y[test])])
norms, training, held_out, errors = np.array(rows).T

# %%
# The report on the last of them. Its squared norm is far below the book's B² < 100, and rho² times it is below the
# dimension, but a thousand documents are too few for any of the bounds to be informative. Leave-one-out is informative.

print(theory.report(model, X[train], y[train]))
weights = model.coef_.toarray().ravel()
print("for statistics:", *(dictionary[k] for k in np.argsort(-weights)[:12]))
print("against:       ", *(dictionary[k] for k in np.argsort(weights)[:12]))

# %%
# How many documents each kind of bound would need, to be within 0.1: the norm bound does not depend on the dictionary,
# while the dimension bound grows with it.

dimensions = np.geomspace(10, 200_000, 40)
needed = [10 ** brentq(lambda k, d=d: theory.vc_bound(int(10**k), d) - 0.1, 2, 12, xtol=1e-3) for d in dimensions]
enough = np.argmax(errors <= errors.min() + 0.01)
by_norm = 8 * rho**2 * norms[enough] / 0.1**2

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
left.hist(lengths, bins=np.arange(0, lengths.max() + 6, 5), color=BLUE, alpha=0.8)
left.axvline(lengths.max(), color=RED, linewidth=3)
left.annotate(f"ρ² = {lengths.max():.0f}", (lengths.max(), 0.7), (-8, 0), xycoords=("data", "axes fraction"),
              textcoords="offset points", ha="right", color=RED, fontsize=14)  # fmt: skip
left.set(title=f"{len(y)} documents, {len(dictionary)} words", xlabel="distinct words", ylabel="documents")

middle.semilogx(norms, training, color=BLUE, linewidth=2, label="hinge loss, training")
middle.semilogx(norms, held_out, color=ORANGE, linewidth=2, label="hinge loss, held out")
middle.semilogx(norms, errors, color=GREEN, linewidth=3.5, label="error, held out")
middle.axvline(100, color=RED, linewidth=3)
middle.annotate("the book's\nB² < 100", (100, 0.45), (-8, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", ha="right", color=RED, fontsize=13)  # fmt: skip
middle.set(title="A short w is enough", xlabel="|w|²", xlim=(norms[0], 200), ylim=(0, 0.62))
middle.legend(frameon=False, loc="upper center")

right.loglog(dimensions, needed, color=BLUE, linewidth=3, label="by the dimension: VC bound")
right.axhline(by_norm, color=GREEN, linewidth=3, label=f"by the norm: ρ²|w|² = {rho**2 * norms[enough]:.0f}")
for d, name in ((len(dictionary), "this\ndictionary"), (100_000, "English")):
    right.axvline(d, color="0.5", linestyle=":", linewidth=1.5)
    right.annotate(name, (d, 2e4), (-5, 0), textcoords="offset points", ha="right", color="0.35", fontsize=12)
right.set(title="Documents needed to be within 0.1", xlabel="words in the dictionary, d", ylabel="m", ylim=(1e4, 1e10))
right.legend(frameon=False, loc="upper left")
plt.show()
