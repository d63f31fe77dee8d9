"""
Which groups of columns matter: weights of kernels
==================================================

A sum of kernels, one for each group of columns, has a weight for each, which `MKLClassifier` learns together with the
classifier. Measurements of a tumour come as mean, standard error and worst value; which of the three is most
informative? The sparse method keeps only what is needed; the others give everything some weight.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer import MKLClassifier
from mercer.kernels import RBF, On
from mercer.plot import WeightsDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
names = ["mean", "standard error", "worst"]
groups = [On(list(range(begin, begin + 10)), RBF(gamma=0.05)) for begin in (0, 10, 20)]

# %%
# One model
# ---------

simple = MKLClassifier(groups, method="simple").fit(X, y)
print(simple.certificate_)
WeightsDisplay.from_estimator(simple, names=names)
plt.show()

# %%
# Three ways to weigh
# -------------------

methods = ("simple", "easy", "centered_alignment")
weights = {method: MKLClassifier(groups, method=method).fit(X, y).weights_ for method in methods}
WeightsDisplay.from_weights(names, {method: found / found.sum() for method, found in weights.items()})
plt.show()
