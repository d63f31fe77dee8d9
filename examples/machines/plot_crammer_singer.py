"""
Three ways to handle several classes
====================================

You can train a classifier for each pair of classes, one for each class against the rest, or solve a single problem in
which the score of the right class must exceed every other by a margin (Crammer & Singer, 2001). The first two combine
the answers to separate questions; the third has one objective, one dual and one certificate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from mercer import SVC
from mercer.kernels import RBF

iris = load_iris()
X, y = iris.data[:, 2:], iris.target  # petals
ways = {"ovo": "a machine for each pair", "ovr": "one against the rest", "crammer_singer": "Crammer-Singer"}
across, up = np.meshgrid(np.linspace(0.5, 7.3, 240), np.linspace(-0.2, 2.9, 200))
plane = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained", sharey=True)
for ax, (way, title) in zip(axes, ways.items(), strict=True):
    model = SVC(C=10.0, kernel=RBF(0.5), multi_class=way, bias="penalized").fit(X, y)
    label = model.predict(plane).reshape(across.shape)
    ax.contourf(across, up, label, levels=[-0.5, 0.5, 1.5, 2.5], colors=["#0072B2", "#E69F00", "#009E73"], alpha=0.25)
    ax.contour(across, up, label, levels=[0.5, 1.5], colors="black", linewidths=1.2)
    for k, colour in enumerate(["#0072B2", "#E69F00", "#009E73"]):
        ax.scatter(*X[y == k].T, color=colour, s=16, label=iris.target_names[k])
    ax.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="black", linewidths=0.6)
    proofs = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    gap = max(proof.relative_gap for proof in proofs)
    ax.set(
        title=f"{title}\n{len(proofs)} certificate{'s' * (len(proofs) > 1)}, relative gap at most {gap:.0e}",
        xlabel="petal length in cm",
    )
    print(f"{way}: {len(model.support_)} support vectors, accuracy {model.score(X, y):.3f}")
axes[0].set_ylabel("petal width in cm")
axes[0].legend(loc="upper left", frameon=False)
plt.show()
