"""The base of all machines that learn kernel weights."""

from collections.abc import Callable
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.exceptions import FitFailedWarning

from mercer._errors import DataError, ParameterError
from mercer._jit.memory import available_bytes
from mercer._jit.threads import one_blas_thread
from mercer._types import ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.bases.probabilities import folds_of
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.parameters import require_choice, require_count, require_number
from mercer.estimators.fitting.progress import watchers
from mercer.estimators.fitting.training import ENOUGH_FOR_SMALL, solve_all
from mercer.estimators.fitting.two_class import Solved
from mercer.estimators.mkl.cv import FoldScores, splits_of
from mercer.estimators.mkl.kernels import (
    NORMALISATIONS,
    BaseKernelData,
    as_one,
    bound_kernels,
    is_given,
    require_kernels,
    require_rows,
)
from mercer.estimators.mkl.methods import JOINT, allowed_weights, solve_with_weights
from mercer.estimators.mkl.over_landmarks import LandmarkMachines, coordinates_of_each
from mercer.estimators.mkl.solve import (
    ENDINGS,
    Machines,
    WeightedCertifier,
    WeightedSolved,
    certify,
    empty_solutions,
    stopped_at,
)
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.solvers.dual_qp import policy
from mercer.solvers.dual_qp.policy import allows_single
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.fitting.certifiers import ProblemCertifier
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.estimators.mkl.cv import Fold
    from mercer.kernels.base.kernel import Kernel
    from mercer.problems.certificate import Certificate
    from mercer.solvers.limits import Limits


# Up to this many items, summing given matrices costs next to nothing.
SUMMED_AT_SIGHT = 2048


