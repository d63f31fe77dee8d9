"""
From a file to a decision
=========================

`read_table` reads a file of any supported format, and `assemble` builds a model for what is in it: here a table with a
number, a name, a remark, and missing values. Its kernel compares rows by the number and the name jointly, adds each of
them by itself, and adds the words of the remark. For each row, you can ask what the decision was based on. This is what
``mercer train`` does, in Python.
"""

import io

import matplotlib.pyplot as plt
import numpy as np

from mercer import explain
from mercer.io import read_table
from mercer.workflow.assemble import assemble, chosen_words

# %%
# A file of two hundred ferry crossings, which are late when the wind is strong, on one route more than on the other.
rng = np.random.default_rng(4)
wind = rng.gamma(4.0, 2.2, 200)
route = rng.choice(["Skerry", "Holm", "Strand"], 200)
rough = wind + rng.normal(0, 2, 200) > 9
remark = np.where(rough, "fog and a heavy swell", "sun on a quiet sea")
late = np.where(wind + 3 * (route == "Skerry") + 2 * rough + rng.normal(0, 1.5, 200) > 11, "yes", "no")
lines = [f"{'' if k % 15 == 0 else round(w, 1)},{r},{note},{y}" for k, (w, r, note, y) in
         enumerate(zip(wind, route, remark, late, strict=True))]  # fmt: skip
file = io.BytesIO("\n".join(["wind,route,remark,late", *lines]).encode())

# %%
data = read_table(file, target="late")
machine = assemble(data, C=3.0)
learnt, held = data.rows(np.arange(150)), data.rows(np.arange(150, 200))
model = machine.estimator.fit(learnt.data, learnt.target)
print(*chosen_words(model), sep="\n")
print(f"{model.score(held.data, held.target):.0%} of the rows held out are right; {model.status_.name}")

# %%
# Each decision is a sum over what the columns say jointly and what each says by itself. The rows are those held out,
# sorted by their decision value.
parts = [explain(model, held.rows(np.array([k])).data).by_term for k in range(len(held))]
values = np.array([part.values[0] for part in parts])
order = np.argsort(values.sum(axis=1))
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
above, below = np.zeros(len(held)), np.zeros(len(held))
colours = ("#56B4E9", "#0072B2", "#E69F00", "#009E73")
for name, column, colour in zip(parts[0].names, values[order].T, colours, strict=True):
    ax.bar(range(len(held)), column, bottom=np.where(column > 0, above, below), width=0.9, color=colour, label=name)
    above, below = above + np.maximum(column, 0), below + np.minimum(column, 0)
ax.plot(range(len(held)), values[order].sum(axis=1) + model.intercept_[0], color="#222222", label="decision value")
ax.plot(range(len(held)), np.where(held.target[order] == "yes", above + 0.15, below - 0.15), ".", color="#666666",
        label="truth: above is late")  # fmt: skip
ax.axhline(0, color="#222222", linewidth=0.8)
ax.set(xlabel="rows held out, by decision value", ylabel="contribution to “late”")
ax.legend(ncols=3, frameon=False, fontsize="small")
plt.show()
