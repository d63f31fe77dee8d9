"""
The perceptron and the bound on its mistakes
============================================

On points of norm at most rho that some halfspace separates with margin gamma, the perceptron makes at most
(rho/gamma)^2 updates. The bound depends neither on the number of points nor on the number of coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import Perceptron

rng = np.random.default_rng(4)


def sample(gap, d, n=300):
    """Points of the unit ball, most of them near a plane through the origin, but none nearer than the gap."""
    normal = rng.normal(size=d)
    normal /= np.linalg.norm(normal)
    points = rng.normal(size=(n, d))
    points /= np.linalg.norm(points, axis=1)[:, None]
    heights = points @ normal
    labels = np.where(heights > 0, 1, -1)
    moved = labels * (gap + 0.3 * np.abs(heights)) - heights
    points += moved[:, None] * normal
    return points / np.linalg.norm(points, axis=1).max(), labels


# %%
# One run
# -------
# Every update turns w a little. Its direction settles as it grows longer.

X, y = sample(0.01, d=2)
path = [np.zeros(2)]
w = np.zeros(2)
for x, label in zip(np.tile(X, (50, 1)), np.tile(y, 50), strict=True):
    if label * (w @ x) <= 0:
        w = w + label * x
        path.append(w)
path = np.array(path)

model = Perceptron(fit_intercept=False, shuffle=False).fit(X, y)
print("by hand:", path[-1], "  by Perceptron:", model.coef_[0])
print(model.mistake_bound_)

fig, left = plt.subplots(figsize=(8.0, 4.6), layout="constrained")
left.plot(*X[y < 0].T, "o", color="#0072B2", markersize=3, alpha=0.6)
left.plot(*X[y > 0].T, "s", color="#E69F00", markersize=3, alpha=0.6)
left.plot(*path.T, "-", color="#222222", linewidth=0.8)
left.scatter(*path.T, c=np.arange(len(path)), cmap="viridis", s=22, zorder=3)
left.annotate("w", path[-1], xytext=(6, 4), textcoords="offset points", fontsize=12)
along = 1.4 * np.array([-w[1], w[0]]) / np.linalg.norm(w)
left.plot(*np.array([-along, along]).T, color="#222222", linewidth=1.6)
left.set(aspect="equal", title=f"{len(path) - 1} updates of w, and where it ends")
plt.show()

# %%
# Many runs
# ---------
# In thirty dimensions: the narrower the margin, the more updates, but always fewer than the bound. Batches, which add
# the mean of all mistakes at once, obey it too.

gaps = np.geomspace(0.3, 0.003, 14)
fig, right = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
for method, colour, mark in (("online", "#0072B2", "o"), ("batch", "#D55E00", "^")):
    counts = []
    for gap in gaps:
        fitted = Perceptron(method=method, fit_intercept=False, max_iter=10**5).fit(*sample(gap, d=30))
        counts.append(fitted.mistake_bound_)
    right.plot([c.margin for c in counts], [c.updates for c in counts], mark, color=colour, label=f"updates, {method}")
    right.plot(
        [c.margin for c in counts], [c.bound for c in counts], "_", color=colour, label=r"their $(\rho/\gamma)^2$"
    )
right.set(xscale="log", yscale="log", xlabel=r"margin $\gamma$", ylabel="updates", title="Mistakes and their bound")
right.minorticks_off()
right.legend(frameon=False)
plt.show()
