"""
Losses of the margin
====================

The error itself jumps at 0, is not convex, and ignores how far a row is from the boundary. The losses minimised in its
place lie above it. How steep a loss can get decides how much a single row can pull: that is the Lipschitz constant, on
which the bounds rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, theory
from mercer.plot import LossDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.6), layout="constrained", sharey=True)
LossDisplay.from_losses(["zero_one", "perceptron", "hinge", "squared_hinge", "logistic"], ax=left)
LossDisplay.from_losses(["zero_one", "ramp", "exponential", "squared"], ax=right)
left.set_title("What is minimised instead")
right.set_title("The ramp, and two steeper losses")
plt.show()

# %%
# The perceptron's loss is the hinge moved by 1. The hinge asks for a margin, while the perceptron only asks for
# the right side, and w = 0 costs nothing: the loss makes sense for an update rule, but not with a penalty.
#
# Which rows incur a loss
# -----------------------
# Below the curves are the margins y f(x) of the rows of a fitted model: those left of 1 are its
# support vectors, those left of 0 its mistakes.

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, 1, -1)
model = SVC(kernel="linear", C=1.0).fit(X, y)
display = LossDisplay.from_estimator(model, X, y, losses=["zero_one", "perceptron", "hinge", "ramp"])
display.ax_.set_title(f"{len(model.support_)} of {len(y)} rows incur a loss, {np.sum(model.predict(X) != y)} mistakes")
plt.show()

# %%
# Lipschitz constants in w
# ------------------------
# For rows of norm at most rho = 3, that of the hinge is 3 whatever w is (Claim 15.6); for the squared losses it grows
# with the norm that w may have; the error has none.

print(f"{'loss':<14} {'convex':<7} {'above 0-1':<10} {'any w':>8} {'|w| <= 1':>9}")
for loss in theory.LOSSES.values():
    free, bounded = loss.lipschitz(rho=3.0), loss.lipschitz(rho=3.0, B=1.0)
    print(f"{loss.name:<14} {loss.is_convex!s:<7} {loss.bounds_error!s:<10} {free:8.3g} {bounded:9.3g}")
