"""
Stochastic gradient descent and its bound
=========================================

The algorithm of section 15.5 of Shalev-Shwartz and Ben-David draws one row at a time. A theorem bounds, in expectation,
how far the mean of its iterates is from the optimum after T steps. Here the bound is plotted beside actual runs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer import SVC, PegasosSVC, Regularization

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
lam = 0.02

# %%
# The optimum, from a solver that stops only when it has a proof.

exact = SVC(kernel="linear", C=Regularization.from_lambda(lam, half=True), bias="none", tol=1e-6).fit(X, y)
optimum = lam * exact.certificate_.primal
print(f"min f = {optimum:.6f}")

# %%
# Eight runs
# ----------
# With the same seed, a longer run begins with the shorter one, so fits of growing T follow a single path. The mean of
# the iterates remembers the first ones, which were as long as 1/lambda; the last iterate forgets them, but is noisy.

signs = np.where(y == 1, 1.0, -1.0)


def excess(model):
    """f(w) - min f."""
    w = model.coef_[0]
    return 0.5 * lam * w @ w + np.maximum(0.0, 1.0 - signs * (X @ w)).mean() - optimum


steps = np.unique(np.logspace(1, 5, 13).astype(int))
curves = {}
for average in (True, False):
    curves[average] = np.array(
        [
            [
                excess(PegasosSVC(alpha=lam, T=T, average=average, bias="none", random_state=seed).fit(X, y))
                for T in steps
            ]
            for seed in range(8)
        ]
    )
bounds = {
    projected: [PegasosSVC(alpha=lam, T=T, bias="none", projected=projected).fit(X, y).bound_.value for T in steps]
    for projected in (False, True)
}

fig, ax = plt.subplots(figsize=(7.0, 4.6), layout="constrained")
ax.loglog(steps, bounds[False], color="black", lw=2, label="bound, Theorem 14.11")
ax.loglog(steps, bounds[True], color="black", lw=1.2, ls="--", label="bound with projections")
for average, colour, name in ((False, "#E69F00", "last iterate"), (True, "#0072B2", "mean of the iterates")):
    ax.loglog(steps, curves[average].T, color=colour, alpha=0.25, lw=0.8)
    ax.loglog(steps, curves[average].mean(axis=0), color=colour, lw=2.2, label=f"{name}, mean of eight runs")
ax.set(xlabel="steps T", ylabel="f(w) - min f", title="The bound, and what was reached")
ax.legend(frameon=False)
plt.show()

# %%
# One run: the bound before it, the certificate after it. The gap of the certificate needs no knowledge of the optimum.

model = PegasosSVC(alpha=lam, T=100_000, bias="none").fit(X, y)
print(model.bound_)
print(model.certificate_)
print(f"true excess: {excess(model):.2e}")
