"""Tables: columns of numbers, labels, dates and truth values, with values missing, for seeds from two million on.

A table is made of rows of numbers, so that targets have something to do with it. It is read by `kernel="auto"`, or by
an `Encoded` of random ways.
"""

import datetime as dt

import numpy as np
import pandas as pd

from mercer.kernels import RBF, Encoded, Linear, Matern, Scaled, Sum
from tests.campaign.kernel_draws import KernelDraw
from tests.campaign.rows import choose
from tests.oracles import exact_kernels as exact
from tests.oracles.exact_kernels import long_rows
from tests.oracles.exact_tables import encoded

FROM = 2_000_000
AUTO = ("SVC", "SVR", "NuSVC", "OneClassSVM")
MOST_COLUMNS = 8
# Values beyond which a fit keeps the ranks of some only.
MOST_KNOTS = 200
TOWNS = ("Ulm", "Bonn", "Kiel", "Jena", "Köln", "Trier", "", "Ulm ")
WAYS = {
    "number": ("number", "log", "rank", ("number", "rank"), ("number", "category")),
    "whole": ("number", "category", ("number", "category"), "rank"),
    "label": ("category",),
    "truth": ("category",),
    "date": ("number", ("number", "week"), ("week", "year"), "category"),
    "time": ("number", ("day", "number"), "day"),
}


def _values(rng, column, kind):
    """Plain values of one kind, made of numbers."""
    order = np.argsort(np.argsort(column)) / len(column)
    if kind == "number":
        return column.tolist()
    if kind == "whole":
        return [int(each) for each in np.floor(order * rng.integers(2, 9))]
    if kind == "label":
        towns = rng.permutation(TOWNS)[: rng.integers(1, len(TOWNS) + 1)]
        return [str(towns[int(each * len(towns))]) for each in order]
    if kind == "truth":
        return [bool(each) for each in order < rng.uniform()]
    days = np.floor(order * rng.choice([3, 40, 900]))
    if kind == "date":
        return [dt.date(2019, 12, 30) + dt.timedelta(int(each)) for each in days]
    start = dt.datetime.fromisoformat("1999-12-31")
    return [start + dt.timedelta(float(each)) for each in order * rng.choice([2.0, 50.0])]


def table(rng, data):
    """(training rows, new rows) as lists of dictionaries, and the kind of each column."""
    numbers = np.vstack([np.asarray(long_rows(part), float) for part in (data.X, data.new)])[:, :MOST_COLUMNS]
    kinds = {f"c{k}": choose(rng, number=3, whole=2, label=3, truth=1, date=1, time=1) for k in range(numbers.shape[1])}
    columns = {name: _values(rng, numbers[:, k], kind) for k, (name, kind) in enumerate(kinds.items())}
    for name, values in columns.items():
        if rng.random() < 0.3:
            gone = rng.random(len(values)) < rng.choice([0.02, 0.3, 0.9])
            columns[name] = [None if is_gone else value for is_gone, value in zip(gone, values, strict=True)]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows[: data.n], rows[data.n :], kinds


def as_given(rng, rows, new):
    """Both in one of the forms that a fit takes."""
    if rng.random() < 0.3:
        return rows, new
    return tuple(pd.DataFrame(part, columns=list(rows[0])) for part in (rows, new))


def kernel_of(rng, name, kinds):
    """What the estimator is given for its kernel."""
    if name in AUTO and rng.random() < 0.6:
        return "auto"
    columns = {column: WAYS[kind][rng.integers(len(WAYS[kind]))] for column, kind in kinds.items()}
    own = (Matern(nu=0.5), Matern(nu=1.5), RBF(0.7), Matern(nu=0.5) + 0.1 * Linear(), Linear())[rng.integers(5)]
    relevance = None
    if rng.random() < 0.5:
        counts = {column: 1 if isinstance(ways, str) else len(ways) for column, ways in columns.items()}
        relevance = {column: tuple(rng.uniform(0.0, 2.0, size=count).tolist()) for column, count in counts.items()}
    return Encoded(columns, own, relevance)


def _of_vectors(kernel):
    """(the oracle's kernel of vectors, its slope in the distance, the weight of its plane)."""
    if isinstance(kernel, Sum):
        first, second = map(_of_vectors, kernel.kernels)
        return first[0] + second[0], first[1] + second[1], first[2] + second[2]
    if isinstance(kernel, Scaled):
        own, slope, plane = _of_vectors(kernel.kernel)
        return own.scaled(float(kernel.factor)), kernel.factor * slope, kernel.factor * plane
    if isinstance(kernel, Linear):
        return exact.linear(), 0.0, 1.0
    if isinstance(kernel, RBF):
        return exact.rbf(float(kernel.gamma), 0), float(np.sqrt(2.0 * kernel.gamma)), 0.0
    return exact.matern(kernel.nu, kernel.length_scale, 0), float(np.sqrt(2.0 * kernel.nu)) / kernel.length_scale, 0.0


def resolved(kernel, rows, weights):
    """The oracle's kernel of the same meaning, measured on `rows`; None where it has none of its kind."""
    if not isinstance(kernel, Encoded) or any(
        way == "rank" and len({row[name] for row in rows}) > MOST_KNOTS for name, way in kernel.readings
    ):
        return None
    weights = np.ones(len(rows)) if weights is None else np.maximum(weights, 0.0)
    return KernelDraw({}, encoded(kernel.columns, kernel.relevance, _of_vectors(kernel.kernel), rows, weights))
