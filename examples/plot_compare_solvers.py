"""
Five roads to one optimum
=========================

Each textbook has its own way to train a support vector machine. The problem has one optimum,
so all of them must meet, and how they get there is what tells them apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
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
# The dual rises
# --------------
# ``trace_`` holds the dual after each round. A round is a working set for SMO, a chunk for
# chunking, a pass over all points for coordinate ascent. What is drawn is how far each is from the
# best dual; the interior point does its work in one round and is shown by its last.

best = max(model.certificate_.dual for model in table.models.values())
fig, ax = plt.subplots(layout="constrained")
colours = {"chunking": "#0072B2", "dual_cd": "#D55E00", "sgd": "#009E73", "smo": "#CC79A7", "qp": "#E69F00"}
for name, colour in colours.items():
    trace = table.models[name].trace_
    short = np.maximum([best - point.dual for point in trace], 1e-12 * best)
    ax.semilogy(np.arange(1, len(trace) + 1), short / best, "o-", ms=4, color=colour, label=name)
ax.set(xlabel="round", ylabel="share of the dual still missing", xscale="log")
ax.legend(frameon=False)
plt.show()
