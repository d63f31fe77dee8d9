"""
Do rows that get 80 % turn out right in 80 %?
=============================================

A reliability curve: test rows are put into ten bins by the probability they were given, and each bin shows how
many of them were indeed of that class. Straight is honest. The decision values of a support vector machine
are no probabilities, even squeezed between 0 and 1; a sigmoid or steps, learnt from rows left out, make them so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from mercer import SVC, KernelLogisticRegression

X, y = make_classification(6000, n_features=10, n_informative=5, flip_y=0.15, class_sep=0.7, random_state=3)
train, test = slice(0, 1500), slice(1500, None)
plain = SVC().fit(X[train], y[train])
values = plain.decision_function(X[test])
given = {
    "SVC, decision values squeezed": np.clip(0.5 + values / (2 * np.abs(values).max()), 0, 1),
    "SVC, sigmoid": SVC(probability=True).fit(X[train], y[train]).predict_proba(X[test])[:, 1],
    "SVC, isotonic": SVC(probability="isotonic").fit(X[train], y[train]).predict_proba(X[test])[:, 1],
    "KernelLogisticRegression": KernelLogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1],
}

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
left.plot([0, 1], [0, 1], color="0.7", linewidth=6, label="honest")
colours = ("#999999", "#0072B2", "#D55E00", "#009E73")
for (name, p), colour in zip(given.items(), colours, strict=True):
    share, mean = calibration_curve(y[test], p, n_bins=10)
    left.plot(mean, share, "o-", color=colour, linewidth=2, label=f"{name}: log loss {log_loss(y[test], p):.3f}")
    right.hist(p, bins=25, range=(0, 1), histtype="step", color=colour, linewidth=2)
left.set(xlabel="probability given", ylabel="share that was of the class", title="Reliability on 4500 test rows")
left.legend(frameon=False, loc="upper left")
right.set(xlabel="probability given", ylabel="rows", title="How sure they are")
plt.show()
