"""Python, the command and the Studio choose one kernel for one table."""

import numpy as np
import pytest

import mercer
from mercer.cli import run
from mercer.cli.demo.data import write_graphs, write_texts, write_trees
from mercer.io import read_table
from mercer.kernels import Encoded, Linear
from mercer.report import final_estimator
from mercer.studio.server.worker import Job
from mercer.studio.views import opening, training


def _table(columns, n, *, text=False):
    rng = np.random.default_rng(columns)
    names = [f"x{k}" for k in range(columns)] + (["town"] if text else [])
    lines = [",".join([*names, "kind"])]
    for k in range(n):
        town = [["Ulm", "Bonn"][k % 3 > 0]] if text else []
        lines.append(",".join([*(f"{v:.3f}" for v in rng.normal(k % 2, 1.0, columns)), *town, "ab"[k % 2]]))
    return "\n".join(lines)


TABLES = {"more rows than columns": (3, 40, False), "more columns than rows": (30, 20, False), "mixed": (2, 30, True)}


def _by_python(path, target=None):
    data = read_table(path, target=target)
    return mercer.SVC(kernel="auto").fit(data.data, data.target).kernel_


def _by_command(path, folder, *options):
    assert run(["train", str(path), *options, "--holdout", "0", "--output", str(folder / "m.mercer"), "--json"]) == 0
    machine = final_estimator(mercer.load(folder / "m.mercer"))
    return getattr(machine, "kernel_", machine.kernel)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_gets_one_kernel_wherever_it_is_learnt_from(name, tmp_path):
    columns, n, text = TABLES[name]
    path = tmp_path / "t.csv"
    path.write_text(_table(columns, n, text=text))
    chosen = _by_python(path, "kind")
    assert isinstance(chosen, Encoded)
    assert (chosen.kernel == Linear()) == (columns >= n)
    assert _by_command(path, tmp_path, "--target", "kind") == chosen
    job = Job({"files": {"key": ("t.csv", path.read_bytes())}})
    list(opening.open_data({"file": "key"}, job))
    list(training.train({"target": "kind"}, job))
    # Of fewer rows, since some are held out: the relevances are others.
    assert final_estimator(job.memory["model"]).kernel_.columns == chosen.columns


def _few_words(path):
    path.write_text("".join(f"{k % 2} {2 + k % 2}:1 {10 + k}:1 1500:1\n" for k in range(40)))


@pytest.mark.parametrize(
    ("name", "write", "chosen"),
    [
        ("notes", lambda path: write_texts(path, 10), "Spectrum"),
        ("s.trees", lambda path: write_trees(path, 20), "SubsetTree"),
        ("rings", lambda path: write_graphs(path, 20), "WeisfeilerLehman"),
        ("words.svm", _few_words, "linear"),
    ],
)
def test_items_and_vectors_get_the_kernel_of_the_command_in_python_too(name, write, chosen, tmp_path):
    write(tmp_path / name)
    found = _by_python(tmp_path / name)
    assert chosen in repr(found)
    assert _by_command(tmp_path / name, tmp_path) == found
