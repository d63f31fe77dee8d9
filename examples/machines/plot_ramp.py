"""
A loss that resists outliers
============================

The hinge loss of a row grows without bound with its distance from the boundary, so a few wrong labels far away can tilt
it. The ramp loss stops at 1 - s: beyond that, it makes no difference where a row is.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, RampSVC
from mercer.plot import DecisionBoundaryDisplay

z = np.linspace(-3.0, 2.5, 400)
hinge = np.maximum(0.0, 1.0 - z)
fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
ax.plot(z, hinge, color="#0072B2", label="hinge")
ax.plot(z, np.minimum(2.0, hinge), color="#E69F00", label="ramp, s = -1")
ax.plot(z, np.minimum(1.0, hinge), color="#D55E00", label="ramp, s = 0")
ax.plot(z, (z <= 0).astype(float), color="0.5", linestyle="dotted", label="0-1 loss")
ax.set(xlabel="margin y f(x)", ylabel="loss", ylim=(-0.1, 4.1))
ax.legend(frameon=False)
plt.show()

# %%
# Twelve wrong labels
# -------------------
# Two classes that a vertical line separates almost perfectly, and twelve rows far to the right that are wrongly
# labelled as the first class.

rng = np.random.default_rng(3)
good = np.concatenate([rng.normal([-1.5, 0.0], [0.6, 1.3], (60, 2)), rng.normal([1.5, 0.0], [0.6, 1.3], (60, 2))])
bad = rng.normal([4.2, 3.2], [0.5, 0.4], (12, 2))
X, y = np.concatenate([good, bad]), np.repeat([0, 1, 0], [60, 60, 12])

models = {"hinge loss (SVC)": SVC(kernel="linear"), "ramp loss (RampSVC)": RampSVC(kernel="linear")}
fig, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    right = (model.predict(good) == y[:120]).mean()
    ax.set_title(f"{name}: {right:.0%} of the others right")
plt.show()

# %%
# The rings show why. Under the hinge, every wrong row is a support vector at the bound. Under the ramp, none of them
# is: they lie on the flat part and have no influence.

ramp = models["ramp loss (RampSVC)"]
print("outliers:", ramp.outliers_)

# %%
# A few convex problems
# ---------------------
# The ramp objective is not convex. Starting from the hinge solution, each step replaces the concave part by its tangent
# and solves the rest, which lies above the ramp objective and touches it where the last step ended. So the objective
# falls until nothing changes.

steps = ramp.steps_
fig, ax = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
ax.plot([step.bound for step in steps], "o--", color="#0072B2", label="convex bound at its minimum")
ax.plot([step.objective for step in steps], "o-", color="#D55E00", label="ramp objective")
ax.set(xlabel="step", ylabel="objective", xticks=range(len(steps)))
ax.legend(frameon=False)
plt.show()

# %%
# The last problem is certified like any other, and it was linearised at its solution, so the model is a stationary
# point. (It need not be the global minimum, which is hard to find and hard to prove.)

print(ramp.certificate_)
print("stationary:", ramp.certificate_.is_stationary())

# %%
# Labels flipped at random
# ------------------------
# Noise that is spread evenly does not tilt the boundary, and the ramp is only a little more accurate. But every flipped
# label is a support vector of the hinge, while the ramp leaves them out, so the model stays small (Collobert et al.
# 2006).


def circle(n, share, rng):
    """Inside or outside a circle, with a fraction of the labels flipped."""
    rows = rng.uniform(-2.0, 2.0, (n, 2))
    labels = (rows**2).sum(axis=1) > 2.2
    return rows, labels, labels ^ (rng.random(n) < share)


shares = [0.0, 0.1, 0.2, 0.3]
fig, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
for name, kind, colour in (("SVC", SVC, "#0072B2"), ("RampSVC", RampSVC, "#D55E00")):
    scores, sizes = [], []
    for share in shares:
        rng = np.random.default_rng(0)
        rows, _, noisy = circle(600, share, rng)
        test, truth, _ = circle(2000, 0.0, rng)
        model = kind(C=5.0, gamma=0.5).fit(rows, noisy)
        scores.append(model.score(test, truth))
        sizes.append(len(model.support_))
    left.plot(shares, scores, "o-", color=colour, label=name)
    right.plot(shares, sizes, "o-", color=colour, label=name)
left.set(xlabel="fraction of labels flipped", ylabel="accuracy on true labels", ylim=(0.8, 1.0))
right.set(xlabel="fraction of labels flipped", ylabel="support vectors", ylim=(0, None))
left.legend(frameon=False)
plt.show()
