"""Bounds for several classes, learnt in pairs or each against the rest, from those of the two-class classifiers.

A wrong answer requires a wrong two-class classifier. In pairs: a row that wins all pairs of its class has more votes
than any other class can have, as each has lost one. One against the rest: if the classifier of the row's class says
yes and all others say no, its value is the largest. So the rows that may become errors are those of any classifier,
and the error on new rows is at most the sum of their bounds, each with delta divided by their number (union bound).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray, IndexArray, Labels, Rows
from mercer.kernels.given.precomputed import Precomputed
from mercer.theory.findings import (
    XI_ALPHA,
    report_of,
    rows_on_the_margin,
    stability,
    xi_alpha_errors,
)
from mercer.theory.judgement import Finding, Judgement
from mercer.theory.leave_one_out import support_vector_bound
from mercer.theory.machine import fitted_function, kernel_of, rows_or_items

if TYPE_CHECKING:
    from mercer.theory.judgement import Report
    from mercer.theory.machine import FittedClassifier, FittedFunction

# More classifiers than this are not examined one by one: only their support vectors are counted.
MOST_MACHINES = 100


@dataclass(frozen=True, eq=False)
class ReportOfClasses(Judgement):
    """The result of `theory.report` for a model of several classes.

    Attributes
    ----------
    model : str
    m, n_classes, n_machines : int
    how : str
        Which two-class classifiers there are.
    delta : float
        For all of them together.
    parts : dict of str to Report
        The report of each classifier; empty if there are more than a hundred.
    findings : tuple of Finding
    """

    model: str
    m: int
    n_classes: int
    n_machines: int
    how: str
    delta: float
    parts: dict = field(repr=False)
    findings: tuple = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON."""
        plain = {key: value for key, value in vars(self).items() if key not in ("parts", "findings")}
        each = [finding.as_dict() for finding in self.findings]
        return plain | {"parts": {name: part.as_dict() for name, part in self.parts.items()}, "findings": each}

    def __str__(self) -> str:
        title = f"{self.model}: {self.m} rows, {self.n_classes} classes, delta = {self.delta:g}"
        how = f"{self.n_machines} two-class classifiers, {self.how}; a wrong answer requires one of them to be wrong"
        return "\n".join([title, how, "", *map(str, self.findings), "", self._summary()])


def report_of_classes(
    model: "FittedClassifier", X: Rows, y: Sequence[Any], delta: float, n_jobs: int | None = None
) -> ReportOfClasses:
    """Like `theory.report`, for a model of several classes."""
    tasks, how = _tasks(model, y)
    values, betas = _functions(model, X, len(tasks))
    rows = rows_or_items(X)
    machines = {
        task.name: _machine(
            model, rows, task, values[task.places, k], None if betas is None else betas[task.places, k], k
        )
        for k, task in enumerate(tasks)
    }
    pairs = list(zip(tasks, machines.values(), strict=True))
    parts, findings = {}, [_support_vectors(pairs, len(y))]
    if len(tasks) <= MOST_MACHINES:
        parts = {name: report_of(machine, delta / len(tasks), n_jobs) for name, machine in machines.items()}
        together = [_sum(list(parts.values()), place, delta) for place in range(5)]
        findings = [*together, *findings, _xi_alpha(pairs, list(parts.values()), len(y), n_jobs)]
    names = type(model).__name__, len(y), len(model.classes_), len(tasks)
    return ReportOfClasses(*names, how, delta, parts, tuple(findings))


@dataclass(frozen=True)
class _Task:
    """The rows of one two-class problem, and their signs."""

    name: str
    places: np.ndarray
    signs: np.ndarray


def _tasks(model: Any, y: Labels) -> tuple[list[_Task], str]:
    """The two-class problems in the order of the model's functions, and how they were formed."""
    classes, y = np.asarray(model.classes_), np.asarray(y)
    if y.ndim != 1 or not np.isin(y, classes).all():
        raise DataError(f"y must hold the labels {classes.tolist()} that the model was fitted to")
    kind = getattr(model, "multi_class_", getattr(model, "multi_class", None))
    codes = np.searchsorted(classes, y)
    if kind == "ovo":
        made = [(f"{classes[i]} or {classes[j]}", np.flatnonzero((codes == i) | (codes == j)), i)
                for i, j in combinations(range(len(classes)), 2)]  # fmt: skip
        how = "one for each pair of classes"
    elif kind == "ovr":
        made = [(f"{name} or not", np.arange(len(y)), k) for k, name in enumerate(classes)]
        how = "each class against the rest"
    else:
        raise ParameterError(
            f"model must have learnt several classes in pairs or each against the rest, got multi_class={kind!r}; "
            "fit it to one pair of them, and report on that"
        )
    return [_Task(name, places, np.where(codes[places] == own, 1.0, -1.0)) for name, places, own in made], how


