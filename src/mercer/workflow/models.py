"""Saved models: what they are, what they say of new data, and why."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError
from mercer.exchange.model_file import save
from mercer.explanation.contributions import explain
from mercer.io.dataset import Dataset
from mercer.kernels import On
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.on import compares_labels
from mercer.report.figures import Shown, taken
from mercer.report.model_words import describe, machine_of
from mercer.report.record import Record, finite
from mercer.report.scores import score
from mercer.workflow.run import timed


def load_model(path: Path, **options: Any) -> tuple[Any, dict[str, Any]]:
    """(model, what its file says about itself)."""
    if not Path(path).is_file():
        raise DataError(f"there is no model file {str(path)!r}; `mercer train` writes one")
    return save.load(path, **options), save.describe(path)


def describe_file(model: Any, said: dict[str, Any]) -> dict[str, Any]:
    """What a model is, and under "file" what its file says about itself; ready for JSON."""
    about = {key: said.get(key) for key in ("created", "mercer", "versions", "metadata")}
    found: dict[str, Any] = finite({**describe(model), "file": about})
    return found


def explain_row(model: Any, X: Any, row: int) -> tuple[Any, Any]:
    """(what the model says of one row or item, the `Explanation` of it)."""
    item = taken(X, np.array([row]))
    said = model.predict(item)[0]
    item = before_the_machine(model, item)
    return said, explain(machine_of(model), item[0] if isinstance(item, list) else item)


def before_the_machine(model: Any, X: Any) -> Any:
    """Rows as the last step of a pipeline takes them."""
    return model[:-1].transform(X) if hasattr(model, "steps") else X


def evaluate(model: Any, data: Dataset, name: str) -> tuple[Record, Shown]:
    """Score a model on data with labels: the record, and what a page shows."""
    classes = getattr(machine_of(model), "classes_", None)
    task = "regression" if classes is None else "classification"
    target = _as_learnt(data.name, np.asarray(data.target), classes)
    record = Record.of_model(f"{name} on {data.name}", model, data, task)
    with timed(record.seconds, "score"):
        record.scores = {**score(task, target, model.predict(data.data)), "how": f"in {data.name}"}
    unknown = set() if classes is None else set(target.tolist()) - set(record.model["classes"])
    if unknown:
        extra = ", ".join(sorted(map(str, unknown))[:5])
        record.notes.append(f"the model does not know the classes {extra}: their rows count as wrong")
        return record, Shown(model, None, None)
    return record, Shown(model, None, (data.data, target), data)


def _as_learnt(name: str, target: NDArray[Any], classes: Any) -> NDArray[Any]:
    """The target with the type of the model's classes: 1.0 in one file is 1 in another."""
    is_numbers = target.dtype.kind in "iuf"
    if classes is None:
        if not is_numbers:
            raise DataError(f"{name}: the target must hold numbers, got texts such as {str(target[0])!r}")
        return target.astype(float)
    if classes.dtype.kind in "UO" and is_numbers:
        return target.astype(str)
    if classes.dtype.kind in "iuf" and not is_numbers:
        raise DataError(f"{name}: the classes are numbers such as {classes[0]}, got {str(target[0])!r}")
    return target


def unseen_labels(model: Any, data: Dataset) -> list[str]:
    """A sentence for each column in which rows have a label that no support vector has: there they are like
    themselves only."""
    expansion = getattr(machine_of(model), "expansion_", None)
    if data.kind != "table" or expansion is None or not expansion.kernel.takes_tables:
        return []
    parts = [expansion.kernel, *expansion.kernel.get_params().values()]
    names = [part.column for part in parts if isinstance(part, On) and compares_labels(part.kernel)]
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
