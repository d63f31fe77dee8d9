"""
Tubes: given, and found
=======================

Support vector regression ignores errors inside a tube. You give `SVR` the width of the tube; you give `NuSVR` the
fraction of points that may be outside, and it finds the width. The data are the diabetes patients that come with
scikit-learn: the progression of the disease against the body mass index.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from mercer import SVR, NuSVR
from mercer.plot import TubeDisplay

data = load_diabetes(scaled=False)
X, y = data.data[:, [2]], data.target

# %%
# Only points on the border of the tube (circles) or outside it (diamonds) are support vectors. The certificate of each
# fit says how far it can be from the optimum.

figure, axes = plt.subplots(1, 3, figsize=(12, 5.6), sharey=True, layout="constrained")
kernel = {"C": 50.0, "gamma": 0.015}
models = (SVR(epsilon=30.0, **kernel), NuSVR(nu=0.5, **kernel), NuSVR(nu=0.1, **kernel))
names = ("SVR: the tube is given", "NuSVR: half may be outside", "NuSVR: a tenth may be outside")
for ax, model, name in zip(axes, models, names, strict=True):
    labels = {"xlabel": "body mass index", "ylabel": "progress"}
    display = TubeDisplay.from_estimator(model.fit(X, y), X, y, ax=ax, legend=ax is axes[1], **labels)
    ax.label_outer()
    outside = np.abs(display.residuals) > display.epsilon
    ax.set_title(f"{name}\nε = {display.epsilon:.1f}, outside: {outside.mean():.0%}")
    print(f"{name}: epsilon {display.epsilon:.1f}, {outside.mean():.0%} outside, {len(model.support_)} support vectors")
    print(model.certificate_)
plt.show()
