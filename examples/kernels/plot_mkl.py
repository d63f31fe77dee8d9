"""
Which kernels matter
====================

``MKLClassifier`` learns a weight for each of several kernels together with the classifier, and proves how good both
are. Here the kernels are the pixels of handwritten digits, one Gaussian for each, and then the columns of a table of
which half is noise.

These digits come with scikit-learn. ``python -m benchmarks.mkl views --picture FILE`` draws the weights of the six
views of multiple_features, a larger set of digits that cannot be included here.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from mercer import MKLClassifier
from mercer.kernels import RBF, On

BLUE, ORANGE, GREEN, ROSE, INK = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#222222"

# %%
# Sixty-four kernels, one for each pixel
# --------------------------------------
# Where do a 3 and an 8 differ? Pixels that never change have a constant kernel, and no weight.

X, y = load_digits(return_X_y=True)
chosen = np.isin(y, (3, 8))
X, y = X[chosen] / 16.0, y[chosen]
pixels = [On([pixel], RBF(gamma=2.0)) for pixel in range(64)]
sparse = MKLClassifier(pixels, C=1.0, gap_tol=1e-6).fit(X, y)
dense = MKLClassifier(pixels, C=1.0, method="lp-norm", p=2.0).fit(X, y)
print(f"{np.count_nonzero(sparse.weights_)} of 64 pixels have a weight")
print(sparse.certificate_)

# %%
# A table of which half is noise
# ------------------------------
# ``kernels="columns"`` chooses a kernel for each column by its contents. What matters about these customers is their
# income, the square of their age, their town and the tone of their letter.

rng = np.random.default_rng(2)
n = 400
polite = rng.random(n) < 0.5
table = pd.DataFrame(
    {
        "income": rng.normal(size=n),
        "age": rng.normal(size=n),
        "town": rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n),
        "letter": np.where(polite, "please call me back soon", "this is the last reminder now"),
        "noise": rng.normal(size=n),
        "more noise": rng.normal(size=n),
        "colour": rng.choice(["red", "green", "blue"], n),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), unit="D"),
    }
)
score = 1.2 * table["income"] + table["age"] ** 2 + 1.5 * table["town"].isin(["Ulm", "Kiel"]) + 1.5 * polite
buys = np.where(score + 0.5 * rng.normal(size=n) > score.median(), "buys", "leaves")
methods = {"simple": BLUE, "lp-norm": ORANGE, "centered_alignment": GREEN, "easy": ROSE}
models = {name: MKLClassifier("columns", method=name, C=3.0).fit(table, buys) for name in methods}

# %%
# The gap closes
# --------------
# Each point of the trace is a fit with different weights. The gap bounds how far classifier and weights together are
# from the optimum.

figure, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
limit = max(sparse.weights_.max(), (dense.weights_ / dense.weights_.sum()).max())
pictures = {"sum 1: few pixels (simple)": sparse.weights_, "2-norm 1: all of them (lp-norm)": dense.weights_}
for axis, (title, weights) in zip(axes[0], pictures.items(), strict=True):
    outline = X[y == 8].mean(axis=0) - X[y == 3].mean(axis=0)
    image = axis.imshow(weights.reshape(8, 8), cmap="Blues", vmin=0)
    axis.contour(outline.reshape(8, 8), levels=[-0.25, 0.25], colors=[ORANGE, INK], linewidths=1.5)
    axis.set(title=title, xticks=[], yticks=[])
    figure.colorbar(image, ax=axis, shrink=0.8, label="weight of the pixel")
axes[0, 0].set_xlabel("dark line: more ink in an 8; orange: more in a 3")

places = np.arange(table.shape[1])
for k, (name, model) in enumerate(models.items()):
    heights = model.weights_ / model.weights_.sum()
    axes[1, 0].bar(places + 0.2 * (k - 1.5), heights, 0.2, color=methods[name], label=name.replace("_", " "))
axes[1, 0].axvspan(3.5, 7.5, color="#EEEEEE", zorder=0)
axes[1, 0].text(5.5, 0.5, "noise", ha="center", va="top", transform=axes[1, 0].get_xaxis_transform())
axes[1, 0].set_xticks(places, models["simple"].kernel_names_, rotation=30, ha="right")
axes[1, 0].set(title="columns of a table", ylabel="share of the weight")
axes[1, 0].legend(frameon=False, loc="upper right")

steps = np.arange(1, 1 + len(sparse.trace_))
axes[1, 1].semilogy(steps, [max(point.violation, 1e-12) for point in sparse.trace_], "o-", color=BLUE)
axes[1, 1].axhline(1e-6, color=INK, linestyle=":", label="tolerance")
axes[1, 1].set(title="pixels, sum 1", xlabel="fits", ylabel="relative duality gap")
axes[1, 1].legend(frameon=False)
twin = axes[1, 1].twinx()
twin.plot(steps, [point.working_set for point in sparse.trace_], "s--", color=ORANGE, markersize=4)
twin.set_ylabel("pixels with a weight", color=ORANGE)
plt.show()
