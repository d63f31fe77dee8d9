"""
Ridge regression, with leave-one-out for free
=============================================

We predict the progression of diabetes from a few measurements of 442 patients. A single fit gives the error of 442
models, each trained without one of the patients.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from mercer import KernelLeastSquares, KernelRidge

X, y = load_diabetes(return_X_y=True)
X = StandardScaler().fit_transform(X)
alphas = np.logspace(-3, 3, 40)

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for gamma, colour in ((0.1, "#D55E00"), (0.02, "#0072B2"), (0.004, "#009E73")):
    model = KernelRidge(alphas=alphas, kernel="rbf", gamma=gamma, leave_one_out=True).fit(X, y - y.mean())
    ax.semilogx(alphas, np.sqrt(model.alpha_errors_), color=colour, label=f"gamma = {gamma}")
    ax.plot(model.alpha_, np.sqrt(model.loo_.mean_squared_error), "o", color=colour)
    print(f"gamma {gamma}: alpha {model.alpha_:.3g}, leave-one-out error {model.loo_.mean_squared_error**0.5:.2f}")
    print(model.certificate_)
ax.axhline(y.std(), color="0.5", linestyle="dotted", label="the mean")
ax.set(xlabel="penalty alpha", ylabel="leave-one-out error", ylim=(50, 90))
ax.legend(frameon=False)
plt.show()

# %%
# Without a penalty
# -----------------
# With one measurement, the body mass index, this is least squares in more and more dimensions of the same features. The
# cutoff of the eigenvalues acts like a penalty, in steps, and the rank counts the dimensions.

bmi, order = X[:, [2]], np.linspace(-2.5, 3.5, 300)[:, None]
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.plot(bmi, y, ".", color="0.75")
for rcond, colour in ((1e-2, "#0072B2"), (1e-5, "#009E73"), (1e-9, "#D55E00")):
    model = KernelLeastSquares(kernel="rbf", gamma=0.5, rcond=rcond).fit(bmi, y)
    ax.plot(order, model.predict(order), color=colour, label=f"rank {model.rank_}")
ax.set(xlabel="body mass index, standardised", ylabel="progression", ylim=(0, 400))
ax.legend(frameon=False)
plt.show()
