"""What a fitted model is: its kind, kernel, support vectors and certificate, as plain values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._errors import MercerError
from mercer.estimators.fitting.certificate import known_certificates
from mercer.kernels.notation.words import kernel_in_short, kernel_words
from mercer.problems.certificate import EVERYTHING

_PARAMETERS = ("C", "nu", "epsilon", "loss", "penalty", "bias", "alpha", "tol", "class_weight", "probability")


def final_estimator(model: Any) -> Any:
    """The estimator itself: the last step of a pipeline, the best of a search."""
    model = getattr(model, "best_estimator_", model)
    return model.steps[-1][1] if hasattr(model, "steps") else model


def before_the_machine(model: Any, X: Any) -> Any:
    """Rows as the last step of a pipeline takes them."""
    return model[:-1].transform(X) if hasattr(model, "steps") else X


def describe_model(model: Any) -> dict[str, Any]:
    """Everything there is to say about a fitted model without data.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.report import describe_model
    >>> found = describe_model(
    ...     SVC(kernel="linear", C=10.0, tol=1e-6).fit([[0, 0], [2, 2], [2, 0], [3, 0]], [0, 0, 1, 1])
    ... )
    >>> found["estimator"], found["kernel"], found["n_support"], found["status"]
    ('SVC', 'linear', 3, 'OPTIMAL')
    """
    machine = final_estimator(model)
    expansion = getattr(machine, "expansion_", None)
    parameters = machine.get_params(deep=False)
    return {
        "estimator": type(machine).__name__,
        "steps": [type(step).__name__ for _, step in model.steps[:-1]] if hasattr(model, "steps") else [],
        "kernel": kernel_words(expansion.kernel) if expansion is not None else None,
        "kernel_in_short": kernel_in_short(expansion.kernel) if expansion is not None else None,
        "parameters": {name: _plain(parameters[name]) for name in _PARAMETERS if name in parameters},
        "classes": [_plain(label) for label in machine.classes_] if hasattr(machine, "classes_") else None,
        "columns": columns_of(model),
        "n_features": _plain(getattr(machine, "n_features_in_", None)),
        "n_support": len(machine.support_) if hasattr(machine, "support_") else None,
        "status": machine.status_.name if hasattr(machine, "status_") else None,
        "meaning": machine.status_.meaning if hasattr(machine, "status_") else None,
        "certificate": certificate_totals(machine),
        "distance": distance_totals(machine),
    }


def columns_of(model: Any) -> list[str] | None:
    """The names of the columns a model was fitted to; None if it has none."""
    for part in [*(step for _, step in getattr(model, "steps", ())), final_estimator(model), model]:
        if hasattr(part, "feature_names_in_"):
            return [str(name) for name in part.feature_names_in_]
    kernel = getattr(getattr(final_estimator(model), "expansion_", None), "kernel", None)
    if kernel is None or not kernel.takes_tables:
        return None
    return list(dict.fromkeys(str(name) for name in _named_by(kernel)))


def _named_by(kernel: Any) -> list[Any]:
    """The columns that a kernel of tables looks up."""
    found = list(getattr(kernel, "names", ()))
    for value in kernel.get_params().values():
        found += [name for name in getattr(value, "names", ()) if getattr(value, "takes_tables", False)]
    return found


def certificate_totals(machine: Any) -> dict[str, Any] | None:
    """Certificates in total: two-class problems are independent, so objectives and gaps add; else the worst counts."""
    try:
        found = known_certificates(machine)
    except MercerError:
        # A model from another tool: the training data that a certificate needs are not here.
        return None
    each: list[Any] = list(found) if isinstance(found, Sequence) else [found]
    if not each or not all(hasattr(one, "gap") for one in each):
        return None
    return {
        "problems": len(each),
        "primal": float(sum(one.primal for one in each)),
        "dual": float(sum(one.dual for one in each)),
        "gap": float(sum(one.gap for one in each)),
        "relative_gap": float(max(one.relative_gap for one in each)),
        "kkt_violation": float(max(one.kkt_violation for one in each)),
        "n_free": int(sum(one.n_free for one in each)),
        "n_bounded": int(sum(one.n_bounded for one in each)),
        "n_zero": int(sum(one.n_zero for one in each)),
        "basis": next((one.basis for one in each if not getattr(one, "is_full", True)), EVERYTHING),
    }


def distance_totals(machine: Any) -> dict[str, Any] | None:
    """How far a machine with landmarks may be from the exact one: values add, and of the rest the worst counts."""
    found = getattr(machine, "distance_", None)
    each: list[Any] = list(found) if isinstance(found, Sequence) else [found]
    if not each or not all(hasattr(one, "relative") for one in each):
        return None
    landmarks, relative = machine.approximation_.count, float(max(one.relative for one in each))
    return {
        "landmarks": landmarks,
        "value": float(sum(one.value for one in each)),
        "relative": relative,
        "meaning": _meaning_of_distance(landmarks, relative),
        "method": "exact" if all(one.method == "exact" for one in each) else "sampled",
        "confidence": float(min(one.confidence for one in each)),
    }


def _meaning_of_distance(landmarks: int, relative: float) -> str:
    if relative < 1:
        return f"with {landmarks} landmarks; the exact machine gains at most {100 * relative:.2g}% of the objective"
    return f"too large to say anything; take more than {landmarks} landmarks, or compare with a linear machine"


def trace_of(machine: Any) -> list[dict[str, Any]]:
    """The rounds of the longest of the problems that were solved."""
    found = getattr(machine, "trace_", None) or []
    runs = found if found and isinstance(found[0], Sequence) and not hasattr(found[0], "seconds") else [found]
    longest = max(runs, key=len, default=[])
    return [
        {"seconds": float(point.seconds), "violation": float(point.violation), "dual": float(point.dual),
         "gap": getattr(point, "gap", None)}
        for point in longest
        if hasattr(point, "violation") and hasattr(point, "dual")
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, int | float | str | bool | list | None) else str(value)
