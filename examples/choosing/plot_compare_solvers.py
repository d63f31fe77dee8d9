"""
Many roads to one optimum
=========================

Every textbook has its own way to train a support vector machine. The problem has only one optimum, so all of them must
reach it; they differ in how they get there.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from mercer import SVC, compare_solvers

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# The table
# ---------
# Objective, gap and KKT violation are recomputed from the data and the coefficients alone.

table = compare_solvers(SVC(tol=1e-7, C=10.0), X, y)
print(table)

# %%
# How they get there
# ------------------
# ``max_iter`` stops a solver early, and the certificate says how far it came. SMO moves two coefficients per step and
# coordinate ascent one; the stochastic solver draws one point per step and hands over to pair steps after ten draws per
# point. The gap is never negative.

steps = np.unique(np.geomspace(20, 60_000, 30).astype(int))
styles = {"smo": ("#0072B2", "o"), "dual_cd": ("#D55E00", "s"), "sgd": ("#009E73", "^")}
fig, ax = plt.subplots(layout="constrained")
for name, (colour, marker) in styles.items():
    gaps = []
    for most in steps:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SVC(C=10.0, tol=1e-9, solver=name, max_iter=int(most)).fit(X, y)
        gaps.append(max(model.certificate_.relative_gap, 1e-12))
    ax.loglog(steps, gaps, marker=marker, ms=4, color=colour, label=name)
ax.axhline(1e-6, color="0.6", linewidth=1, linestyle=":")
ax.set(xlabel="steps allowed", ylabel="relative duality gap")
ax.legend(frameon=False)
plt.show()
