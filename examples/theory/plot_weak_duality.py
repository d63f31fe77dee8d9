"""
Weak duality, step by step
==========================

At any time, what a solver has found proves two things: the primal objective of its w is at least the minimum, and the
dual objective of its alpha is at most the minimum. The answer lies between the two, and the gap says how much is still
unknown. At the end it is zero: strong duality.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC

BLUE, RED = "#0072B2", "#D55E00"

X, y = load_iris(return_X_y=True)
X, y = X[y > 0, 2:], y[y > 0]

# %%
# A fit in slices
# ---------------
# ``max_iter=1`` with ``warm_start=True`` takes one step and keeps the result; calling ``fit`` again continues. The
# certificate of each of these models is computed from scratch, in double precision.


def certificates(C, most):
    """One certificate for each step of the solver, until the gap has closed."""
    model = SVC(C=C, gamma=0.5, tol=1e-10, max_iter=1, warm_start=True)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        while len(found) < most and (not found or found[-1].relative_gap > 1e-9):
            found.append(model.fit(X, y).certificate_)
    return found


runs = {C: certificates(C, 400) for C in (1.0, 10.0, 100.0)}
for C, run in runs.items():
    assert all(each.dual <= run[-1].primal + 1e-9 and each.primal >= run[-1].dual - 1e-9 for each in run)
    print(f"C = {C:g}: {len(run)} steps, minimum {run[-1].primal:.8f}, last gap {max(run[-1].gap, 0):.1e}")

# %%
# What each step proves
# ---------------------
# On the left, both objectives of one run close in on the minimum. The dual never falls; the primal may rise for a
# while, and only the smallest so far counts. On the right are the gaps of three runs.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
run = runs[10.0][:20]
steps = np.arange(1, len(run) + 1)
primal, dual = (np.array([getattr(each, side) for each in run]) for side in ("primal", "dual"))
best = np.minimum.accumulate(primal)
left.fill_between(steps, dual, best, color="0.9", label="where the minimum must lie")
left.plot(steps, primal, color=RED, linewidth=1, alpha=0.6, label="primal of the iterate")
left.plot(steps, best, color=RED, linewidth=3, label="smallest primal so far")
left.plot(steps, dual, color=BLUE, linewidth=3, label="dual of the iterate")
left.axhline(runs[10.0][-1].primal, color="black", linestyle=":", linewidth=1)
left.set(title="Iris petals, Gaussian kernel, C = 10", xlabel="steps of the solver", ylabel="objective")
left.set(ylim=(0, 3.2 * run[-1].primal), xlim=(1, len(run)), xticks=range(1, len(run) + 1, 2))
left.legend(frameon=False, loc="upper right")

for (C, run), colour in zip(runs.items(), ("#009E73", "#0072B2", "#CC79A7"), strict=True):
    gaps = np.minimum.accumulate([each.primal for each in run]) - np.array([each.dual for each in run])
    right.semilogy(np.arange(1, len(run) + 1), np.maximum(gaps, 1e-12), color=colour, linewidth=2.5, label=f"C = {C:g}")
right.set(title="The gap is never negative, and it closes", xlabel="steps of the solver", ylabel="duality gap")
right.legend(frameon=False)
plt.show()
