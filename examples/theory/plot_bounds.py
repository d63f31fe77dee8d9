"""
Which bounds are informative, and when
======================================

Take a distribution in 1000 dimensions that is separable with a known margin. Hard-SVM learns from more and more rows of
it. What did theory promise at each size, and what was achieved? A bound of 1 or more is *vacuous*: it is true, but says
nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, theory

BLUE, ORANGE, GREEN, RED, PINK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7"

# %%
# The distribution
# ----------------
# All rows have norm rho = 1. The first coordinate is between 0.05 and 0.08 for one class and between -0.08 and -0.05
# for the other; the remaining direction is random. So it is separable with a (0.05, 1)-margin by a halfspace through
# the origin, as Theorem 15.4 requires.

d, gamma, rho, delta = 1000, 0.05, 1.0, 0.05
rng = np.random.default_rng(0)


def draw(m):
    """m rows with their labels."""
    y = rng.choice([-1, 1], size=m)
    first = y * rng.uniform(gamma, 0.08, size=m)
    rest = rng.normal(size=(m, d - 1))
    rest *= np.sqrt(rho**2 - first**2)[:, None] / np.linalg.norm(rest, axis=1, keepdims=True)
    return np.column_stack([first, rest]), y


X_new, y_new = draw(10_000)

# %%
# Learn from more and more rows
# -----------------------------

sizes = np.unique(np.geomspace(20, 1_600, 8).astype(int))
found = {"error": [], "support_vectors": [], "xi_alpha": []}
for m in sizes:
    runs = []
    for _ in range(3):
        X, y = draw(m)
        model = SVC(kernel="linear", C=np.inf, bias="none").fit(X, y)
        report = theory.report(model, X, y, delta)
        error = np.mean(np.sign(X_new @ model.coef_[0]) != y_new)
        runs.append([error, report["support_vectors"].value, report["xi_alpha"].value])
    for key, value in zip(found, np.mean(runs, axis=0), strict=True):
        found[key].append(value)
    print(f"m = {m:5d}: error {found['error'][-1]:.4f}; margin of the last sample {report.gamma:.3f}")

# %%
# The report on the last of them:

print(report)

# %%
# Promise and outcome
# -------------------
# The margin bound becomes informative long before the dimension bound does. Neither is near the truth. The
# leave-one-out estimates are, because they look at the fit itself. The shaded area is the lower bound of d/ε: for every
# algorithm there is *some* distribution in this dimension on which its expected error is no smaller. This one has a
# margin, so it can be learnt from fewer rows.

all_sizes = np.geomspace(20, 1e7, 200).astype(int)
figure, ax = plt.subplots(figsize=(10, 5.6), layout="constrained")
ax.axhspan(1.0, 300.0, color="0.93")
ax.text(30, 60, "vacuous", color="0.45", fontsize=18)
theorem = [theory.hard_svm_bound(m, gamma, rho, delta) for m in all_sizes]
dimension = [theory.vc_bound(m, theory.vc_dimension(d, homogeneous=True), delta) for m in all_sizes]
ax.loglog(all_sizes, dimension, color=BLUE, linewidth=3, label=f"VC bound, d = {d}")
forbidden = [theory.vc_lower_bound(m, theory.vc_dimension(d, homogeneous=True)) for m in all_sizes]
ax.fill_between(
    all_sizes, 1e-5, forbidden, color=BLUE, alpha=0.12, label="impossible for any algorithm without a margin"
)
ax.loglog(all_sizes, theorem, color=ORANGE, linewidth=3, label="Theorem 15.4, (ρ/γ)² = 400")
ax.loglog(sizes, found["support_vectors"], "s-", color=PINK, label="leave-one-out, mean of 3: support vectors over m")
ax.loglog(sizes, found["xi_alpha"], "D-", color=GREEN, label="leave-one-out, mean of 3: xi-alpha")
ax.loglog(
    sizes, found["error"], "o-", color=RED, linewidth=3, markersize=8, label="error on 10,000 new rows, mean of 3"
)
needed = theory.hard_svm_sample_size(0.1, delta, gamma, rho)
ax.plot(needed, 0.1, "*", color="black", markersize=18, label=f"m(0.1, 0.05) of the slides = {needed:,}")
ax.set(xlabel="training rows, m", ylabel="error, and bounds on it", ylim=(2e-3, 300), xlim=(20, 1e7))
ax.legend(frameon=False, loc="upper right")
plt.show()
