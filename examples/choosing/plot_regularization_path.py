"""
The whole path, from C = 0 to the hard margin
=============================================

Two moons, and the classifier for every C. As C grows, rows leave the inside of the margin one by one: each starts
bounded (its alpha is C), spends a while on the margin, and usually ends beyond it with an alpha of zero. In between,
everything is a straight line, so the path needs no grid and has no error: it is followed from event to event.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from sklearn.datasets import make_moons

import mercer

BLUE, ORANGE, GREY, GREEN = "#0072B2", "#E69F00", "0.6", "#009E73"

# %%
# One call
# --------

X, y = make_moons(60, noise=0.22, random_state=3)
path = mercer.regularization_path(mercer.SVC(gamma=1.5), X, y, C_max=300.0)
print(path)
print(f"{path.n_events} events; the gap at C = 10 is {path.gap(10.0):.1e} of the objective")

# %%
# What happens to every row
# -------------------------
# alpha / C is 1 while a row is inside the margin or misclassified, 0 beyond the margin, and between them on it.

Cs = np.geomspace(0.05, 300.0, 400)
shares = path.alpha(Cs) / Cs[:, None]
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.0), layout="constrained")
for row in range(len(X)):
    axes[0].plot(Cs, shares[:, row], color=BLUE if y[row] else ORANGE, linewidth=0.9, alpha=0.7)
axes[0].set(xscale="log", xlabel="C", ylabel="alpha / C", title="one line for each row")
free = [(share > 1e-9) & (share < 1 - 1e-9) for share in shares]
counts = np.array([[(share >= 1 - 1e-9).sum(), f.sum()] for share, f in zip(shares, free, strict=True)])
axes[1].stackplot(Cs, counts[:, 0], counts[:, 1], labels=["bounded", "on the margin"], colors=[GREY, GREEN])
axes[1].vlines(path.breakpoints[1:], -2.0, -0.5, color="0.3", linewidth=0.4)
axes[1].set(
    xscale="log", xlabel="C", ylabel="rows", xlim=(Cs[0], Cs[-1]), title="support vectors; ticks are breakpoints"
)
axes[1].legend(loc="upper right")
plt.show()

# %%
# The boundary as C grows
# -----------------------
# Rings are rows on the margin, filled dots are bounded rows, and small dots are not support vectors.

side = np.linspace(-1.7, 2.7, 60), np.linspace(-1.3, 1.8, 45)
grid = np.stack(np.meshgrid(*side), axis=-1).reshape(-1, 2)
frames = np.geomspace(0.1, 300.0, 24)
values = path.decision_function(grid, frames)
alphas = path.alpha(frames)

fig, ax = plt.subplots(figsize=(5.6, 4.0), layout="constrained", dpi=70)


def draw(k):
    """The classifier at the k-th C."""
    ax.clear()
    f = values[:, k].reshape(len(side[1]), len(side[0]))
    ax.contourf(*side, f, levels=[-1e9, 0.0, 1e9], colors=[ORANGE, BLUE], alpha=0.18)
    ax.contour(
        *side, f, levels=[-1.0, 0.0, 1.0], colors="0.25", linestyles=["--", "-", "--"], linewidths=[0.9, 1.6, 0.9]
    )
    share = alphas[k] / frames[k]
    colours = np.where(y == 1, BLUE, ORANGE)
    bounded, zero = share >= 1 - 1e-9, share <= 1e-9
    on_margin = ~bounded & ~zero
    ax.scatter(*X[bounded].T, c=colours[bounded], s=34)
    ax.scatter(*X[zero].T, c=colours[zero], s=9)
    ax.scatter(*X[on_margin].T, facecolors="white", edgecolors=colours[on_margin], s=46, linewidths=1.8, zorder=3)
    caption = f"C = {frames[k]:.3g}: {bounded.sum()} bounded, {on_margin.sum()} on the margin"
    ax.set(xticks=[], yticks=[], title=caption)


animation = FuncAnimation(fig, draw, frames=len(frames), interval=250)
fig.canvas.draw()  # the first frame, also where nothing is shown
plt.show()
