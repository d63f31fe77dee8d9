"""
Two Lagrange multipliers
========================

Where a function is largest on a line or on a disc, its gradient is perpendicular to the boundary of the constraint:
moving along it gains nothing more. The factor between the two gradients is the Lagrange multiplier. Both textbook
examples are solved here, with a verdict on each point, and checked in another way.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize_scalar

from mercer import theory
from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"

# %%
# On a line
# ---------
# Maximising 1 - x² - y² subject to x + y = 1 is a quadratic program: minimise half of u'Qu with Q = 2 I.

line = solve_quadratic_program(Q=2 * np.eye(2), p=np.zeros(2), A=[[1.0, 1.0]], c=[1.0], n_equalities=1)
print("on the line at", line.u.round(6), "value", round(1 - line.value, 6), "multiplier", line.multipliers.round(6))

# %%
# On a disc
# ---------
# Maximising 6x + 8y subject to x² + y² - 1 <= 0 can be seen as a game: x and y want 6x + 8y - a (x² + y² - 1) to be
# large, a >= 0 wants it small. Given a, the best reply is (6, 8) / (2a), which is worth 25/a + a. No a makes that less
# than 10, and a = 5 makes it 10.

a = minimize_scalar(lambda a: 25 / a + a, bounds=(0.1, 100.0), options={"xatol": 1e-10}).x
reply = np.array([6.0, 8.0]) / (2 * a)
print("on the disc at", reply.round(6), "value", (reply @ [6.0, 8.0]).round(6), "multiplier", a.round(6))

# %%
# Both from their functions alone
# -------------------------------
# `theory.maximize` needs only the functions: it searches from several starts and gives every point its multipliers and
# a verdict. The multiplier of an inequality must not be negative; that of an equality may be.

print("line:", theory.maximize(lambda u: 1 - u @ u, [0.0, 0.0], equalities=[lambda u: u.sum() - 1]))
print("disc:", theory.maximize(lambda u: 6 * u[0] + 8 * u[1], [0.0, 0.0], inequalities=[lambda u: u @ u - 1]))

# %%
# With the constraint reversed, as the slide has it, there is no largest value:

outside = theory.maximize(lambda u: 6 * u[0] + 8 * u[1], [1.0, 1.0], inequalities=[lambda u: 1 - u @ u]).best
print("outside:", outside.verdict)

# %%
# The conditions of Karush, Kuhn and Tucker hold at the point found, and fail at its neighbours.

for point, multiplier in ((np.array([0.6, 0.8]), 5.0), (np.array([0.8, 0.6]), 5.0), (np.array([0.3, 0.4]), 10.0)):
    residuals = theory.kkt_residuals([-6.0, -8.0], [point @ point - 1.0], [2 * point], [multiplier])
    print(point, "optimal" if residuals.hold() else f"not optimal: {residuals}")

# %%
# The picture
# -----------

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
axis = np.linspace(-1.45, 1.45, 300)
x, y = np.meshgrid(axis, axis)


def draw(ax, heights, point, gradient, title):
    """Level lines, the optimum, and the gradient at it."""
    ax.contourf(x, y, heights, levels=18, cmap="Blues", alpha=0.75)
    ax.contour(x, y, heights, levels=18, colors="white", linewidths=0.6, linestyles="solid")
    ax.annotate(
        "", point + gradient, point, arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 3}, annotation_clip=False
    )
    ax.plot(*point, "o", color=RED, markersize=10, zorder=5)
    ax.set(title=title, xlabel="x", ylabel="y", aspect="equal", xlim=(-1.45, 1.45), ylim=(-1.45, 1.45))


draw(left, 1 - x**2 - y**2, line.u, -0.55 * line.u, "1 - x² - y² on the line x + y = 1")
left.plot(axis, 1 - axis, color=GREEN, linewidth=3)
left.annotate("(1/2, 1/2), value 1/2\n∇f at a right angle to it", (0.5, 0.5), (0.05, 1.05), fontsize=11)

draw(middle, 6 * x + 8 * y, reply, 0.5 * reply, "6x + 8y on the unit disc")
middle.add_patch(plt.Circle((0, 0), 1, fill=False, color=GREEN, linewidth=3))
middle.annotate("(0.6, 0.8), value 10\n∇f = (6, 8) = 5 ∇g", (0.6, 0.8), (-1.35, -1.3), fontsize=11)

prices = np.linspace(1.5, 14.0, 400)
worth = 25 / prices + prices
right.fill_between(prices, worth, 10, color=BLUE, alpha=0.12, label="duality gap")
right.plot(prices, worth, color=BLUE, linewidth=3, label="dual: the best reply to a is worth 25/a + a")
right.axhline(10, color=GREEN, linewidth=3, label="primal: the best point of the disc, 10")
right.plot(5, 10, "o", color=RED, markersize=10)
right.set(title="The same as a game", xlabel="multiplier a", ylabel="value", ylim=(6, 19))
right.legend(frameon=False, loc="upper center")
plt.show()
