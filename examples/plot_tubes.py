"""
Tubes: given, and found
=======================

Support vector regression pays nothing for errors inside a tube. `SVR` is told how wide the tube is; `NuSVR` is told how
many points may be outside, and finds the width. The data are the diabetes patients that come with scikit-learn: the
progress of the disease against the body mass index.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from mercer import SVR, NuSVR

BLUE, RED, INK = "#0072B2", "#D55E00", "#222222"

data = load_diabetes(scaled=False)
x, y = data.data[:, [2]], data.target
X = (x - x.mean()) / x.std()
line = np.linspace(X.min(), X.max(), 300)[:, None]

# %%
# Only points on the border of the tube or outside it are support vectors. A certificate says of each fit how far it
# can be from the optimum.

figure, axes = plt.subplots(1, 3, figsize=(14, 4.8), sharey=True, layout="constrained")
models = (SVR(C=50.0, gamma=0.3, epsilon=30.0), NuSVR(C=50.0, gamma=0.3, nu=0.5), NuSVR(C=50.0, gamma=0.3, nu=0.1))
names = ("SVR: the tube is given", "NuSVR: half may be outside", "NuSVR: a tenth may be outside")
for ax, model, name in zip(axes, models, names, strict=True):
    model.fit(X, y)
    epsilon = getattr(model, "epsilon_", None) or model.epsilon
    outside = np.abs(y - model.predict(X)) > epsilon
    print(f"{name}: epsilon {epsilon:.1f}, {outside.mean():.0%} outside, {len(model.support_)} support vectors")
    print(model.certificate_)
    middle, raw = model.predict(line), line[:, 0] * x.std() + x.mean()
    ax.fill_between(raw, middle - epsilon, middle + epsilon, color=BLUE, alpha=0.18)
    ax.plot(raw, middle, color=BLUE, lw=3)
    ax.plot(x[~outside, 0], y[~outside], ".", color=INK, ms=5, alpha=0.5)
    ax.plot(x[outside, 0], y[outside], ".", color=RED, ms=7)
    ax.set(title=f"{name}\nε = {epsilon:.1f}, outside: {outside.mean():.0%}", xlabel="body mass index")
axes[0].set_ylabel("progress of the disease after a year")
plt.show()
