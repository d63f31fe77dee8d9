"""Every solver on the same problem, side by side."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from mercer._errors import MercerError, ParameterError
from mercer._types import Array, ArrayLike, Labels, Rows
from mercer.problems.certificate import Certificate

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# Attribute, heading and form of each column: 80 characters with the longest status.
COLUMNS = (
    ("solver", "solver", "{:<11}"),
    ("objective", "objective", "{:>12.7g}"),
    ("relative_gap", "gap", "{:>7.1e}"),
    ("kkt_violation", "KKT", "{:>7.1e}"),
    ("seconds", "time s", "{:>6.3f}"),
    ("n_support", "SVs", "{:>5d}"),
    ("difference", "differs", "{:>7.1e}"),
    ("status", "status", "{:<18}"),
)


# The relative gap at which solvers are compared, and the corresponding `tol`.
GAP_TOL, TIGHT = 1e-7, 1e-6


@dataclass(frozen=True)
class SolverRow:
    """The result of one solver; if it cannot solve this problem, `reason` says why.

    Attributes
    ----------
    solver : str
    objective : float
        The primal objective, summed over the two-class problems of a multiclass fit.
    relative_gap, kkt_violation : float
        The largest of any two-class problem, recomputed from the data and the coefficients.
    seconds : float
        The time of the fastest fit.
    n_support : int
    difference : float
        Largest difference of a decision value from that of the solver with the lowest objective.
    status, reason : str
    """

    solver: str
    objective: float = np.nan
    relative_gap: float = np.nan
    kkt_violation: float = np.nan
    seconds: float = np.nan
    n_support: int = 0
    difference: float = np.nan
    status: str = ""
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.solver:<11} cannot solve it: {self.reason}"
        return " ".join(form.format(getattr(self, name)) for name, _, form in COLUMNS).rstrip()


class SolverComparison:
    """A table of solvers: print it, look up a row by name, or take it as dictionaries.

    Attributes
    ----------
    rows : list of SolverRow
    models : dict
        The fitted estimator of each solver that could solve the problem.
    """

    def __init__(self, rows: Sequence[SolverRow], models: dict[str, Any]) -> None:
        self.rows, self.models = rows, models

    def __getitem__(self, solver: str) -> SolverRow:
        for row in self.rows:
            if row.solver == solver:
                return row
        raise KeyError(f"no solver {solver!r} in this comparison: {[row.solver for row in self.rows]}")

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SolverRow]:
        return iter(self.rows)

    @property
    def spread(self) -> float:
        """Largest difference between objectives, relative to the lowest of them."""
        found = np.array([row.objective for row in self.rows if not row.reason])
        return float((found.max() - found.min()) / max(abs(found.min()), 1e-300)) if len(found) else np.nan

    def as_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, for a data frame."""
        return [asdict(row) for row in self.rows]

    def __str__(self) -> str:
        widths = [len(form.format("x" if "<" in form else 0)) for _, _, form in COLUMNS]
        head = [
            f"{words:<{width}}" if "<" in form else f"{words:>{width}}"
            for (_, words, form), width in zip(COLUMNS, widths, strict=True)
        ]
        return "\n".join([" ".join(head).rstrip(), *map(str, self.rows), f"spread of objectives: {self.spread:.1e}"])

    __repr__ = __str__


def compare_solvers(
    estimator: "BaseEstimator",
    X: Rows,
    y: Labels,
    *,
    solvers: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    repeats: int = 2,
    gap_tol: float | None = GAP_TOL,
) -> SolverComparison:
    """Fit an estimator with every solver it offers, and show the results side by side.

    Parameters
    ----------
    estimator : SVC, LinearSVC or LinearSVR
        Its other parameters are left as they are.
    X, y
        Training data.
    solvers : list of str, optional
        Names to compare; by default all, except those that differ only in how they are chosen.
    sample_weight : array-like, optional
    repeats : int, default=2
        How many times each solver fits; the fastest fit counts, so that compilation does not.
    gap_tol : float or None, default=1e-7
        The relative duality gap that every solver must reach, unless the estimator has a `gap_tol` of its own or
        a `tol` of at most 1e-6: so the table compares solvers, and not their different stopping rules. None keeps the
        estimator's own rules.

    Returns
    -------
    SolverComparison

    Examples
    --------
    >>> from mercer import SVC, compare_solvers
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> table = compare_solvers(SVC(kernel="linear", C=10.0), X, y, solvers=["smo", "qp"])
    >>> table.spread < 1e-6
    True
    >>> round(table["qp"].objective, 6)
    1.0
    """
    offered = [name for name in getattr(estimator, "solvers", ()) if name != "auto"]
    if not offered:
        raise ParameterError(
            f"{type(estimator).__name__} has no solver to choose here; use SVC, LinearSVC or LinearSVR"
        )
    if gap_tol is not None and estimator.gap_tol is None and estimator.tol > TIGHT:
        estimator = clone(estimator).set_params(gap_tol=gap_tol)
    names = offered if solvers is None else list(solvers)
    rows, models = [], {}
    for name in names:
        try:
            models[name], seconds = _fitted(estimator, name, X, y, sample_weight, repeats)
        except MercerError as error:
            rows.append(SolverRow(name, reason=str(error)))
        else:
            rows.append(_row(name, models[name], seconds))
    return SolverComparison(_with_differences(rows, models, X), models)


def _fitted(
    estimator: "BaseEstimator", solver: str, X: Rows, y: Labels, sample_weight: ArrayLike | None, repeats: int
) -> tuple[Any, float]:
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    best = np.inf
    for _ in range(max(1, repeats)):
        model = clone(estimator).set_params(solver=solver)
        begin = time.perf_counter()
        model.fit(X, y, **weights)
        best = min(best, time.perf_counter() - begin)
    return model, best


def _row(name: str, model: "BaseEstimator", seconds: float) -> SolverRow:
    found = [model.certificate_] if isinstance(model.certificate_, Certificate) else model.certificate_
    return SolverRow(
        solver=name,
        objective=sum(each.primal for each in found),
        relative_gap=max(each.relative_gap for each in found),
        kkt_violation=max(each.kkt_violation for each in found),
        seconds=seconds,
        n_support=len(model.support_) if hasattr(model, "support_") else sum(e.n_free + e.n_bounded for e in found),
        status=model.status_.name,
    )


def _with_differences(rows: list[SolverRow], models: dict[str, Any], X: Rows) -> list[SolverRow]:
    solved = [row for row in rows if not row.reason]
    if not solved:
        return rows
    best = min(solved, key=lambda row: row.objective).solver
    values = {name: _values(model, X) for name, model in models.items()}
    return [
        row if row.reason else SolverRow(**asdict(row) | {"difference": _largest(values[row.solver], values[best])})
        for row in rows
    ]


def _values(model: "BaseEstimator", X: Rows) -> Array:
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def _largest(values: Array, others: Array) -> float:
    return float(np.abs(values - others).max())
