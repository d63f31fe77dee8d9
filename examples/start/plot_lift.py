"""
Lifted until a plane can tell
=============================

No threshold on a line has the middle on one side and both ends on the other. On a parabola it is easy: put x at
(x, x²) and draw a straight line. That is all a kernel does. It compares things as if they had been moved
somewhere else, where a plane is enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles, make_moons

from mercer import SVC
from mercer.kernels import RBF, Polynomial
from mercer.plot import DecisionBoundaryDisplay, LiftDisplay

rng = np.random.default_rng(3)

# %%
# From the line to the plane
# --------------------------
# The quadratic kernel on one column, (x x' + 1)², has the features x², √2 x and a constant. The line of the fitted
# model separates them; where it meets the parabola, the prediction changes.

x = np.sort(rng.uniform(-3, 3, 40))
y = np.where(np.abs(x - 0.4) > 1.4, "outside", "inside")
model = SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), C=1e4, tol=1e-6).fit(x[:, None], y)
LiftDisplay.from_estimator(model, x[:, None], y)
plt.show()

# %%
# From the plane to space
# -----------------------
# Here are two rings, and the kernel (x · x')². It has three features: x1², x2² and √2 x1 x2. In this space the plane of
# the rings is rolled up into a cone, which a flat cut divides into a tip and a rim.

rings, names = make_circles(120, factor=0.45, noise=0.06, random_state=0)
names = np.where(names == 1, "inner", "outer")
model = SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=0.0), C=100.0, tol=1e-6).fit(rings, names)

figure = plt.figure(figsize=(12, 5.6), layout="constrained")
grid = figure.add_gridspec(1, 2, width_ratios=(4, 5))
flat, lifted = figure.add_subplot(grid[0]), figure.add_subplot(grid[1], projection="3d", computed_zorder=False)
DecisionBoundaryDisplay.from_estimator(model, rings, names, ax=flat)
lifted.view_init(elev=14, azim=-62)
LiftDisplay.from_estimator(model, rings, names, ax=lifted)
plt.show()

# %%
# Infinitely many features
# ------------------------
# A Gaussian kernel has more features than anybody can draw. Only one thing decides: the distance from the separating
# plane. So let this be the height of the landscape, and the plane its sea level.

moons, names = make_moons(120, noise=0.15, random_state=1)
names = np.where(names == 1, "lower", "upper")
model = SVC(kernel=RBF(gamma=2.0), C=10.0).fit(moons, names)
figure = plt.figure(figsize=(8, 6.5), layout="constrained")
ax = figure.add_subplot(projection="3d", computed_zorder=False)
ax.view_init(elev=28, azim=-70)
LiftDisplay.from_estimator(model, moons, names, ax=ax)
plt.show()
