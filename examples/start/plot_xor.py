"""
XOR: what a line cannot do
==========================

The four corners of a square are labelled by diagonals. No line separates them, so the perceptron would go on for ever.
The features of the quadratic kernel include the product of the two coordinates, and there a plane separates them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelPerceptron, Perceptron
from mercer.kernels import Polynomial

X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
y = np.array([0, 0, 1, 1])

# %%
# The linear perceptron
# ---------------------
# It stops only because `max_iter` tells it to, and says so. The linear program knows more: its dual variables prove
# that no line has a smaller sum of slacks than w = 0.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    linear = Perceptron(max_iter=50).fit(X, y)
print(linear.status_.name, "after", linear.n_updates_[0], "updates; accuracy", linear.score(X, y))
print(Perceptron(method="lp").fit(X, y).certificate_)

# %%
# The quadratic kernel
# --------------------
# (1 + <x, x'>)^2 needs a few updates, fewer than the bound of its feature space allows.

quadratic = KernelPerceptron(Polynomial(degree=2, gamma=1.0, coef0=1.0)).fit(X, y)
print(quadratic.status_.name, "accuracy", quadratic.score(X, y))
print(quadratic.mistake_bound_)

# %%
# The picture
# -----------
# On the left are the mistakes in each epoch, which never cease for a line; on the right is the conic that separates the
# corners.

fig, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.4), layout="constrained")
epochs = [point.iterations for point in linear.trace_]
left.plot(epochs, [point.working_set for point in linear.trace_], "-", color="#0072B2", linewidth=1, label="a line")
seen = quadratic.trace_
left.plot([p.iterations for p in seen], [p.working_set for p in seen], "s-", color="#D55E00", label="quadratic kernel")
left.set(xlabel="epoch", ylabel="mistakes among four points", ylim=(-0.1, 4.3))
left.legend(frameon=False)

ticks = np.linspace(-0.6, 1.6, 161)
grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
values = quadratic.decision_function(grid).reshape(161, 161)
right.contourf(ticks, ticks, values, levels=[-1e9, 0.0, 1e9], colors=["#0072B2", "#E69F00"], alpha=0.2)
right.contour(ticks, ticks, values, levels=[0.0], colors="#222222", linewidths=1.8)
right.plot(*X[y == 0].T, "o", color="#0072B2", markersize=11)
right.plot(*X[y == 1].T, "s", color="#E69F00", markersize=11)
for row, coefficient in zip(quadratic.support_, quadratic.dual_coef_[0], strict=True):
    right.annotate(f"{coefficient:+.0f}", X[row], xytext=(10, 6), textcoords="offset points")
right.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$", title="coefficients: updates made on each corner")
plt.show()
