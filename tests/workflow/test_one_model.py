"""One model, whatever is installed: extras add formats and pictures, never another answer."""

import subprocess
import sys

import numpy as np

EXTRAS = (
    "pyarrow", "pandas", "polars", "matplotlib", "duckdb", "sqlalchemy", "psycopg", "pymysql", "python_calamine",
    "onnx", "starlette", "uvicorn", "websockets", "dask", "distributed", "networkx",
)  # fmt: skip
SCRIPT = """
import sys
hidden, data = sys.argv[1].split(",") if sys.argv[1] else [], sys.argv[2]
sys.modules.update(dict.fromkeys(hidden))
from mercer import read_table
from mercer.workflow.assemble import assemble
found = read_table(data, target="buys")
learnt = assemble(found, None)
model = learnt.estimator.fit(learnt.X, learnt.y)
print(found.columns, found.notes, learnt.task)
print(model.decision_function(learnt.X).tolist())
"""


def said_of(hidden, data):
    words = [sys.executable, "-c", SCRIPT, ",".join(hidden), str(data)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_base_install_and_the_full_one_learn_the_same_from_a_table(tmp_path):
    """Every kind of column, and numbers as people write them: all digits are equal."""
    draw = np.random.default_rng(3)
    lines = ["age;income;share;town;since;note;buys"]
    for _ in range(80):
        age, rich = int(draw.integers(20, 70)), draw.uniform(900, 4000)
        income = f"{rich:,.2f} €".translate(str.maketrans(",.", ".,")) if draw.random() < 0.9 else ""
        town, day = draw.choice(["Ulm", "Bonn", "NA"]), draw.integers(10, 28)
        note = " ".join(draw.choice(["fine", "late", "paid", "angry"], 3))
        buys = "yes" if age + rich / 100 + 8 * draw.standard_normal() > 68 else "no"
        lines.append(f"{age};{income};{draw.integers(1, 99)} %;{town};2021-05-{day};{note};{buys}")
    data = tmp_path / "people.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-16")
    full, base = said_of([], data), said_of(EXTRAS, data)
    assert full == base
    assert full.count(", ") > 80
