"""
From no machine to the hard margin: the path in C
=================================================

For small C every row is at its bound and pulls with all its weight; as C grows, rows leave the bound, lie on the
margin for a while and, most of them, are no longer needed. The few that stay free are those that hold the margin.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from mercer import SVC
from mercer.plot import PathDisplay

iris = load_iris()
two = iris.target > 0
X, y = iris.data[two][:, 2:], iris.target_names[iris.target[two]]

grid = np.geomspace(0.02, 200.0, 160)
alpha = np.zeros((len(grid), len(X)))
for k, C in enumerate(grid):
    model = SVC(C=C, gamma=0.5, tol=1e-9).fit(X, y)
    alpha[k, model.support_] = model.dual_coef_[0]
PathDisplay.from_arrays(grid, alpha, y)
plt.show()
