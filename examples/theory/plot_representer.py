"""
The representer theorem: w and alpha, one minimum
=================================================

Whatever the loss, the best weights are a combination of the training rows' features. So you may look for the weights of
the features, or for one coefficient per row, and find the same function. Here eight rows have ten features, the
monomials of degree at most three, and the same general-purpose minimiser does both searches.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from mercer import theory
from mercer.kernels import Polynomial

rng = np.random.default_rng(4)
X = rng.normal(size=(8, 2))
y = np.where(X[:, 0] * X[:, 1] + 0.3 > 0, 1.0, -1.0)
kernel = Polynomial(degree=3, gamma=1.0, coef0=1.0)
features, K, lam = kernel.feature_map(X), kernel(X), 0.3

# %%
# The two forms of one problem, for four losses.

names = ("squared", "squared_hinge", "logistic", "exponential")
precise = {"method": "BFGS", "options": {"gtol": 1e-7, "maxiter": 5000}}
found = {}
for name in names:
    loss = theory.LOSSES[name].value
    in_w = minimize(
        lambda w, loss=loss: loss(y * (features @ w)).sum() + lam * w @ w, np.zeros(features.shape[1]), **precise
    )
    in_alpha = minimize(lambda a, loss=loss: loss(y * (K @ a)).sum() + lam * a @ K @ a, np.zeros(len(X)), **precise)
    found[name] = in_w, in_alpha

# %%
# On the left are the minima. On the right are the two functions at points that neither search has seen: on the diagonal
# they agree. Beside each loss is the part of w outside the span of the rows' features, as a fraction of w.

elsewhere = rng.normal(size=(60, 2))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
places = np.arange(len(names))
colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
left.bar(places - 0.2, [found[name][0].fun for name in names], 0.38, color="#0072B2", label="over the weights w")
left.bar(places + 0.2, [found[name][1].fun for name in names], 0.38, color="#E69F00", label="over alpha, one per row")
for place, name in zip(places, names, strict=True):
    difference = abs(found[name][0].fun - found[name][1].fun)
    left.annotate(f"differ by\n{difference:.0e}", (place, found[name][0].fun), ha="center", va="bottom", fontsize=9)
left.set_xticks(places, [name.replace("_", " ") for name in names])
left.set(ylabel="minimum of the objective", title="Two forms, one minimum")
left.margins(y=0.2)
left.legend(frameon=False, loc="upper left")
for name, colour in zip(names, colours, strict=True):
    in_w, in_alpha = found[name]
    by_w, by_alpha = kernel.feature_map(elsewhere) @ in_w.x, kernel(elsewhere, X) @ in_alpha.x
    outside = in_w.x - features.T @ np.linalg.lstsq(features.T, in_w.x, rcond=None)[0]
    share = np.linalg.norm(outside) / np.linalg.norm(in_w.x)
    right.plot(
        by_w, by_alpha, "o", color=colour, alpha=0.7, label=f"{name.replace('_', ' ')} ({share:.0e} outside the span)"
    )
reach = max(abs(value) for value in right.get_xlim())
right.plot([-reach, reach], [-reach, reach], color="0.6", linewidth=1, zorder=0)
right.set(
    xlabel=r"$\langle w, \psi(x)\rangle$", ylabel=r"$\sum_j \alpha_j\, k(x_j, x)$", title="One function, at new points"
)
right.legend(frameon=False, fontsize=9, loc="upper left")
plt.show()
