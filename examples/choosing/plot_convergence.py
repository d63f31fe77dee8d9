"""
Closing in on the optimum
=========================

The dual objective rises to the optimum and never passes it; the primal objective of a certificate is never below. What
lies between the two is all that a fit can still be wrong by. Three solvers climb to the same value in
different ways.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from mercer import SVC, LinearSVC
from mercer.plot import ConvergenceDisplay

X, y = make_classification(1200, n_features=20, n_informative=8, flip_y=0.05, random_state=0)

# %%
# A kernel machine
# ----------------
# Without a bias the dual has no equality, so that one coordinate at a time can move (`dual_cd`); chunking solves
# growing parts of the problem. The first fits are for the compiler.

shared = {"C": 10.0, "gamma": 0.05, "bias": "none", "gap_tol": 1e-9}
solvers = {"dual_cd": SVC(solver="dual_cd", **shared), "chunking": SVC(solver="chunking", **shared)}
for model in solvers.values():
    model.fit(X[:200], y[:200])
    model.fit(X, y)
ConvergenceDisplay.from_estimators(solvers)
plt.show()

# %%
# A linear machine
# ----------------
# Coordinate descent, pass by pass. The less regularised the machine, the longer the way.

machines = {f"C = {C:g}": LinearSVC(loss="hinge", solver="dual_cd", C=C, tol=1e-7, max_iter=-1) for C in (0.01, 0.1, 1)}
for name, model in machines.items():
    print(name, model.fit(X, y).certificate_, sep="\n")
ConvergenceDisplay.from_estimators(machines, against="iterations")
plt.show()
