"""
How a linear SVM knows when to stop
===================================

Every check during a fit computes two numbers: the primal objective at the current weights, and the dual objective at
the current coefficients. The optimum lies between them, whatever the solver does next. Here two solvers close the gap
on the same data: coordinate descent pass by pass, and Newton's method step by step.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer import LinearSVC

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for ax, loss in zip(axes, ("squared_hinge", "hinge"), strict=True):
    for solver, marker, colour in (("dual_cd", "o", "#0072B2"), ("newton", "s", "#D55E00")):
        seen = []
        model = LinearSVC(loss=loss, solver=solver, tol=1e-8, max_iter=-1, callbacks=[seen.append]).fit(X, y)
        steps = [point.iterations for point in seen]
        gaps = [max(point.violation, 1e-16) for point in seen]
        ax.plot(steps, gaps, marker=marker, markersize=4, color=colour, label=solver)
    ax.axhline(1e-4, color="0.6", linewidth=1, linestyle="--")
    ax.set(
        xscale="symlog", yscale="log", xlim=(0, None), xlabel="passes, or Newton steps", title=loss.replace("_", " ")
    )
axes[0].set_ylabel("relative duality gap")
axes[0].annotate("where a fit stops by default", (0.1, 2e-5), color="0.4", fontsize=9)
axes[1].legend(title="solver", frameon=False)

# %%
# The certificate is computed afterwards from the data and the coefficients alone:
print(model.certificate_)
plt.show()
