"""
The smallest ball around a sample
=================================

How many points a margin can shatter depends on the radius of the smallest ball that encloses them, in the feature space
of the kernel. Finding it is a convex program, and its dual proves that no ball is smaller.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import theory
from mercer.kernels import RBF, Linear

BLUE, RED, INK = "#0072B2", "#D55E00", "#222222"

rng = np.random.default_rng(3)
X = np.vstack([rng.normal([-1.2, 0.3], 0.55, size=(45, 2)), rng.normal([1.4, -0.2], [0.7, 0.35], size=(45, 2))])
axis = np.linspace(-4.0, 4.0, 240)
plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)

# %%
# The weights of the dual determine the centre, and only points on the sphere have any weight. For a Gaussian kernel the
# ball lives in infinitely many dimensions; the plots show which points of the plane it contains, darker the nearer they
# are to its centre. The narrower the kernel, the more points lie on the sphere.

figure, axes = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
kernels = ((Linear(), "linear"), (RBF(gamma=0.15), "Gaussian, γ = 0.15"), (RBF(gamma=2.0), "Gaussian, γ = 2"))
for ax, (kernel, name) in zip(axes, kernels, strict=True):
    ball = theory.smallest_ball(X, kernel)
    print(f"{name}: {ball}")
    centre = ball.weights @ kernel(X) @ ball.weights
    distance = np.sqrt(kernel.diag(plane) - 2 * kernel(plane, X) @ ball.weights + centre)
    distance = distance.reshape(len(axis), len(axis))
    ax.contourf(axis, axis, distance, levels=np.linspace(distance.min(), distance.max(), 17), cmap="Blues_r", alpha=0.8)
    ax.contour(axis, axis, distance, levels=[ball.radius], colors=RED, linewidths=3)
    ax.plot(*X.T, "o", color=INK, markersize=4)
    ax.scatter(*X[ball.support].T, s=1500 * ball.weights[ball.support] + 40, facecolors="none", edgecolors=RED, lw=2)
    ax.set(title=f"{name}: R = {ball.radius:.3f}, {len(ball.support)} on the sphere", aspect="equal")
    ax.set(xlim=(-4, 4), ylim=(-4, 4))
plt.show()
