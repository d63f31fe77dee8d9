"""
The version space and its centres
=================================

A line in the plane has three weights, w1, w2 and b, and only their direction matters, so a line is a point on the
sphere. Each training row rules out half of that sphere. What is left, the *version space*, contains all lines that make
no mistake. Which of them should you choose?
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import AnalyticCenterMachine, BayesPointMachine
from mercer.plot import VersionSpaceDisplay

rng = np.random.default_rng(11)
X = np.concatenate([rng.normal([-1.1, -0.4], [0.9, 0.5], (12, 2)), rng.normal([1.2, 0.6], [0.4, 0.9], (12, 2))])
y = np.repeat([0, 1], 12)

# %%
# A map of the sphere
# -------------------
# Every row is a wall. The ball centre, the hard margin for rows of length 1, is as far as possible from the nearest
# walls and ignores the others. The analytic centre has the largest product of distances to *all* walls, so many walls
# on one side push it away even if they do not touch the version space. The centre of mass is the mean of all perfect
# lines; for three weights it has a closed form, and the Bayes point machine finds it by sampling.

bayes = BayesPointMachine(kernel="linear", slack=0.0, random_state=0).fit(X, y)
display = VersionSpaceDisplay.from_data(X, y, estimators={"Bayes point, sampled": bayes})
plt.show()

# %%
# The random walks agree with each other, and with the closed form:

print(bayes.diagnostics_)
sampled, exact = display.centers["Bayes point, sampled"], display.centers["centre of mass"]
print(f"distance to the exact centre of mass: {np.arccos(sampled @ exact):.4f} radians")

# %%
# The lines
# ---------
# The same centres as lines, among fifty others from the version space (random mixtures of its
# corners, in grey). All of them separate the classes.

corners = display.polygon.corners
shares = rng.dirichlet(np.ones(len(corners)), 50)
fig, ax = plt.subplots(layout="constrained")
xs = np.array([X[:, 0].min() - 0.5, X[:, 0].max() + 0.5])
for w1, w2, b in shares @ corners:
    ax.plot(xs, -(w1 * xs + b) / w2, color="0.8", linewidth=0.7, zorder=0)
colours = {"ball centre": "#D55E00", "analytic centre": "#009E73", "centre of mass": "#CC79A7"}
for name, colour in colours.items():
    w1, w2, b = display.centers[name]
    ax.plot(xs, -(w1 * xs + b) / w2, color=colour, linewidth=1.8, label=name)
for label, mark, colour in ((0, "o", "#0072B2"), (1, "s", "#E69F00")):
    ax.scatter(*X[y == label].T, marker=mark, c=colour, edgecolors="white", zorder=2)
ax.set(xlabel="x1", ylabel="x2", xlim=xs, ylim=(X[:, 1].min() - 0.4, X[:, 1].max() + 0.4))
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)
plt.show()

# %%
# With a proof
# ------------
# `AnalyticCenterMachine` computes this centre for any kernel. Its certificate uses the duality gap and the Newton
# decrement to bound how far it is from the largest product.

analytic = AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y)
print(analytic.certificate_)
