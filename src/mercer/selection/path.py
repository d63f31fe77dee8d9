"""The solutions of one classifier for every C, as one object."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._jit.once import computed_once
from mercer._jit.threads import Stopped
from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.fitting.inputs import expansion_input
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.plan import prepare_fit
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.svm.svc import SVC
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.evaluation import tiles
from mercer.problems.svm.soft_margin import BIASES, SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.paths.chord_path import Node, approximate_path
from mercer.solvers.paths.exact_path import follow_path
from mercer.solvers.result import Status, TracePoint
from mercer.solvers.tolerances import IN_DOUBLE

if TYPE_CHECKING:
    from mercer.problems.certificate import Certificate


METHODS = ("auto", "exact", "approximate")
# Up to this many rows "auto" is "exact".
EXACT_SIZE = 3_000
# The most refinements of a solution until its gap is small enough.
MOST_TRIES = 6
# Remedies that differ from those of a fit.
_REMEDIES = {
    Status.ITERATION_LIMIT: "Raise max_iter to go further; C_end says how far the path is known.",
    Status.TIME_LIMIT: "Raise time_limit to go further; C_end says how far the path is known.",
    Status.INTERRUPTED: "C_end says how far the path is known.",
    Status.STALLED: "Ties could not be resolved; C_end says how far the path is known. Scale the features.",
}


class RegularizationPath:
    """The classifier for every C: alpha, bias, decision values, certificate; made by `regularization_path`.

    Attributes
    ----------
    breakpoints : ndarray
        Every C at which a piece begins (exact), or for which the problem was solved (approximate).
    lambdas : ndarray
        1 / C at the breakpoints: alpha / C is piecewise linear in lambda, just as alpha is in C.
    C_min, C_end : float
        Where the path begins and ends; the last piece of an exact path may have no end.
    n_events : int
        How often a point changed its set (exact).
    method : {"exact", "approximate"}
    gap_bounds : ndarray or None
        For an approximate path: a bound on the relative gap of every C between two breakpoints.
    status : Status
    classes : ndarray
        The two labels; the second is positive.
    signs, weights : ndarray (n,)
        Labels of the rows as +1 and -1, and what C is multiplied by for each row; zero for rows that take no part.
    kernel : Kernel
        The kernel, bound to the rows.
    """

    def __init__(self, found: Any, setup: "_Setup", method: str) -> None:
        self._found, self._setup = found, setup
        self.method, self.status = method, found.status
        self.breakpoints, self.C_end = found.breakpoints, found.C_end
        self.C_min = 0.0 if method == "exact" else float(found.breakpoints[0])
        self.n_events = getattr(found, "n_events", 0)
        self.gap_bounds = getattr(found, "bounds", None)
        self.classes, self.signs, self.weights = setup.classes, setup.signs, setup.weights
        self.kernel = setup.data.kernel

    @property
    def lambdas(self) -> FloatArray:
        """1 / C at the breakpoints; infinite at C = 0."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.breakpoints

    def coefficients(self, C: float | None = None, *, lam: float | None = None) -> tuple[FloatArray, float]:
        """(beta, b): signed coefficients y_i alpha_i of every row, and the bias.

        Parameters
        ----------
        C : float
            A value between `C_min` and `C_end`; or give ``lam = 1 / C`` instead.
        """
        part, bias = self._found.at(self._at(C, lam))
        beta = np.zeros(len(self.signs))
        beta[self._setup.used] = part
        return beta, self._setup.intercept(part, bias)

    def alpha(self, C: Any = None, *, lam: Any = None) -> FloatArray:
        """Dual variables alpha_i >= 0 of every row, shape (n,); (k, n) for several C."""
        if np.ndim(C if lam is None else lam) == 0:
            return np.abs(self.coefficients(C, lam=lam)[0])
        return np.stack([self.alpha(each) for each in C] if lam is None else [self.alpha(lam=each) for each in lam])

    def intercept(self, C: float | None = None, *, lam: float | None = None) -> float:
        """The bias b."""
        return self.coefficients(C, lam=lam)[1]

    def decision_function(self, X: Rows, C: Any = None, *, lam: Any = None) -> FloatArray:
        """f(x) for each row of X, shape (n,); (n, k) for several C, in one product with the kernel."""
        wanted = C if lam is None else lam
        given = [{"C": c} if lam is None else {"lam": c} for c in np.atleast_1d(wanted)]
        pairs = [self.coefficients(**each) for each in given]
        beta, bias = np.stack([beta for beta, _ in pairs], axis=1), np.array([b for _, b in pairs])
        support = np.flatnonzero(beta.any(axis=1))
        data = self._setup.data
        expansion = Expansion.single(data.kernel, data.expansion_vectors(support), beta[support], bias, data.origin)
        values = expansion.values(expansion_input(self._setup.model, X), n_jobs=self._setup.parameters["n_jobs"])
        return values[:, 0] if np.ndim(wanted) == 0 else values

    def predict(self, X: Rows, C: Any = None, *, lam: Any = None) -> Array:
        """Labels, shape (n,); (n, k) for several C."""
        return self.classes[(self.decision_function(X, C, lam=lam) > 0).astype(np.intp)]

    def certificate(self, C: float | None = None, *, lam: float | None = None) -> "Certificate":
        """Primal, dual, gap and KKT conditions at C, computed in double precision from the rows."""
        at = self._at(C, lam)
        if at == 0:
            raise ParameterError("C must be positive for a certificate, got 0")
        return self._setup.certificate(at, *self._found.at(at))

    def gap(self, C: float | None = None, *, lam: float | None = None) -> float:
        """The duality gap at C, relative to the primal objective."""
        found = self.certificate(C, lam=lam)
        return found.gap / found.primal if found.primal > 0 else 0.0

    def events(self) -> list[tuple[float, int, str]]:
        """(C, row, "free", "bounded" or "zero") for every change of a set, in order; exact paths only."""
        if self.method != "exact":
            raise ParameterError('events() needs an exact path; use method="exact"')
        return [(C, int(self._setup.used[point]), kind) for C, point, kind in self._found.events()]

    def as_svc(self, C: float | None = None, *, lam: float | None = None) -> SVC:
        """A fitted `SVC` with the solution at C: what `fit` would find, without fitting."""
        at = self._at(C, lam)
        if at == 0:
            raise ParameterError("C must be positive for a classifier, got 0")
        return self._setup.as_svc(at, *self._found.at(at))

    def _at(self, C: float | None, lam: float | None) -> float:
        if (C is None) == (lam is None):
            raise ParameterError(f"give either C or lam, got C={C!r} and lam={lam!r}")
        if lam is not None:
            require_number("lam", lam, above=0.0)
        else:
            require_number("C", C, least=0.0)
        at = float(cast(float, C)) if lam is None else 1.0 / float(lam)
        if not self.C_min * (1.0 - 1e-12) <= at <= self.C_end * (1.0 + 1e-12):
            raise ParameterError(
                f"C must be between {self.C_min:g} and {self.C_end:g}, where the path is known, got {at:g}; "
                "to change that, set C_min and C_max of regularization_path"
            )
        return min(max(at, self.C_min), self.C_end)

    def __repr__(self) -> str:
        return (
            f"<RegularizationPath: {self.method}, {len(self.signs)} rows, {len(self.breakpoints)} breakpoints, "
            f"C from {self.C_min:g} to {self.C_end:g}, {self.status.name}>"
        )