class WeightedKernelModel(KernelModel):
    """Base of models with several kernels whose weights are learnt.

    If it offers ``method="cv"``, a subclass defines the problem of a fold and its score (`_fold`; None if nothing can
    be learnt), and what that requires (`_enough`).
    """

    if TYPE_CHECKING:
        coef0: float
        degree: float
        gamma: float | str
        cache_size: float | None
        cv: Any
        random_state: Any
        _groups: Any

    # Parameters of a single kernel, and of the machines, that are not offered.
    coef0, degree, gamma = 0.0, 3, "scale"
    shrinking, warm_start, cache_size = True, False, None
    _groups, _enough = None, "rows"
    # Each kernel was checked before the weights are learnt.
    _looks_at_kernel = False
    # A fit never starts from the last weights: a fit that ended early is repeated with more room.
    _remedies: ClassVar[dict[Status, str]] = {
        Status.OPTIMAL_INACCURATE: 'normalize="variance" brings kernels to one scale; a larger gap_tol asks for less.',
        Status.ITERATION_LIMIT: (
            "Solver terminated early (max_iter={max_iter}).  Consider pre-processing your data with StandardScaler "
            "or MinMaxScaler. A larger max_iter, or a larger gap_tol, lets it finish."
        ),
        Status.TIME_LIMIT: "A larger time_limit, or a larger gap_tol, lets it finish.",
        Status.STALLED: 'normalize="variance" brings kernels to one scale; a larger gap_tol asks for less.',
        Status.INTERRUPTED: "Another fit starts afresh.",
    }

    @property
    def kernel(self) -> "Kernel":
        """A kernel that takes the data that the kernels take."""
        return as_one(self.kernels)

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        if is_given(self.kernels):
            tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags

    def _check_parameters(self) -> None:
        require_kernels(self.kernels)
        super()._check_parameters()
        require_choice("method", self.method, self._methods)
        require_number("gap_tol", self.gap_tol, above=0.0)
        require_number("p", self.p, least=1.0)
        if self.normalize is not None:
            require_choice("normalize", self.normalize, NORMALISATIONS)
        if "cv" in self._methods and isinstance(self.cv, int):
            require_count("cv", self.cv, least=2)

    def _watchers(self) -> list[Callable[[Any], Any]]:
        return watchers(self, _weights_line)

    def _items_of(self, X: Rows) -> Any:
        """The data as input validation takes them: several given matrices are one set of items."""
        if not is_given(self.kernels):
            require_rows(self.kernels, X)
            return X
        X = GivenMatrices.of(X, check_finite=False)
        if X.shape[0] != X.matrices[0].shape[1]:
            raise DataError(f"precomputed matrices must be square, got shape {X.shape}; pass K_m(train, train)")
        return X

    def _training_data(self, X: Rows, weights: FloatArray | None, budget: "Budget") -> tuple[None, BaseKernelData]:
        """Bound kernels, checked on the rows; their matrices are computed later, within the limits."""
        named = bound_kernels(self.kernels, X, weights, self.n_jobs, self._dtype_of_sum(X))
        self.kernel_names_ = [name for name, _ in named]
        data = BaseKernelData([kernel for _, kernel in named], X, self.n_jobs)
        self._counts = np.ones(data.shape[0]) if weights is None else weights
        data.require_valid(np.flatnonzero(self._counts))
        return None, data

    def _dtype_of_sum(self, X: Rows) -> Any:
        """The precision in which the sum of given matrices is needed; None if it is not needed, or large."""
        is_asked_for = self.method in ("easy", "average") and self.normalize is None
        if not (is_asked_for and isinstance(X, GivenMatrices) and len(X) <= SUMMED_AT_SIGHT):
            return None
        return np.float32 if allows_single(len(X), self.tol) else np.float64

    def _solved(self, data: Any, setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        vars(cast(Any, self)).pop("weights_certificate_", None)
        if self.approximation is None:
            return self._solve(data, setup, budget, limits)
        try:
            several = coordinates_of_each(self, data, setup, budget, limits)
            several = data.normalise_coordinates(several, self.normalize, self._counts, limits.stop)
        except ENDINGS as end:
            return self._unsolved(data, setup, stopped_at(limits, end))
        gap_tol = self.gap_tol if self.method in JOINT else None
        machines = LandmarkMachines(data, several, setup, budget, limits, self.tol, gap_tol, self._counts)
        machines.objectives = self._objectives(setup)
        weights, found = self._searched(machines, data, setup, limits)
        self.weights_certificate_ = certify(several, weights, setup, found)
        data.choose(weights)
        solved: Any = super()._solved(data, setup, budget, limits)
        solved.statuses = [Status.worst([*solved.statuses, *found.statuses])]
        return solved

    def _solve_coordinates(
        self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits"
    ) -> "SolvedProblems":
        """With the weights that were learnt."""
        starts = getattr(setup, "starts", None)

        def solve(problem: Any, part: Any, k: int) -> Any:
            start = None if starts is None else starts[k]
            return solve_dual(
                problem.dual(), part, tol=self.tol, limits=limits, start=start, memory=budget.working, convex=True,
            )  # fmt: skip

        matrix = data.matrix(self.tol, None, budget, self.n_jobs)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))

    def _searched(
        self, machines: Machines, data: Any, setup: Any, limits: "Limits"
    ) -> tuple[FloatArray, WeightedSolved]:
        """(weights, the machines with them), by the method asked for."""
        return solve_with_weights(
            machines, self, limits, lambda: self._targets(setup), lambda: FoldScores(machines, self._folds(data, setup))
        )

    def _solve(self, data: Any, setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        several = data.several()
        data.require_moderate(several)
        try:
            if self._has_room(several.bytes_needed, data.shape[0], budget):
                several.keep(limits.stop)
            several = data.normalise(several, self.normalize, self._counts, limits.stop)
        except ENDINGS as end:
            return self._unsolved(data, setup, stopped_at(limits, end))
        gap_tol = self.gap_tol if self.method in JOINT else None
        machines = Machines(data, several, setup, budget, limits, self.tol, gap_tol, self._counts)
        weights, solved = self._searched(machines, data, setup, limits)
        data.choose(weights)
        return solved

    def _unsolved(self, data: "BaseKernelData", setup: Any, status: Status) -> WeightedSolved:
        allowed = allowed_weights(self.method, self.p)
        data.choose(allowed.equal(len(data.kernels)))
        return WeightedSolved(setup, empty_solutions(setup, status), allowed, status, 0, [])

    def _has_room(self, needed: float, n: int, budget: "Budget") -> bool:
        """Whether the matrices of all kernels fit; asking the system takes as long as a small fit."""
        if self.memory_limit is None and n <= policy.EXACT_SIZE:
            return needed <= ENOUGH_FOR_SMALL or needed <= available_bytes() // 4
        return needed <= budget.cache

    def _folds(self, data: BaseKernelData, setup: Any) -> "list[Fold]":
        """A `Fold` for each split; splits from which nothing can be learnt are dropped, and counted."""
        splits = self._splits(data, setup)
        judged = [(copies, held[self._counts[held] > 0]) for copies, held in splits]
        judged = [(copies, held) for copies, held in judged if len(held)]
        if not judged:
            raise DataError(
                f"method='cv' needs rows to leave out, got n_samples = {len(setup.codes)} in cv={brief(self.cv)} folds"
            )
        folds = [self._fold(setup, copies, held) for copies, held in judged]
        found = [fold for fold in folds if fold is not None]
        if not found:
            raise DataError(
                f"method='cv' needs {self._enough} to learn from in some fold, but cv={brief(self.cv)} gives none; "
                "pass another cv, or another method"
            )
        if len(found) < len(folds):
            self._say(
                f"{len(folds) - len(found)} of {len(folds)} splits of cv={brief(self.cv)} do not have {self._enough} "
                "to learn from, and are left out; the other splits decide the kernel weights",
                FitFailedWarning,
            )
        return found

    def _splits(self, data: "TrainingData", setup: Any) -> list[tuple[FloatArray, IndexArray]]:
        """(training multiplicity of each row, rows to score) of each split; an integer number of folds deals rows out
        by their contents."""
        if not isinstance(self.cv, int):
            return splits_of(self, self._answers(setup), self._groups)
        if self._groups is not None:
            raise ParameterError(
                f"groups need a cv that keeps them together, got cv={self.cv}; pass cv=GroupKFold({self.cv})"
            )
        rows = np.count_nonzero(self._counts)
        if self.cv > rows:
            raise DataError(f"cv={self.cv} folds need at least as many rows, got n_samples = {rows}; lower cv")
        place = folds_of(data, setup.codes, self._counts, self.random_state, self.cv)
        return [((place != fold).astype(np.float64), np.flatnonzero(place == fold)) for fold in range(self.cv)]

    def _learn(
        self,
        limits: "Limits",
        X: Rows,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> None:
        self._groups = groups
        with one_blas_thread():
            super()._learn(limits, self._items_of(X), y, sample_weight)

    def _kind_of_certifier(self, setup: Any, solved: Any) -> "type[ProblemCertifier]":
        return WeightedCertifier

    def _is_reached(self, certificate: "Certificate") -> bool:
        if self.approximation is not None:  # weights have a certificate of their own
            return certificate.is_optimal(self.tol) or certificate.relative_gap <= self.gap_tol
        return certificate.is_optimal(self.tol, self.gap_tol if self.method in JOINT else None)

    def _keep(self, X: Rows, data: Any, setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        self.weights_, self.scales_, self.kernel_ = data.weights, data.scales, data.kernel
        del self._counts
        vars(cast(Any, self)).pop("_groups", None)

    def _values(self, X: Rows) -> FloatArray:
        return super()._values(self._given_rows(X) if is_given(self.kernels) else X)

    def _given_rows(self, X: Rows) -> Any:
        require_fitted(self)
        X, expected = GivenMatrices.of(X), (len(self.weights_), self.shape_fit_[0])
        if (len(X.matrices), X.shape[1]) != expected:
            raise DataError(
                f"X must hold {expected[0]} matrices with {expected[1]} columns, one for each training item, "
                f"got {len(X.matrices)} with {X.shape[1]}; pass K_m(test, train)"
            )
        return X


def _weights_line(point: Any) -> str:
    """The result of a round of weights in words."""
    return (
        f"{point.iterations:4d} weights  gap {point.violation:9.2e}  primal {point.primal:.8g}  "
        f"kernels {point.working_set} of {point.active}"
    )
