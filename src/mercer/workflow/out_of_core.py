"""A run over data that are read block by block: the same steps as `Run`, in bounded memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from mercer._errors import DataError, ParameterError
from mercer.estimators.linear.svc import LinearSVC
from mercer.estimators.linear.svr import LinearSVR
from mercer.estimators.low_rank.low_rank import LowRank
from mercer.estimators.out_of_core.first_pass import all_targets, first_pass
from mercer.estimators.out_of_core.table_features import TableFeatures
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.exchange.model_file.save import save
from mercer.io.blocks.blocks import Blocks
from mercer.io.blocks.choice import RowChoice
from mercer.report.figures import Shown
from mercer.report.html_page import write_page
from mercer.report.model_words import columns_of, describe_model, final_estimator, trace_of
from mercer.report.record import Record
from mercer.report.scores import advice, score
from mercer.selection.tuning.linear import LinearCV
from mercer.solvers.limits import Limits
from mercer.workflow.clock import timed
from mercer.workflow.run import HOLDOUT, FoldWatch, Watch, watched
from mercer.workflow.target import TASKS, task_of


class BlocksRun:
    """One run: hold out rows, look through the rest, fit, save, score.

    Parameters
    ----------
    blocks : Blocks
        With a target.
    name : str
        What the data are called.
    machine : dict
        C, task (by default decided by the target), scale, class_weight, n_jobs, time_limit and memory_limit.
    holdout : float
        Share of the rows, drawn at random, that are scored on and not learnt from.
    seed : int
    notes : list of str
        Notes to report besides those of the run itself.
    """

    def __init__(
        self, blocks: Blocks, name: str, machine: dict[str, Any], *, holdout: float = HOLDOUT, seed: int = 0,
        notes: Sequence[str] = ()
    ) -> None:  # fmt: skip
        self.blocks, self.name, self.options, self.said = blocks, name, machine, list(notes)
        self.held = blocks.chosen(RowChoice(holdout, seed)) if holdout else None
        self.learnt = blocks.chosen(RowChoice(holdout, seed, is_drawn=False)) if holdout else blocks
        self.seconds: dict[str, float] = {}
        self.is_saved = False
        self.model: Any = None
        self.task = ""
        self.record: Record

    def fit(self, watch: Watch | None = None) -> None:
        """Look through the rows that are not held out, and fit to them."""
        # Whether to expect classes is known only after the first look; both machines take the same limits.
        waiting = LinearSVC()
        with timed(self.seconds, "fit"), watched(waiting, self.learnt.n_rows, watch):
            callbacks = waiting.callbacks
            limits = Limits(time_limit=self.options["time_limit"], callbacks=callbacks or ())
            with limits.in_force():
                features, rows = self._features(limits)
                y, counts = self._target(rows, limits)
            machine, self.notes = self._machine(y, limits)
            machine.set_params(callbacks=callbacks)
            try:
                machine = self._fitted(machine, rows)
            finally:
                machine.set_params(callbacks=None, time_limit=self.options["time_limit"])
        steps = [("model", machine)] if features is None else [("features", features), ("model", machine)]
        self.model = Pipeline(steps)
        if self.held is not None:
            machine.conform(self.held if features is None else features.transform(self.held))
        self.notes = [*self.said, *self._about(machine, features), *self.notes]
        about = {
            "name": self.name, "format": "blocks", "kind": "table" if self.blocks.is_table else "vectors",
            "rows": self.blocks.n_rows, "columns": self.blocks.names, "target": self.blocks.target, "task": self.task,
            "learnt_from": self.learnt.n_rows, **counts,
        }  # fmt: skip
        title = f"{self.blocks.target}, from {Path(self.name).name}" if self.blocks.target else Path(self.name).name
        self.record = Record(title, about, describe_model(self.model), trace=trace_of(machine))
        self.record.notes, self.record.seconds = self.notes, self.seconds

    def _features(self, limits: Limits) -> tuple[TableFeatures | None, Blocks]:
        if not self.learnt.is_table:
            return None, self.learnt
        features = TableFeatures(scale=self.options["scale"])
        found = first_pass(self.learnt, self.options["n_jobs"], limits)
        features.learn(found.columns, found.blocks)
        return features, features.transform(found.blocks)

    def _target(self, rows: Blocks, limits: Limits) -> tuple[NDArray[Any], dict[str, Any]]:
        parts, _ = all_targets(rows, self.options["n_jobs"], limits.stop)
        y = np.concatenate(parts)
        self.task = self.options["task"] or task_of(y)
        if self.task not in TASKS:
            raise ParameterError(f"task must be one of {', '.join(TASKS)}, got {self.task!r}")
        if self.task == "regression":
            return y, {}
        labels, counts = np.unique(y, return_counts=True)
        return y, {"classes": dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True))}

    def _fitted(self, machine: Any, rows: Blocks) -> Any:
        if not self.options.get("Cs"):
            return machine.fit(rows)
        search = LinearCV(machine, list(self.options["Cs"]), cv=self.options["cv"]).fit(rows)
        best, score = search.best_params_["C"], search.best_score_
        self.notes.append(
            f"C={best:g} was chosen from {len(search.Cs)} values by {search.cv} folds, with a score of {score:.4f}"
        )
        return search.best_estimator_

    def _machine(self, y: NDArray[Any], limits: Limits) -> tuple[Any, list[str]]:
        left = self.options["time_limit"]
        shared = {
            "n_jobs": self.options["n_jobs"], "memory_limit": self.options["memory_limit"],
            "time_limit": None if left is None else max(left - limits.seconds, 1e-3),
        }  # fmt: skip
        C, machines = self.options["C"], cast("tuple[Any, Any]", (LinearSVC, LinearSVR))
        if self.options.get("kernel") not in (None, "linear"):
            machines = SVC, SVR
            shared["kernel"] = self.options["kernel"]
            shared["approximation"] = LowRank(self.options.get("landmarks") or LowRank.landmarks)
        if self.task == "classification":
            weight = self.options.get("class_weight")
            return machines[0](C=C, class_weight=weight, **shared), [
                f"{self._target_name} holds {len(np.unique(y))} classes"
            ]
        if self.options.get("class_weight"):
            raise ParameterError("--class-weight needs classes, and the target holds quantities")
        if y.dtype.kind not in "iuf":
            raise DataError(f"{self.name}: regression needs numbers, and the target holds texts such as {str(y[0])!r}")
        unit = float(np.std(y.astype(np.float64))) or 1.0
        return machines[1](C=C * unit, epsilon=0.1 * unit, **shared), [
            f"{self._target_name} holds quantities: regression",
            f"C and epsilon are in units of the target's standard deviation, {unit:.4g}",
        ]

    @property
    def _target_name(self) -> str:
        return "the target" if self.blocks.target is None else repr(self.blocks.target)

    def _about(self, machine: Any, features: TableFeatures | None) -> list[str]:
        read = machine.rows_read_ / max(1, self.learnt.n_rows)
        times = "once" if round(read, 1) == 1.0 else f"{read:.1f} times"
        # If no file was read here, the workers read them.
        who = f"for which the files were read {times}" if read else "by the workers of the cluster"
        passes = f"{machine.n_passes_} passes after the first look, {who}"
        found = [f"out of core: {len(self.blocks)} blocks; {passes}"]
        if features is not None:
            scaled = "scaled to mean 0 and standard deviation 1" if self.options["scale"] else "left unscaled"
            what = "a plane"
            if hasattr(machine, "approximation_"):
                what = f"{machine.expansion_.kernel!r} over {machine.approximation_.count} landmarks"
            found.append(f"{what}; numbers {scaled}, a feature for each label, missing values filled in and marked")
        return found

    @property
    def status(self) -> str:
        """How the fit ended."""
        return str(self.record.model["status"])

    def save(self, path: Path) -> None:
        """Write the model."""
        about = {"target": self.blocks.target, "task": self.task, "kind": self.record.data["kind"],
                 "source": self.name, "notes": self.notes}  # fmt: skip
        with timed(self.seconds, "save"):
            save(self.model, path, metadata=about)
        self.is_saved = True
        self.record.files["model"] = str(path)

    def score(self, folds: int | None = None, watch: FoldWatch | None = None) -> None:
        """Score on the rows held out."""
        if folds is not None:
            raise ParameterError("--cv needs data that are read all at once; out of core, use --holdout")
        with timed(self.seconds, "score"):
            if self.held is not None:
                self.record.scores = {**_scores(self.model, self.held, self.task), "how": "held out"}
                self.record.notes += advice(self.record.scores, final_estimator(self.model))
        self.record.no_bounds = "the bounds in mercer.theory need all rows at once"

    def write_report(self, path: Path) -> None:
        """Write the page, without the pictures that need rows."""
        self.record.files["report"] = str(path)
        write_page(path, self.record, Shown(self.model, None, None))


def evaluated(model: Any, blocks: Blocks, source: str, name: str) -> Record:
    """The scores of a model on blocks with targets."""
    is_classifier = hasattr(final_estimator(model), "classes_")
    task = "classification" if is_classifier else "regression"
    about = {
        "name": source, "format": "blocks", "kind": "table" if blocks.is_table else "vectors", "rows": blocks.n_rows,
        "columns": blocks.names, "target": blocks.target, "task": task, "learnt_from": None,
    }  # fmt: skip
    record = Record(f"{name} on {source}", about, describe_model(model), trace=trace_of(final_estimator(model)))
    with timed(record.seconds, "score"):
        record.scores = {**_scores(model, blocks, task), "how": f"in {source}"}
    return record


def _scores(model: Any, blocks: Blocks, task: str) -> dict[str, Any]:
    truth, predicted = [], []
    for i, each in enumerate(predictions(model, blocks)):
        truth.append(np.asarray(blocks.targets(i)[0]))
        predicted.append(each)
    y = np.concatenate(truth)
    classes = getattr(final_estimator(model), "classes_", None)
    y = y.astype(str) if classes is not None and classes.dtype.kind == "U" and y.dtype.kind != "U" else y
    return score(task, y, np.concatenate(predicted))


def predictions(model: Any, blocks: Blocks, method: str = "predict") -> Iterator[NDArray[Any]]:
    """A model's predictions for each block, as it is read; any model that takes the block's rows will do."""
    chosen = for_model(model, blocks)
    for i in range(len(chosen)):
        yield getattr(model, method)(chosen.block(i).rows)


def for_model(model: Any, blocks: Blocks) -> Blocks:
    """Blocks with the columns that a model was fitted to, reading those that it treats as labels as texts."""
    columns = columns_of(model)
    if columns is None:
        if blocks.is_table:
            raise DataError("the model was not fitted to a table, but to rows of numbers or items")
        return blocks
    if not blocks.is_table:
        raise DataError(f"the model needs a table with the columns {', '.join(columns[:8])}, got rows of numbers")
    first = model.steps[0][1] if hasattr(model, "steps") else model
    texts = first.text_columns_ if isinstance(first, TableFeatures) else []
    return blocks.with_columns(columns).with_text(texts)
