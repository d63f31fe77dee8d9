"""The leave-one-out error: exact, bounded or estimated, and as a score for searches."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mercer._errors import DataError, ParameterError
from mercer._jit.threads import Stopped
from mercer._types import ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting import tasks
from mercer.estimators.fitting.parameters import require_choice
from mercer.estimators.fitting.plan import prepare_fit
from mercer.estimators.kernel.ridge import KernelRidge
from mercer.estimators.svm.svc import SVC
from mercer.solvers.limits import Limits
from mercer.solvers.paths.leave_one_out import ExactSolution
from mercer.solvers.tolerances import IN_DOUBLE
from mercer.theory.leave_one_out import span_estimate, xi_alpha_bound

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

    from mercer.estimators.fitting.plan import PreparedFit
    from mercer.kernels.gram.kernel_matrix import StoredMatrix


METHODS = ("auto", "exact", "span", "xi_alpha", "refit")
KINDS = {"exact": "exact", "refit": "exact", "span": "estimate", "xi_alpha": "upper bound"}


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What `leave_one_out` found.

    Attributes
    ----------
    error : float
        Share of rows that are predicted wrongly when left out; for regression the mean squared error.
    predictions : ndarray (n,) or None
        For each row, the prediction of a model that never saw it; None for bounds and estimates.
    values : ndarray (n,) or (n, n_problems), or None
        The decision values behind the predictions.
    method, kind : str
        How the error was found, and whether it is "exact", an "estimate" or an "upper bound".
    """

    error: float
    predictions: np.ndarray | None
    values: np.ndarray | None
    method: str
    kind: str

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return {key: each.tolist() if isinstance(each, np.ndarray) else each for key, each in asdict(self).items()}

    def __str__(self) -> str:
        how = self.kind if self.method == self.kind else f"{self.kind}, by {self.method}"
        return f"leave-one-out error {self.error:.6g} ({how})"


def leave_one_out(
    estimator: BaseEstimator,
    X: Rows,
    y: Labels,
    *,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
) -> LeftOut:
    """The leave-one-out error of an estimator on its training rows.

    Parameters
    ----------
    estimator : SVC, KernelRidge, or with method="refit" any classifier or regressor
        Only its parameters are used; it is not changed. A parameter computed from the data, such as gamma="scale", is
        computed once, from all rows.
    X, y
        Training data. With several classes there is one machine for each pair, or class, as for `SVC`.
    method : {"auto", "exact", "span", "xi_alpha", "refit"}
        "exact": for `SVC`, coefficients are brought back to zero one by one (Cauwenberghs & Poggio 2000); for
        `KernelRidge`, a formula. "span" (Vapnik & Chapelle 2000) and "xi_alpha" (Joachims 2000) need one
        fit of a two-class `SVC`: an estimate, and an upper bound for stable machines. "refit" fits once for
        each row. "auto" is "exact" if the estimator has it, otherwise "refit".
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the fits; every row counts equally in the error.
    time_limit : float, optional
        Seconds for "exact"; after that a DataError says how large the problem is.

    Returns
    -------
    LeftOut

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC, leave_one_out
    >>> X, y = load_iris(return_X_y=True)
    >>> round(leave_one_out(SVC(kernel="linear"), X, y).error, 4)
    0.02
    """
    require_choice("method", method, METHODS)
    is_svm, is_ridge = isinstance(estimator, SVC), isinstance(estimator, KernelRidge)
    if method == "auto":
        method = "exact" if is_svm or is_ridge else "refit"
    if method == "refit":
        return _refitted(estimator, X, y, sample_weight)
    if is_ridge and method == "exact":
        return _of_ridge(estimator, X, y, sample_weight)
    if not is_svm:
        raise ParameterError(
            f'method={method!r} needs an SVC (or a KernelRidge, if "exact"), got {type(estimator).__name__}; '
            'method="refit" takes any estimator'
        )
    if estimator.multi_class == "crammer_singer":
        raise ParameterError(
            'multi_class="crammer_singer" has no leave-one-out error without refitting; use method="refit"'
        )
    limits = Limits(time_limit=time_limit)
    with limits.in_force():
        prepared = prepare_fit(clone(estimator), X, y, sample_weight)
        return _exact(prepared, limits) if method == "exact" else _by_one_fit(prepared, method, limits)


def _refitted(estimator: BaseEstimator, X: Rows, y: Labels, sample_weight: ArrayLike | None) -> LeftOut:
    """One fit per row."""
    params = None if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
    found = cross_val_predict(clone(estimator), X, y, cv=LeaveOneOut(), params=params)
    errors = found != np.asarray(y) if is_classifier(estimator) else (found - np.asarray(y)) ** 2
    return LeftOut(float(np.mean(errors)), found, None, "refit", "exact")


def _of_ridge(estimator: BaseEstimator, X: Rows, y: Labels, sample_weight: ArrayLike | None) -> LeftOut:
    model = clone(estimator).set_params(leave_one_out=True)
    model.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    found = model.loo_.predictions
    error = np.nanmean((found - np.asarray(y, dtype=np.float64)) ** 2)
    return LeftOut(float(error), found, found, "exact", "exact")


