"""
Landmarks instead of all rows
=============================

The cost of predicting with a model over a few hundred landmarks is proportional to their number, and the cost of its
fit grows only with the number of rows. Pass `mercer.LowRank` to get one. `distance_` says how much better the
exact model could be: no more than the gap and the distance together.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, LowRank

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 6))
hidden = np.tanh(X @ rng.normal(size=(6, 15))) @ rng.normal(size=15)
y = np.where(hidden + 0.6 * rng.normal(size=4000) > 0, 1, -1)
X, y, new, truth = X[:2000], y[:2000], X[2000:], y[2000:]

# %%
# The exact model, and models over more and more landmarks, chosen in two ways.

exact = SVC(C=2.0, gamma=0.15).fit(X, y)
counts = [25, 50, 100, 200, 400, 800]
found = {
    choice: [SVC(C=2.0, gamma=0.15, approximation=LowRank(count, choice)).fit(X, y) for count in counts]
    for choice in ("uniform", "rpcholesky")
}

# %%
# The bound and the truth
# -----------------------
# On the left, by how much the objective exceeds that of the exact model, and the bound, which does not use the exact
# model. On the right, errors on new rows: they match those of the exact model long before the objective does.

best = exact.certificate_.primal
fig, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained")
for (choice, models), colour in zip(found.items(), ("#0072B2", "#D55E00"), strict=True):
    excess = [100 * (model.certificate_.primal - best) / best for model in models]
    said = [100 * (model.certificate_.gap + model.distance_.value) / best for model in models]
    left.loglog(counts, said, "o--", color=colour, label=f"{choice}: gap and distance", markerfacecolor="none")
    left.loglog(counts, excess, "o-", color=colour, label=f"{choice}: true excess")
    errors = [100 * np.mean(model.predict(new) != truth) for model in models]
    right.semilogx(counts, errors, "o-", color=colour, label=choice)
right.axhline(100 * np.mean(exact.predict(new) != truth), color="black", lw=1.0, ls=":")
right.text(counts[0], 100 * np.mean(exact.predict(new) != truth), f"exact, {len(exact.support_)} vectors", va="bottom")
left.set(xlabel="landmarks", ylabel="excess of the objective, %")
right.set(xlabel="landmarks", ylabel="error on new rows, %")
for ax in (left, right):
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
    ax.legend(frameon=False)
plt.show()

# %%
# As many landmarks as needed
# ---------------------------
# ``distance_tol`` doubles the landmarks until the relative distance is reached.

model = SVC(C=2.0, gamma=0.15, approximation=LowRank(50, distance_tol=0.02)).fit(X, y)
print(model.approximation_)
print(model.distance_)
