"""The steps of `mercer train`, each of which may be the last."""

from pathlib import Path
from typing import Any

from mercer import save
from mercer.cli.fitting import assembled, cross_validated, model_path, quietly, split, timed
from mercer.cli.reading import read_labelled
from mercer.cli.terminal.options import DataOptions, FitOptions, MachineOptions
from mercer.cli.terminal.progress import shown_progress
from mercer.report.figures import Shown, taken
from mercer.report.html_page import write_page
from mercer.report.model_words import machine_of
from mercer.report.record import Record, bounds_of
from mercer.report.scores import score


class Training:
    """One run: read, assemble, fit, save, score, report."""

    def __init__(self, source: str, reading: DataOptions, machine: MachineOptions, fit: FitOptions) -> None:
        self.source, self.options, self.seconds = source, fit, {}
        self.is_saved = False
        with timed(self.seconds, "read"):
            self.data = read_labelled(source, reading, fit)
        self.assembly = assembled(self.data, machine, fit)

    def fit(self, holdout: float) -> None:
        """Fit to the rows that are not held out."""
        found = self.assembly
        self.learnt, self.held = split(found.y, found.task, holdout, self.options.seed)
        X, y = self._rows(self.learnt)
        with timed(self.seconds, "fit"), quietly():
            self.model = self._fitted(found.estimator, X, y)
        self.record = Record.of_model(_title(self.data), self.model, self.data, found.task, len(y))
        self.record.notes, self.record.seconds = list(found.notes), self.seconds

    def _fitted(self, estimator: Any, X: Any, y: Any) -> Any:
        """The estimator, fitted, while a bar shows how it goes."""
        with shown_progress(machine_of(estimator), len(y)):
            return estimator.fit(X, y)

    @property
    def status(self) -> str:
        """How the fit ended."""
        return self.record.model["status"]

    def _rows(self, places: Any) -> tuple[Any, Any]:
        if len(places) == len(self.assembly.y):
            return self.assembly.X, self.assembly.y
        return taken(self.assembly.X, places), self.assembly.y[places]

    def save(self, output: Path | None) -> None:
        """Write the model."""
        path = model_path(output, self.source)
        about = {"target": self.data.target_name, "task": self.assembly.task, "kind": self.data.kind,
                 "source": self.data.name, "notes": list(self.assembly.notes)}  # fmt: skip
        with timed(self.seconds, "save"):
            save(self.model, path, metadata=about)
        self.is_saved = True
        self.record.files["model"] = str(path)

    def score(self, folds: int | None) -> None:
        """Score on the rows held out, or by folds."""
        with timed(self.seconds, "score"):
            if folds is not None:
                predicted, each = cross_validated(self.assembly, folds, self.options.seed)
                found = score(self.assembly.task, self.assembly.y, predicted)
                self.record.scores = {**found, "how": f"in {folds}-fold cross-validation", "folds": each}
            elif len(self.held):
                X, y = self._rows(self.held)
                self.record.scores = {**score(self.assembly.task, y, self.model.predict(X)), "how": "held out"}
            self.record.bounds, self.record.no_bounds = bounds_of(self.model, *self._rows(self.learnt))

    def write_report(self, path: Path) -> None:
        """Write the page."""
        scored = self._rows(self.held) if len(self.held) else None
        data = self.data.rows(self.held) if len(self.held) else None
        self.record.files["report"] = str(path)
        write_page(path, self.record, Shown(self.model, self._rows(self.learnt), scored, data))


def _title(data: Any) -> str:
    name = Path(data.name).name
    return f"{data.target_name}, from {name}" if data.target_name else name
