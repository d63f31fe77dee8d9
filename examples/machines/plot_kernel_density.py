"""
A density, and what lies outside it
===================================

The rows are the petals of 150 irises. Each one spreads a kernel around itself, and the mean of these is a density. The
region where it exceeds a level describes the flowers; rows outside are outliers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from mercer import KernelDensity
from mercer.kernels import Matern

X = load_iris().data[:, 2:]
side_x, side_y = np.linspace(0.0, 8.0, 160), np.linspace(-0.6, 3.2, 120)
grid = np.array(np.meshgrid(side_x, side_y)).reshape(2, -1).T
models = {
    "Gaussian": KernelDensity(bandwidth=0.25),
    "Matérn 3/2": KernelDensity(kernel=Matern(nu=1.5), bandwidth=0.18),
    "Epanechnikov": KernelDensity(kernel="epanechnikov", bandwidth=0.55),
}
fig, axes = plt.subplots(1, 3, figsize=(11.0, 3.8), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.set_params(level=0.1).fit(X)
    values = model.score_samples(grid)
    cell = (side_x[1] - side_x[0]) * (side_y[1] - side_y[0])
    shape = (len(side_y), len(side_x))
    ax.contourf(side_x, side_y, np.exp(values).reshape(shape), 12, cmap="Blues")
    ax.contour(side_x, side_y, np.exp(values - model.offset_).reshape(shape), [1.0], colors="#D55E00")
    inside = model.predict(X) == 1
    ax.plot(*X[inside].T, ".", color="black", markersize=3)
    ax.plot(*X[~inside].T, "x", color="#D55E00")
    ax.set(title=f"{name} (integral {np.exp(values).sum() * cell:.3f})", xlabel="petal length")
axes[0].set_ylabel("petal width")
plt.show()

# %%
# The level keeps its promise
# ---------------------------
# The level is set row by row, each judged by the density that the others give it. So the fraction of *new* rows that
# fall outside is the fraction you asked for. If rows were judged by a density that includes them, more new rows would
# fall outside.

rng = np.random.default_rng(0)
train, new = rng.normal(size=(300, 4)), rng.normal(size=(5000, 4))
levels = np.linspace(0.02, 0.4, 12)
outside, naive = [], []
for level in levels:
    model = KernelDensity(bandwidth="scott", level=level).fit(train)
    outside.append(np.mean(model.predict(new) == -1))
    naive.append(np.mean(model.score_samples(new) < np.quantile(model.score_samples(train), level)))
fig, ax = plt.subplots(figsize=(5.2, 4.0), layout="constrained")
ax.plot(levels, levels, color="0.6", linestyle="dotted")
ax.plot(levels, outside, "o-", color="#0072B2", label="judged by the others")
ax.plot(levels, naive, "o-", color="#D55E00", label="judged by all")
ax.set(xlabel="fraction requested", ylabel="fraction of new rows outside")
ax.legend(frameon=False)
plt.show()
