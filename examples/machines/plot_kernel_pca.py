"""
Curved components, and the way back
===================================

Handwritten digits are points in a space with one dimension for each pixel. Linear components mix the digits; those of a
Gaussian kernel keep them apart, and pre-images remove noise from a picture.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA, KernelSVD

X, y = load_digits(return_X_y=True)
X = X / 16.0

fig, axes = plt.subplots(1, 2, figsize=(9.0, 4.4), layout="constrained")
for ax, (name, model) in zip(
    axes,
    {"linear": KernelPCA(2), "Gaussian, gamma = 0.1": KernelPCA(2, kernel="rbf", gamma=0.1)}.items(),
    strict=True,
):
    Z = model.fit_transform(X)
    ax.scatter(*Z.T, c=y, s=6, cmap="tab10")
    for digit in range(10):
        ax.text(*np.median(Z[y == digit], axis=0), str(digit), fontsize=15, weight="bold", ha="center", va="center")
    ax.set(title=name, xticks=[], yticks=[])
    print(name, model.certificate_)
plt.show()

# %%
# Removing noise
# --------------
# Noisy pictures are projected onto 24 components of clean ones, and the pre-image of the projection is computed.

rng = np.random.default_rng(0)
clean, noisy = X[:1500], X[1500:1510] + 0.35 * rng.normal(size=(10, 64))
rows = {"clean": X[1500:1510], "noisy": noisy}
model = KernelPCA(24, kernel="rbf", gamma=0.03, fit_inverse_transform=True, alpha=1e-2).fit(clean)
rows["pre-image"] = model.inverse_transform(model.transform(noisy))

fig, axes = plt.subplots(3, 10, figsize=(9.0, 3.0), layout="constrained")
for line, (name, pictures) in zip(axes, rows.items(), strict=True):
    line[0].set_ylabel(name)
    for ax, picture in zip(line, pictures, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Singular values
# ---------------
# Without centring these are the singular values of the features. How fast they fall shows how many dimensions a kernel
# really uses.

fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
for gamma, colour in ((0.003, "#0072B2"), (0.03, "#009E73"), (0.3, "#D55E00")):
    values = KernelSVD(100, kernel="rbf", gamma=gamma).fit(X[:800]).singular_values_
    ax.semilogy(np.arange(1, 101), values / values[0], color=colour, label=f"gamma = {gamma}")
ax.set(xlabel="component", ylabel="singular value / the first")
ax.legend(frameon=False)
plt.show()
