"""
Where the good parameters are
=============================

This map of a search has C across, gamma upwards, and the cross-validated accuracy as brightness. The star is the best
setting; the dots are as good, as far as five folds can tell. Among them, the smallest C or the smoothest kernel is an
equally good choice. The ridge from lower right to upper left is typical: a larger C makes up for a wider kernel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.preprocessing import scale

from mercer import SVC
from mercer.plot import TuningDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

# %%
# A grid
# ------

grid = {"C": np.logspace(-2, 4, 7).round(6), "gamma": np.logspace(-4, 0, 5).round(6)}
search = GridSearchCV(SVC(), grid, cv=5).fit(X, y)
TuningDisplay.from_estimator(search)
plt.show()

# %%
# A random search
# ---------------
# Candidates that do not form a grid are drawn as points on logarithmic axes.

from scipy.stats import loguniform

spread = {"C": loguniform(1e-2, 1e4), "gamma": loguniform(1e-4, 1.0)}
search = RandomizedSearchCV(SVC(), spread, n_iter=30, cv=5, random_state=0).fit(X, y)
TuningDisplay.from_estimator(search)
plt.show()

# %%
# One parameter
# -------------

search = GridSearchCV(SVC(kernel="linear"), {"C": np.logspace(-4, 2, 13)}, cv=5).fit(X, y)
TuningDisplay.from_estimator(search)
plt.show()
