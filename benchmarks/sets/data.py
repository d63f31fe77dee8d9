"""The data of the races: training rows, held-out rows, and three (C, gamma) for each set.

The files are looked for in the folder named by MERCER_DATA, else in `shared/data` beside
the repository. Without either, the sets that scikit-learn carries are raced instead.
A name may end in `:N`, which keeps N training rows drawn at random: `spambase:1000`.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn import datasets

from benchmarks.sets.made import noisy_disc

ROOT = Path(__file__).resolve().parents[2]
SEED = 20
HELD_OUT_ROWS = 20_000

# Three settings each, from soft to C = 100; gamma suits the scaling done below.
SETTINGS = {
    "spambase": [(1, 0.02), (10, 0.02), (100, 0.01)],
    "higgs11k": [(1, 0.03), (10, 0.03), (100, 0.01)],
    "letter": [(1, 1), (16, 4), (100, 1)],
    "shuttle": [(1, 1), (10, 1), (100, 1)],
    "ijcnn1": [(1, 2), (32, 2), (100, 0.5)],
    "mnist2": [(1, 0.02), (10, 0.02), (100, 0.005)],
    "mnist10": [(1, 0.02), (10, 0.02), (100, 0.005)],
    "w8a": [(1, 0.05), (10, 0.05), (100, 0.05)],
    "a9a": [(1, 2**-5), (10, 2**-7), (100, 2**-7)],
    "rcv1_small": [(1, 0.5), (10, 0.5), (100, 0.5)],
    "digits": [(1, 0.05), (10, 0.02), (100, 0.02)],
    "breast_cancer": [(1, 0.03), (10, 0.01), (100, 0.003)],
    "made": [(1, 0.5), (10, 0.2), (100, 0.2)],
}
BUNDLED = ("digits", "breast_cancer")
# Two classes of 10^5 rows and more: `load_large`, for growth curves only.
LARGE = ("donors", "celeba")
# Text with far more columns than rows: raced by linear contestants, by others only when named.
LINEAR = ("rcv1_small",)
NO_FOLDER = (
    "The races' data were not found: set MERCER_DATA to their folder. "
    "Racing on the sets that scikit-learn carries: " + ", ".join(BUNDLED) + "."
)


@dataclass(frozen=True)
class DataSet:
    """Rows to learn from and rows held out; X is a dense float32 array or float32 CSR."""

    name: str
    X: object
    y: np.ndarray
    X_test: object
    y_test: np.ndarray


def data_folder():
    """The folder of the data files, or None when there is none."""
    chosen = os.environ.get("MERCER_DATA")
    if chosen and not Path(chosen).is_dir():
        raise FileNotFoundError(f"MERCER_DATA must name a folder, got {chosen!r}")
    folder = Path(chosen) if chosen else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def race_names():
    """Names of the sets that can be raced here."""
    if data_folder() is None:
        return list(BUNDLED)
    return [name for name in SETTINGS if name not in (*BUNDLED, *LINEAR, "made")]


def base_name(name):
    """The name without `:N`."""
    return name.partition(":")[0]


def load(name):
    """The set called `name`; `name:N` keeps N training rows, `made:N` makes N."""
    base, _, rows = name.partition(":")
    if base not in LOADERS:
        raise ValueError(f"data set must be one of {', '.join(LOADERS)}, got {base!r}")
    if base == "made":
        return _made(int(rows or 2000))
    data = LOADERS[base](base)
    return _subset(data, int(rows), name) if rows else data


def load_large(name, rows):
    """(X, y) of donors or celeba: `rows` of them, drawn at random, columns of mean 0 and deviation 1."""
    with np.load(_path("large", f"{name}.npz")) as file:
        X, y = file["X"], file["y"]
    if rows > len(y):
        raise ValueError(f"{name} has {len(y)} rows, got {rows}")
    kept = np.random.default_rng(SEED).permutation(len(y))[:rows]
    data = _standardised(DataSet(name, X[kept].astype(np.float64), y[kept], X[:1].astype(np.float64), y[:1]))
    return data.X, np.where(data.y > 0, 1, -1)


def _subset(data, rows, name):
    if rows > len(data.y):
        raise ValueError(f"{data.name} has {len(data.y)} training rows, got {name!r}")
    # At random, never by a stride: ijcnn1 is a series with a period of ten.
    kept = np.random.default_rng(SEED).permutation(len(data.y))[:rows]
    return replace(data, name=name, X=data.X[kept], y=data.y[kept])


def _path(*parts):
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(NO_FOLDER)
    return folder.joinpath(*parts)


def _standardised(data):
    """Columns of mean 0 and deviation 1, both measured on the training rows."""
    mean = data.X.mean(axis=0, dtype=np.float64)
    deviation = data.X.std(axis=0, dtype=np.float64)
    deviation[deviation == 0] = 1.0
    scaled = [np.ascontiguousarray((X - mean) / deviation, dtype=np.float32) for X in (data.X, data.X_test)]
    return replace(data, X=scaled[0], X_test=scaled[1])


def _split(name, X, y, share=0.2):
    order = np.random.default_rng(SEED).permutation(len(y))
    test, train = np.split(order, [round(share * len(y))])
    return DataSet(name, X[train], y[train], X[test], y[test])


def _in_one_file(name, share=0.2):
    with np.load(_path("vectors", f"{name}.npz")) as file:
        return _standardised(_split(name, file["X"], file["y"], share))


def _shuttle(name):
    # A quarter held out, as published; the time (column 0) stays in, as is usual.
    return _in_one_file(name, share=0.25)


def _in_two_parts(name):
    """Sets with a published test part, scaled in the file already (letter, ijcnn1)."""
    with np.load(_path("vectors", f"{name}.npz")) as file:
        X_test, y_test = _held_out(file["X_test"], file["y_test"], HELD_OUT_ROWS)
        return DataSet(name, file["X_train"], file["y_train"], X_test, y_test)


def _held_out(X, y, rows):
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(y))[:rows])
    return X[drawn], y[drawn]


def _mnist(name):
    with np.load(_path("vectors", "mnist.npz")) as file:
        X, y = file["X_train"][:20_000], file["y_train"][:20_000]
        X_test, y_test = _held_out(file["X_test"], file["y_test"], 5000)
    if name == "mnist2":
        y, y_test = y % 2, y_test % 2
    return DataSet(name, _grey(X), y, _grey(X_test), y_test)


def _grey(pixels):
    return pixels.reshape(len(pixels), -1).astype(np.float32) / np.float32(255)


def _svmlight(name, n_features):
    X, y = datasets.load_svmlight_file(str(_path("sparse", f"{name}.svm.gz")), n_features=n_features, dtype=np.float32)
    # scikit-learn reads 64-bit indices, which half of its own estimators refuse.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def _a9a(name):
    X, y = _svmlight(name, 123)
    return DataSet(name, X, y, *_svmlight(f"{name}.t", 123))


def _w8a(name):
    return _split(name, *_svmlight(name, 300))


def _rcv1_small(name):
    X, y = _svmlight(name, 47_236)
    return DataSet(name, X, y, *_svmlight(f"{name}.t", 47_236))


def _bundled(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        return _split(name, (X / 16).astype(np.float32), y)
    return _standardised(_split(name, X, y))


def _made(rows):
    X, y = noisy_disc(rows, seed=SEED)
    return DataSet(f"made:{rows}", X, y, *noisy_disc(2000, seed=SEED + 1))


LOADERS = {
    "spambase": _in_one_file,
    "higgs11k": _in_one_file,
    "letter": _in_two_parts,
    "shuttle": _shuttle,
    "ijcnn1": _in_two_parts,
    "mnist2": _mnist,
    "mnist10": _mnist,
    "w8a": _w8a,
    "a9a": _a9a,
    "rcv1_small": _rcv1_small,
    "digits": _bundled,
    "breast_cancer": _bundled,
    "made": _made,
}
