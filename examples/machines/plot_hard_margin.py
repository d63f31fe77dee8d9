"""
The hard margin is half a distance
==================================

Hard-SVM finds the line that is as far as possible from both classes: the perpendicular bisector between the
nearest points of their convex hulls.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import HardMarginSVC

X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
y = np.array([-1, -1, 1, 1])

# %%
# The toy set
# -----------
# Four points with a known solution: w = (1, -1), b = -1, multipliers (1/2, 1/2, 1, 0).

hard = HardMarginSVC(kernel="linear").fit(X, y)
print("(w0, b0)  =", hard.coef_[0].round(6), hard.intercept_.round(6))
print("(w^, b^)  =", hard.normalized_coef_[0].round(6), hard.normalized_intercept_.round(6))
print("margin    =", round(hard.margin_, 6), "= 1 / |w0|")
print("multipliers of rows", hard.support_, "=", np.abs(hard.dual_coef_[0]).round(6))
print(hard.certificate_)

# %%
# The dual asks for the nearest points of the two hulls. The boundary is the perpendicular bisector of the
# segment between them, and the margin is half its length.

weights = np.abs(hard.dual_coef_[0])
is_positive = hard.dual_coef_[0] > 0
ends = [weights[side] @ X[hard.support_[side]] / weights[side].sum() for side in (is_positive, ~is_positive)]

fig, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
ax.plot(*X[y < 0].T, color="#0072B2", linewidth=4, alpha=0.3, solid_capstyle="round")
ax.plot(*X[y > 0].T, color="#E69F00", linewidth=4, alpha=0.3, solid_capstyle="round")
ax.plot(*X[y < 0].T, "o", color="#0072B2", markersize=9, label="y = -1")
ax.plot(*X[y > 0].T, "s", color="#E69F00", markersize=9, label="y = +1")
ax.plot(*np.array(ends).T, "-D", color="#D55E00", markersize=6, label="nearest points of the hulls")
(w1, w2), b = hard.coef_[0], hard.intercept_[0]
across = np.array([-1.0, 4.0])
for level, style in ((0.0, "-"), (-1.0, "--"), (1.0, "--")):
    ax.plot(across, (level - b - w1 * across) / w2, style, color="#222222", linewidth=1.4 if level == 0 else 0.9)
for i, alpha in zip(hard.support_, weights, strict=True):
    ax.annotate(rf"$\alpha = {alpha:.3g}$", X[i], xytext=(8, 8), textcoords="offset points")
ax.set(xlim=(-0.6, 3.8), ylim=(-0.6, 2.6), aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
ax.legend(frameon=False, loc="upper left", fontsize="small")
plt.show()
