"""
What is not a three
===================

A one-class model is trained only on threes and then sees all digits. `SVDD` finds the smallest ball in the feature
space that contains all but a fraction `nu` of the training rows; whatever is outside does not resemble them. With a
Gaussian kernel, `OneClassSVM` makes the same predictions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from mercer import SVDD

BLUE, RED, INK = "#0072B2", "#D55E00", "#222222"

X, y = load_digits(return_X_y=True)
X = X / 16.0
threes, rest = X[y == 3], X[y != 3]
seen, new = threes[:120], threes[120:]

# %%
# No other digits are used in training. The score is minus the squared distance from the centre.

ball = SVDD(nu=0.05, gamma=0.05).fit(seen)
print(f"radius {ball.radius_:.4f}, {len(ball.support_)} support vectors")
print(ball.certificate_)
shown = np.vstack([new, rest])
is_three = np.arange(len(shown)) < len(new)
distance = np.sqrt(-ball.score_samples(shown))
print(f"area under the ROC curve {roc_auc_score(is_three, -distance):.3f}")

figure = plt.figure(figsize=(13, 5.2), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1))
ax = left.subplots()
bins = np.linspace(distance.min(), distance.max(), 50)
ax.hist(distance[~is_three], bins, color=INK, alpha=0.35, density=True, label="other digits")
ax.hist(distance[is_three], bins, color=BLUE, alpha=0.8, density=True, label="threes not seen before")
ax.axvline(ball.radius_, color=RED, lw=3, label="radius")
ax.set(xlabel="distance from the centre, in feature space", yticks=[], title="Far from the centre is not a three")
ax.legend(frameon=False)

# %%
# The threes that are farthest out, and the other digits that come closest.

grid = right.subplots(2, 6)
oddest = new[np.argsort(-distance[is_three])[:6]]
closest = rest[np.argsort(distance[~is_three])[:6]]
for row, images, colour in zip(grid, (oddest, closest), (BLUE, INK), strict=True):
    for cell, image in zip(row, images, strict=True):
        cell.imshow(image.reshape(8, 8), cmap="gray_r")
        cell.set(xticks=[], yticks=[])
        for spine in cell.spines.values():
            spine.set(color=colour, lw=2)
right.suptitle("above: the oddest threes; below: the other digits closest to a three")
plt.show()
