"""The two fits of the demo, and what is worth saying about them."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from mercer import SVC


@dataclass(frozen=True)
class Fit:
    """One model and its report; figures of several binary problems are added up."""

    data: str
    classes: int
    features: int
    model: str
    train_rows: int
    test_rows: int
    correct: int
    accuracy: float
    support_vectors: int
    problems: int
    primal: float
    dual: float
    gap: float
    relative_gap: float
    status: str
    first_fit_seconds: float
    fit_seconds: float
    predict_seconds: float


def fit_digits() -> Fit:
    """Handwritten digits, 8 x 8 pixels, ten classes."""
    bunch = load_digits()
    return _fit("digits", SVC(C=10.0, gamma=0.001, tol=1e-6), bunch.data, bunch.target)


def fit_iris() -> Fit:
    """Fisher's irises, four measurements, three species."""
    bunch = load_iris()
    return _fit("iris", SVC(C=10.0, tol=1e-6), bunch.data, bunch.target)


def _fit(name: str, model: Any, X: Any, y: Any) -> Fit:
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    with warnings.catch_warnings():
        # The status is reported and becomes the exit code; the warning would say it twice.
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = _seconds(model.fit, X_train, y_train)
        # After Ctrl-C a second fit would hide that the first was interrupted.
        again = first if model.status_.name == "INTERRUPTED" else _seconds(model.fit, X_train, y_train)
    model.predict(X_test)
    predict = _seconds(model.predict, X_test)
    correct = int((model.predict(X_test) == y_test).sum())
    return Fit(
        data=name,
        classes=len(model.classes_),
        features=X.shape[1],
        model=repr(model),
        train_rows=len(X_train),
        test_rows=len(X_test),
        correct=correct,
        accuracy=correct / len(X_test),
        support_vectors=len(model.support_),
        status=model.status_.name,
        first_fit_seconds=first,
        fit_seconds=again,
        predict_seconds=predict,
        **_totals(model.certificate_),
    )


def _seconds(call: Any, *arguments: Any) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def _totals(certificate: Any) -> dict[str, Any]:
    """The binary problems are independent, so their objectives and gaps add."""
    each = list(certificate) if isinstance(certificate, Sequence) else [certificate]
    return {
        "problems": len(each),
        "primal": float(sum(one.primal for one in each)),
        "dual": float(sum(one.dual for one in each)),
        "gap": float(sum(one.gap for one in each)),
        "relative_gap": float(max(one.relative_gap for one in each)),
    }
