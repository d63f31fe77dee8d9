"""
A map of C and gamma
====================

Every pair of C and gamma has a score, and the good ones lie along a ridge: a narrower kernel is as flexible as a larger
C. `SVCCV` scores all of them with one kernel matrix for each gamma. On the right is the same map without the settings
that provably cannot win; the winner is the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVCCV

X, y = make_moons(600, noise=0.3, random_state=0)
grid = {"Cs": 2.0 ** np.arange(-6, 10.5, 1.5), "gammas": 2.0 ** np.arange(-6, 7.5, 1.5)}
searches = {
    "all settings": SVCCV(**grid).fit(X, y),
    "without those proven not to win": SVCCV(**grid, early_stop=True).fit(X, y),
}


def as_map(model):
    """Mean scores, a row for each gamma; settings that were cut have none."""
    return model.cv_results_["mean_test_score"].reshape(len(grid["Cs"]), len(grid["gammas"])).T


fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
lowest = 0.8
for ax, (title, model) in zip(axes, searches.items(), strict=True):
    scores = as_map(model)
    image = ax.pcolormesh(grid["Cs"], grid["gammas"], scores, vmin=lowest, cmap="viridis", shading="nearest")
    if np.isfinite(scores).all():
        ax.contour(grid["Cs"], grid["gammas"], scores, levels=[0.9, 0.91], colors="white", linewidths=0.8)
    best = model.best_params_
    ax.plot(best["C"], best["gamma"], marker="*", markersize=16, color="white", markeredgecolor="black")
    done = int((model.cv_results_["state"] == "done").sum())
    ax.set(xscale="log", yscale="log", xlabel="C", title=f"{title} ({done} of {scores.size} in full)")
    ax.set_facecolor("0.85")
axes[0].set_ylabel("gamma")
fig.colorbar(image, ax=axes, label="accuracy, mean of five folds", extend="min")
plt.show()
