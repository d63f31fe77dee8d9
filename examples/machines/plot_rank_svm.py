"""
Learning an order
=================

Suppose you need to know not how far a disease will progress, but who should be seen first. `RankSVM` learns from pairs:
of two patients of about the same age, the one whose disease progressed further should come first. Patients are compared
only within an age group, so the groups need no common scale, and the pairs are counted, never listed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from mercer import SVR, RankSVM
from mercer.kernels import RBF

data = load_diabetes()
X, progression = data.data[:, [2, 8]] / 0.05, data.target  # body mass index, logarithm of triglycerides
ages = np.digitize(data.data[:, 0], np.quantile(data.data[:, 0], [0.2, 0.4, 0.6, 0.8]))
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:300], order[300:]

kernel = RBF(gamma=0.1)
ranker = RankSVM(C=0.01, kernel=kernel).fit(X[train], progression[train], qid=ages[train])
regressor = SVR(C=100.0, kernel=kernel, epsilon=10.0).fit(X[train], progression[train])
print(f"{ranker.n_pairs_:,.0f} pairs, {ranker.status_.name}")
print(ranker.certificate_)


def in_order(scores):
    """Share of the pairs of test rows of one age in the right order; a tie counts half."""
    first, second = (progression[test][:, None] > progression[test]).nonzero()
    same = ages[test][first] == ages[test][second]
    return np.mean(np.heaviside(scores[first[same]] - scores[second[same]], 0.5))


shares = {"RankSVM": in_order(ranker.predict(X[test])), "SVR": in_order(regressor.predict(X[test]))}
assert np.isclose(shares["RankSVM"], ranker.score(X[test], progression[test], qid=ages[test]))

across, up = np.meshgrid(np.linspace(-2, 3.4, 120), np.linspace(-2.6, 2.8, 120))
plane = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained", sharey=True)
values = {"RankSVM": ranker.predict(plane), "SVR": regressor.predict(plane)}
for ax, (name, score) in zip(axes, values.items(), strict=True):
    ax.contourf(across, up, score.reshape(across.shape), levels=12, cmap="Greys", alpha=0.6)
    points = ax.scatter(*X[test].T, c=progression[test], cmap="viridis", s=22, edgecolors="white", linewidths=0.4)
    ax.set(title=f"{name}: {100 * shares[name]:.1f} % of test pairs in order", xlabel="body mass index")
axes[0].set_ylabel("log triglycerides")
figure.colorbar(points, label="progression after a year")
plt.show()
