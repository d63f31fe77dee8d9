"""Linear SGD against scikit-learn's, an epoch of each: the same problem, the same number of visits.

Both minimise lambda/2 |w|^2 + mean hinge without a bias. The minimum of the turns counts.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from benchmarks.harness.protocol import Timing, alternate, open_workers, surviving
from benchmarks.harness.report import seconds, table
from benchmarks.sets.data import BUNDLED, NO_FOLDER, data_folder, load

SETS = ("spambase", "higgs11k", "mnist2", "made:100000", "a9a", "w8a", "rcv1_small")
EPOCHS = 5
LAMBDA = 1e-4
GOAL = 1.5


@dataclass(frozen=True)
class LinearContestant:
    """An SGD to race; `C` is lambda and `gamma` whether the mean of the iterates is wanted."""

    name: str
    module: str
    dtype: str = "float64"

    def prepare(self, X):
        """X in double precision, the form of both."""
        return X.astype(self.dtype) if hasattr(X, "toarray") else np.ascontiguousarray(X, dtype=self.dtype)

    def estimator(self, C, gamma, **parameters):
        """Unfitted, for EPOCHS epochs."""
        if self.name == "mercer":
            kind = import_module(self.module).PegasosSVC
            return kind(alpha=C, average=bool(gamma), epochs=EPOCHS, bias="none", **parameters)
        kind = import_module(self.module).SGDClassifier
        return kind(
            loss="hinge", alpha=C, average=bool(gamma), max_iter=EPOCHS, tol=None, fit_intercept=False, random_state=0
        )


CONTESTANTS = (LinearContestant("mercer", "mercer"), LinearContestant("sklearn", "sklearn.linear_model"))


@dataclass(frozen=True)
class Lap:
    """One row: who took how long, and how good it was."""

    data: str
    n: int
    d: int
    form: str
    averaged: bool
    times: dict[str, Timing]
    objectives: dict[str, float]
    errors: dict[str, float]

    @property
    def ratio(self):
        """Their time over ours."""
        return self.times["sklearn"].best / self.times["mercer"].best


def objective(X, signs, w, lam):
    """lambda/2 |w|^2 + mean hinge, in double precision.

    Examples
    --------
    >>> objective(np.array([[1.0], [2.0]]), np.array([1.0, -1.0]), np.array([0.5]), 1.0)
    1.375
    """
    margins = signs * np.asarray(X @ w, dtype=np.float64)
    return float(0.5 * lam * (w @ w) + np.maximum(0.0, 1.0 - margins).mean())


def run_laps(name, options):
    """Fits of one set in turns: with the mean of the iterates, then with the last one."""
    data = load(name)
    if len(np.unique(data.y)) != 2:
        raise ValueError(f"the pegasos race takes two classes, {name} has {len(np.unique(data.y))}")
    with ExitStack() as stack:
        workers = open_workers(stack, CONTESTANTS, name)
        return [_lap(data, averaged, workers, options) for averaged in (True, False)]


def _lap(data, averaged, workers, options):
    arguments = (LAMBDA, float(averaged))
    surviving(workers, lambda worker: worker.warm_up(*arguments))
    times = alternate(
        {one: (lambda worker=worker: worker.fit(*arguments, 3)) for one, worker in workers.items()},
        max(3, options.repeats),
        options.cap,
    )
    surviving(workers, lambda worker: worker.predict())
    weights = surviving(workers, lambda worker: worker.weights())
    errors = surviving(workers, lambda worker: worker.error())
    X, signs = CONTESTANTS[0].prepare(data.X), np.where(data.y == data.y.max(), 1.0, -1.0)
    objectives = {one: objective(X, signs, w, LAMBDA) for one, w in weights.items()}
    form = "CSR" if hasattr(data.X, "toarray") else "dense"
    return Lap(data.name, *data.X.shape, form, averaged, times, objectives, errors)


def pegasos_race(options):
    """Every set, the mean of the iterates and the last one."""
    if data_folder() is None and not options.sets:
        print(NO_FOLDER)
    names = options.sets or (SETS if data_folder() is not None else (BUNDLED[1], "made:100000"))
    laps = []
    for name in names:
        laps += run_laps(name, options)
        print(f"{name}: {laps[-2].ratio:.2f} (mean), {laps[-1].ratio:.2f} (last)", flush=True)
    _print(laps)
    return [vars(lap) | {"times": {k: v.seconds for k, v in lap.times.items()}} for lap in laps]


def _print(laps):
    names = [contestant.name for contestant in CONTESTANTS]
    headings = ["data", "n", "d", "form", "answer", *(f"{name} s/epoch" for name in names), "ratio"]
    headings += [f"{name} objective" for name in names] + [f"{name} error %" for name in names]
    rows = []
    for lap in laps:
        times = [seconds(lap.times[name].best / EPOCHS) for name in names]
        values = [f"{lap.objectives[name]:.5g}" for name in names] + [f"{100 * lap.errors[name]:.2f}" for name in names]
        answer = "mean" if lap.averaged else "last"
        rows.append((lap.data, lap.n, lap.d, lap.form, answer, *times, f"{lap.ratio:.2f}", *values))
    print(table(headings, rows))
    ratios = [lap.ratio for lap in laps]
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"ratio: geometric mean {mean:.2f}, least {min(ratios):.2f} (goal: at least {GOAL} on every row)")
