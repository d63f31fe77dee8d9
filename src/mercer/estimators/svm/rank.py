"""Learning to rank."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.bases.one_function import OneProblem
from mercer.estimators.fitting.certifiers import ProblemCertifier
from mercer.estimators.fitting.inputs import regression_input, require_fitted, unlabeled_input
from mercer.estimators.fitting.parameters import require_choice, require_flag, require_optional_number
from mercer.estimators.fitting.training import Budget, whole_matrix
from mercer.estimators.fitting.two_class import Solved
from mercer.estimators.fitting.weights import target_weights
from mercer.kernels.table.column import is_missing
from mercer.problems.regularization import resolve_C
from mercer.problems.svm.rank import LOSSES, Ranking
from mercer.problems.svm.rank_pairs import GivenPairs, GradedPairs
from mercer.solvers.smooth import ranking_newton

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.certificate import Certificate
    from mercer.problems.regularization import Regularization
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


# Up to this many rows full accuracy costs nothing.
SMALL = 2000


class RankSVM(KernelModel):
    """Support vector machine for rankings: rows in the right order, by a margin, certified on every fit.

    It minimises (1/2)|w|^2 + C times the sum of max(0, 1 - (f(x_i) - f(x_j)))^2, or of that without the square, over
    the pairs of rows where i should come before j. The pairs follow from grades and queries and are never listed, so
    time and memory grow as n log n and n.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the loss of each pair, positive and finite.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function that returns the kernel
        matrix of two sets of rows.
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    gamma : float, "scale", "auto" or "median", default="scale"
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance).
    coef0 : float, default=0.0
        Constant term of the kernels "poly" and "sigmoid".
    tol : float, default=1e-3
        Largest difference between a coefficient and the response of the losses, relative to the largest
        one; and the relative duality gap.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss of a pair short of the margin: the square of the shortfall, or the shortfall itself, which
        is swayed less by a few pairs that are very wrong but takes longer.
    max_iter : int, default=-1
        Largest number of Newton steps; -1 sets no limit.
    gap_tol : float, optional
        Relative duality gap, positive, at which to stop instead of at `tol`.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    cache_size : float, optional
        Megabytes of kernel rows to keep in memory; by default a quarter of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` after every round; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print a line to standard error after every round.

    Attributes
    ----------
    n_pairs_ : float
        Number of pairs, counted by weight.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    support_vectors_ : array or CSR of shape (n_support, d)
        The support vectors; empty if the kernel is precomputed.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors. There is no bias, because it would not change the order.
    coef_ : ndarray or CSR of shape (1, d)
        Weights of the features; only for the linear kernel.
    n_iter_ : int
        Newton steps taken.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has names and all are strings.
    certificate_ : Certificate
        Primal, dual and gap over all pairs, from sums that need no list of them.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL.
    expansion_ : Expansion
        The function as a sum of kernels.
    trace_ : list of TracePoint
        The rounds of the solver.

    References
    ----------
    Herbrich, Graepel and Obermayer (2000); Joachims (2002); Chapelle and Keerthi (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RankSVM
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> grades, queries = [0, 1, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2]
    >>> model = RankSVM(kernel="linear").fit(X, grades, qid=queries)
    >>> model.score(X, grades, qid=queries), model.status_.name, model.n_pairs_
    (1.0, 'OPTIMAL', 6.0)
    """

    def __init__(
        self,
        C: "float | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        *,
        loss: str = "squared_hinge",
        max_iter: int = -1,
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        cache_size: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.loss = loss
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(
        self,
        X: Rows,
        y: Labels | None = None,
        qid: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn an order of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed, or a list of objects
        y : array-like of shape (n,), optional
            Grades: of two rows of the same query, the one with the higher grade should come first.
        qid : array-like of shape (n,), optional
            The query of each row, of any type and none missing; by default all rows belong to one query.
        pairs : array-like of int of shape (m, 2), optional
            Pairs of rows (first, second), instead of grades.
        sample_weight : array-like of shape (n,), optional
            A pair counts as the product of the weights of its rows.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, qid, pairs, sample_weight)

    def _learn(
        self,
        limits: "Limits",
        X: Rows,
        y: Labels | None,
        qid: ArrayLike | None,
        pairs: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> None:
        X, problem, used, weights = self._problem_of(X, y, qid, pairs, sample_weight)
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        items, data = self._training_data(X, None if sample_weight is None else weights, budget)
        setup = OneProblem(problem, used, len(weights))
        solved = self._solve(data, setup, budget, limits)
        self._items, self.n_pairs_ = items, problem.n_pairs
        self._keep(X, data, setup, solved)
        self.n_iter_ = int(self.n_iter_[0])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("cache_size", self.cache_size, above=0.0)
        require_flag("warm_start", self.warm_start)
        require_choice("loss", self.loss, LOSSES)

    def _problem_of(
        self, X: Rows, y: Any, qid: ArrayLike | None, pairs: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Rows, Ranking, IndexArray, FloatArray]:
        """(rows, problem, rows that take part, weights)."""
        if pairs is None:
            X, y = regression_input(self, X, y)
            n = len(y)
        else:
            if y is not None or qid is not None:
                raise ParameterError("y and qid must be None when pairs are given, which say the same")
            X = unlabeled_input(self, X)
            n = X.shape[0] if hasattr(X, "shape") else len(X)
        weights = target_weights(sample_weight, n)
        used = np.flatnonzero(weights)
        chosen = _given(pairs, used, n) if pairs is not None else GradedPairs(y[used], _queries(qid, n)[used])
        C = resolve_C(self.C, n)
        if not np.isfinite(C):
            raise ParameterError(f"C must be finite, got {C}; a large C comes as close to all pairs as you like")
        problem = Ranking(chosen, float(C), weights[used], self.loss)
        _require_a_pair(problem, n, pairs)
        return X, problem, used, weights

    def _solve(self, data: "TrainingData", setup: Any, budget: Budget, limits: "Limits") -> "SolvedProblems":
        indices, problem = setup.tasks[0].indices, setup.problems[0]
        (start,) = self._starts(setup) or [None]

        def solve(matrix: "KernelMatrix") -> "Solution":
            return ranking_newton.solve(
                problem,
                matrix,
                tol=self.tol,
                limits=limits,
                start=start,
                gap_tol=self.gap_tol,
                convex=data.kernel.is_psd is True,
            )

        matrix = data.matrix(
            min(self.tol, 1e-6) if len(indices) <= SMALL else self.tol, self.gap_tol, budget, self.n_jobs
        )
        return Solved(setup, [whole_matrix(matrix, indices, budget, limits, solve, np.zeros((len(indices), 1)))])

    def _kind_of_certifier(self, setup: Any, solved: Any) -> type[ProblemCertifier]:
        return _RankCertifier

    def predict(self, X: Rows) -> Array:
        """A score for each row of X: higher comes first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._values(X)[:, 0]

    def score(self, X: Rows, y: Labels, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """Share of the pairs that are put in the right order; a tie counts half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed, or a list of objects
        y : array-like of shape (n,)
            Grades: of two rows of the same query, the one with the higher grade should come first.
        qid : array-like of shape (n,), optional
            The query of each row; by default all rows belong to one query.
        sample_weight : array-like of shape (n,), optional
            A pair counts as the product of the weights of its rows.

        Returns
        -------
        float
        """
        require_fitted(self)
        f = self.predict(X)
        y = cast(Array, column_or_1d(y))
        check_consistent_length(f, y)
        weights = target_weights(sample_weight, len(y))
        used = np.flatnonzero(weights)
        problem = Ranking(GradedPairs(y[used], _queries(qid, len(y))[used]), 1.0, weights[used])
        _require_a_pair(problem, len(y))
        return problem.concordance(f[used])


class _RankCertifier(ProblemCertifier):
    """The dual point of a ranking has separate coefficients, and a separate product."""

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> "Certificate":
        points = self.data.prepare(np.float64, task.indices)

        def product(values: FloatArray) -> FloatArray:
            return self._product(points, points, values)

        with np.errstate(over="ignore", invalid="ignore"):
            return problem.certificate(beta, product(beta), intercept, product)


def _queries(qid: ArrayLike | None, n: int) -> IndexArray:
    """The query of each row as 0, 1, ..."""
    if qid is None:
        return np.zeros(n, np.int64)
    qid = cast(Array, column_or_1d(qid))
    if len(qid) != n:
        raise DataError(f"qid must have one entry for each of the {n} rows, got {len(qid)}")
    _require_every_query(qid)
    try:
        return np.unique(qid, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        # Values without an order are numbered by first occurrence.
        numbers = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in qid], np.int64)


def _require_every_query(qid: Array) -> None:
    if qid.dtype.kind not in "fmMO":
        return
    # As double: single-precision NaNs are not Python floats.
    values = qid.astype(np.float64) if qid.dtype.kind == "f" else qid
    missing = np.flatnonzero(np.fromiter((is_missing(value) for value in values), bool, len(values)))
    if len(missing):
        row = int(missing[0])
        raise DataError(
            f"qid must name the query of every row, but row {row} has {qid[row]!s}; drop such rows, or name their query"
        )


def _require_a_pair(problem: Ranking, n: int, pairs: Any = None) -> None:
    """Refuse a problem without any valid pair, and say why there is none."""
    if problem.n_pairs > 0:
        return
    n_used = len(problem.weights)
    if n == 1:
        told = "; got 1 sample"
    elif n_used and replace(problem, weights=np.ones(n_used)).n_pairs > 0:
        told = (
            ": a pair counts as the product of the weights of its rows, which is rounded to 0; "
            f"got sample_weight up to {problem.weights.max():g}; divide it by that"
        )
    elif pairs is not None:
        told = f": in each of the {len(pairs)} pairs a row has weight 0" if len(pairs) else "; got no pairs"
    else:
        told = f": within every query, all grades {'of rows with a weight ' if n_used < n else ''}are equal"
    raise DataError(f"there must be a pair of rows to put in order{told}")


def _given(pairs: ArrayLike, used: IndexArray, n: int) -> GivenPairs:
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(f"pairs must be whole numbers of shape (m, 2), got {pairs.dtype} of shape {pairs.shape}")
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < n):
        raise DataError(f"pairs must be positions of rows, 0 to {n - 1}, got {pairs.min()} to {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise DataError("each pair must be of two different rows")
    place = np.full(n, -1)
    place[used] = np.arange(len(used))
    kept = place[pairs[(place[pairs] >= 0).all(axis=1)]]
    return GivenPairs(kept[:, 0].astype(np.int64), kept[:, 1].astype(np.int64))