class _Setup:
    """The rows of a path with their kernel, labels and weights."""

    def __init__(self, parameters: dict[str, Any], X: Rows, y: Labels, sample_weight: ArrayLike | None) -> None:
        self.parameters, self.given = parameters, (X, y, sample_weight)
        self.prepared = prepare_fit(SVC(C=1.0, **parameters), X, y, sample_weight)
        setup = self.prepared.setup
        self.classes, self.bias, self.data = setup.classes, setup.bias, self.prepared.data
        if len(self.classes) != 2:
            raise DataError(
                f"y must have two classes for a path, got {len(self.classes)}; follow one class against the rest"
            )
        self.signs, self.weights = np.where(setup.codes == 1, 1.0, -1.0), setup.C
        self.used = setup.tasks[0].indices

    @computed_once
    def model(self) -> SVC:
        """A fitted model of these rows, by which other rows are validated."""
        return self.as_svc(1.0, np.zeros(len(self.used)), 0.0)

    def problem(self, C: float) -> SoftMargin:
        """Soft-SVM at C, over the rows that take part."""
        return SoftMargin(self.signs[self.used], C * self.weights[self.used], "hinge", self.bias)

    def intercept(self, beta: FloatArray, bias: float) -> float:
        """b, which is a variable of the dual only if it is free."""
        return self.problem(1.0).intercept(beta, bias)

    def projections(self, beta: FloatArray) -> FloatArray:
        """<w, psi(x_i)> in double precision."""
        support = np.flatnonzero(beta)
        points = self.data.prepare(np.float64, self.used)
        if len(support) == 0:
            return np.zeros(len(beta))
        return tiles.product(self.data.kernel, points, points.take(support), beta[support], self.parameters["n_jobs"])

    def certificate(self, C: float, beta: FloatArray, bias: float) -> "Certificate":
        return self.problem(C).certificate(beta, self.projections(beta), self.intercept(beta, bias))

    def as_svc(self, C: float, beta: FloatArray, bias: float) -> SVC:
        prepared = prepare_fit(SVC(C=C, **self.parameters), *self.given)
        return prepared.adopt([beta], [bias])

    def node(
        self, C: float, start: FloatArray | None, gap_tol: float, limits: Limits, matrices: dict[float, Any]
    ) -> Any:
        """The solution at C whose gap is at most `gap_tol` of its primal value."""
        problem, tol = self.problem(C), 1e-3
        for _ in range(MOST_TRIES):
            if tol not in matrices:
                matrices[tol] = self.prepared.matrix(tol, self.used)
            found = solve_dual(
                problem.dual(),
                matrices[tol],
                tol=tol,
                limits=limits.unwatched(),
                start=start,
                convex=self.data.kernel.is_psd is True,
                memory=self.prepared.budget.working,
            )
            projections, intercept = self.projections(found.beta), self.intercept(found.beta, cast(float, found.bias))
            seen = problem.certificate(found.beta, projections, intercept)
            if seen.gap <= gap_tol * seen.primal or found.status != Status.OPTIMAL or limits.stop():
                break
            start, tol = found.beta, 0.1 * tol
        losses = np.maximum(0.0, 1.0 - problem.signs * (projections + intercept))
        limits.report(
            TracePoint(limits.seconds, found.iterations, seen.kkt_violation, seen.dual, len(losses), len(losses))
        )
        loss = float(self.weights[self.used] @ losses)
        return Node(C, found.beta, float(found.bias), loss, seen.primal, seen.dual, found.status)


