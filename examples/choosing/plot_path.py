"""
The path in C, up to the hard margin
====================================

For small C, every row is at its bound. As C grows, rows leave the bound, lie on the margin for a while and, for the
most part, are no longer needed. `mercer.regularization_path` follows the solution exactly, from event to event: between
two ticks, alpha is linear in C.
"""

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.plot import DecisionBoundaryDisplay, PathDisplay

rng = np.random.default_rng(1)
X = np.concatenate([rng.normal([-0.8, 0.0], 0.9, (16, 2)), rng.normal([0.9, 0.5], 0.8, (16, 2))])
y = np.repeat(["left", "right"], 16)
path = mercer.regularization_path(mercer.SVC(gamma=0.5), X, y, C_max=200.0)
print(path)

# %%
# Every row, at every C
# ---------------------
# Rows at the top of the upper plot are bounded; rows at its bottom are not support vectors.

PathDisplay.from_path(path)
plt.show()

# %%
# Three models on the way
# -----------------------
# Each is a fitted `SVC`, obtained without another fit.

figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained")
for ax, C in zip(axes, (0.1, 2.0, 100.0), strict=True):
    DecisionBoundaryDisplay.from_estimator(path.as_svc(C), X, y, ax=ax)
    ax.set_title(f"C = {C:g}, relative gap {path.gap(C):.0e}")
plt.show()
