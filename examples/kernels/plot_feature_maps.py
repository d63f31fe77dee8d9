"""
The features behind a kernel
============================

On the left are points on a line that no threshold separates; lifted to (x, x²), the features of a polynomial kernel, a
straight line does. On the right is the Gaussian kernel, which has infinitely many features: inner products of the first
few already agree with it, and the error falls faster than any power.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.kernels import RBF, Polynomial

figure, (lift, series) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")

# %%
# The monomials of degree 0, 1 and 2, with the weights that make their inner products the
# kernel (1 + x y)². The last of them is x².

x = np.linspace(-2.0, 2.0, 17)
inside = np.abs(x) < 1.1
features = Polynomial(degree=2, coef0=1.0).feature_map(x[:, None])
squares = features[:, 2]
threshold = (squares[inside].max() + squares[~inside].min()) / 2

for members, colour, label in ((inside, "tab:red", "inside"), (~inside, "tab:blue", "outside")):
    lift.plot(x[members], np.zeros(members.sum()), "|", color=colour, markersize=14)
    lift.plot(x[members], squares[members], "o", color=colour, label=label)
lift.plot(x, squares, color="grey", linewidth=0.8, zorder=0)
lift.axhline(threshold, color="black", linestyle="--", linewidth=1, label="separates")
lift.set(title="Not separable on the line, separable by x²", xlabel="x", ylabel="x²")
lift.legend()

# %%
# The truncated map is exp(-gamma x²) sqrt((2 gamma)^n / n!) x^n for n up to the order.

points = np.linspace(-1.5, 1.5, 40)[:, None]
orders = np.arange(26)
for gamma in (0.25, 0.5, 1.0, 2.0):
    kernel = RBF(gamma=gamma)
    exact = kernel(points)
    maps = [kernel.truncated_feature_map(points, order) for order in orders]
    errors = [np.abs(features @ features.T - exact).max() for features in maps]
    series.semilogy(orders + 1, errors, "o-", markersize=3, label=f"gamma = {gamma:g}")
series.set(
    title="How many features a Gaussian kernel needs",
    xlabel="features kept",
    ylabel="largest error of k(x, y), |x|, |y| ≤ 1.5",
)
series.legend()
plt.show()
