"""
Five ways to compare graphs
===========================

Three families of small "molecules": rings with a tail, trees, and pairs of rings that share an edge. All have the same
letters on their nodes, so only their structure tells them apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.model_selection import cross_val_score

from mercer import SVC, Graph
from mercer.kernels import Graphlet, LabelPath, RandomWalk, ShortestPath, WeisfeilerLehman

rng = np.random.default_rng(7)
LETTERS = np.array(list("CCCNO"))


def ring(nodes):
    """The edges of a ring."""
    return [(node, nodes[(place + 1) % len(nodes)]) for place, node in enumerate(nodes)]


def with_tail(n):
    """A ring with a tail."""
    size = rng.integers(4, 7)
    return ring(list(range(size))) + [(node - 1 if node > size else 0, node) for node in range(size, n)]


def tree(n):
    """A tree in which nodes hang from one that came shortly before."""
    return [(rng.integers(max(0, node - 4), node), node) for node in range(1, n)]


def two_rings(n):
    """Two rings with a common edge."""
    size = rng.integers(4, n - 2)
    return ring(list(range(size))) + [(0, n - 1), (1, size)] + [(node, node + 1) for node in range(size, n - 1)]


graphs, families = [], []
for name, edges in (("tail", with_tail), ("tree", tree), ("two rings", two_rings)):
    for _ in range(20):
        n = int(rng.integers(9, 13))
        graphs.append(Graph(edges(n), n, node_labels=rng.choice(LETTERS, n)))
        families.append(name)

# %%
# One of each
# -----------
# Distances on paper approximate those along the edges as well as possible (classical scaling).

fig, axes = plt.subplots(1, 3, figsize=(9.0, 3.0), layout="constrained")
for ax, number in zip(axes, (0, 20, 40), strict=True):
    squares = shortest_path(graphs[number].adjacency(), unweighted=True) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    place = np.linalg.eigh(-centred)[1][:, [-1, -2]]
    for u, v in graphs[number].ends:
        ax.plot(*place[[u, v]].T, color="0.6", zorder=1)
    ax.scatter(*place.T, s=260, color="white", edgecolor="#0072B2", zorder=2)
    for (x, y), letter in zip(place, graphs[number].node_labels, strict=True):
        ax.text(x, y, letter, ha="center", va="center", zorder=3)
    ax.set_title(families[number])
    ax.margins(0.15)
    ax.axis("off")
plt.show()

# %%
# Five Gram matrices
# ------------------
# A bright square on the diagonal is a family whose members are alike. The letters blur the picture for the kernels that
# read them; graphlets ignore them.

kernels = {
    "Weisfeiler-Lehman": WeisfeilerLehman(2),
    "label paths": LabelPath(4),
    "shortest paths": ShortestPath(),
    "graphlets of 4": Graphlet(4),
    "random walks": RandomWalk(0.05, labeled=False),
    "WL of degrees": WeisfeilerLehman(3),
}
fig, axes = plt.subplots(2, 3, figsize=(9.0, 6.6), layout="constrained")
for ax, (name, kernel) in zip(axes.flat, kernels.items(), strict=True):
    items = [graph.labeled("degree") for graph in graphs] if "degrees" in name else graphs
    share = cross_val_score(SVC(kernel=kernel.normalized(), C=100.0), items, families, cv=5).mean()
    gram = kernel.normalized()(items)
    low, high = np.quantile(gram, [0.02, 0.98])
    ax.imshow(gram, cmap="viridis", vmin=low, vmax=high)
    ax.set_title(f"{name}: {share:.0%} right")
    ax.set_xticks([10, 30, 50], ["tail", "tree", "two rings"])
    ax.set_yticks([])
plt.show()

# %%
# What a feature is
# -----------------
# Count kernels can list what they count. These are the neighbourhoods of radius 1 that occur most often:

kernel = WeisfeilerLehman(1)
totals = np.asarray(kernel.feature_map(graphs).sum(axis=0)).ravel()
names = kernel.feature_names(graphs)
for place in np.argsort(-totals)[:8]:
    print(f"{totals[place]:5.0f}  {names[place]}")
