"""
Leave-one-out, exactly and by bounds
====================================

To choose C, ask of every row: would a model that never saw it get it right? The exact answer needs no refitting. For
comparison, here are two answers that need only one fit: the span, an estimate, and xi-alpha, an upper bound.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from mercer import SVC, leave_one_out, theory

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"

# %%
# A noisy problem
# ---------------

X, y = make_classification(160, 6, n_informative=4, flip_y=0.12, class_sep=0.9, random_state=4)

# %%
# Every method for every C
# ------------------------

Cs = np.geomspace(0.03, 100.0, 14)
errors = {name: [] for name in ("exact", "span", "xi_alpha")}
supports, seconds = [], 0.0
for C in Cs:
    model = SVC(C=C, gamma="median")
    begin = time.perf_counter()
    errors["exact"].append(leave_one_out(model, X, y).error)
    seconds += time.perf_counter() - begin
    errors["span"].append(leave_one_out(model, X, y, method="span").error)
    errors["xi_alpha"].append(leave_one_out(model, X, y, method="xi_alpha").error)
    supports.append(theory.support_vector_bound(len(model.fit(X, y).support_), len(X)))
print(f"{len(Cs)} exact leave-one-out errors, {len(Cs) * len(X)} fits without it, took {seconds:.2f} s")

# %%
# The span follows the exact error closely. xi-alpha stays above it, and so does the fraction of support vectors, which
# is the least informative.

fig, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
ax.plot(Cs, supports, color=PINK, linestyle=":", marker="v", label="support vectors / n (bound)")
ax.plot(Cs, errors["xi_alpha"], color=ORANGE, linestyle="--", marker="s", label="xi-alpha (bound)")
ax.plot(Cs, errors["span"], color=GREEN, linestyle="-.", marker="^", label="span (estimate)")
ax.plot(Cs, errors["exact"], color=BLUE, marker="o", label="leave-one-out, exact")
ax.set(xscale="log", xlabel="C", ylabel="error", ylim=(0, 1), title="What one sample says about C")
ax.legend()
plt.show()