def _stored(prepared: "PreparedFit", limits: Limits, copies: int = 1) -> "StoredMatrix":
    """The whole kernel matrix in double precision, if a few matrices of its size fit."""
    n, room = prepared.data.shape[0], prepared.budget.cache
    needed = copies * 8 * n**2
    if needed > room:
        raise DataError(
            f"leave-one-out needs {needed / 2**20:.0f} MiB for the kernel matrix of {n} rows, but memory_limit leaves "
            f"{room / 2**20:.0f} MiB; use fewer rows"
        )
    return prepared.matrix(IN_DOUBLE).stored(limits.stop).in_double()


def _exact(prepared: "PreparedFit", limits: Limits) -> LeftOut:
    """Leave-one-out values of all machines; rows outside a machine's problem keep its ordinary values."""
    setup = prepared.setup
    try:
        K = _stored(prepared, limits, copies=2)
        values = np.empty((K.n, len(setup.tasks)))
        for column, (problem, task) in enumerate(zip(setup.problems, setup.tasks, strict=True)):
            part = K if len(task.indices) == K.n else K.view(task.indices)
            found = ExactSolution(problem, part, limits)
            intercept = problem.intercept(found.beta, found.homotopy.bias)
            values[:, column] = K.product(task.indices, found.beta) + intercept
            values[task.indices, column] = found.values_left_out(limits, prepared.model.n_jobs)
    except Stopped:
        raise DataError(
            f"leave-one-out of {prepared.data.shape[0]} rows did not end within time_limit; use fewer rows, or "
            'method="span", which takes one fit'
        ) from None
    predictions = setup.classes[_winners(setup, values)]
    wrong = predictions != setup.classes[setup.codes]
    return LeftOut(
        float(np.mean(wrong)), predictions, values[:, 0] if values.shape[1] == 1 else values, "exact", "exact"
    )


def _winners(setup: Any, values: FloatArray) -> IndexArray:
    """The class of each row of decision values."""
    if setup.n_classes == 2:
        return (values[:, 0] > 0).astype(np.intp)
    counted = tasks.votes(values, setup.n_classes) if setup.has_pairs else values
    return counted.argmax(axis=1)


def _by_one_fit(prepared: "PreparedFit", method: str, limits: Limits) -> LeftOut:
    """The bound or estimate from one solution."""
    setup = prepared.setup
    if setup.n_classes != 2:
        raise DataError(f'method={method!r} needs two classes, got {setup.n_classes}; method="exact" takes more')
    (problem,), (task,) = setup.problems, setup.tasks
    K = _stored(prepared, limits)
    K = K if len(task.indices) == K.n else K.view(task.indices)
    found = ExactSolution(problem, K, limits)
    alpha, margins, gram = np.abs(found.beta), problem.signs * found.decision_values, found.values[:, : K.n]
    if method == "span":
        error = span_estimate(alpha, margins, gram, found.bounds, problem.bias)
    else:
        entries = K.values[:, : K.n]
        spread = entries.diagonal().max() - entries.min() if problem.bias == "free" else gram.diagonal()
        error = xi_alpha_bound(alpha, np.maximum(0.0, 1.0 - margins), spread, problem.bias, problem.loss)
    return LeftOut(error, None, None, method, KINDS[method])


class WholeSample:
    """A "cross-validation" of one split, in which every row is trained on and scored.

    For scores that leave rows out themselves: see `LeaveOneOutScorer`.

    Examples
    --------
    >>> from mercer import WholeSample
    >>> WholeSample().get_n_splits()
    1
    """

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1

    def split(self, X: Rows, y: Any = None, groups: Any = None) -> Iterator[tuple[IndexArray, IndexArray]]:
        """All rows, and all rows."""
        rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        yield rows, rows


class LeaveOneOutScorer(BaseEstimator):
    """`scoring` for scikit-learn's searches: 1 - leave-one-out error, or minus the mean squared error.

    Parameters
    ----------
    method : {"auto", "exact", "span", "xi_alpha", "refit"}, default="auto"
        How the error is found: from the machine itself ("exact"), by an estimate ("span") or an upper bound
        ("xi_alpha") for two classes, or by a fit for each row ("refit"). "auto" is "exact" if the estimator has it,
        otherwise "refit".

    Notes
    -----
    With ``sample_weight`` the machines that leave a row out are weighted as the fit is. `SVCCV` and `SVRCV` pass on
    their weights; scikit-learn's searches do so if metadata routing is enabled and
    ``set_score_request(sample_weight=True)`` asks for it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mercer import SVC, LeaveOneOutScorer, WholeSample
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, scoring=LeaveOneOutScorer(), cv=WholeSample()).fit(X, y)
    >>> search.best_params_
    {'C': 10.0}
    """

    def __init__(self, method: str = "auto") -> None:
        self.method = method

    def __call__(self, estimator: BaseEstimator, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> float:
        """The score of the parameters of `estimator` on X and y, with rows weighted in the fits."""
        error = leave_one_out(estimator, X, y, method=self.method, sample_weight=sample_weight).error
        return 1.0 - error if is_classifier(estimator) else -error

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Set whether scikit-learn's metadata routing passes ``sample_weight`` to the score, as for its own scorers.

        Parameters
        ----------
        sample_weight : bool, None or str
        """
        request = self.get_metadata_routing()
        request.score.add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = request
        return self

    def get_metadata_routing(self) -> "MetadataRequest":
        """The metadata that may be routed here; for scikit-learn, calling a scorer is scoring."""
        request = super().get_metadata_routing()
        if "sample_weight" not in request.score.requests:
            request.score.add_request(param="sample_weight", alias=None)
        return request
