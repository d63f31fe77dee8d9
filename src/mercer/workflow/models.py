"""Saved models: what they are, what they say about new data, and why."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.exchange.model_file import save
from mercer.explanation.contributions import explain
from mercer.io.dataset import Dataset
from mercer.io.source import nearest_file
from mercer.kernels import Encoded, On
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.on import compares_labels
from mercer.report.figures import Shown, taken
from mercer.report.finite import finite
from mercer.report.model_words import before_the_machine, describe_model, final_estimator
from mercer.report.record import Record
from mercer.report.scores import score
from mercer.workflow.clock import timed
from mercer.workflow.model_marks import is_model_file
from mercer.workflow.run import decision_values


def load_model(path: Path, data: Any = None) -> tuple[Any, dict[str, Any]]:
    """(model, what its file says about itself); `data` are what it is used on, and may have been swapped with it."""
    if not Path(path).is_file():
        meant = nearest_file(Path(path)) or "; `mercer train` writes one"
        raise DataError(f"there is no model file {str(path)!r}{meant}")
    if data is not None and not is_model_file(path) and is_model_file(data):
        raise ParameterError(f"the model must come first: {data} is a model, {path} is not")
    return save.load(path), save.describe(path)


def describe_file(model: Any, said: dict[str, Any]) -> dict[str, Any]:
    """What a model is, and under "file" what its file says about itself; ready for JSON."""
    about = {key: said.get(key) for key in ("created", "mercer", "versions", "metadata")}
    found: dict[str, Any] = finite({**describe_model(model), "file": about})
    return found


def explain_row(model: Any, X: Any, row: int) -> tuple[Any, Any]:
    """(what the model says about one row or item, the `Explanation` of it)."""
    item = taken(X, np.array([row]))
    said = model.predict(item)[0]
    item = before_the_machine(model, item)
    return said, explain(final_estimator(model), item[0] if isinstance(item, list) else item)


def evaluate(model: Any, data: Dataset, name: str, whole: Dataset | None = None) -> tuple[Record, Shown]:
    """Score a model on data with labels: the record, and what a page shows, with all columns if `whole` has them."""
    classes = getattr(final_estimator(model), "classes_", None)
    task = "regression" if classes is None else "classification"
    target = _as_learnt(data.name, np.asarray(data.target), classes)
    record = Record.of_model(f"{name} on {data.name}", model, data, task)
    with timed(record.seconds, "score"):
        found = score(task, target, model.predict(data.data), values=decision_values(model, data.data, task))
        record.scores = {**found, "how": f"in {data.name}"}
    unknown = set() if classes is None else set(target.tolist()) - set(record.model["classes"])
    if unknown:
        extra = ", ".join(sorted(map(str, unknown))[:5])
        record.notes.append(f"the model has not learnt the classes {extra}: their rows count as wrong")
        return record, Shown(model, None, None)
    return record, Shown(model, None, (data.data, target), data if whole is None else whole)


def _as_learnt(name: str, target: NDArray[Any], classes: Any) -> NDArray[Any]:
    """The target in the type of the model's classes: 1.0 in one file is 1 in another."""
    is_numbers = target.dtype.kind in "iuf"
    if classes is None:
        if not is_numbers:
            raise DataError(f"{name}: the target must hold numbers, got texts such as {str(target[0])!r}")
        return target.astype(float)
    if classes.dtype.kind in "UO" and is_numbers:
        return target.astype(str)
    if classes.dtype.kind in "iuf" and not is_numbers:
        raise DataError(f"{name}: the model's classes are numbers such as {classes[0]}, got {str(target[0])!r}")
    return target


def require_conforming(model: Any) -> None:
    """Refuse a model without conformal prediction."""
    if not any(hasattr(final_estimator(model), name) for name in ("predict_set", "predict_interval")):
        raise ParameterError(
            "the model has not kept what intervals and sets need; `mercer train` keeps it when it holds rows out, "
            "that is, without --cv or --holdout 0"
        )


def conforming_columns(model: Any, X: Any, coverage: float) -> dict[str, NDArray[Any]]:
    """What contains the truth as often as `coverage` says: "low" and "high", or each row's classes as a "set"."""
    machine, X = final_estimator(model), before_the_machine(model, X)
    if hasattr(machine, "predict_interval"):
        low, high = machine.predict_interval(X, coverage).T
        return {"low": low, "high": high}
    members = machine.predict_set(X, coverage)
    sets = np.empty(len(members), dtype=object)
    for k, row in enumerate(members):
        sets[k] = machine.classes_[row].tolist()
    return {"set": sets}


def unseen_labels(model: Any, data: Dataset) -> list[str]:
    """A sentence for each column in which rows have a label that no support vector has: they resemble none of them
    there."""
    expansion = getattr(final_estimator(model), "expansion_", None)
    if data.kind != "table" or expansion is None or not expansion.kernel.takes_tables:
        return []
    parts = [expansion.kernel, *expansion.kernel.get_params().values()]
    names = [part.column for part in parts if isinstance(part, On) and compares_labels(part.kernel)]
    names += [name for part in parts if isinstance(part, Encoded) for name in part.label_columns]
    new, known = as_frame(data.data), as_frame(expansion.vectors)
    found = []
    for name in names:
        seen = set(known.column(name).as_came())
        values = [value for value in new.column(name).as_came() if value is not None and value not in seen]
        if values:
            listed = ", ".join(sorted({str(value) for value in values})[:5])
            found.append(f"column {name!r}: {len(values)} rows have a label that no support vector has ({listed}); "
                         "they are judged by the other columns")  # fmt: skip
    return found
