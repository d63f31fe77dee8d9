"""
Which columns count
===================

``kernel="auto"`` puts all columns of a table on one scale, compares them jointly and one by one, and learns from rows
left out how much each column counts. The flats here are made up: the rent depends on the area and the town together,
heating matters only in old houses, and the number of the flat says nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mercer import SVR
from mercer.kernels import Columns, describe_columns

# %%
# The flats
# ---------

rng = np.random.default_rng(7)
n = 500
flats = pd.DataFrame(
    {
        "area": rng.gamma(6.0, 12.0, n).round(),
        "built": rng.integers(1900, 2020, n),
        "heating": rng.choice(["oil", "gas", "heat pump"], n),
        "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "number": rng.integers(1, 60, n),
    }
)
price = flats["town"].map({"Ulm": 9.0, "Bonn": 14.0, "Kiel": 11.0})
cold = (flats["built"] < 1960) & (flats["heating"] == "oil")
rent = (price * flats["area"] * np.where(cold, 0.8, 1.0) + rng.normal(0.0, 40.0, n)).to_numpy()
learn, held = slice(0, 350), slice(350, None)

# %%
# What it takes, and why
# ----------------------

model = SVR(kernel="auto", C="auto", epsilon=10.0).fit(flats[learn], rent[learn])
print(model.kernel_reason_)
for column, line in describe_columns(model.kernel_).items():
    print(f"{column}: {line}")

# %%
# Jointly, or each column by itself
# ---------------------------------
#
# A kernel for each column, added up, cannot see that a square metre costs more in Bonn.

additive = SVR(kernel=Columns.infer(flats[learn]), C="auto", epsilon=10.0).fit(flats[learn], rent[learn])
scores = {"each by itself": additive.score(flats[held], rent[held]), "auto": model.score(flats[held], rent[held])}
print(scores)

shares = dict(zip(model.kernel_.columns, [np.sum(each) for each in model.kernel_.relevance.values()], strict=True))
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.barh(list(shares), np.array(list(shares.values())) / sum(shares.values()), color="#0072B2")
left.invert_yaxis()
left.set(title="Share of the distance", xlabel="share")
right.bar(list(scores), list(scores.values()), color=["#999999", "#E69F00"])
right.set(title="R² on rows held out", ylim=(0.5, 1.0))
plt.show()
