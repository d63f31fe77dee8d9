"""
The polynomial that was learnt
==============================

A model with a polynomial kernel keeps support vectors and never writes its polynomial down. But it is a polynomial in
the original columns, and `mercer.as_polynomial` computes its coefficients, so that you can read what was learnt.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import mercer
from mercer.kernels import Polynomial
from mercer.plot import DecisionBoundaryDisplay

# %%
# A known rule, read back
# -----------------------
# Points are labelled by the classifier "is 3a + 2b + a² + 3ab >= 2.6?". A hard margin in the features of degree 2 has
# to find it. A decision function has an arbitrary scale, so it is divided by the coefficient of a².

rng = np.random.default_rng(0)
points = rng.uniform(-3, 3, size=(2000, 2))
a, b = points.T
height = 3 * a + 2 * b + a**2 + 3 * a * b - 2.6
points, labels = points[np.abs(height) > 0.05], np.where(height[np.abs(height) > 0.05] > 0, "above", "below")
machine = mercer.HardMarginSVC(Polynomial(degree=2, gamma=1.0, coef0=1.0)).fit(points, labels == "above")
found = mercer.as_polynomial(machine, names=["a", "b"])
print(found)
learnt = found.as_dict()
print("divided:", {name: round(value / learnt["a²"], 2) for name, value in learnt.items()})

# %%
# Versicolor and virginica
# ------------------------
# Two columns of the iris data, in centimetres, with names to use in the rule.

iris = load_iris()
petals, species = iris.data[50:, 2:], iris.target_names[iris.target[50:]]
model = mercer.SVC(kernel=Polynomial(degree=2, gamma=0.5, coef0=1.0), C=10.0).fit(petals, species)
polynomial = mercer.as_polynomial(model, names=["length", "width"])
print(polynomial)

figure, (left, right) = plt.subplots(1, 2, figsize=(12.5, 5.2), layout="constrained")
DecisionBoundaryDisplay.from_estimator(model, petals, species, xlabel="petal length", ylabel="petal width", ax=left)
left.set_title(polynomial.sentence(digits=2), fontsize=10)

# %%
# One flower, monomial by monomial
# --------------------------------
# For each item, every monomial has a value, and they add up to the decision value.

flower = petals[20]
explanation = mercer.explain(model, flower)
print(explanation)
shares = [polynomial.coefficients[0, k] * np.prod(flower[list(power)]) for k, power in enumerate(polynomial.powers)]
colours = np.where(np.array(shares) > 0, "#E69F00", "#0072B2")
right.barh(polynomial.names, shares, color=colours, hatch="//", edgecolor="white")
right.axvline(0.0, color="black", linewidth=1)
right.invert_yaxis()
right.set(
    xlabel="contribution to the decision value",
    title=f"A flower of {flower[0]} by {flower[1]} cm, f = {explanation.decision[0]:.2f}",
)
left.plot(*flower, "*", color="black", markersize=16)
plt.show()
