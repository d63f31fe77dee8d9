"""
One machine, many losses
========================

The same kernel, the same penalty, another loss each time. The squared loss follows outliers, Huber's does not,
the tube leaves small residuals alone, and pinball losses draw quantiles. A loss of your own needs a value and a
derivative.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import CustomLoss, EpsilonInsensitive, Huber, KernelMachine, Pinball

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 10, 160))[:, None]
y = np.sin(X[:, 0]) + rng.normal(scale=0.1 + 0.04 * X[:, 0])
wrong = rng.choice(160, 12, replace=False)
y[wrong] += rng.uniform(2.0, 4.0, 12)
grid = np.linspace(0, 10, 400)[:, None]
pseudo_huber = CustomLoss(lambda z: np.sqrt(1 + (z / 0.2) ** 2) - 1, lambda z: z / 0.04 / np.sqrt(1 + (z / 0.2) ** 2))

left_losses = {
    "squared": ("squared", "#D55E00"),
    "Huber(delta=0.2)": (Huber(0.2), "#0072B2"),
    "EpsilonInsensitive(0.2)": (EpsilonInsensitive(0.2), "#009E73"),
    "a loss of your own": (pseudo_huber, "#CC79A7"),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", sharey=True)
for name, (loss, colour) in left_losses.items():
    model = KernelMachine(loss=loss, penalty=0.3, gamma=0.5).fit(X, y)
    gap = model.certificate_.relative_gap
    left.plot(grid, model.predict(grid), color=colour, linewidth=2.5, label=f"{name} (gap {abs(gap):.0e})")
bounds = [KernelMachine(loss=Pinball(q), penalty=0.3, gamma=0.5).fit(X, y).predict(grid) for q in (0.1, 0.5, 0.9)]
right.fill_between(grid[:, 0], bounds[0], bounds[2], color="#56B4E9", alpha=0.35, label="10 % to 90 %")
right.plot(grid, bounds[1], color="#0072B2", linewidth=2.5, label="median")
for ax, title in ((left, "Means, more and less robust"), (right, "Quantiles by the pinball loss")):
    ax.plot(X, y, ".", color="0.35", markersize=5)
    ax.set(title=title, xlabel="x", ylim=(-2.5, 5.0))
    ax.legend(frameon=False, loc="upper left")
plt.show()
