"""An extra may add formats; it never changes a model: what is trained without pyarrow is what is trained with it."""

import json
import os
import subprocess
import sys

import pytest

from mercer import load
from mercer.exchange.model_file.container import read_model_file
from mercer.kernels import Encoded, Linear, Matern
from tests.exchange.model_file import forging

# Each argument is a command; "base" cannot import what only extras bring.
RUN = """
import json, sys
extras, commands = sys.argv[1], json.loads(sys.argv[2])

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ("pyarrow", "pandas", "polars", "duckdb", "matplotlib", "onnx"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if extras == "base":
    sys.meta_path.insert(0, Missing())
from mercer.cli import run
for command in commands:
    code = run(command)
    assert code == 0, (command, code)
"""
TABLES = {
    "numbers.csv": "a,b,c,y\n"
    + "".join(f"{k % 7},{k % 5 + 0.25},{(k * k) % 11},{'uv'[k % 7 > 3]}\n" for k in range(60)),
    "signs.csv": "a,b,y\n"
    + "".join(f"{'+-'[k % 2]}{k % 9},{k % 4}e1,{k % 9 * (1 - k % 2 * 2)}.5\n" for k in range(60)),
    "mixed.csv": "n,when,word,note,y\n"
    + "".join(
        f"{'' if k % 13 == 0 else k % 7},2024-01-{k % 28 + 1:02d},{'xyz'[k % 3]},the {k % 5} of {k % 4} sails,{k % 3}\n"
        for k in range(60)
    ),
    "prices.csv": "area;price;share;sold;town;y\n"
    + "".join(
        f"{40 + k % 13},{k % 10};€ {1 + k % 3}.{100 + 7 * k % 900},50;{k % 9},5 %;{1 + k % 28}.{1 + k % 12}.2023;"
        f"{('Köln', 'Ulm', 'NA')[k % 3]};{200 + 3 * (k % 13)},{k % 7}\n"
        for k in range(60)
    ),
    "rows.jsonl": "".join(
        json.dumps({"n": k % 7, "ok": k % 2 == 0, "code": "A" if k % 3 else 5, "y": "uv"[k % 7 > 3]}) + "\n"
        for k in range(60)
    ),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folders of two installs: a model of each table, and what it predicts."""
    folders = {extras: tmp_path_factory.mktemp(extras) for extras in ("base", "full")}
    commands = []
    for name, content in TABLES.items():
        model = name.replace(".", "-") + ".mercer"
        commands.append(["train", name, "--target", "y", "--n-jobs", "1", "--output", model])
        commands.append(["predict", model, name, "--interval", "0.8", "--output", model + ".csv"])
        for folder in folders.values():
            (folder / name).write_text(content)
    # A folder is learnt block by block.
    for folder in folders.values():
        (folder / "parts").mkdir()
        for part in ("one.csv", "two.csv"):
            (folder / "parts" / part).write_text(TABLES["mixed.csv"])
    commands.append(["train", "parts", "--target", "y", "--n-jobs", "1", "--output", "parts.mercer"])
    commands.append(["predict", "parts.mercer", "parts", "--interval", "0.8", "--output", "parts.mercer.csv"])
    for extras, folder in folders.items():
        subprocess.run(
            [sys.executable, "-c", RUN, extras, json.dumps(commands)],
            cwd=folder, env={**os.environ, "SOURCE_DATE_EPOCH": "1"}, check=True, capture_output=True,
        )  # fmt: skip
    return folders


def content(path):
    """What a model file holds, to the bit, but for how long the fit took."""
    manifest, arrays = read_model_file(path)
    for place in list(forging.places(manifest)):
        if place[-1] == "seconds":
            manifest = forging.changed(manifest, place, 0.0)
    return manifest, {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


@pytest.mark.parametrize("name", [*TABLES, "parts"])
def test_models_and_predictions_are_the_same_to_the_bit(name, trained):
    model = name.replace(".", "-") + ".mercer"
    assert content(trained["base"] / model) == content(trained["full"] / model)
    base, full = ((trained[extras] / f"{model}.csv").read_bytes() for extras in ("base", "full"))
    assert base == full


def test_rows_of_numbers_are_compared_by_one_kernel_of_all_columns(trained):
    """And not by a mean of one for each column, which is another model, and slower."""
    model = load(trained["base"] / "numbers-csv.mercer")
    assert (type(model).__name__, model.kernel) == ("SVC", "auto")
    assert isinstance(model.kernel_, Encoded)
    assert list(model.kernel_.columns) == model.feature_names_in_.tolist() == ["a", "b", "c"]
    jointly, plane = model.kernel_.kernel.kernels
    assert jointly == Matern(nu=0.5)
    assert isinstance(plane.kernel, Linear)
