"""
Searching for a kernel
======================

Which kernel suits a table of numbers? `AutoKernelClassifier` tries families of kernels on a few rows, gives more rows
to the better ones, and extends the search if the best lies at the edge of a range. In this table, two of ten columns
together determine the label. A relevance for each column finds them, while the eight irrelevant columns disturb every
other kernel. The circle is the honest score: the best score, corrected for luck.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import AutoKernelClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 10))
y = np.sign(X[:, 3] * X[:, 7]).astype(int)
model = AutoKernelClassifier(random_state=0).fit(X, y)

families = model.cv_results_["param_family"]
scores = model.cv_results_["mean_test_score"]
best = {name: np.nanmax(scores[families == name]) for name in dict.fromkeys(families.tolist())}
order = sorted(best, key=best.get)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for place, name in enumerate(order):
    own = scores[families == name]
    left.scatter(own, np.full(len(own), place), s=14, color="0.7")
    left.scatter(best[name], place, s=60, color="tab:blue", zorder=3)
chosen = order.index(model.best_params_["family"])
left.scatter(model.honest_score_, chosen, s=110, facecolor="none", edgecolor="tab:orange", linewidth=2, zorder=4,
             label=f"honest: {model.honest_score_:.3f}")  # fmt: skip
left.set(yticks=range(len(order)), yticklabels=order, xlabel="accuracy, mean of five folds", title="kernels tried")
left.legend(loc="lower right")

deviation = getattr(model.kernel_, "deviation", np.ones(10))
relevance = 1.0 / np.square(deviation)
right.bar(range(10), relevance / relevance.max(), color="tab:blue")
right.set(xticks=range(10), xlabel="column", ylabel="relevance (largest is 1)", title="relevance of the columns")
plt.show()
