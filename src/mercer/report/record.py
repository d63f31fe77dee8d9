"""The record of one fit: data, model, certificate, scores, bounds and times, ready for JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mercer import __version__
from mercer._errors import MercerError
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.report.finite import finite
from mercer.report.model_words import describe_model, final_estimator, trace_of


@dataclass
class Record:
    """What `mercer train` and `mercer evaluate` say, and what a page is made of.

    Attributes
    ----------
    title : str
    data : dict
        Name, format, kind, rows, columns, target, task, rows learnt from, and how many of each class.
    model : dict
        As `describe_model` returns it.
    scores : dict or None
        As `score` returns it, and "how" it was measured.
    bounds : list of dict
        What `mercer.theory` can say about the machine; each with its name, value, whether it applies, and why.
    no_bounds : str
        Why there are none, if there are none.
    notes : list of str
        What was decided without being asked for.
    seconds : dict
        Of reading, fitting and scoring.
    trace : list of dict
    files : dict
        Where model and report were written.
    version : str
    """

    title: str
    data: dict[str, Any]
    model: dict[str, Any]
    scores: dict[str, Any] | None = None
    bounds: list[dict[str, Any]] = field(default_factory=list)
    no_bounds: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    trace: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    @classmethod
    def of_model(cls, title: str, model: Any, dataset: Any, task: str, n_learnt: int | None = None) -> "Record":
        """The record of a fitted model and the data it meets."""
        return cls(title, _data(dataset, task, n_learnt), describe_model(model), trace=trace_of(final_estimator(model)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values; numbers that are not finite become None, which JSON can express."""
        return finite(asdict(self))


def _data(dataset: Any, task: str, n_learnt: int | None) -> dict[str, Any]:
    found = {
        "name": dataset.name,
        "format": dataset.format,
        "kind": dataset.kind,
        "rows": len(dataset),
        "columns": dataset.columns,
        "target": dataset.target_name,
        "task": task,
        "learnt_from": n_learnt,
    }
    if task == "classification" and dataset.target is not None:
        labels, counts = np.unique(dataset.target, return_counts=True)
        found["classes"] = dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True))
    return found


def bounds_of(model: Any, X: Any, y: Any) -> tuple[list[dict[str, Any]], str]:
    """(what theory says about a machine fitted to these rows, why it says nothing)."""
    machine = final_estimator(model)
    if not hasattr(machine, "classes_"):
        return [], "the bounds in mercer.theory are for classes, not quantities"
    from mercer.theory import report

    if hasattr(model, "steps"):
        X = model[:-1].transform(X)
    elif is_data_frame(X):
        X = as_frame(X)
    try:
        found = report(machine, X, y)
    except MercerError as error:
        return [], str(error)
    return [
        {"key": one.key, "name": one.name, "value": one.value, "says": one.says, "source": one.source,
         "applies": one.applies, "unmet": list(one.unmet)}
        for one in found.findings
    ], ""  # fmt: skip
