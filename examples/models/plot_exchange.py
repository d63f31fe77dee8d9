r"""
A model that travels
====================

A support vector machine is a sum of kernels, :math:`f(x) = \sum_j c_j k(x_j, x) + b`, and every tool that knows the
kernel can evaluate it. Here LIBSVM, by way of scikit-learn, trains one on three classes. Mercer converts it, writes
LIBSVM's own file format and reads it again.

The left-hand plot shows what anyone who has the file can see: the support vectors are training rows. The middle one
shows how far the decision values of the model read back are from LIBSVM's, in units of the last bit: rounding, and
nothing else. On the right is the same kind of file for linear models, which need no training rows: three lines of
weights, one for each pair of classes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn import svm
from sklearn.datasets import make_blobs

import mercer

X, y = make_blobs(n_samples=150, centers=[(-2, 0), (1.5, 1.5), (1, -2)], cluster_std=1.1, random_state=3)
theirs = svm.SVC(gamma=0.4, C=2.0, decision_function_shape="ovo").fit(X, y)
linear = mercer.SVC(kernel="linear").fit(X, y)

# %%
# Write and read again. The second file leaves the support vectors out.

with tempfile.TemporaryDirectory() as folder:
    path, bare = Path(folder) / "blobs.model", Path(folder) / "bare.model"
    mercer.write_libsvm_model(mercer.from_sklearn(theirs), path)
    again = mercer.read_libsvm_model(path).set_params(decision_function_shape="ovo")
    mercer.write_libsvm_model(linear, bare, support_vectors=False)
    weights = mercer.read_libsvm_model(bare)
    sizes = [file.stat().st_size for file in (path, bare)]
    print(bare.read_text())
print(f"with support vectors {sizes[0]:,} bytes, without {sizes[1]:,}")

# %%
# The same decision values, digit by digit.

side = np.linspace(-5.5, 5.5, 181)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
expected, found = theirs.decision_function(grid), again.decision_function(grid)
units = np.abs(found - expected).max(axis=1) / np.spacing(np.abs(expected).max())
print(f"largest difference: {np.abs(found - expected).max():.1e}")

COLOURS = np.array(["#0072b2", "#e69f00", "#009e73"])
figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharex=True, sharey=True, layout="constrained")
for axis, model, title in ((axes[0], again, "what the file shows"), (axes[2], weights, "weights instead of rows")):
    regions = model.predict(grid).reshape(len(side), len(side))
    axis.contourf(side, side, regions, levels=[-0.5, 0.5, 1.5, 2.5], colors=COLOURS, alpha=0.25)
    axis.contour(side, side, regions, levels=[0.5, 1.5], colors="0.3", linewidths=0.8)
    axis.set_title(title)
owner = np.repeat(np.arange(3), again.n_support_)
rows = again.support_vectors_
axes[0].scatter(rows[:, 0], rows[:, 1], c=COLOURS[owner], edgecolor="k", s=28, linewidth=0.6)
axes[0].set_xlabel(f"{len(rows)} of {len(X)} training rows, to every digit")
image = axes[1].pcolormesh(side, side, units.reshape(len(side), len(side)), cmap="cividis", rasterized=True)
axes[1].set_title("difference to LIBSVM")
axes[1].set_xlabel("units of the last bit of a double")
figure.colorbar(image, ax=axes[1], shrink=0.8)
for row, intercept in zip(weights.support_vectors_, weights.intercept_, strict=True):
    x0 = side if abs(row[1]) >= abs(row[0]) else -(row[1] * side + intercept) / row[0]
    x1 = side if abs(row[1]) < abs(row[0]) else -(row[0] * side + intercept) / row[1]
    axes[2].plot(x0, x1, "k--", linewidth=0.9)
axes[2].set_xlabel("three lines, no training row")
for axis in axes:
    axis.set(xlim=(-5.5, 5.5), ylim=(-5.5, 5.5), aspect="equal")
plt.show()
