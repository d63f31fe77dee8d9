"""
Trains with cars: learning from linked rows
===========================================

With a few exceptions, a train is eastbound if it has a car that is both short and closed. The table of trains does not
contain this: it is in the linked rows of another table, and in no single column of those. Three kernels on the same
database see it to different degrees.
"""

import re
import sqlite3

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

import mercer
from mercer.io import SQLiteDatabase
from mercer.kernels import Columns, Delta, Link, Record

BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#999999"

# %%
# The railway
# -----------
# Each train has two to five cars. The foreign key is declared, so the link will be found.

rng = np.random.default_rng(7)
connection = sqlite3.connect(":memory:")
connection.executescript("""
    CREATE TABLE train (id INTEGER PRIMARY KEY);
    CREATE TABLE car (train INTEGER REFERENCES train, length TEXT, roof TEXT, load TEXT);
""")
eastbound = []
for train in range(120):
    count = rng.integers(2, 6)
    cars = list(zip(rng.choice(["short", "long"], count), rng.choice(["closed", "open"], count, p=[0.35, 0.65]),
                    rng.choice(["coal", "milk", "iron"], count), strict=True))  # fmt: skip
    connection.execute("INSERT INTO train VALUES (?)", [train])
    connection.executemany(f"INSERT INTO car VALUES ({train}, ?, ?, ?)", [tuple(map(str, car)) for car in cars])  # noqa: S608
    follows = any(length == "short" and roof == "closed" for length, roof, _ in cars)
    eastbound.append(int(follows != (rng.random() < 0.06)))
database, keys = SQLiteDatabase(connection), np.arange(120)
y = np.array(eastbound)
print(database.schema["car"].foreign_keys[0])

# %%
# Three kernels of the cars
# -------------------------
# A sum over columns counts how many cars are short and how many are closed, but not how many are both. A product of
# columns compares whole cars, loads included. The square of a sum compares cars by pairs of columns.

each = {"length": Delta(), "roof": Delta(), "load": Delta()}
kernels = {
    "columns added": Columns(each),
    "columns multiplied": Columns(each, combine="product"),
    "pairs of columns": Columns(each) ** 2,
}
records = {
    name: Record("train", columns={}, links=[Link("car", columns=columns, how="sum")], database=database)
    for name, columns in kernels.items()
}
scores = {name: cross_val_score(mercer.SVC(kernel=k, C=10.0), keys, y, cv=10).mean() for name, k in records.items()}
print({name: f"{score:.0%}" for name, score in scores.items()})

# %%
# What was learnt
# ---------------
# The features of these kernels can be listed: here, kinds of cars. The weight of each is what one car of its kind adds
# to the decision value of a train, and ``explain`` names those that a train has.

kernel = records["columns multiplied"]
model = mercer.SVC(kernel=kernel, C=10.0).fit(keys, y)
east = int(keys[y == 1][0])
print(f"train {east}:", mercer.explain(model, east).by_feature.top(2))
weights = model.dual_coef_[0] @ kernel.feature_map(keys)[model.support_]
names = [re.sub(r"\w+: ", "", name).replace(" & ", ", ") for name in kernel.feature_names(keys)]
kinds = {name: weight for name, weight in zip(names, weights, strict=True) if weight and name != "constant"}
kinds = dict(sorted(kinds.items(), key=lambda kind: kind[1]))
is_rule = ["short, closed" in name for name in kinds]

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), width_ratios=[1, 1.2], layout="constrained")
axes[0].barh(list(scores), list(scores.values()), color=[GREY, BLUE, GREY], height=0.6)
axes[0].bar_label(axes[0].containers[0], [f"{score:.0%}" for score in scores.values()], padding=3)
axes[0].set(xlim=(0.4, 1.08), xlabel="accuracy, ten folds", title="one database, three kernels of its cars")
axes[0].invert_yaxis()
axes[1].barh(list(kinds), list(kinds.values()), color=[ORANGE if rule else BLUE for rule in is_rule], height=0.7)
axes[1].axvline(0.0, color="black", linewidth=0.8)
axes[1].set(xlabel="weight in the decision value", title="kinds of cars; those of the rule in orange")
for axis in axes:
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
