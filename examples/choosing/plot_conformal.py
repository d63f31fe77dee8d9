"""
Prediction intervals and sets
=============================

A single prediction is rarely exactly right. A model that has been checked on left-out rows can give you more: an
interval that contains the truth nine times in ten, or a set of classes that does. This guarantee holds for any model on
any data whose rows are drawn independently from one distribution; how wide the intervals are depends on how good the
model is.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_iris

from mercer import SVC, Conformal, KernelRidge

BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"

# %%
# An interval around a function
# -----------------------------
# Each row is left out once, and the prediction for it is compared with the truth. `KernelRidge` has a formula for all
# these predictions at once.

rng = np.random.default_rng(1)


def waves(n):
    """Rows along a sine, with noise."""
    X = rng.uniform(0.0, 6.0, size=(n, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)


X, y = waves(80)
model = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1, conformal="leave_one_out").fit(X, y)
X_new, y_new = waves(2000)
for coverage in (0.5, 0.9):
    low, high = model.predict_interval(X_new, coverage=coverage).T
    share = np.mean((low <= y_new) & (y_new <= high))
    print(f"asked to cover {coverage:.0%} of new rows: {share:.1%} of 2000 are covered")

# %%
# A set of classes
# ----------------
# Two species of iris are hard to tell apart by their sepals, and the sets show where: one class where it is clear, two
# where it is not.

flowers = load_iris()
sepals = flowers.data[:, :2]
iris = SVC(probability=True, conformal=Conformal("cross", folds=10)).fit(sepals, flowers.target)
across, up = np.meshgrid(np.linspace(4.1, 8.1, 300), np.linspace(1.8, 4.6, 300))
members = iris.predict_set(np.column_stack([across.ravel(), up.ravel()]), coverage=0.9)
sizes = members.sum(axis=1).reshape(across.shape)

# %%
# The plots
# ---------

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.3), layout="constrained")
grid = np.linspace(0.0, 6.0, 300)[:, None]
for coverage, shade in ((0.9, 0.18), (0.5, 0.3)):
    low, high = model.predict_interval(grid, coverage=coverage).T
    left.fill_between(grid[:, 0], low, high, color=BLUE, alpha=shade, linewidth=0, label=f"covers {coverage:.0%}")
left.plot(grid, model.predict(grid), color=BLUE, label="prediction")
left.plot(X, y, "o", color="black", markersize=3, label="training rows")
left.set(xlabel="x", ylabel="y", title="Intervals from leaving out each row")
left.legend(loc="lower left", ncols=2, fontsize=8)

shades = ListedColormap(["#ffffff", "#cfcfcf", "#8f8f8f"])
right.contourf(across, up, sizes, levels=[0.5, 1.5, 2.5, 3.5], cmap=shades)
for label, (marker, colour) in enumerate(zip("os^", (BLUE, ORANGE, GREEN), strict=True)):
    own = sepals[flowers.target == label]
    name = flowers.target_names[label]
    right.plot(*own.T, marker, color=colour, markersize=4, markeredgecolor="white", markeredgewidth=0.4, label=name)
right.set(xlabel="sepal length (cm)", ylabel="sepal width (cm)", title="Number of species in a 90 % set")
handles, names = right.get_legend_handles_labels()
patches = [plt.Rectangle((0, 0), 1, 1, facecolor=shades(k), edgecolor="black", linewidth=0.4) for k in range(3)]
right.legend([*handles, *patches], [*names, "one", "two", "three"], loc="upper right", ncols=2, fontsize=8)
plt.show()
