"""
Fisher's discriminant, with and without a kernel
================================================

Fisher's discriminant finds the directions along which the classes lie furthest apart, relative to the scatter within
each. Three classes have two such directions, which can be plotted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelFisherDiscriminant

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73"])


def draw(ax, model, train, train_labels, test, test_labels, title):
    """Training rows as dots, test rows as crosses, along the two directions."""
    model.fit(train, train_labels)
    ax.scatter(*model.transform(train).T, c=COLOURS[train_labels], s=12, alpha=0.5)
    ax.scatter(*model.transform(test).T, c=COLOURS[test_labels], s=40, marker="x")
    ax.plot(*model.means_.T, "k+", markersize=14)
    ax.set(title=f"{title}: {model.score(test, test_labels):.0%} of the test rows", xlabel="first", ylabel="second")


X, y = load_digits(return_X_y=True)
chosen = np.isin(y, [3, 5, 8])
X, y = X[chosen] / 16.0, np.searchsorted([3, 5, 8], y[chosen])
parts = train_test_split(X, y, test_size=0.4, random_state=0)
data = (parts[0], parts[2], parts[1], parts[3])
fig, axes = plt.subplots(1, 2, figsize=(9.0, 4.2), layout="constrained")
draw(axes[0], KernelFisherDiscriminant(kernel="linear"), *data, "linear")
draw(axes[1], KernelFisherDiscriminant(gamma=0.05), *data, "Gaussian")
fig.suptitle("The digits 3, 5 and 8; dots are training rows, crosses test rows")
plt.show()

# %%
# Compared with a support vector machine
# --------------------------------------
# This is the wine data, for a range of widths. Both do well, and the discriminant also shows where a bottle lies.

X, y = load_wine(return_X_y=True)
train, test, train_labels, test_labels = train_test_split(X, y, test_size=0.5, random_state=0)
scaler = StandardScaler().fit(train)
train, test = scaler.transform(train), scaler.transform(test)
gammas = np.logspace(-3.5, 0.5, 15)
fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
for name, kind, colour in (("Fisher", KernelFisherDiscriminant, "#0072B2"), ("SVC", SVC, "#D55E00")):
    ax.semilogx(gammas, [kind(gamma=g).fit(train, train_labels).score(test, test_labels) for g in gammas], "o-",
                color=colour, label=name)  # fmt: skip
ax.set(xlabel="gamma", ylabel="accuracy on test rows")
ax.legend(frameon=False)
plt.show()
