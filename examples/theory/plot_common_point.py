"""
Two hulls and a proof
=====================

When no line separates two classes, Hard-SVM has no solution. `HardMarginSVC` then shows why: it names a point that lies
in the convex hulls of both classes, with its weights. A line that separates the classes would have this point on both
of its sides.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import ConvexHull
from sklearn.datasets import load_iris

from mercer import HardMarginSVC, NotSeparableError
from mercer.kernels import RBF

iris = load_iris()
overlapping = iris.target > 0
petals, species = iris.data[overlapping, 2:], iris.target[overlapping]
names = {1: "versicolor", 2: "virginica"}
styles = {1: ("#0072B2", "o"), 2: ("#E69F00", "s")}

# %%
# The error
# ---------
# The petals of two species of iris overlap. (Two flowers of different species have identical petals; they are left out
# here, because they alone would be the proof.)

shared = {tuple(p) for p in petals[species == 1]} & {tuple(p) for p in petals[species == 2]}
kept = np.array([tuple(p) not in shared for p in petals])
X, y = petals[kept], species[kept]

try:
    HardMarginSVC(kernel="linear").fit(X, y)
except NotSeparableError as error:
    proof = error.proof
    print(error)

# %%
# Anyone with the data can check the proof in a few lines: the weights of each class are nonnegative and sum to one, and
# both weighted means are the same point.

positive, negative = proof.weights[proof.signs > 0], proof.weights[proof.signs < 0]
print("virginica: ", positive.round(4), "of rows", proof.positive, "give", positive @ X[proof.positive])
print("versicolor:", negative.round(4), "of rows", proof.negative, "give", negative @ X[proof.negative])
print("distance:  ", np.linalg.norm(positive @ X[proof.positive] - negative @ X[proof.negative]))

# %%
# The picture
# -----------
# Rings mark the rows in the proof. Lines lead from them to the common point, the wider the larger the weight.


def draw_class(ax, label):
    """The points of a class and their hull."""
    colour, mark = styles[label]
    points = X[y == label]
    corners = points[ConvexHull(points).vertices]
    ax.fill(*corners.T, color=colour, alpha=0.15, zorder=0)
    ax.plot(*np.vstack([corners, corners[:1]]).T, color=colour, linewidth=1.0)
    ax.plot(*points.T, mark, color=colour, markersize=5, alpha=0.8, label=names[label])


fig, ax = plt.subplots(figsize=(7.0, 5.0), layout="constrained")
for label in (1, 2):
    draw_class(ax, label)
for row, weight, sign in zip(proof.indices, proof.weights, proof.signs, strict=True):
    colour = styles[2 if sign > 0 else 1][0]
    ax.plot(*np.vstack([X[row], proof.point]).T, color=colour, linewidth=1.0 + 4.0 * weight)
    ax.plot(*X[row], "o", markersize=12, markerfacecolor="none", markeredgecolor="#222222")
ax.plot(*proof.point, "*", color="#D55E00", markersize=18, markeredgecolor="white", label="in both hulls", zorder=5)
ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
ax.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Other kernels
# -------------
# A Gaussian kernel separates any rows that differ. With the two identical flowers included it cannot, and they are the
# proof: nothing in their petals tells one from the other.

HardMarginSVC(kernel=RBF(gamma=1.0)).fit(X, y)
try:
    HardMarginSVC(kernel=RBF(gamma=1.0)).fit(petals, species)
except NotSeparableError as error:
    print(error.proof)
    print(petals[error.proof.indices])
