"""
What kernels look like
======================

A kernel says how alike two points are. Each panel colours the plane by how much each point resembles the one marked:
round hills around it (Gaussian and its relatives), half planes and conics (linear and polynomial), wedges (cosine), and
their sums and products.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    SecondOrder,
    Sigmoid,
)

kernels = {
    "Linear": Linear(),
    "Polynomial, degree 3": Polynomial(degree=3, coef0=1.0),
    "Second order": SecondOrder(),
    "Sigmoid": Sigmoid(gamma=1.0),
    "RBF (Gaussian)": RBF(gamma=1.0),
    "Laplacian": Laplacian(gamma=1.0),
    "Matérn, nu = 1.5": Matern(nu=1.5),
    "Rational quadratic": RationalQuadratic(alpha=0.5),
    "Cosine": Cosine(),
    "Chi-squared": ChiSquared(gamma=2.0),
    "RBF + linear": RBF(gamma=1.0) + 0.3 * Linear(),
    "RBF × linear": RBF(gamma=0.3) * Linear(),
}

# %%
# One call gives the similarity of every point of the grid to the marked one.

ticks = np.linspace(-2.0, 2.0, 161)
grid = np.array([(a, b) for b in ticks for a in ticks])
marked = np.array([[1.0, 0.5]])

figure, axes = plt.subplots(3, 4, figsize=(11, 8.6), sharex=True, sharey=True, layout="constrained")
for axis, (name, kernel) in zip(axes.flat, kernels.items(), strict=True):
    # Histograms are not negative: the chi-squared kernel has only a quarter of the plane.
    seen = (grid >= 0).all(axis=1) if isinstance(kernel, ChiSquared) else np.ones(len(grid), dtype=bool)
    likeness = np.full(len(grid), np.nan)
    likeness[seen] = kernel(grid[seen], marked)[:, 0]
    largest = np.nanmax(np.abs(likeness))
    picture = likeness.reshape(len(ticks), len(ticks))
    axis.imshow(picture, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu_r", vmin=-largest, vmax=largest)
    axis.contour(ticks, ticks, picture, levels=7, colors="black", linewidths=0.4, alpha=0.6)
    axis.plot(*marked[0], "o", color="black", markersize=4)
    axis.set_title(name, fontsize=10)

figure.suptitle("How alike each point of the plane is to the marked one (red: alike, blue: opposite)")
plt.show()