def _functions(model: Any, X: Rows, count: int) -> tuple[FloatArray, FloatArray | None]:
    """(value of each function at each row, signed coefficient of each row in each or None)."""
    expansion = getattr(model, "expansion_", None)
    if expansion is None or not hasattr(model, "support_"):
        coefficients = getattr(model, "coef_", None)
        if coefficients is None or np.shape(coefficients)[0] != count:
            raise ParameterError(f"model must have coef_, or support_ and expansion_, got {model!r}")
        product = X @ coefficients.T
        return np.asarray(product.toarray() if sparse.issparse(product) else product) + model.intercept_, None
    support, values = model.support_, expansion.values(X)
    if len(support) and support.max() >= len(values):
        raise DataError("X and y must be the rows and labels that the model was fitted to, in the same order")
    return values, _coefficients(model, len(values), count)


def _coefficients(model: Any, n: int, count: int) -> FloatArray:
    """The coefficient of each row in each function.

    From `dual_coef_`, in either of scikit-learn's layouts: a hard margin expands in its weights, not its rows.
    """
    table, support, rows = np.zeros((n, count)), model.support_, getattr(model, "dual_coef_", None)
    rows = np.zeros((0, 0)) if rows is None else np.atleast_2d(rows.toarray() if sparse.issparse(rows) else rows)
    if rows.shape == (count, len(support)):
        table[support] = rows.T
    elif rows.shape == (len(model.classes_) - 1, len(support)):
        codes = np.repeat(np.arange(len(model.classes_)), model.n_support_)
        for k, (i, j) in enumerate(combinations(range(len(model.classes_)), 2)):
            table[support[codes == i], k], table[support[codes == j], k] = rows[j - 1, codes == i], rows[i, codes == j]
    else:
        for group in model.expansion_.groups:
            table[np.ix_(support[group.begin : group.end], group.outputs)] = group.coefficients
    return table


def _machine(model: Any, X: Rows, task: _Task, values: FloatArray, beta: FloatArray | None, k: int) -> "FittedFunction":
    intercepts = np.ravel(model.intercept_)
    intercept = float(intercepts[k if len(intercepts) > 1 else 0])
    kernel, gap = kernel_of(model, X), None
    if beta is None:
        coefficients = model.coef_[k]
        norm = float(np.linalg.norm(coefficients.toarray() if sparse.issparse(coefficients) else coefficients))
        gap = _certified_gap(model, k)
    else:
        norm = float(np.sqrt(max(0.0, cast(float, beta @ (values - intercept)))))
    part = _taken(X, task.places, isinstance(kernel, Precomputed))
    return fitted_function(model, part, kernel, task.signs, values, beta, norm, intercept, gap)


def _taken(X: Rows, places: IndexArray, is_matrix: bool) -> Any:
    if is_matrix:
        return X[np.ix_(places, places)]
    return X[places] if hasattr(X, "shape") else [X[place] for place in places]


def _certified_gap(model: Any, k: int) -> float | None:
    found = getattr(model, "certificate_", None)
    return float(found[k].relative_gap) if isinstance(found, list) and k < len(found) else None


def _reasons(unmet: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Each condition once, with how many of the classifiers do not meet it."""
    # What differs from one to the next (a lambda) comes after a comma, and is left out.
    unmet = [tuple(reason.partition(", with lambda")[0] for reason in one) for one in unmet]
    reasons = list(dict.fromkeys(reason for one in unmet for reason in one))
    return tuple(f"{sum(reason in one for one in unmet)} of {len(unmet)} machines: {reason}" for reason in reasons)


def _support_vectors(pairs: "Sequence[tuple[_Task, FittedFunction]]", m: int) -> Finding:
    rows, how = np.zeros(m, bool), "support vectors"
    for task, machine in pairs:
        own, how = rows_on_the_margin(machine)
        rows[task.places[own]] = True
    unmet = _reasons([() if machine.is_solved and machine.is_svm else ("not solved, or not a support vector machine",)
                      for _, machine in pairs])  # fmt: skip
    says = f"leave-one-out error is at most this: {int(rows.sum())} of {m} are {how} of some machine"
    value = support_vector_bound(int(rows.sum()), m)
    return Finding("support_vectors", "Support vectors over rows", value, says, unmet=unmet)


def _xi_alpha(
    pairs: "Sequence[tuple[_Task, FittedFunction]]", parts: "Sequence[Report]", m: int, n_jobs: int | None
) -> Finding:
    if any(machine.alpha is None for _, machine in pairs):
        return Finding("xi_alpha", XI_ALPHA, None, "", unmet=("the model keeps no dual variables",))
    rows = np.zeros(m, bool)
    for (task, machine), part in zip(pairs, parts, strict=True):
        rows[task.places[xi_alpha_errors(machine, part.ball, n_jobs)]] = True
    found = [stability(machine) for _, machine in pairs]
    says = f"leave-one-out error is at most this: {int(rows.sum())} of {m} rows are at risk in some machine"
    return Finding("xi_alpha", XI_ALPHA, float(rows.mean()), says, found[0][0], _reasons([unmet for _, unmet in found]))


def _sum(parts: "Sequence[Report]", place: int, delta: float) -> Finding:
    """The union bound over the classifiers for one of the bounds."""
    each = [part.findings[place] for part in parts]
    values = [finding.value for finding in each]
    value = None if None in values else float(np.sum(values))
    says = f"sum over {len(each)} classifiers, each with delta = {delta / len(each):.2g}: errors add up to at most this"
    return Finding(each[0].key, each[0].name, value, says, each[0].assumes, _reasons([one.unmet for one in each]))
