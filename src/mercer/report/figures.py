"""Which pictures of a model a report shows, and the arrays they are drawn from."""

import warnings
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mercer._errors import MercerError
from mercer.explanation.contributions import explain
from mercer.explanation.explanation import Contributions
from mercer.report import pictures
from mercer.report.model_words import before_the_machine, final_estimator
from mercer.report.record import Record

# Items on the map, and rows whose columns are weighed: enough to see, and quick to draw.
ON_THE_MAP = 400
WEIGHED = 60


class Figure(NamedTuple):
    """A picture with its title and what it shows."""

    title: str
    picture: str
    caption: str


class Shown(NamedTuple):
    """What a report is drawn from: a model, the rows it learnt from, and those it is scored on.

    `learnt` and `scored` are pairs (X, y) as the model takes them, or None; `data` holds the scored rows as
    they were read, for people to look at.
    """

    model: Any
    learnt: tuple[Any, NDArray[Any]] | None
    scored: tuple[Any, NDArray[Any]] | None
    data: Any = None

    @property
    def rows(self) -> tuple[Any, NDArray[Any]] | None:
        """The rows to show: those the model has not seen, if there are any."""
        return self.scored or self.learnt


def figures(record: Record, shown: Shown) -> list[Figure]:
    """The pictures that this model has."""
    drawn = [_of_rows(record, shown), _map(shown), _columns(shown), _trace(record)]
    return [figure for figure in drawn if figure is not None]


def _of_rows(record: Record, shown: Shown) -> Figure | None:
    if shown.rows is None:
        return None
    X, y = shown.rows
    seen = "rows it had not seen" if shown.scored else "the rows it learnt from"
    machine = final_estimator(shown.model)
    if record.data["task"] == "regression":
        name = record.data["target"] or "value"
        picture = pictures.scatter(y, shown.model.predict(X), name)
        return Figure(
            "Predicted and true", picture, f"Each point is one of {len(y)} {seen}; points on the line are exact."
        )
    values = shown.model.decision_function(X)
    if values.ndim == 1:
        groups = np.searchsorted(machine.classes_, y)
        picture = pictures.margin_histogram(values, groups, list(machine.classes_), "decision value")
        caption = f"Decision values of {len(y)} {seen}. The solid line is the boundary, the dashed ones the margins."
        return Figure("How sure it is", picture, caption)
    if values.shape[1] != len(machine.classes_):
        return None
    picture = pictures.margin_histogram(*_lead(values, machine.classes_, y), "lead of the true class")
    caption = f"How far the true class is ahead of the next, over {len(y)} {seen}."
    return Figure("How sure it is", picture, caption)


def _lead(values: NDArray[Any], classes: NDArray[Any], y: NDArray[Any]) -> tuple[Any, Any, list[str]]:
    """The true class's value minus the largest other; the prediction is right where it leads."""
    places, rows = np.searchsorted(classes, y), np.arange(len(y))
    others = values.copy()
    others[rows, places] = -np.inf
    lead = values[rows, places] - others.max(axis=1)
    return lead, (lead <= 0).astype(int), ["right", "wrong"]


def _map(shown: Shown) -> Figure | None:
    machine = final_estimator(shown.model)
    if shown.learnt is None or not hasattr(machine, "expansion_") or not hasattr(machine, "classes_"):
        return None
    X, y = shown.learnt
    # Evenly spaced rows give the same picture every time.
    chosen = np.unique(np.linspace(0, len(y) - 1, min(ON_THE_MAP, len(y))).astype(int))
    if len(chosen) < 3:
        return None
    gram = machine.expansion_.kernel(taken(before_the_machine(shown.model, X), chosen))
    places = _places(gram)
    if places.shape[1] < 2:
        return None
    groups = np.searchsorted(machine.classes_, y[chosen])
    picture = pictures.kernel_map(places, groups, list(machine.classes_), np.isin(chosen, machine.support_))
    caption = (
        f"{len(chosen)} of the rows it learnt from, placed by the two largest components of the kernel (kernel PCA)."
    )
    return Figure("As the kernel sees them", picture, caption)


def _places(gram: NDArray[Any]) -> Any:
    """Coordinates along the two largest components, without a warning if there are fewer: a map of rank one is a line,
    and the status of the model is shown elsewhere."""
    from sklearn.exceptions import ConvergenceWarning

    from mercer import KernelPCA

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="n_components=", category=UserWarning)
        return KernelPCA(n_components=2, kernel="precomputed").fit_transform(gram)


def taken(X: Any, places: NDArray[Any]) -> Any:
    """Rows or items at some positions."""
    return X[places] if hasattr(X, "shape") else [X[k] for k in places]


def _columns(shown: Shown) -> Figure | None:
    """How much each term of the kernel moves the decision, on average."""
    machine = final_estimator(shown.model)
    kernel = getattr(getattr(machine, "expansion_", None), "kernel", None)
    if shown.rows is None or kernel is None or not kernel.takes_tables or len(kernel.terms()) < 2:
        return None
    X, y = shown.rows
    chosen = np.unique(np.linspace(0, len(y) - 1, min(WEIGHED, len(y))).astype(int))
    try:
        # The kernel has several terms, so each explanation has a table of them.
        found = [cast(Contributions, explain(machine, taken(X, np.array([k]))).by_term) for k in chosen]
    except MercerError:
        return None
    sizes = np.mean([np.abs(one.values).mean(axis=0) for one in found], axis=0)
    order = np.argsort(-sizes)[:20]
    picture = pictures.horizontal_bars([found[0].names[k] for k in order], sizes[order].tolist(), "Columns by weight")
    caption = f"How far each column moves the decision value, on average over {len(chosen)} rows."
    return Figure("What it looks at", picture, caption)


def _trace(record: Record) -> Figure | None:
    if len(record.trace) < 2 or record.trace[-1]["seconds"] <= 0:
        return None
    picture = pictures.convergence(record.trace, float(record.model["parameters"].get("tol") or 1e-3))
    return Figure("How it got there", picture, "How far each round was from the optimum, by two measures.")
