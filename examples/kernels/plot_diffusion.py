"""
Two labels are enough
=====================

Each point of two moons is linked to its nearest neighbours. Only two labels are known. A kernel on the nodes of
the graph lets that knowledge flow along the links: after a short time it reaches the neighbours, after a longer time
the whole moon. Distances in the plane know nothing about moons.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

from mercer import SVC, Graph
from mercer.kernels import RBF, AtNodes, Diffusion

rng = np.random.default_rng(5)
n = 150
angle = np.pi * (np.arange(2 * n) % n + rng.random(2 * n)) / n
upper = np.arange(2 * n) < n
points = np.column_stack(
    [
        np.where(upper, np.cos(angle), 1.0 - np.cos(angle)),
        np.where(upper, np.sin(angle), 0.5 - np.sin(angle)),
    ]
)
points += rng.normal(scale=0.07, size=points.shape)
moon = np.where(upper, "upper", "lower")

_, nearest = cKDTree(points).query(points, k=7)
graph = Graph([(node, other) for node, row in enumerate(nearest.tolist()) for other in row[1:]], 2 * n)
known = [int(np.argmin(np.abs(angle[:n] - np.pi / 2))), n + int(np.argmin(np.abs(angle[n:] - np.pi / 2)))]


def draw(ax, model, title):
    """The decision function at every node, and the share of nodes on the right side."""
    values = model.decision_function(np.arange(2 * n))
    size = np.abs(values).max()
    for u, v in graph.ends:
        ax.plot(*points[[u, v]].T, color="0.85", linewidth=0.7, zorder=1)
    ax.scatter(*points.T, c=values / size, cmap="RdBu", vmin=-1, vmax=1, s=22, edgecolor="0.3", linewidth=0.3, zorder=2)
    ax.scatter(*points[known].T, s=160, facecolor="none", edgecolor="black", linewidth=2.0, zorder=3)
    right = (model.predict(np.arange(2 * n)) == moon).mean()
    ax.set_title(f"{title}: {right:.0%} right")
    ax.set_aspect("equal")
    ax.axis("off")


# %%
# Time
# ----
# Colour shows the decision function of an `SVC` fitted to the two nodes with a ring and applied to all others. The
# graph contains both: this is transductive learning.

fig, axes = plt.subplots(2, 2, figsize=(9.0, 5.6), layout="constrained")
for ax, beta in zip(axes.flat, (3.0, 30.0, 300.0), strict=False):
    draw(ax, SVC(kernel=Diffusion(graph, beta=beta), C=1e6).fit(known, moon[known]), f"diffusion, beta = {beta:g}")
straight = AtNodes(graph, points, RBF(gamma=2.0))
draw(axes[1, 1], SVC(kernel=straight, C=1e6).fit(known, moon[known]), "distance, no graph")
plt.show()

# %%
# Heat
# ----
# A row of the kernel shows where heat released at one node has gone.

fig, axes = plt.subplots(1, 3, figsize=(9.0, 2.6), layout="constrained")
for ax, beta in zip(axes, (3.0, 30.0, 300.0), strict=True):
    heat = Diffusion(graph, beta=beta)([known[0]], np.arange(2 * n))[0]
    ax.scatter(*points.T, c=np.sqrt(heat.clip(0.0)), cmap="inferno", s=14)
    ax.set_title(f"beta = {beta:g}, {np.sum(heat > 1e-3)} nodes warm")
    ax.set_aspect("equal")
    ax.axis("off")
plt.show()
