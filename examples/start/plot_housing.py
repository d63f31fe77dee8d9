"""
Boston housing: dear or cheap
=============================

The slides plot two columns of the Boston housing data, and draw a line between the tracts where homes cost more than
the median and those where they cost less. The data are not shipped with Mercer. This page reads the file named by the
environment variable MERCER_HOUSING, in any of its usual forms. Without a file it makes up rows in which rooms raise
prices and the share of poor households lowers them, and says so.
"""

import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer
from mercer.io import read_boston_housing
from mercer.plot import DecisionBoundaryDisplay

# %%
# The file
# --------


def stand_in(path):
    """506 rows that nobody measured, in the form of housing.data."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(0.0, 10.0, size=(506, 14))
    rows[:, 12] = rng.gamma(3.0, 4.0, size=506)
    rows[:, 5] = 6.6 - 0.04 * rows[:, 12] + 0.5 * rng.normal(size=506)
    rows[:, 13] = 8.0 * rows[:, 5] - 0.55 * rows[:, 12] - 20.0 + 3.0 * rng.normal(size=506)
    np.savetxt(path, rows, fmt="%9.4f")


with tempfile.TemporaryDirectory() as folder:
    path = os.environ.get("MERCER_HOUSING")
    is_made_up = path is None
    if is_made_up:
        path = Path(folder) / "housing.data"
        stand_in(path)
    housing = read_boston_housing(path, without=["B"])
source = "made-up rows" if is_made_up else "the file"
print(f"{len(housing.price)} rows of {source}, median price {np.median(housing.price):.1f}")

# %%
# A line, and a curve
# -------------------
# Rooms and the share of households of low status, each divided by its own spread, so that neither counts more.

columns = [housing.columns.index("LSTAT"), housing.columns.index("RM")]
raw = housing.X[:, columns]
rows = (raw - raw.mean(axis=0)) / raw.std(axis=0)
label = np.where(housing.is_dear, "dear", "cheap")
line = mercer.SVC(kernel="linear", C=1.0).fit(rows, label)
curve = mercer.SVC(C=3.0, gamma=0.3).fit(rows, label)

figure, axes = plt.subplots(1, 2, figsize=(12.5, 5.4), layout="constrained")
for ax, model, name in ((axes[0], line, "a line"), (axes[1], curve, "a Gaussian kernel")):
    DecisionBoundaryDisplay.from_estimator(
        model, rows, label, ax=ax, xlabel="households of low status (spreads)", ylabel="rooms (spreads)"
    )
    ax.set_title(f"{name}: {1 - model.score(rows, label):.1%} of {source} on the wrong side")
plt.show()

# %%
# The line in words
# -----------------

print(mercer.as_polynomial(line, names=["status", "rooms"]))
