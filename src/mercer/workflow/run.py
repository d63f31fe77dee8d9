"""From data to a model that is fitted, saved, scored and described: the steps of a run, each of which may be the last.

Whatever presents a run, on a terminal or a page, takes the steps and shows what `Run.record` says; it watches a fit
by passing `Run.fit` a callback.
"""

from collections.abc import Callable, Iterator, Sequence
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
from mercer.report.model_words import before_the_machine, columns_of, final_estimator
from mercer.report.record import Record, bounds_of
from mercer.report.scores import advice, score
from mercer.selection.preflight.leaks import leaks
from mercer.workflow.assemble import Assembly, chosen_words
from mercer.workflow.clock import timed
from mercer.workflow.hold_out import hold_out

# Given the machine and the number of its rows: a context that lasts as long as the fit, and yields the callback that
# the machine is to call meanwhile, or None.
Watch = Callable[[Any, int], AbstractContextManager[Callable[[Any], bool] | None]]
# The watcher of the fit of a fold, by its number.
FoldWatch = Callable[[int], Watch]
HOLDOUT = 0.2


class Run:
    """One run: hold out, fit, save, score, report.

    `data` are as they were read, and may have columns that the `assembly` does not learn from, for people to look at.
    `holdout` is the share of the rows that are scored on and not learnt from, `seed` decides which, and `seconds` says
    how long earlier steps took. `learnt` and `held` are the positions of the rows on either side, `model` is what was
    fitted, `record` what there is to say about it so far, `predicted` its predictions for the held-out rows.
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
        if len(self.held):
            self._conform()
        self.record = Record.of_model(_title(self.data), self.model, self.data, found.task, len(y))
        self.record.data["columns"] = columns_of(self.model) or self.record.data["columns"]
        self.record.notes = [*found.notes, *chosen_words(final_estimator(self.model))]
        self.record.seconds = self.seconds

    def _fitted(self, X: Any, y: NDArray[Any], watch: Watch | None) -> Any:
        estimator = self.assembly.estimator
        with watched(final_estimator(estimator), len(y), watch):
            return estimator.fit(X, y)

    def _conform(self) -> None:
        """Keep what prediction sets and intervals need: the held-out rows are at hand, and no step has seen them."""
        X, y = self.rows(self.held)
        final_estimator(self.model).conform(before_the_machine(self.model, X), y)

    @property
    def status(self) -> str:
        """How the fit ended."""
        return str(self.record.model["status"])

    @property
    def said(self) -> Sequence[str]:
        """What there was to say before the fit."""
        return self.assembly.notes

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

    def score(self, folds: int | None = None, watch: FoldWatch | None = None) -> None:
        """Score on the held-out rows, or by folds, each watched by what `watch` returns; and compute the bounds."""
        task = self.assembly.task
        with timed(self.seconds, "score"):
            if folds is not None:
                predicted, each, areas = cross_validated(self.assembly, folds, self.seed, watch)
                found = score(task, self.assembly.y, predicted)
                found |= {} if areas is None else {"area_under_curve": areas}
                self.record.scores = {**found, "how": f"in {folds}-fold cross-validation", "folds": each}
            elif len(self.held):
                X, y = self.rows(self.held)
                self.predicted = predicted = self.model.predict(X)
                found = score(task, y, predicted, values=decision_values(self.model, X, task))
                self.record.scores = {**found, "how": "held out"}
            told = advice(self.record.scores, final_estimator(self.model))
            self.record.notes = [*self._leaks(), *self.record.notes, *told]
            self.record.bounds, self.record.no_bounds = bounds_of(self.model, *self.rows(self.learnt))

    def _leaks(self) -> list[str]:
        """Columns that give the target away: the score alone would merely look good."""
        if self.data.kind != "table":
            return []
        found = leaks(*self.rows(self.learnt), is_quantity=self.assembly.task == "regression")
        return [f"{each.message} (--drop)" for each in found]

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
    """Let the machine call its watcher while it is fitted; a model is data, and keeps no watcher."""
    with nullcontext() if watch is None else watch(machine, rows) as callback:
        if callback is None:
            yield
            return
        machine.set_params(callbacks=[callback])
        try:
            yield
        finally:
            machine.set_params(callbacks=None)


def cross_validated(
    assembly: Assembly, folds: int, seed: int, watch: FoldWatch | None = None
) -> tuple[NDArray[Any], list[float], float | None]:
    """(prediction of every row by a model that had not seen it, the score of each fold, mean area under the curve)."""
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= folds <= len(assembly.y):
        raise ParameterError(f"folds must be from 2 to the number of rows, {len(assembly.y)}, got {folds}")
    is_classes = assembly.task == "classification"
    least = np.unique(assembly.y, return_counts=True)[1].min() if is_classes else 0
    kind = StratifiedKFold if least >= folds else KFold
    predicted, scores, areas = np.empty(len(assembly.y), dtype=assembly.y.dtype), [], []
    parts = kind(folds, shuffle=True, random_state=seed).split(assembly.y, assembly.y)
    for fold, (learnt, held) in enumerate(parts):
        model = clone(assembly.estimator)
        with watched(final_estimator(model), len(learnt), None if watch is None else watch(fold)):
            model.fit(taken(assembly.X, learnt), assembly.y[learnt])
        X, y = taken(assembly.X, held), assembly.y[held]
        predicted[held] = model.predict(X)
        found = score(assembly.task, y, predicted[held], values=decision_values(model, X, assembly.task))
        scores.append(found["accuracy"] if is_classes else found["r2"])
        areas.append(found.get("area_under_curve"))
    return predicted, scores, None if None in areas else float(np.mean(np.array(areas, dtype=float)))


def decision_values(model: Any, X: Any, task: str) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """(classes, decision values) for the area under the curve; None if a model has none that can be ranked."""
    if task != "classification" or not hasattr(model, "decision_function"):
        return None
    values, classes = model.decision_function(X), final_estimator(model).classes_
    return (classes, values) if values.ndim == 1 or values.shape[1] == len(classes) else None


def machine_and_rows(estimator: Any, X: Any) -> tuple[Any, Any]:
    """(the machine alone, rows in the form it takes: scaled, and such that they can be chosen by position)."""
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
        raise DataError(
            f"there are only {n} rows, too few to hold any out; with a holdout of 0, all of them are learnt from"
        )
    return hold_out(assembly.y, share, seed, assembly.task == "classification")


def _title(data: Dataset) -> str:
    name = Path(data.name).name
    return f"{data.target_name}, from {name}" if data.target_name else name
