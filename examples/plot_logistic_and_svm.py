"""
Logistic regression and SVM, side by side
=========================================

The same rows, the same kernel, the same C. The support vector machine looks only at rows near the boundary;
logistic regression looks at all of them, and says how sure it is. Calibrated on rows left out of the fit, the
machine says so too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelLogisticRegression

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X[:, [0, 1]])  # mean radius, mean texture
models = {
    "SVC(probability=True)": SVC(C=1.0, gamma=0.5, probability=True).fit(X, y),
    "KernelLogisticRegression()": KernelLogisticRegression(C=1.0, gamma=0.5).fit(X, y),
}

low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
across, up = np.meshgrid(np.linspace(low[0], high[0], 160), np.linspace(low[1], high[1], 160))
plane = np.column_stack([across.ravel(), up.ravel()])
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = model.predict_proba(plane)[:, 1].reshape(across.shape)
    shades = ax.contourf(across, up, p, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.8)
    ax.contour(across, up, p, levels=[0.5], colors="black", linewidths=2)
    ax.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="black", linewidths=0.5)
    ax.scatter(*X.T, c=np.where(y == 1, "#08306B", "#67000D"), s=9)
    ax.set(title=f"{name}\n{len(model.support_)} of {len(X)} rows have a coefficient", xlabel="mean radius")
axes[0].set_ylabel("mean texture")
figure.colorbar(shades, ax=axes, label="probability that it is benign")
plt.show()

# %%
# Both come with a proof
# ----------------------
for name, model in models.items():
    print(name, model.certificate_, sep="\n", end="\n\n")
