"""Data for the studio: files that were uploaded, and sets that are there without one."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mercer._errors import DataError
from mercer.io import Dataset, read_table

_ZIP = b"PK\x03\x04"
# Bytes of memory for what was uploaded, unpacked: more is a bomb, or not for a page.
MOST_UNPACKED = 512 * 2**20


def open_upload(name: str, body: bytes, target: str | None = None) -> Dataset:
    """What an uploaded file holds; its name helps to recognise it, and is never opened.

    Parameters
    ----------
    name : str
        As the browser says; only its ending matters.
    body : bytes
    target : str, optional
        The column to predict, of a table.
    """
    file = io.BytesIO(body)
    file.name = Path(name.replace("\\", "/")).name or "the file"
    # A zip is one of graphs, which carry their labels themselves.
    found = read_table(file, target=None if body.startswith(_ZIP) else target, memory_limit=MOST_UNPACKED)
    if len(found) == 0:
        raise DataError(f"{file.name}: the file has no rows")
    return found


def _of_sklearn(load: str) -> Callable[[], Dataset]:
    def make() -> Dataset:
        from sklearn import datasets

        bunch = getattr(datasets, load)()
        names = getattr(bunch, "target_names", None)
        target = bunch.target if names is None or load == "load_digits" else np.asarray(names)[bunch.target]
        columns = [str(column).replace(" (cm)", "") for column in bunch.feature_names]
        lines = [",".join([*columns, "target"])]
        lines += [
            ",".join([*map(repr, row), str(label)]) for row, label in zip(bunch.data.tolist(), target, strict=True)
        ]
        file = io.BytesIO("\n".join(lines).encode())
        file.name = f"{load[5:]}.csv"
        return read_table(file)

    return make


_SEA = "waves harbour tide sail crew deck anchor gulls storm fog lighthouse captain salt rope"
_KITCHEN = "oven butter salt onion knife pan soup garlic bread simmer spoon plate pepper dough"
_ABOUT = {"sea": _SEA.split(), "kitchen": _KITCHEN.split()}
_LINKS = "the a near and with under before after slowly again the old small warm cold our"


def _texts() -> Dataset:
    """Short notes about two things, with words that both have."""
    rng = np.random.default_rng(23)
    texts, labels = [], []
    for k in range(160):
        label = ("sea", "kitchen")[k % 2]
        own = rng.choice(_ABOUT[label], size=rng.integers(2, 5))
        others = rng.choice(_ABOUT[("kitchen", "sea")[k % 2]], size=rng.integers(0, 3))
        words = rng.permutation([*own, *others, *rng.choice(_LINKS.split(), size=6)])
        texts.append(" ".join(words))
        labels.append(label)
    return Dataset(texts, np.array(labels), "texts", "texts", "notes of sea and kitchen")


def _shapes() -> Dataset:
    """Small graphs: a ring with twigs, or a tree of as many nodes."""
    from mercer import Graph

    rng = np.random.default_rng(29)
    graphs, labels = [], []
    for k in range(120):
        n, has_ring = int(rng.integers(7, 14)), k % 2 == 0
        ring = int(rng.integers(4, 7)) if has_ring else 1
        edges = [(i, (i + 1) % ring) for i in range(ring)] if has_ring else []
        edges += [(int(rng.integers(0, i)), i) for i in range(ring, n)]
        graphs.append(Graph(edges, nodes=n).labeled("degree"))
        labels.append("ring" if has_ring else "tree")
    return Dataset(graphs, np.array(labels), "graphs", "graphs", "rings and trees")


SHIPPED: dict[str, tuple[str, str, Callable[[], Dataset]]] = {
    "iris": ("Iris", "150 flowers, 3 species", _of_sklearn("load_iris")),
    "wine": ("Wine", "178 wines, 3 growers", _of_sklearn("load_wine")),
    "cancer": ("Breast cancer", "569 samples, 2 classes", _of_sklearn("load_breast_cancer")),
    "digits": ("Digits", "1,797 images, 10 digits", _of_sklearn("load_digits")),
    "diabetes": ("Diabetes", "442 patients, a quantity", _of_sklearn("load_diabetes")),
    "texts": ("Notes", "160 short texts, 2 subjects", _texts),
    "graphs": ("Rings and trees", "120 graphs, 2 kinds", _shapes),
}


def open_shipped(key: str) -> Dataset:
    """A set that needs no file."""
    if key not in SHIPPED:
        raise DataError(f"there is no set named {key!r}; there are {', '.join(SHIPPED)}")
    return SHIPPED[key][2]()
