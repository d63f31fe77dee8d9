"""The tables of the panel: data frames, texts and targets as somebody would have them.

Files are those of the races' data folder (`benchmarks.sets.data`); without it there are the tables that scikit-learn
carries. A third of the tables, drawn by lot from their names in order, is kept for the last run: no rule was
chosen by looking at them.
"""

import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from benchmarks.sets.data import data_folder

# Decides which tables are kept for the last run, and which rows are held out.
LOT = 21
# Rows of a table, at most: a forest or a boosting of so many takes seconds.
MOST_ROWS = 6_250
HELD_OUT = 0.2


@dataclass(frozen=True)
class Table:
    """A table with its target, divided."""

    name: str
    task: str  # "classification" or "regression"
    is_text: bool
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


def _bundled(name: str) -> Any:
    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.data, found.target.to_numpy()


def _vectors(path: Path) -> Any:
    with np.load(path) as file:
        parts = [("X", "y")] if "X" in file else [("X_train", "y_train"), ("X_test", "y_test")]
        X = np.concatenate([file[x].astype(np.float64) for x, _ in parts])
        y = np.concatenate([file[y] for _, y in parts])
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]), y


def _csv(path: Path, target: str, drop: tuple[str, ...] = ()) -> Any:
    frame = pd.read_csv(path).dropna(subset=[target])
    return frame.drop(columns=[target, *drop]), frame[target].to_numpy()


def _texts(path: Path, text: str, label: str) -> Any:
    with lzma.open(path, "rt", encoding="utf8") as file:
        rows = [json.loads(line) for line in file]
    return [row[text] for row in rows], np.array([str(row[label]) for row in rows])


BUNDLED = dict.fromkeys(("iris", "wine", "breast_cancer", "digits"), "classification") | {"diabetes": "regression"}
VECTORS = ("australian", "diabetes_scale", "german_numer", "heart_scale", "higgs11k", "ijcnn1", "ionosphere", "letter",
           "satimage", "shuttle", "sonar", "spambase", "splice_libsvm", "svmguide1", "vehicle")  # fmt: skip
REGRESSION = ("abalone_scale", "airfoil", "boston", "california_housing", "concrete", "cpusmall", "energy", "mg_scale")
# What would give the answer away is left out: the tip is a part of the total.
CSV = {
    "german": ("credit", (), "classification"),
    "penguins": ("species", (), "classification"),
    "titanic": ("survived", (), "classification"),
    "taxis": ("tip", ("total",), "regression"),
    "diamonds": ("price", (), "regression"),
    "mpg": ("mpg", (), "regression"),
}
# By name: file, and the keys of text and label in it.
TEXTS = {
    "movie_reviews": ("text/movie_reviews.jsonl.xz", "text", "label"),
    "20newsgroups": ("text/20newsgroups_bydate.jsonl.xz", "text", "group"),
    "trec_questions": ("trees/trec_qc.jsonl.xz", "question", "coarse"),
}


def _sources() -> dict[str, tuple[str, bool, Callable[[], Any]]]:
    """By name: (task, whether texts, how to read it)."""
    found: dict[str, Any] = {name: (task, False, lambda n=name: _bundled(n)) for name, task in BUNDLED.items()}
    folder = data_folder()
    if folder is None:
        return found
    for name in VECTORS:
        found[f"{name}"] = ("classification", False, lambda n=name: _vectors(folder / "vectors" / f"{n}.npz"))
    for name in REGRESSION:
        found[f"{name}"] = ("regression", False, lambda n=name: _vectors(folder / "regression" / f"{n}.npz"))
    for name, (target, drop, task) in CSV.items():
        path = folder / "tables" / f"{name}.csv"
        found[name] = (task, False, lambda p=path, t=target, d=drop: _csv(p, t, d))
    for name, (path, text, label) in TEXTS.items():
        found[name] = ("classification", True, lambda p=folder / path, t=text, k=label: _texts(p, t, k))
    return found


def names() -> list[str]:
    """All tables that there are here."""
    return sorted(_sources())


def kept_aside() -> list[str]:
    """The third that is drawn for the last run only."""
    every = names()
    drawn = np.random.default_rng(LOT).permutation(len(every))[: len(every) // 3]
    return [every[k] for k in np.sort(drawn)]


def load(name: str, most: int = MOST_ROWS, seed: int = LOT) -> Table:
    """A table by name, its rows drawn by lot where there are more than `most`."""
    task, is_text, read = _sources()[name]
    X, y = read()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))[:most]
    held = max(1, round(HELD_OUT * len(order)))
    learn, test = order[held:], order[:held]
    take = (lambda rows: [X[k] for k in rows]) if is_text else (lambda rows: X.iloc[rows].reset_index(drop=True))
    return Table(name, task, is_text, take(learn), y[learn], take(test), y[test])
