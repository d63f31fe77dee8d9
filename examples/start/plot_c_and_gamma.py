"""
What C and gamma do
===================

C is the price of violating the margin; gamma is how quickly the influence of a row fades with distance. Together they
decide between a boundary that sees only the large shape and one that follows every point.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC
from mercer.plot import DecisionBoundaryDisplay

X, y = make_moons(n_samples=120, noise=0.25, random_state=3)

# %%
# From top to bottom, C grows, and fewer rows are allowed inside the margin. From left to right, gamma grows, and each
# row has influence over a shorter distance. At the lower right almost every row has a region of its own, which would
# not survive new data.

fig, panels = plt.subplots(3, 3, figsize=(10, 9.5), layout="constrained", sharex=True, sharey=True)
for row, C in zip(panels, (0.3, 10.0, 300.0), strict=True):
    for ax, gamma in zip(row, (0.1, 1.0, 10.0), strict=True):
        model = SVC(C=C, gamma=gamma).fit(X, y)
        DecisionBoundaryDisplay.from_estimator(model, X, y, resolution=150, ax=ax, legend=False, xlabel=" ", ylabel=" ")
        certificate = model.certificate_
        ax.set_title(
            f"C = {C:g}, gamma = {gamma:g}\n{certificate.n_free} free, {certificate.n_bounded} bounded",
            fontsize="medium",
        )
plt.show()

# %%
# How well each was solved
# ------------------------
# However hard the setting, the gap says how far the answer is from the best one. A tighter
# tolerance gives a smaller gap.

print("     C   gamma   status     primal       gap")
for C in (0.3, 10.0, 300.0):
    for gamma in (0.1, 1.0, 10.0):
        model = SVC(C=C, gamma=gamma, tol=1e-6).fit(X, y)
        certificate = model.certificate_
        print(f"{C:6g}  {gamma:6g}   {model.status_.name:8} {certificate.primal:9.4f}   {certificate.gap:.1e}")