def regularization_path(
    estimator: SVC,
    X: Rows,
    y: Labels,
    *,
    sample_weight: ArrayLike | None = None,
    method: str = "auto",
    C_min: float = 1e-3,
    C_max: float = 1e3,
    gap_tol: float = 1e-2,
) -> RegularizationPath:
    """Soft-SVM for every C at once: its coefficients as a piecewise linear function.

    The exact path follows the solution from C = 0, event by event (Hastie et al. 2004), for two classes,
    the hinge loss and a positive semidefinite kernel; its matrix must fit into memory. The approximate
    one solves for enough values of C that the chords between the solutions have a relative duality gap of at most
    `gap_tol` everywhere, and can prove it.

    Parameters
    ----------
    estimator : SVC
        Gives the kernel, the bias, class weights and limits; its own C is ignored. All three kinds of bias have exact
        paths. `max_iter` bounds the events of an exact path, and the pair steps of each fit of an approximate one. A
        path that ends early says so in `status` and `C_end`, and warns.
    X, y
        Rows (or items, or a precomputed matrix) and labels of two classes.
    sample_weight : array-like of shape (n,), optional
        Multiplies C for each row.
    method : {"auto", "exact", "approximate"}
        "auto" is exact up to 3000 rows.
    C_min : float, default=1e-3
        Where an approximate path begins; an exact one begins at 0.
    C_max : float, default=1e3
        Where it ends; an exact one may go on to ``inf``.
    gap_tol : float, default=1e-2
        For an approximate path: the largest gap at any C, relative to the primal objective.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import mercer
    >>> X, y = [[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1]
    >>> path = mercer.regularization_path(mercer.SVC(kernel="linear"), X, y, C_max=float("inf"))
    >>> path.alpha(100.0).round(6)
    array([0.5, 0.5, 1. , 0. ])
    >>> path.certificate(0.25).gap < 1e-12
    True
    >>> path.as_svc(100.0).coef_.round(6)
    array([[ 1., -1.]])
    """
    require_choice("method", method, METHODS)
    require_number("C_min", C_min, above=0.0)
    if not (isinstance(C_max, float) and C_max == np.inf):
        require_number("C_max", C_max, above=0.0)
    require_number("gap_tol", gap_tol, above=0.0)
    parameters = _parameters(estimator)
    limits = Limits(estimator.max_iter, estimator.time_limit, estimator.callbacks)
    with limits.in_force():
        setup = _Setup(parameters, X, y, sample_weight)
        if method == "auto":
            method = "exact" if len(setup.used) <= EXACT_SIZE else "approximate"
        found = (_exact if method == "exact" else _approximate)(setup, C_min, C_max, gap_tol, limits)
    warn_unless_optimal(found.status, estimator.max_iter, _REMEDIES, "certificate(C)")
    return RegularizationPath(found, setup, method)


