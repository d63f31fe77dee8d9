"""
One estimator, many losses
==========================

Here is the same kernel and the same penalty with a different loss each time. The data are the 569 breast tumours that
come with scikit-learn: how much the radii of a tumour's nuclei vary (their standard error), against their mean. A few
tumours vary far more than others of their size. The squared loss follows them, Huber's does not, the tube ignores small
residuals, and pinball losses draw quantiles. A loss of your own needs a value and a derivative.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mercer import CustomLoss, EpsilonInsensitive, Huber, KernelMachine, Pinball

data = load_breast_cancer()
names = list(data.feature_names)
X, y = data.data[:, [names.index("mean radius")]], data.data[:, names.index("radius error")]
grid = np.linspace(X.min(), X.max(), 400)[:, None]
pseudo_huber = CustomLoss(lambda z: 0.02 * np.sqrt(1 + (z / 0.1) ** 2), lambda z: 2 * z / np.sqrt(1 + (z / 0.1) ** 2))

left_losses = {
    "squared": ("squared", "#D55E00"),
    "Huber(delta=0.1)": (Huber(0.1), "#0072B2"),
    "EpsilonInsensitive(0.1)": (EpsilonInsensitive(0.1), "#009E73"),
    "a loss of your own": (pseudo_huber, "#CC79A7"),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", sharey=True)
for ax in (left, right):
    ax.plot(X, y, ".", color="0.6", markersize=5)
for name, (loss, colour) in left_losses.items():
    model = KernelMachine(loss=loss, alpha=0.1, gamma=0.02).fit(X, y)
    gap = model.certificate_.relative_gap
    left.plot(grid, model.predict(grid), color=colour, linewidth=2.5, label=f"{name} (gap {abs(gap):.0e})")
bounds = [KernelMachine(loss=Pinball(q), alpha=0.1, gamma=0.02).fit(X, y) for q in (0.1, 0.5, 0.9)]
low, median, high = (model.predict(grid) for model in bounds)
right.fill_between(grid[:, 0], low, high, color="#56B4E9", alpha=0.35, label="10 % to 90 %")
right.plot(grid, median, color="#0072B2", linewidth=2.5, label="median")
for ax, title in ((left, "Means, more and less robust"), (right, "Quantiles by the pinball loss")):
    ax.set(title=title, xlabel="mean radius", ylim=(0.0, 3.0))
    ax.legend(frameon=False, loc="upper left")
left.set_ylabel("radius error")
plt.show()

# %%
# The fraction of tumours below each of the quantiles:

for q, model in zip((0.1, 0.5, 0.9), bounds, strict=True):
    print(f"quantile {q}: {np.mean(y < model.predict(X)):.1%} below, {model.status_.name}")
