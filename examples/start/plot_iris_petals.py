"""
Iris petals: a margin, hard and soft
====================================

A straight line across the petals separates setosa from the other irises, so nothing need be misclassified, and all
that remains is to find the widest margin. Versicolor and virginica overlap: some rows must be allowed inside the
margin, and C says at what price.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from mercer import SVC
from mercer.plot import DecisionBoundaryDisplay

iris = load_iris()
petals, species = iris.data[:, 2:], iris.target_names[iris.target]
axes = {"xlabel": "petal length (cm)", "ylabel": "petal width (cm)"}

# %%
# Setosa against the rest
# -----------------------
# With a large C, no violation is worth its price. A few support vectors hold the margin, and all
# of them are free: 0 < alpha < C.

is_setosa = ["setosa" if name == "setosa" else "other" for name in species]
straight = SVC(kernel="linear", C=1000.0, tol=1e-6).fit(petals, is_setosa)
DecisionBoundaryDisplay.from_estimator(straight, petals, is_setosa, **axes)
plt.show()

# %%
print(straight.certificate_)

# %%
# Versicolor against virginica
# ----------------------------
# A Gaussian kernel bends the boundary. Diamonds are support vectors at the bound, alpha = C:
# rows inside the margin or on its wrong side. Circles are free, and lie on the dashed lines.

overlapping = species != "setosa"
bent = SVC(C=10.0, gamma=0.5, tol=1e-6).fit(petals[overlapping], species[overlapping])
DecisionBoundaryDisplay.from_estimator(bent, petals[overlapping], species[overlapping], **axes)
plt.show()

# %%
print(bent.certificate_)

# %%
# All three
# ---------
# Three classes make three two-class problems, one for each pair, and so three certificates.

together = SVC(C=10.0, gamma=0.5).fit(petals, species)
DecisionBoundaryDisplay.from_estimator(together, petals, species, **axes)
plt.show()

# %%
for certificate in together.certificate_:
    print(f"gap {certificate.gap:.1e}   free {certificate.n_free}   bounded {certificate.n_bounded}")
