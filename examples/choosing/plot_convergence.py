"""
Closing in on the optimum
=========================

The dual objective rises towards the optimum and never passes it; the primal objective is never below it. The difference
is the most that a fit can still be wrong by. Three solvers reach the same value in different ways.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from mercer import SVC, LinearSVC
from mercer.plot import ConvergenceDisplay

X, y = make_classification(1200, n_features=20, n_informative=8, flip_y=0.05, random_state=0)

# %%
# With a kernel
# -------------
# Without a bias the dual has no equality, so one coordinate can move at a time (`dual_cd`); chunking solves growing
# parts of the problem. The first fits are there to compile the code.

shared = {"C": 10.0, "gamma": 0.05, "bias": "none", "gap_tol": 1e-9}
solvers = {"dual_cd": SVC(solver="dual_cd", **shared), "chunking": SVC(solver="chunking", **shared)}
for model in solvers.values():
    model.fit(X[:200], y[:200])
    model.fit(X, y)
ConvergenceDisplay.from_estimators(solvers)
plt.show()

# %%
# Without a kernel
# ----------------
# Coordinate descent, pass by pass. The less regularised the model, the longer it takes.

machines = {f"C = {C:g}": LinearSVC(loss="hinge", solver="dual_cd", C=C, tol=1e-7, max_iter=-1) for C in (0.01, 0.1, 1)}
for name, model in machines.items():
    print(name, model.fit(X, y).certificate_, sep="\n")
ConvergenceDisplay.from_estimators(machines, against="iterations")
plt.show()
