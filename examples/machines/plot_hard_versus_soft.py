"""
Hard is not soft: a claim refuted
=================================

An exercise in the textbook asks: is there one lambda for which Soft-SVM and Hard-SVM return the same w on *every*
separable sample? No, and two rows at ±a show it: Hard-SVM gives w = 1/a, but Soft-SVM gives a / (2 lambda) as soon as
a² < 2 lambda. Take a = sqrt(lambda).
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, Regularization

COLOURS = {0.01: "#0072B2", 0.1: "#009E73", 1.0: "#D55E00"}
y = np.array([1, -1])


def weight(a, C):
    """w of a machine through the origin, fitted to the rows a and -a."""
    return SVC(kernel="linear", C=C, bias="none", tol=1e-10).fit(np.array([[a], [-a]]), y).coef_[0, 0]


# %%
# The counterexample in one line, for any lambda.

for lam in (1e-6, 0.01, 1.0, 1e4):
    a = np.sqrt(lam)
    print(f"lambda = {lam:g}: hard {weight(a, np.inf):.6g}, soft {weight(a, Regularization.from_lambda(lam)):.6g}")

# %%
# Where they part
# ---------------
# The right-hand plot shows why. Soft-SVM minimises lambda w² + max(0, 1 - a w). If the hinge falls more steeply than
# the square rises, w reaches 1/a, the hard margin. If a is small, it pays to stop earlier and accept the loss.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.9), layout="constrained")
places = np.geomspace(0.02, 10.0, 40)
left.loglog(places, [weight(a, np.inf) for a in places], color="black", linewidth=3, label="hard: 1/a")
for lam, colour in COLOURS.items():
    soft = [weight(a, Regularization.from_lambda(lam)) for a in places]
    left.loglog(places, soft, "o", color=colour, markersize=5, label=f"soft, λ = {lam:g}")
    left.loglog(places, np.minimum(1 / places, places / (2 * lam)), color=colour, linewidth=1)
    left.axvline(np.sqrt(2 * lam), color=colour, linestyle=":", linewidth=1.5)
left.set(title="They part at a = √(2λ), whatever λ is", xlabel="the rows are at a and -a", ylabel="w", ylim=(0.004, 60))
left.legend(frameon=False, loc="lower right")

grid, lam = np.linspace(0.0, 2.4, 400), 1.0
for a, colour, name in ((2.0, "#CC79A7", "a = 2"), (1.0, "#D55E00", "a = √λ = 1")):
    value = lam * grid**2 + np.maximum(0.0, 1.0 - a * grid)
    right.plot(grid, value, color=colour, linewidth=3, label=name)
    right.plot(1 / a, lam / a**2, "s", color="black", markersize=15)
    best = min(1 / a, a / (2 * lam))
    right.plot(best, lam * best**2 + max(0.0, 1 - a * best), "o", color=colour, markersize=9, markeredgecolor="white")
right.plot([], [], "s", color="black", label="hard: w = 1/a")
right.plot([], [], "o", color="grey", label="soft: the minimum")
right.set(title="λ w² + max(0, 1 - a w) with λ = 1", xlabel="w", ylabel="objective", ylim=(0, 2.5))
right.legend(frameon=False)
plt.show()
