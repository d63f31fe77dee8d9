"""
Fisher, logistic regression and SVM, side by side
=================================================

Here are three methods on the same rows with the same kernel. Fisher's discriminant looks for the direction in which the
classes are farthest apart relative to their spread, logistic regression for the likeliest labels, and the support
vector machine for the widest margin. The support vector machine depends only on rows near the boundary, the others on
all of them. Logistic regression says how sure it is; calibrated on rows left out of the fit, so does the support vector
machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelFisherDiscriminant, KernelLogisticRegression

cancer = load_breast_cancer()
X, y = StandardScaler().fit_transform(cancer.data[:, [0, 1]]), cancer.target  # mean radius, mean texture
models = {
    "KernelFisherDiscriminant": KernelFisherDiscriminant(kernel="rbf", gamma=0.5).fit(X, y),
    "KernelLogisticRegression": KernelLogisticRegression(C=1.0, gamma=0.5).fit(X, y),
    "SVC(probability=True)": SVC(C=1.0, gamma=0.5, probability=True).fit(X, y),
}

low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
across, up = np.meshgrid(np.linspace(low[0], high[0], 160), np.linspace(low[1], high[1], 160))
plane = np.column_stack([across.ravel(), up.ravel()])


def likely(model, rows):
    """Probability of the second class; Fisher's scores are differences of log-densities."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)[:, 1]
    return 0.5 + 0.5 * np.tanh(0.5 * model.decision_function(rows))


figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = likely(model, plane).reshape(across.shape)
    shades = ax.contourf(across, up, p, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.8)
    ax.contour(across, up, p, levels=[0.5], colors="black", linewidths=2)
    kept = np.asarray(getattr(model, "support_", np.arange(len(X))))
    if len(kept) < len(X):
        ax.scatter(*X[kept].T, s=60, facecolors="none", edgecolors="black", linewidths=0.5)
    ax.scatter(*X.T, c=np.where(y == 1, "#08306B", "#67000D"), s=9)
    ax.set(title=f"{name}\n{len(kept)} of {len(X)} rows have a coefficient", xlabel="mean radius")
axes[0].set_ylabel("mean texture")
figure.colorbar(shades, ax=axes, label="probability of being benign")
plt.show()

# %%
# On all thirty columns
# ---------------------
# Errors on rows left out, in five repetitions:
for name, model in models.items():
    scaled = make_pipeline(StandardScaler(), model.set_params(gamma=0.02))
    errors = 1.0 - cross_val_score(scaled, cancer.data, cancer.target, cv=5)
    print(f"{name:26s} {errors.mean():.1%}")
