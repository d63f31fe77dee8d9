"""
Which rows support the hyperplane
=================================

Fritz John's lemma names the rows that a maximal margin rests on: w is a combination, with nonnegative weights, of the
rows exactly on the margin. No other row matters. Here the weights are found without the dual, from w alone, and agree
with those of the dual.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, theory

BLUE, ORANGE, INK = "#0072B2", "#E69F00", "#222222"
LABEL = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5}

rng = np.random.default_rng(4)
X = rng.uniform(-2.6, 2.6, size=(90, 2))
tilted = X @ [0.45, 0.9]
X, tilted = X[np.abs(tilted) > 0.75], tilted[np.abs(tilted) > 0.75]
y = np.where(tilted > 0, 1, -1)

# %%
# Hard-SVM for halfspaces through the origin, and the multipliers of Theorem 15.8.

model = SVC(kernel="linear", C=np.inf, bias="none", tol=1e-10).fit(X, y)
w = model.coef_[0]
alpha, residual = theory.fritz_john_multipliers(X, y, w)
support = np.flatnonzero(alpha)

print("w =", w.round(4), " margin 1 / |w| =", round(1 / np.linalg.norm(w), 4))
print("rows on the margin:", support, " weights:", alpha[support].round(4))
print(f"remainder of w: {residual:.1e}")
print("the dual's own weights:", np.abs(model.dual_coef_[0]).round(4), "of rows", model.support_)

# %%
# On the left is the sample with the margin, and the rows on it. On the right are their contributions to w, one after
# the other: the arrows alpha y x add up to w.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
for sign, colour, mark in ((1, ORANGE, "s"), (-1, BLUE, "o")):
    left.plot(*X[y == sign].T, mark, color=colour, markersize=6, alpha=0.8)
along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
for level, style in ((0.0, "-"), (1.0, "--"), (-1.0, "--")):
    foot = level * w / (w @ w)
    left.axline(foot, foot + along, color=INK, linestyle=style, linewidth=1.5)
left.scatter(*X[support].T, s=260, facecolors="none", edgecolors=INK, linewidths=2)
for i in support:
    left.annotate(f"α = {alpha[i]:.2f}", X[i], (-30, 18), textcoords="offset points", fontsize=13, bbox=LABEL)
left.set(title="Rows on the margin, |<w, x>| = 1", aspect="equal", xlim=(-2.8, 2.9), ylim=(-2.8, 2.9))

arrow = {"length_includes_head": True, "head_width": 0.045, "width": 0.012}
tip = np.zeros(2)
for i in support:
    share = alpha[i] * y[i] * X[i]
    right.arrow(*tip, *share, color=ORANGE if y[i] > 0 else BLUE, **arrow)
    right.annotate(f"α y x, α = {alpha[i]:.2f}", tip + share / 2, ha="center", va="center", fontsize=13, bbox=LABEL)
    tip = tip + share
right.arrow(0, 0, *w, color=INK, **arrow)
right.annotate("w", w / 2, ha="center", va="center", fontsize=16, bbox=LABEL)
corners = np.vstack([np.zeros(2), np.cumsum((alpha * y)[support, None] * X[support], axis=0)])
middle, reach = (corners.max(axis=0) + corners.min(axis=0)) / 2, 0.6 * np.ptp(corners, axis=0).max()
right.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
right.set(title="Their shares α y x add up to w", aspect="equal")
plt.show()
