"""From data to a model that is fitted, saved, scored and described: steps of a run, each of which may be the last.

Whoever presents a run, on a terminal or a page, takes the steps and shows what `Run.record` says; it watches a fit
by handing `Run.fit` somebody to call.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.exchange.model_file.save import save
from mercer.io.dataset import Dataset
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.report.figures import Shown, taken
from mercer.report.html_page import write_page
from mercer.report.model_words import machine_of
from mercer.report.record import Record, bounds_of
from mercer.report.scores import score
from mercer.workflow.assemble import Assembly
from mercer.workflow.hold_out import hold_out

# Given the machine and the number of its rows: a context that lasts as long as the fit, and gives what the machine
# calls meanwhile, or None.
Watch = Callable[[Any, int], AbstractContextManager[Callable[[Any], bool] | None]]
HOLDOUT = 0.2


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how long something took."""
    begin = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - begin


class Run:
    """One run: hold out, fit, save, score, report.

    `holdout` is the share of the rows that are scored on and not learnt from, `seed` decides which, `seconds` says what
    the steps before took. `learnt` and `held` are the positions of the rows on either side, `model` is what was fitted,
    `record` what is to be said of it so far, `predicted` what it says of the rows held out, once scored.
    """

    def __init__(
        self, data: Dataset, assembly: Assembly, *, holdout: float = HOLDOUT, seed: int = 0,
        seconds: dict[str, float] | None = None
    ) -> None:  # fmt: skip
        self.data, self.assembly, self.seed = data, assembly, seed
        self.seconds = {} if seconds is None else seconds
        self.learnt, self.held = _parted(assembly, holdout, seed)
        self.is_saved = False
        self.predicted: NDArray[Any] | None = None
        self.model: Any = None
        self.record: Record

    def fit(self, watch: Watch | None = None) -> None:
        """Fit to the rows that are not held out."""
        found = self.assembly
        X, y = self.rows(self.learnt)
        with timed(self.seconds, "fit"):
            self.model = self._fitted(X, y, watch)
        self.record = Record.of_model(_title(self.data), self.model, self.data, found.task, len(y))
        self.record.notes, self.record.seconds = list(found.notes), self.seconds

    def _fitted(self, X: Any, y: NDArray[Any], watch: Watch | None) -> Any:
        estimator = self.assembly.estimator
        with watched(machine_of(estimator), len(y), watch):
            return estimator.fit(X, y)

    @property
    def status(self) -> str:
        """How the fit ended."""
        return str(self.record.model["status"])

    def rows(self, places: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """(X, y) at some positions, as the model takes them."""
        X, y = self.assembly.X, self.assembly.y
        return (X, y) if len(places) == len(y) else (taken(X, places), y[places])

    def save(self, path: Path) -> None:
        """Write the model."""
        about = {"target": self.data.target_name, "task": self.assembly.task, "kind": self.data.kind,
                 "source": self.data.name, "notes": list(self.assembly.notes)}  # fmt: skip
        with timed(self.seconds, "save"):
            save(self.model, path, metadata=about)
        self.is_saved = True
        self.record.files["model"] = str(path)

    def score(self, folds: int | None = None) -> None:
        """Score on the rows held out, or by folds; and ask the theory."""
        with timed(self.seconds, "score"):
            if folds is not None:
                predicted, each = cross_validated(self.assembly, folds, self.seed)
                found = score(self.assembly.task, self.assembly.y, predicted)
                self.record.scores = {**found, "how": f"in {folds}-fold cross-validation", "folds": each}
            elif len(self.held):
                X, y = self.rows(self.held)
                self.predicted = predicted = self.model.predict(X)
                self.record.scores = {**score(self.assembly.task, y, predicted), "how": "held out"}
            self.record.bounds, self.record.no_bounds = bounds_of(self.model, *self.rows(self.learnt))

    @property
    def shown(self) -> Shown:
        """What a page is drawn from."""
        learnt = self.rows(self.learnt)
        if not len(self.held):
            return Shown(self.model, learnt, None, None)
        return Shown(self.model, learnt, self.rows(self.held), self.data.rows(self.held))

    def write_report(self, path: Path) -> None:
        """Write the page."""
        self.record.files["report"] = str(path)
        write_page(path, self.record, self.shown)


@contextmanager
def watched(machine: Any, rows: int, watch: Watch | None) -> Iterator[None]:
    """Let the machine call who watches while it is fitted; a model is data, of which no watcher is a part."""
    with nullcontext() if watch is None else watch(machine, rows) as callback:
        if callback is None:
            yield
            return
        machine.set_params(callbacks=[callback])
        try:
            yield
        finally:
            machine.set_params(callbacks=None)


def cross_validated(assembly: Assembly, folds: int, seed: int) -> tuple[NDArray[Any], list[float]]:
    """(prediction of every row by a model that had not seen it, the score of each fold)."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= folds <= len(assembly.y):
        raise ParameterError(f"folds must be from 2 to the number of rows, {len(assembly.y)}, got {folds}")
    is_classes = assembly.task == "classification"
    least = np.unique(assembly.y, return_counts=True)[1].min() if is_classes else 0
    kind = StratifiedKFold if least >= folds else KFold
    predicted, scores = np.empty(len(assembly.y), dtype=assembly.y.dtype), []
    for learnt, held in kind(folds, shuffle=True, random_state=seed).split(assembly.y, assembly.y):
        model = clone(assembly.estimator).fit(taken(assembly.X, learnt), assembly.y[learnt])
        predicted[held] = model.predict(taken(assembly.X, held))
        found = score(assembly.task, assembly.y[held], predicted[held])
        scores.append(found["accuracy"] if is_classes else found["r2"])
    return predicted, scores


def machine_and_rows(estimator: Any, X: Any) -> tuple[Any, Any]:
    """(the machine alone, rows as it takes them: scaled, and such as can be chosen by position)."""
    *before, machine = [step for _, step in estimator.steps] if hasattr(estimator, "steps") else [estimator]
    for step in before:
        X = step.fit_transform(X)
    return machine, as_frame(X).rows() if is_data_frame(X) else X


def _parted(assembly: Assembly, share: float, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positions to learn from, and positions held out."""
    n = len(assembly.y)
    if not 0 <= share < 1:
        raise ParameterError(f"holdout must be at least 0 and below 1, got {share:g}")
    if not share:
        return np.arange(n), np.arange(0)
    if n < 4:
        raise DataError(f"there are only {n} rows: too few to hold some out; with a holdout of 0 all are learnt from")
    return hold_out(assembly.y, share, seed, assembly.task == "classification")


def _title(data: Dataset) -> str:
    name = Path(data.name).name
    return f"{data.target_name}, from {name}" if data.target_name else name
