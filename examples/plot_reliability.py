"""
Do rows that get 80 % turn out right in 80 %?
=============================================

A reliability curve: test rows are put into ten bins by the probability they were given, and each bin shows how many
of them were indeed of that class. On the diagonal is honest; the bands say what is chance. The decision values of a
support vector machine are no probabilities, even squeezed between 0 and 1; a sigmoid or steps, learnt from rows
left out, make them so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from mercer import SVC, KernelLogisticRegression
from mercer.plot import CalibrationDisplay

X, y = make_classification(6000, n_features=10, n_informative=5, flip_y=0.15, class_sep=0.7, random_state=3)
train, test = slice(0, 1500), slice(1500, None)
values = SVC().fit(X[train], y[train]).decision_function(X[test])
models = {
    "SVC, sigmoid": SVC(probability=True),
    "SVC, isotonic": SVC(probability="isotonic"),
    "KernelLogisticRegression": KernelLogisticRegression(),
}
given = {"SVC, squeezed": np.clip(0.5 + values / (2 * np.abs(values).max()), 0, 1)}
given |= {name: model.fit(X[train], y[train]).predict_proba(X[test])[:, 1] for name, model in models.items()}
for name, p in given.items():
    print(f"{name}: log loss {log_loss(y[test], p):.3f}")

# %%
# All four
# --------

CalibrationDisplay.from_predictions(y[test], given)
plt.show()

# %%
# One of them, with bins of equally many rows
# -------------------------------------------

CalibrationDisplay.from_estimator(models["SVC, sigmoid"], X[test], y[test], strategy="quantile", n_bins=15)
plt.show()
