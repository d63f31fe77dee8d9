"""
What a kernel sees
==================

The kernel matrix is all that a kernel method knows about its data. Sorted by class, with its eigenvalues beside it, it
shows at a glance whether a kernel suits the task: if it is too narrow, every row resembles only itself; if it is too
wide, all rows are alike.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from mercer.kernels import RBF
from mercer.plot import KernelMatrixDisplay

X, y = load_digits(n_class=5, return_X_y=True)
X = X / 16.0

# %%
# Three widths
# ------------
# The effective dimension is the number of directions of the feature space that the rows use: nearly all of them if the
# kernel is too narrow, one if it is too wide.

figure, axes = plt.subplots(3, 1, figsize=(9.5, 12), layout="constrained")
for ax, (gamma, verdict) in zip(axes, ((1.0, "too narrow"), (0.1, "about right"), (0.002, "too wide")), strict=True):
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=gamma), X, y, max_rows=400, ax=ax)
    display.ax_.set_title(f"gamma = {gamma:g}: {verdict}")
plt.show()

# %%
# Not a kernel at all
# -------------------
# The sigmoid is not a valid kernel at every scale. The eigenvalues below zero, at the right end, would make a squared
# distance negative; crosses mark them.

from mercer.kernels import Sigmoid

KernelMatrixDisplay.from_kernel(Sigmoid(gamma=0.05, coef0=-1.0), X, y, max_rows=300)
plt.show()
