"""
Is a probability of 80 % right 80 % of the time?
================================================

For a reliability curve, test rows are sorted into ten bins by their predicted probability, and each bin shows how many
of them actually belong to that class. An honest model lies on the diagonal; the bands show what could be chance. The
decision values of a support vector machine are not probabilities, even squeezed between 0 and 1. A sigmoid or a step
function, learnt from rows left out, turns them into probabilities. The rows are the 1,797 digits that come with
scikit-learn, reduced to the mean ink in each of four quarters, so that whether a digit is odd can often only be
guessed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelLogisticRegression
from mercer.plot import CalibrationDisplay

digits = load_digits()
quarters = digits.images.reshape(-1, 2, 4, 2, 4).mean(axis=(2, 4)).reshape(-1, 4)
X, y = StandardScaler().fit_transform(quarters), digits.target % 2
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, stratify=y, random_state=0)
values = SVC().fit(X_train, y_train).decision_function(X_test)
models = {
    "SVC, sigmoid": SVC(probability=True),
    "SVC, isotonic": SVC(probability="isotonic"),
    "KernelLogisticRegression": KernelLogisticRegression(),
}
given = {"SVC, squeezed": np.clip(0.5 + values / (2 * np.abs(values).max()), 0, 1)}
given |= {name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()}
for name, p in given.items():
    print(f"{name}: log loss {log_loss(y_test, p):.3f}, right {np.mean((p > 0.5) == y_test):.1%}")

# %%
# All four
# --------

CalibrationDisplay.from_predictions(y_test, given)
plt.show()

# %%
# One of them, with bins of equally many rows
# -------------------------------------------

CalibrationDisplay.from_estimator(models["SVC, sigmoid"], X_test, y_test, strategy="quantile", n_bins=15)
plt.show()
