"""The base of all models that are expansions in a kernel, whatever they learn."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._types import FloatArray, Rows
from mercer.estimators.bases.fits import Fits
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.certificate import CertifiedLazily, Evidence
from mercer.estimators.fitting.certifiers import DualCertifier, ProblemCertifier
from mercer.estimators.fitting.given_matrix import evaluate, has_room, require_gram
from mercer.estimators.fitting.inputs import expansion_input, is_function, kernel_of, require_fitted, tell_input
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_max_iter,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.progress import round_line, watchers
from mercer.estimators.fitting.support import linear_coefficients
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.low_rank.low_rank import Objective, require_approximation
from mercer.estimators.low_rank.restricted import (
    Landmarks,
    Restricted,
    grown,
    note_passes,
    rows_used,
    solved_in_coordinates,
)
from mercer.estimators.out_of_core.given import are_blocks, no_sum_of_losses
from mercer.estimators.out_of_core.predicting import rows_of
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.vector.linear import Linear
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.fitting.protocols import Setup, SolvedProblems
    from mercer.estimators.fitting.training import Budget
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.estimators.low_rank.over_blocks import BlockFit
    from mercer.kernels.base.kernel import Kernel


class KernelModel(Fits, CertifiedLazily, HoldsKernels):
    """Base of models that are sums of kernels at support vectors: store, certify and evaluate them."""

    if TYPE_CHECKING:
        approximation: LowRank | None
        approximation_: Any
        gap_tol: Any
        _distances: list[Any]

    # Defaults for machines without these parameters.
    approximation = None
    gap_tol = None
    # Whether to check a possibly indefinite kernel after the fit.
    _looks_at_kernel = True

    def __sklearn_tags__(self) -> "Tags":
        return tell_input(super().__sklearn_tags__(), self.kernel)

    def _check_parameters(self) -> None:
        """The parameters common to all kernel models."""
        require_number("tol", self.tol, above=0.0)
        require_approximation(self.approximation)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_number("coef0", self.coef0)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)

    def _limits(self) -> Limits:
        return Limits(self.max_iter, self.time_limit, self._watchers())

    def _watchers(self) -> list[Callable[[Any], Any]]:
        return watchers(self, round_line(self))

    def _training_data(self, X: Rows, weights: FloatArray | None, budget: "Budget") -> tuple[Any, TrainingData]:
        """X with its kernel; a kernel function's whole matrix is computed at once if it fits.

        The first of the two are the items that the function will be called with in `predict`.
        """
        items = None
        wanted = kernel_of(self)
        if is_function(wanted) and self.approximation is None and has_room(X, budget.cache):
            items, X, kernel = X, evaluate(wanted, X, X), cast("Kernel", Precomputed())
        else:
            kernel = resolve(wanted, self.gamma, self.degree, self.coef0, X, weights)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        data = TrainingData(kernel, X)
        data.source = items
        return items, data

    def _bound(
        self, X: Any, weights: FloatArray | None, budget: "Budget", n_machines: int, limits: Limits
    ) -> tuple[Any, TrainingData]:
        """`_training_data`, also for `Blocks`."""
        if not are_blocks(X):
            return self._training_data(X, weights, budget)
        # Imported here: it brings all file readers, and few fits need them.
        from mercer.estimators.low_rank.block_data import BlockData
        from mercer.estimators.low_rank.over_blocks import TOGETHER

        return None, BlockData(self, X, weights, min(n_machines, TOGETHER), limits)

    def _solved(self, data: TrainingData, setup: Any, budget: "Budget", limits: Limits) -> "SolvedProblems":
        """Solve the problems of a fit over all rows, or restricted to landmarks."""
        if self.approximation is None:
            return self._solve(data, setup, budget, limits)
        # Imported here: few fits are restricted to landmarks.
        from mercer.estimators.low_rank.over_blocks import ROUNDED, BlockFit, better_choice

        marks, objectives = Landmarks(self, self.approximation, data, rows_used(setup), limits), self._objectives(setup)
        by_blocks = objectives is not None and (marks.are_many or marks.are_read)
        if marks.are_read and objectives is None:
            raise no_sum_of_losses(self)
        if marks.choice == "auto":
            marks.choice = better_choice(marks, setup, objectives, limits)
        marks.dtype = marks.precision(ROUNDED) if by_blocks else marks.dtype

        def solve(before: Restricted | None) -> Restricted:
            if objectives is not None and by_blocks:
                gap_tol = self.tol if self.gap_tol is None else self.gap_tol
                return self._solve_blocks(BlockFit(marks, setup, objectives, gap_tol, budget, limits), before)
            setup.starts = None if before is None else before.betas()
            in_coordinates = partial(self._solve_coordinates, setup=setup, budget=budget, limits=limits)
            beside = self._bytes_beside(data.shape[0], marks.basis.size, setup)
            return solved_in_coordinates(in_coordinates, marks, setup, budget, beside)

        return grown(marks, solve)

    def _solve_coordinates(self, data: TrainingData, setup: Any, budget: "Budget", limits: Limits) -> "SolvedProblems":
        """Solve the problems in coordinates, which exact solvers see as rows with a linear kernel."""
        return self._solve(data, setup, budget, limits)

    def _bytes_beside(self, n: int, m: int, setup: Any) -> int:
        """What that takes at least beside coordinates (n, m), where it does not make do with what is left."""
        return 0

    def _objectives(self, setup: Any) -> list[Objective] | None:
        """The objective of each problem, if it can be solved over blocks of features, else None."""
        return None

    def _solve_blocks(self, fit: "BlockFit", before: Restricted | None) -> Restricted:
        return fit.solve(before)

    def _starts(self, setup: "Setup") -> list[Any] | None:
        """Coefficients of the last fit, if it is to be continued and had as many rows."""
        if getattr(setup, "starts", None) is not None:
            return cast(Any, setup).starts
        last = getattr(self, "_last_betas", None)
        if not self.warm_start or last is None or [len(b) for b in last] != [len(t.indices) for t in setup.tasks]:
            return None
        return last

    def _keep(self, X: Rows, data: TrainingData, setup: Any, solved: Any) -> None:
        """Set the fitted attributes."""
        support = solved.support
        self.support_, self.n_support_ = support.indices, support.counts
        self.intercept_ = solved.intercepts
        vectors, shown = self._vectors(data, solved)
        self.expansion_ = Expansion(data.kernel, vectors, support.groups(), self.intercept_, data.origin)
        self._sparse = (X.is_sparse if are_blocks(X) else sparse.issparse(X)) and self._items is None
        self.support_vectors_ = shown
        note_passes(self, data)
        self.dual_coef_ = _like(shown, support.dual_coef) if self._sparse else support.dual_coef
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (len(X),)
        self.n_iter_ = solved.iterations
        self.status_ = Status.worst(solved.statuses)
        # A stationary point is no evidence: a curved loss hides directions of negative curvature of the matrix.
        has_ended = self.status_ in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE, Status.STALLED)
        if has_ended and self._looks_at_kernel and data.looks_indefinite(support.indices):
            self.status_ = Status.NOT_CONVEX
        self.fit_status_ = int(self.status_ != Status.OPTIMAL)
        # Landmarks refer to all rows, which a restricted model does not keep.
        self._traces = partial(list, solved.traces()) if isinstance(solved, Restricted) else solved.traces
        self._last_betas = solved.betas() if getattr(self, "warm_start", False) else None
        self._keep_evidence(data, setup, solved)

    def _vectors(self, data: TrainingData, solved: Any) -> tuple[Any, Any]:
        """(support vectors as an expansion takes them, and as the user gave them)."""
        vars(cast(Any, self)).pop("_distances", None)
        vars(cast(Any, self)).pop("approximation_", None)
        if isinstance(solved, Restricted):
            self._distances, self.approximation_ = solved.distances, solved.marks.used_as
            return solved.marks.vectors()
        vectors = data.expansion_vectors(solved.support.indices)
        is_as_given = isinstance(vectors, np.ndarray) or sparse.issparse(vectors)
        return vectors, vectors if is_as_given else data.support_vectors(solved.support.indices)

    def _keep_evidence(self, data: TrainingData, setup: Any, solved: Any) -> None:
        if isinstance(solved, Restricted):
            self._evidence = Evidence.settled(solved.certificates)
            self._heed(solved.certificates)
            return
        certifier = self._kind_of_certifier(setup, solved)(data, setup, solved, self.n_jobs, self.tol or 0.0)
        self._evidence = Evidence(data, certifier)
        if self._items is not None:
            # The matrix of a kernel function is not kept for later.
            self._heed(self._evidence.certificates(full=True))
        else:
            self._decide_status()

    def _kind_of_certifier(self, setup: Any, solved: Any) -> type[ProblemCertifier]:
        """The certifier of such problems."""
        return DualCertifier

    def _is_reached(self, certificate: Any) -> bool:
        # Over blocks, a fit stops at a gap.
        is_small = self.approximation is not None and self.gap_tol is None and certificate.relative_gap <= self.tol
        return is_small or super()._is_reached(certificate)

    @property
    def distance_(self) -> Any:
        """The distance of a machine restricted to landmarks from the exact one: a `Distance` for each problem."""
        require_fitted(self)
        if "_distances" not in vars(self):
            raise AttributeError("distance_ is only available after a fit with an approximation; this fit is exact")
        return one_or_all(self._distances)

    @property
    def trace_(self) -> Any:
        """The rounds of the solver."""
        require_fitted(self)
        return one_or_all(self._traces())

    @property
    def coef_(self) -> FloatArray | Any:
        """Weights of the features; only for a linear kernel."""
        require_fitted(self)
        if not isinstance(self.expansion_.kernel, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        return linear_coefficients(self.expansion_)

    def _values(self, X: Rows) -> FloatArray:
        """The decision function of each two-class problem, shape (n, n_problems)."""
        require_fitted(self)
        if are_blocks(X):
            return np.concatenate([self._values(rows) for rows in rows_of(self, X)])
        X = expansion_input(self, X)
        return self.expansion_.values(X, self.tol or 0.0, self.n_jobs)


def _like(X: Rows, values: FloatArray) -> Any:
    """`values` in the same sparse container as X."""
    return (sparse.csr_array if isinstance(X, sparse.sparray) else sparse.csr_matrix)(values)
