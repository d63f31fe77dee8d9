"""
Losses of the margin
====================

The error itself jumps at 0, is not convex, and does not care how far a row is from the boundary. What is
minimised in its place lies above it. How steep it can get decides how much a single row can pull: that is the
Lipschitz constant, on which the bounds rest.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import theory

z = np.linspace(-2.5, 2.5, 501)
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained", sharey=True)
styles = {
    "hinge": ("#0072B2", "-"),
    "squared_hinge": ("#D55E00", "-"),
    "logistic": ("#009E73", "-"),
    "exponential": ("#CC79A7", "--"),
    "squared": ("#56B4E9", "--"),
}
for ax, names in ((left, ("hinge", "squared_hinge", "logistic")), (right, ("exponential", "squared"))):
    for name in names:
        loss = theory.LOSSES[name]
        colour, style = styles[name]
        ax.plot(z, loss.value(z), style, color=colour, linewidth=3, label=f"{name}: {loss.formula}")
right.plot(z, theory.LOSSES["ramp"].value(z), color="#E69F00", linewidth=4, label="ramp: min(1, hinge)")
for ax in (left, right):
    ax.step(z, theory.LOSSES["zero_one"].value(z), color="black", linewidth=2, where="post", label="0-1: the error")
    ax.set(xlabel="margin z = y f(x)", ylim=(-0.1, 4.0), xlim=(-2.5, 2.5))
    ax.legend(frameon=False, loc="upper right")
left.set(title="What machines minimise in its place", ylabel="loss")
right.set(title="The ramp, and two that punish more")
plt.show()

# %%
# Lipschitz constants in w
# ------------------------
# For rows of norm at most rho = 3: the hinge's is 3 whatever w is (Claim 15.6); for the squared losses it
# grows with the norm that w may have; the error has none.

print(f"{'loss':<14} {'convex':<7} {'above 0-1':<10} {'any w':>8} {'|w| <= 1':>9}")
for loss in theory.LOSSES.values():
    free, bounded = loss.lipschitz(rho=3.0), loss.lipschitz(rho=3.0, B=1.0)
    print(f"{loss.name:<14} {loss.is_convex!s:<7} {loss.bounds_error!s:<10} {free:8.3g} {bounded:9.3g}")
