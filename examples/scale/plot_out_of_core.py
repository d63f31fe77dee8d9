"""
Rows that do not fit into memory
================================

A folder of Parquet files is read block by block, as often as a linear model needs. The result is the same as from all
rows at once, with the same proof.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.pipeline import make_pipeline

from mercer import LinearCV, LinearSVC, TableFeatures
from mercer.io import Blocks

# %%
# Twenty files of a synthetic table: numbers on different scales, labels, and missing values. The table is never in
# memory as a whole.

folder = tempfile.TemporaryDirectory()
path = Path(folder.name)
towns = np.array(["Ulm", "Bonn", "Kiel", "Jena"])
for k in range(20):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(5000, 6))
    town = rng.integers(4, size=5000)
    score = X @ [1.0, -2.0, 0.5, 0.0, 1.0, 0.0] + 1.5 * (town == 2) + rng.normal(size=5000)
    columns = {f"x{j}": X[:, j] * 10.0**j for j in range(6)}
    columns["x0"] = np.where(rng.random(5000) < 0.05, np.nan, columns["x0"])
    table = pa.table({**columns, "town": towns[town], "late": np.where(score > 0, "yes", "no")})
    parquet.write_table(table, path / f"part-{k:02d}.parquet", row_group_size=2500)

blocks = Blocks(path, target="late", block_rows=5000)
print(blocks, blocks.names)

# %%
# The first pass finds means, deviations, labels and missing values; the fit takes a few more passes, and is certified.

begin = time.perf_counter()
model = make_pipeline(TableFeatures(), LinearSVC(loss="hinge", C=0.01, memory_limit="2GiB")).fit(blocks)
machine = model[-1]
print(f"{machine.status_} after {machine.n_passes_} passes, {time.perf_counter() - begin:.1f} s, gap "
      f"{machine.certificate_.relative_gap:.1e}, {100 * model.score(blocks):.1f} % right")  # fmt: skip

# %%
# How the gap closes pass by pass, and the weight of each column.

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.0), layout="constrained")
gaps = [point.violation for point in machine.trace_]
left.semilogy(np.arange(1, len(gaps) + 1), gaps, "o-", color="#0072B2")
left.axhline(machine.tol, color="black", linewidth=0.8, linestyle="--", label="tol")
left.set_xlabel("step")
left.set_ylabel("relative duality gap")
left.set_title("One pass over the files per step")
left.legend()
names = model[0].get_feature_names_out()
right.barh(names[::-1], machine.coef_[0][::-1], color="#E69F00")
right.axvline(0.0, color="black", linewidth=0.8)
right.set_title("Weights of the features")
plt.show()

# %%
# The strength of the penalty is chosen by cross-validation: the models of all folds are solved in the same passes.

features = model[0].transform(blocks)
search = LinearCV(LinearSVC(loss="hinge"), Cs=[1e-6, 1e-5, 1e-4, 1e-3, 1e-2], cv=5).fit(features)
means, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
fig, ax = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
ax.errorbar(search.cv_results_["param_C"], 100 * means, 100 * spread, fmt="o-", color="#009E73", capsize=3)
ax.set_xscale("log")
ax.set_xlabel("C")
ax.set_ylabel("accuracy in five folds, %")
ax.set_title(f"{search.n_passes_} passes for {5 * 5} fits and the last")
plt.show()

folder.cleanup()
