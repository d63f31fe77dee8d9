"""Small data in files, and a way to call the command as a shell would."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer.cli import run
from tests.io.databases.conftest import postgres  # noqa: F401 - one server for all tests of a process


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """iris.csv (numbers), crossings.csv (a mixed table), prices.csv (a quantity)."""
    folder = tmp_path_factory.mktemp("files")
    bunch = load_iris()
    species = bunch.target_names[bunch.target]
    rows = [[*row, name] for row, name in zip(bunch.data.tolist(), species, strict=True)]
    _write(folder / "iris.csv", ["sl", "sw", "pl", "pw", "species"], rows)
    rng = np.random.default_rng(3)
    winds = rng.uniform(0, 20, 120)
    towns = rng.choice(["Ulm", "Bonn", "Kiel"], 120)
    notes = ["fog and a heavy swell" if w > 10 else "sun on a quiet sea" for w in winds]
    late = ["yes" if w + 4 * (t == "Kiel") + rng.normal() > 11 else "no" for w, t in zip(winds, towns, strict=True)]
    rows = [["" if k % 17 == 0 else f"{w:.2f}", t, n, v]
            for k, (w, t, n, v) in enumerate(zip(winds, towns, notes, late, strict=True))]  # fmt: skip
    _write(folder / "crossings.csv", ["wind", "town", "note", "late"], rows)
    x = rng.uniform(-2, 2, (120, 2))
    _write(folder / "prices.csv", ["a", "b", "price"],
           [[f"{a:.4f}", f"{b:.4f}", f"{100 + 30 * np.sin(a) + 10 * b:.3f}"] for a, b in x])  # fmt: skip
    return folder


def _write(path, names, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@pytest.fixture
def mercer(capsys, monkeypatch, tmp_path):
    """Call the command in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # without a width sentences are whole lines

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return int(code), printed.out, printed.err

    return call


@pytest.fixture
def answer(mercer):
    """The JSON that a command prints, where it ends well."""

    def call(*arguments, code=0):
        found, out, err = mercer(*arguments, "--json")
        assert found == code, err
        return json.loads(out)

    return call
