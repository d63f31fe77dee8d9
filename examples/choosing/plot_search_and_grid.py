"""
The same scores as a grid search, faster
========================================

`SVCCV` gives the scores of scikit-learn's ``GridSearchCV`` over its ``SVC``, setting by setting and fold by fold. It is
faster because it shares what a grid search recomputes: one kernel matrix for each gamma serves all folds, all classes
and all values of C. Here are three data sets, with eight values of C, six of gamma and five folds.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from mercer import SVCCV
from mercer.plot import TuningDisplay

Cs, gammas = [0.02, 0.1, 0.5, 2, 10, 50, 200, 1000], [2e-4, 1e-3, 4e-3, 0.02, 0.1, 0.4]
sets = {
    "wine": load_wine(return_X_y=True),
    "breast cancer": load_breast_cancer(return_X_y=True),
    "digits, 300 of them": tuple(part[:300] for part in load_digits(return_X_y=True)),
}


def timed(search, X, y):
    """(the fitted search, its seconds)."""
    begin = time.perf_counter()
    return search.fit(X, y), time.perf_counter() - begin


def in_order(search):
    """Scores of every setting and fold, by C and gamma."""
    results = search.cv_results_
    order = sorted(range(len(results["params"])), key=lambda k: tuple(results["params"][k][p] for p in ("C", "gamma")))
    return np.stack([results[f"split{fold}_test_score"] for fold in range(5)], axis=1)[order]


# %%
# Race, compare, draw
# -------------------
# Each gets one core: starting more processes would take scikit-learn longer than these searches do.

SVCCV([1.0], [0.1], n_jobs=1).fit(*sets["wine"])  # compiled code is there before anything is timed
fig, axes = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
for ax, (name, (rows, y)) in zip(axes, sets.items(), strict=True):
    X = scale(rows)
    ours, own = timed(SVCCV(Cs, gammas, n_jobs=1), X, y)
    theirs, other = timed(GridSearchCV(svm.SVC(), {"C": Cs, "gamma": gammas}), X, y)
    apart = np.abs(in_order(ours) - in_order(theirs)).max()
    print(f"{name}: {own:.2f} s against {other:.2f} s; scores of a fold differ by {apart:.4f} at most")
    TuningDisplay.from_estimator(ours, ax=ax, legend=False)
    same = "equal scores" if apart == 0 else f"scores within {apart:.4f}"
    ax.set_title(f"{name}: {other / own:.0f} times as fast, {same}")
plt.show()
