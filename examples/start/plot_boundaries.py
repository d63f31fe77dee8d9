"""
Boundaries of all kinds
=======================

`DecisionBoundaryDisplay` draws any decision in the plane: two classes by decision value or by probability, several
classes by region or by a mixture of their colours, and the border around what is usual.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris, make_moons

from mercer import SVC, OneClassSVM
from mercer.plot import DecisionBoundaryDisplay

moons, names = make_moons(160, noise=0.25, random_state=4)
names = np.where(names == 1, "lower", "upper")
iris = load_iris()
petals, species = iris.data[:, 2:], iris.target_names[iris.target]

# %%
# Decision values, and probabilities
# ----------------------------------
# The dashed lines on the left are the margins, f = -1 and f = +1; circles lie on them and diamonds inside. On the
# right, a sigmoid fitted to rows left out of the training has turned f into a probability.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
model = SVC(C=3.0, gamma=1.0, probability=True, random_state=0).fit(moons, names)
for ax, method in zip(axes, ("decision_function", "predict_proba"), strict=True):
    DecisionBoundaryDisplay.from_estimator(model, moons, names, response_method=method, ax=ax)
    ax.set_title(method)
plt.show()

# %%
# Several classes
# ---------------

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
model = SVC(C=10.0, gamma=0.5, probability=True, random_state=0).fit(petals, species)
for ax, method in zip(axes, ("predict", "predict_proba"), strict=True):
    DecisionBoundaryDisplay.from_estimator(model, petals, species, response_method=method, ax=ax)
    ax.set_title(method)
plt.show()

# %%
# What is usual
# -------------
# A one-class machine draws a border around most rows. Circles lie on it, diamonds outside.

versicolor = petals[species == "versicolor"]
detector = OneClassSVM(nu=0.15, gamma=1.0).fit(versicolor)
DecisionBoundaryDisplay.from_estimator(detector, versicolor, padding=0.4)
plt.show()
