"""
A fraction instead of C
=======================

You tell `NuSVC` what fraction of the rows may fall short of the margin, instead of a weight C that has no meaning by
itself. The fraction `nu` is an upper bound on these margin errors, and a lower bound on the fraction of support
vectors. The data are the breast cancer patients that come with scikit-learn: 569 of them, 37 % malignant.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mercer import NuSVC, ParameterError
from mercer.plot import DecisionBoundaryDisplay

data = load_breast_cancer(as_frame=True)
X, y = (data.data - data.data.mean()) / data.data.std(), data.target_names[data.target]
two = X[["mean radius", "mean texture"]]

# %%
# No fraction above twice that of the smaller class is possible, since that class has too few rows. Such a nu is refused
# before anything is solved.

try:
    NuSVC(nu=0.9).fit(X, y)
except ParameterError as error:
    print(error)

# %%
# On the left is a model of all thirty columns for every nu: the fraction that falls short of the margin is never larger
# than nu, and the fraction of support vectors never smaller. On the right are a small and a large fraction in two of
# the columns: the more errors are allowed, the wider the margin.

figure, (left, *right) = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
shares = np.linspace(0.02, 0.74, 19)
short, support = [], []
for nu in shares:
    model = NuSVC(nu=nu, gamma=0.05, tol=1e-7).fit(X, y)
    values = model.decision_function(X) * np.where(y == model.classes_[1], 1.0, -1.0)
    short.append((values < 1.0 - 1e-3).mean())
    support.append(len(model.support_) / len(y))
left.plot(shares, support, "o-", color="C0", label="support vectors")
left.plot(shares, shares, "--", color="0.4", label="nu")
left.plot(shares, short, "s-", color="C3", label="short of the margin")
left.set(xlabel="nu", ylabel="fraction of the rows", title="nu lies between the two")
left.legend()
for ax, nu in zip(right, (0.25, 0.7), strict=True):
    model = NuSVC(nu=nu, gamma=0.3).fit(two, y)
    DecisionBoundaryDisplay.from_estimator(model, two, y, ax=ax)
    ax.set_title(f"nu = {nu}: {model.score(two, y):.1%} right")
    print(f"nu {nu}: {len(model.support_)} support vectors")
    print(model.certificate_)
plt.show()
