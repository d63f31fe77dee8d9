"""
Which columns matter: weights of kernels
========================================

A sum of kernels, one for each group of columns, has a weight for each. Here the weights are the alignment of each
kernel with the labels (Cristianini et al. 2001): how alike the kernel matrix and the ideal one are. Measurements of
a tumour come as mean, standard error and worst value; which of the three says most?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer.kernels import RBF
from mercer.plot import WeightsDisplay

X, y = load_breast_cancer(return_X_y=True)
X, sign = scale(X), 2.0 * y - 1.0
groups = {"mean": X[:, :10], "standard error": X[:, 10:20], "worst": X[:, 20:]}


def alignment(K):
    """Cosine of the angle between the centred kernel matrix and that of the labels."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    ideal = np.outer(sign - sign.mean(), sign - sign.mean())
    return max(0.0, np.sum(K * ideal) / np.linalg.norm(K) / np.linalg.norm(ideal))


# %%
# For two widths of the kernel
# ----------------------------

weights = {}
for width, gamma in (("narrow kernel", 0.3), ("wide kernel", 0.01)):
    found = np.array([alignment(RBF(gamma=gamma)(part)) for part in groups.values()])
    weights[width] = found / found.sum()
WeightsDisplay.from_weights(groups, weights)
plt.show()
