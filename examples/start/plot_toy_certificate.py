"""
Four points and a proof
=======================

The toy data set of Magdon-Ismail's notes is small enough to solve by hand: the widest
margin has w = (1, -1) and b = -1, and the dual variables are alpha = (1/2, 1/2, 1, 0).
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.plot import DecisionBoundaryDisplay

X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
y = np.array([-1, -1, 1, 1])

# %%
# Fit
# ---
# The points are separable and no alpha of the solution exceeds 1, so any larger C leaves it
# unchanged: nothing violates the margin, and the answer is that of the hard margin.

model = SVC(kernel="linear", C=10.0, tol=1e-8).fit(X, y)
alpha = np.zeros(len(X))
alpha[model.support_] = np.abs(model.dual_coef_[0])

print("w     =", model.coef_[0].round(6))
print("b     =", model.intercept_[0].round(6))
print("alpha =", alpha.round(6))

# %%
# The point (3, 0) has alpha = 0: remove it, and nothing changes. The other three lie on
# the dashed lines, at distance 1 / norm(w) from the boundary.

display = DecisionBoundaryDisplay.from_estimator(model, X, y, padding=0.4)
display.ax_.set_aspect("equal")
plt.show()

# %%
# The proof
# ---------
# Any w and b give an upper bound on the minimum of the primal, and any feasible alpha gives a
# lower bound. Here both are 1, so neither can be improved.

print(model.certificate_)

# %%
# The same by hand: half the squared norm of w, and the sum of alpha minus half of alpha'Q alpha.

Q = np.outer(y, y) * (X @ X.T)
print("primal:", round(0.5 * model.coef_[0] @ model.coef_[0], 6))
print("dual:  ", round(alpha.sum() - 0.5 * alpha @ Q @ alpha, 6))

# %%
# Watching the gap close
# ----------------------
# Any feasible alpha proves something. On the way from 0 to the solution the dual rises, and
# the primal of the corresponding w, at the best b, comes down to meet it.

shares = np.linspace(0.0, 1.0, 60)
dual, primal = [], []
for share in shares:
    part = share * alpha
    projections = X @ (X.T @ (y * part))
    biases = np.linspace(-3.0, 3.0, 601)[:, None]
    hinge = np.maximum(0.0, 1.0 - y * (projections + biases)).sum(axis=1)
    quadratic = part @ Q @ part
    dual.append(part.sum() - 0.5 * quadratic)
    primal.append(0.5 * quadratic + 2.0 * hinge.min())

fig, ax = plt.subplots(layout="constrained")
ax.fill_between(shares, dual, primal, color="0.9", label="gap")
ax.plot(shares, primal, color="#D55E00", label="primal, C = 2")
ax.plot(shares, dual, color="#0072B2", label="dual")
ax.set(xlabel="share of the way to the solution", ylabel="objective")
ax.legend(frameon=False)
plt.show()
