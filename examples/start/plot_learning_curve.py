"""
What theory promises, and what happens
======================================

As rows are added, the training error of a model rises a little and its test error falls towards it. Theory bounds
the test error without a single test row: by the number of support vectors (leaving out any other row changes nothing),
by the slack and alpha of each row (Joachims 2000), and by the norm of w (Shalev-Shwartz & Ben-David 2014).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize, scale

from mercer import SVC, Regularization
from mercer.plot import LearningCurveDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

# %%
# Two bounds that hold for every kernel
# -------------------------------------
# Both bound the leave-one-out error, which estimates the expected test error with one row fewer.

LearningCurveDisplay.from_estimator(SVC(C=1.0, gamma=0.02), X, y, train_sizes=[20, 40, 80, 160, 320])
plt.show()

# %%
# Bounds by norm and by dimension
# -------------------------------
# These are for halfspaces without a bias, in 30 dimensions, on rows of length 1. Corollary 15.7 is about the expected
# error, and becomes informative from a few hundred rows upwards. The VC bound is about all halfspaces at once, and
# would need thousands.

machine = SVC(kernel="linear", C=Regularization.from_lambda(0.02), bias="none")
LearningCurveDisplay.from_estimator(machine, normalize(X), y, train_sizes=[20, 40, 80, 160, 320])
plt.show()
