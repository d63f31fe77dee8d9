"""
Kernel SGD on a budget
======================

With a kernel, every row that ever fell short of the margin stays in the model. A budget limits their number: surplus
support vectors are dropped, or merged into the most similar one.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import PegasosSVC
from mercer.kernels import RBF

rng = np.random.default_rng(3)
angle = rng.uniform(0.3, 3.0 * np.pi, 800)
side = rng.integers(2, size=800)
radius = angle / 3.0 + 0.12 * rng.normal(size=800)
X = np.column_stack([radius * np.cos(angle + np.pi * side), radius * np.sin(angle + np.pi * side)])
y = side
kernel = RBF(gamma=2.0)

# %%
# The same draws without a budget, and with forty support vectors under each strategy.

settings = {
    "no budget": {},
    "40, merging": {"budget": 40},
    "40, removal": {"budget": 40, "budget_strategy": "removal"},
}
models = {name: PegasosSVC(alpha=1e-3, kernel=kernel, T=20_000, **more).fit(X, y) for name, more in settings.items()}

limit = 1.1 * np.abs(X).max()
grid = np.linspace(-limit, limit, 160)
places = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
fig, axes = plt.subplots(1, 3, figsize=(10.5, 3.8), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    values = model.decision_function(places).reshape(160, 160)
    ax.contourf(grid, grid, values, levels=[-1e9, 0, 1e9], colors=["#CFE3F2", "#FBE3C2"])
    ax.contour(grid, grid, values, levels=[0], colors="black", linewidths=1.2)
    ax.scatter(*X.T, c=np.where(y == 1, "#E69F00", "#0072B2"), s=5, alpha=0.6, linewidths=0)
    vectors = model.support_vectors_
    ax.scatter(*vectors.T, s=26, facecolors="none", edgecolors="black", linewidths=0.7)
    ax.set_title(f"{name}: {len(vectors)} vectors, {100 * model.score(X, y):.1f}%")
    ax.set_aspect("equal")
plt.show()

# %%
# How small can it be?
# --------------------
# The error of each strategy against the budget, averaged over three runs.

budgets = [5, 10, 20, 40, 80, 160]
fig, ax = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
for strategy, colour in (("merging", "#009E73"), ("removal", "#D55E00")):
    errors = [
        np.mean(
            [
                1.0
                - PegasosSVC(
                    alpha=1e-3, kernel=kernel, T=8000, budget=budget, budget_strategy=strategy, random_state=seed
                )
                .fit(X, y)
                .score(X, y)
                for seed in range(3)
            ]
        )
        for budget in budgets
    ]
    ax.plot(budgets, np.multiply(errors, 100), "o-", color=colour, label=strategy)
ax.axhline(100 * (1 - models["no budget"].score(X, y)), color="black", ls="--", label="no budget")
ax.set(xscale="log", xlabel="budget", ylabel="training error, %")
ax.legend(frameon=False)
plt.show()
