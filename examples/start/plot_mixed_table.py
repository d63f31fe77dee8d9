"""
A table as it comes
===================

Numbers, categories, dates and missing values, all in one kernel: ``Columns.infer`` looks at the table and chooses
a kernel for each column. The shop here is made up. Its customers come back if they were served in spring or
autumn, unless they live far away; in one town they always do; and those who give no age never do.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

import mercer
from mercer.kernels import RBF, Columns

BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#999999"

# %%
# The shop
# --------

rng = np.random.default_rng(3)
n = 300
table = pd.DataFrame(
    {
        "distance": rng.gamma(2.0, 10.0, n).round(1),
        "age": rng.integers(18, 80, n).astype(float),
        "town": rng.choice(["Ulm", "Bonn", "Kiel", "Trier"], n),
        "served": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1400, n), unit="D"),
    }
)
table.loc[rng.random(n) < 0.15, "age"] = np.nan
season = np.cos(4 * np.pi * table["served"].dt.day_of_year / 365.25)
wish = -1.5 * season - 0.05 * (table["distance"] - 20) + 2.5 * (table["town"] == "Trier") - 2.5 * table["age"].isna()
returns = (wish + rng.normal(0.0, 0.6, n) > 0).astype(int)
print(table.head())

# %%
# Three kernels
# -------------
# Numbers alone; everything as ``infer`` finds it; and everything, with dates by their place in the year.

numbers = Columns({"distance": RBF(), "age": RBF()}, standardize=True, combine="mean")
inferred = Columns.infer(table)
seasons = Columns.infer(table, cyclic=["year"])
print(seasons.kernels)
# Twice a year: the kernel on the circle must be narrow enough to tell spring from summer.
seasons = seasons.replace(**{"served in year": seasons.kernels["served in year"].replace(kernel__gamma=4.0)})
names = ["numbers only", "inferred", "inferred,\nwith the year"]
scores = [cross_val_score(mercer.SVC(kernel=k, C=10.0), table, returns, cv=10) for k in (numbers, inferred, seasons)]

# %%
# Why this customer?
# ------------------
# ``explain`` divides a decision value among the columns. The kernel of one column gives a function of that column.
# Drawn for all rows, it shows what the model has learnt about the seasons, and about those who gave no age.

model = mercer.SVC(kernel=seasons, C=10.0).fit(table, returns)
explained = [mercer.explain(model, row) for row in table.to_dict("records")]
share = pd.DataFrame([e.by_term.as_dict() for e in explained])
print(explained[0])

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1, 1.25, 1.1], layout="constrained")
means = [score.mean() for score in scores]
axes[0].bar(names, means, color=[GREY, BLUE, ORANGE], width=0.6)
axes[0].bar_label(axes[0].containers[0], [f"{mean:.0%}" for mean in means])
guess = max(returns.mean(), 1 - returns.mean())
axes[0].axhline(guess, color="black", linestyle=":", linewidth=1, label="always the same answer")
axes[0].set(ylim=(0.4, 1.0), ylabel="accuracy, ten folds", title="more of the table, fewer errors")
axes[0].legend(frameon=False, loc="upper left", fontsize=8)

day = table["served"].dt.day_of_year
together = share["served in year"] + share["served"]
axes[1].scatter(day, together, c=np.where(returns == 1, ORANGE, BLUE), s=10, alpha=0.8)
axes[1].axhline(0.0, color="black", linewidth=0.6)
axes[1].set(xlabel="day of the year", title="what the date adds to the decision value")
axes[1].set_xticks([15, 105, 196, 288], ["January", "April", "July", "October"])

missing = table["age"].isna()
axes[2].scatter(table["age"][~missing], share["age"][~missing], color=BLUE, s=10, label="age given")
axes[2].axhline(share["age"][missing].mean(), color=ORANGE, label="no age given")
axes[2].axhline(0.0, color="black", linewidth=0.6)
axes[2].set(xlabel="age", title="what the age adds, or its absence")
axes[2].legend(frameon=False, loc="center right")
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