def _parameters(estimator: SVC) -> dict[str, Any]:
    """All parameters of the machine except C, which varies along the path."""
    if not isinstance(estimator, SVC):
        raise ParameterError(f"estimator must be an SVC, got {estimator!r}; call regularization_path(SVC(...), X, y)")
    if estimator.loss != "hinge":
        raise ParameterError(
            f'a path needs loss="hinge", got loss={estimator.loss!r}: with other losses it is not piecewise linear'
        )
    if estimator.multi_class == "crammer_singer":
        raise ParameterError('a path needs multi_class="ovo" or "ovr", got "crammer_singer"')
    require_choice("bias", estimator.bias, BIASES)
    # Calibration and warm starts belong to a fit at one C.
    parameters = {**estimator.get_params(deep=False), "probability": False, "warm_start": False}
    del parameters["C"]
    return parameters


def _exact(setup: _Setup, _C_min: float, C_max: float, _gap_tol: float, limits: Limits) -> Any:
    n, room = len(setup.used), setup.prepared.budget.cache
    # The matrix, and the tableau.
    needed = 16 * n**2
    if needed > room:
        raise DataError(
            f"the exact path needs {needed / 2**20:.0f} MiB for the kernel matrix of {n} rows, but memory_limit leaves "
            f'{room / 2**20:.0f} MiB; method="approximate" needs no matrix'
        )
    weights = setup.weights[setup.used]
    try:
        matrix = setup.prepared.matrix(IN_DOUBLE, setup.used).stored(limits.stop)
        return follow_path(matrix.in_double(), setup.signs[setup.used], weights, setup.bias, C_max, limits)
    except Stopped:
        raise DataError(
            f"the path of {n} rows was ended before it began, so no C is known; raise time_limit, or use fewer rows"
        ) from None


def _approximate(setup: _Setup, C_min: float, C_max: float, gap_tol: float, limits: Limits) -> Any:
    if not C_min < C_max < np.inf:
        raise ParameterError(f"C_max must be finite and above C_min={C_min!r} for an approximate path, got {C_max!r}")
    matrices = {}

    def solve(C: float, start: Any, own_tol: float) -> Any:
        return setup.node(C, start, own_tol, limits, matrices)

    return approximate_path(solve, float(C_min), float(C_max), float(gap_tol), limits)
