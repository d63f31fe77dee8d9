"""
Fewer support vectors, with a bound
===================================

A Gaussian kernel on noisy data keeps hundreds of support vectors. `mercer.compress` keeps a few of them, with the best
possible coefficients, and proves how little the decision function changes at every point, even where there are no data.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(1)
angle, side = rng.uniform(0, np.pi, 600), rng.integers(2, size=600)
X = np.column_stack([np.cos(angle) - 0.5 + side, np.sin(angle) - 0.25]) * np.where(side, -1, 1)[:, None]
X = X + np.where(side, 0.5, 0.0)[:, None] + 0.25 * rng.normal(size=(600, 2))
model = mercer.SVC(C=1.0, gamma=1.0).fit(X, side)

# %%
# The boundary and the margins (:math:`f(x) = \pm 1`) of the whole model, and of three smaller ones.

grid = np.linspace(-2.3, 2.3, 200), np.linspace(-1.6, 2.0, 160)
places = np.column_stack([axis.ravel() for axis in np.meshgrid(*grid)])
smaller = [mercer.compress(model, n_vectors=n) for n in (8, 14, 30)]
fig, axes = plt.subplots(1, 4, figsize=(13.0, 3.3), layout="constrained", sharex=True, sharey=True)
for ax, each in zip(axes, [model, *smaller], strict=True):
    values = each.decision_function(places).reshape(160, 200)
    ax.contourf(*grid, values, levels=[-1e9, 0, 1e9], colors=["#CFE3F2", "#FBE3C2"])
    ax.contour(
        *grid, values, levels=[-1, 0, 1], colors="black", linewidths=[0.7, 1.4, 0.7], linestyles=["--", "-", "--"]
    )
    ax.scatter(*X.T, c=np.where(side == 1, "#E69F00", "#0072B2"), s=4, alpha=0.5, linewidths=0)
    ax.scatter(*each.support_vectors_.T, s=24, facecolors="none", edgecolors="black", linewidths=0.8)
    said = getattr(each, "compression_", None)
    bound = "" if said is None else f", change at most {said.bound:.2g}"
    ax.set_title(f"{len(each.support_)} vectors{bound}", fontsize=10)
    ax.set_aspect("equal")
plt.show()

# %%
# The bound and the actual change
# -------------------------------
# For every number of vectors: the bound, which holds at all points of the plane, and the largest change on a grid. The
# Gaussian kernel has :math:`k(x, x) = 1`, so both are in units of the margin.

counts = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 30, 36, 42, 50]
found = [mercer.compress(model, n_vectors=n) for n in counts]
whole = model.decision_function(places)
bounds = [each.compression_.bound for each in found]
changes = [np.abs(each.decision_function(places) - whole).max() for each in found]
agree = [100 * np.mean(each.predict(X) == model.predict(X)) for each in found]

fig, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
ax.semilogy(counts, bounds, "o-", color="#D55E00", label="bound, for every point")
ax.semilogy(counts, changes, "s-", color="#0072B2", label="largest change on a grid")
ax.axhline(1.0, color="black", lw=0.8, ls=":")
ax.text(counts[-1], 1.15, "the margin", ha="right")
same = next(n for place, n in enumerate(counts) if min(agree[place:]) == 100.0)
ax.axvline(same, color="black", lw=0.8, ls="--")
ax.text(same + 0.6, max(bounds), f"from {same} on, every training\npoint keeps its label", va="top")
ax.set(
    xlabel=f"support vectors kept, of {len(model.support_)}",
    ylabel="change of the decision function",
)
ax.legend(frameon=False, loc="lower left")
plt.show()
