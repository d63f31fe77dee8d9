"""What principal components and singular vectors have in common: eigenvectors of a kernel matrix."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from mercer._errors import DataError
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, Rows
from mercer.estimators.bases.kernel_method import KernelMethod
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.certifiers import Computed
from mercer.estimators.fitting.inputs import unlabeled_input
from mercer.estimators.fitting.parameters import require_choice, require_count, require_number
from mercer.estimators.fitting.seeds import generator_of
from mercer.kernels.gram.fixed_point import FixedPointOperator
from mercer.kernels.gram.symmetric_operator import CenteredOperator, EvaluatedOperator, of_moderate_size
from mercer.problems.kernel_methods import spectrum
from mercer.solvers.limits import Limits, limits_in_force
from mercer.solvers.linalg import lanczos
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.estimators.fitting.training import TrainingData
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.problems.kernel_methods.spectrum import EigenCertificate
    from mercer.solvers.linalg.lanczos import EigenSolution


EIGEN_SOLVERS = ("auto", "dense", "arpack", "krylov", "randomized")
# Up to this many items, computing all eigenvalues is as quick as a few.
_DENSE = 500


@dataclass(frozen=True)
class Components:
    """Eigenpairs, the number above rounding, whether they are all, and the means of centred rows."""

    pairs: lanczos.EigenSolution
    rank: int
    is_complete: bool
    means: np.ndarray | None


class SpectralMethod(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMethod):
    """Base of methods based on eigenvectors of a kernel matrix: solve, store, project."""

    if TYPE_CHECKING:

        @property
        def certificate_(self) -> EigenCertificate: ...

    _is_centred = True
    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "A larger max_iter or tol helps.",
        Status.TIME_LIMIT: "A larger time_limit helps.",
        Status.STALLED: 'A larger tol helps, or a memory_limit with room for eigen_solver="dense".',
        Status.NOT_CONVEX: (
            "Components belong to positive eigenvalues, and there are negative ones: mercer_check(kernel, X) shows "
            "why, and repair(gram) gives the nearest matrix that has none."
        ),
        Status.INTERRUPTED: "Fit again.",
    }

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Find the components of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : ignored

        Returns
        -------
        self
        """
        return self._fit_and_tell(X)

    def _learn(self, limits: Limits, X: Rows) -> None:
        X = unlabeled_input(self, X)
        self._fit_rows(X, self._training_data(X), limits)
        if self._missing:
            self._say(self._missing, UserWarning)

    def _fit_rows(self, X: Rows, data: "TrainingData", limits: Limits) -> None:
        self._keep(X, data, self._solve(data, limits), limits)

    def _solve(self, data: "TrainingData", limits: Limits) -> Components:
        """The components; zeros if there was no time for any."""
        try:
            operator, unit = self._spectral_operator(data, limits)
            # A kernel that is positive semidefinite by construction is not checked.
            margin = None if data.kernel.is_psd else spectrum.rounding(operator)
            found = self._eigenpairs(data, operator, margin, limits)
        except Stopped:
            n = data.shape[0]
            nothing = lanczos.EigenSolution.none(n, self._count(n), limits.reached() or Status.INTERRUPTED)
            return Components(nothing, 0, False, np.zeros(n))
        return self._components(operator, unit, found, margin)

    def _components(
        self, operator: "SymmetricOperator", unit: float, found: "EigenSolution", margin: float | None
    ) -> Components:
        is_convex = margin is None or found.least >= -margin
        before = spectrum.largest_before(cast(CenteredOperator, operator)) if self._is_centred else 0.0
        rank = spectrum.numerical_rank(found.values, operator.n, before)
        # An indefinite matrix has rounding errors on both sides of zero, so values are judged by magnitude.
        rank = rank if is_convex else min(rank, int(np.sum(found.values > margin)))
        # Power steps towards values of either sign may have missed some positive ones.
        is_complete = found.status == Status.OPTIMAL and (is_convex or self.solver_ != "randomized")
        status = found.status if is_convex else Status.worst([found.status, Status.NOT_CONVEX])
        means = cast(CenteredOperator, operator).means * unit if self._is_centred else None
        return Components(replace(found, values=found.values * unit, status=status), rank, is_complete, means)

    def _count(self, n: int) -> int:
        return n if self.n_components is None else min(self.n_components, n)

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        require_number("tol", self.tol, least=0.0)
        require_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        for name in ("n_components", "max_iter"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        if self.iterated_power != "auto":
            require_count("iterated_power", self.iterated_power, least=0)

    def _spectral_operator(self, data: "TrainingData", limits: Limits) -> "tuple[SymmetricOperator, float]":
        """(the matrix whose eigenvectors are computed, its unit); its triangle is stored if it fits."""
        base, unit = of_moderate_size(self._bounded_operator(data, limits))
        has_room = 2 * base.n**2 <= self._budget(data.X)
        if isinstance(base, EvaluatedOperator) and has_room and self._chosen_solver(data) != "dense":
            base = FixedPointOperator.of(base, limits.stop) or base
        return (CenteredOperator(base, stop=limits.stop) if self._is_centred else base), unit

    def _bounded_operator(self, data: "TrainingData", limits: Limits) -> "SymmetricOperator":
        operator = self._operator(data, limits)
        # An eigenvalue may be as large as a row sum.
        if not operator.n * operator.size < np.finfo(np.float64).max:
            raise DataError(f"kernel values overflow on X: the largest is {operator.size:g}; divide them by a constant")
        return operator

    def _eigenpairs(
        self, data: "TrainingData", operator: "SymmetricOperator", margin: float | None, limits: Limits
    ) -> "EigenSolution":
        count = self._count(operator.n)
        self.solver_ = self._chosen_solver(data)
        if self.solver_ == "dense":
            instead = 'ask for fewer n_components, with eigen_solver="krylov"'
            needed = lanczos.dense_memory(operator.n, count)
            self._require_room(data, needed, f'eigen_solver="dense" with {count} components', instead)
            return lanczos.dense(operator, count, limits.stop, margin)
        rng = np.random.default_rng(generator_of(self.random_state).randint(2**31))
        if self.solver_ == "randomized":
            auto = 7 if count < 0.1 * operator.n else 4
            power = auto if self.iterated_power == "auto" else self.iterated_power
            found = lanczos.randomised(operator, count, power, rng, limits.stop)
        else:
            found = lanczos.krylov(operator, count, self.tol, rng, limits)
            if found.status == Status.STALLED and self._has_room_for_dense(data):
                found = self._dense_instead(found, operator, margin, limits)
        return replace(found, least=min(found.least, float(operator.diag.min(initial=np.inf))))

    def _dense_instead(
        self, found: "EigenSolution", operator: "SymmetricOperator", margin: float | None, limits: Limits
    ) -> "EigenSolution":
        """All eigenvalues, if the iteration failed."""
        try:
            whole = lanczos.dense(operator, len(found.values), limits.stop, margin)
        except Stopped:
            return replace(found, status=limits.reached() or Status.INTERRUPTED)
        self.solver_ = "dense"
        return replace(whole, iterations=found.iterations + whole.iterations, trace=found.trace)

    def _has_room_for_dense(self, data: "TrainingData") -> bool:
        n = data.shape[0]
        return lanczos.dense_memory(n, self._count(n)) <= self._budget(data.X)

    def _chosen_solver(self, data: "TrainingData") -> str:
        if self.eigen_solver == "arpack":
            return "krylov"
        if self.eigen_solver != "auto":
            return self.eigen_solver
        n = data.shape[0]
        is_small = n <= _DENSE and self._has_room_for_dense(data)
        return "dense" if is_small or 6 * self._count(n) > n else "krylov"

    def _keep(self, X: Rows, data: "TrainingData", found: Components, limits: Limits) -> None:
        pairs, rank = found.pairs, found.rank
        kept = self._count_kept(rank, len(pairs.values))
        values, vectors = pairs.values[:kept], spectrum.with_signs(pairs.vectors[:, :kept])
        # A value of rounding size spans no direction.
        values = np.where(np.arange(kept) < rank, values, 0.0)
        self.status_, self.n_iter_, self.trace_ = pairs.status, pairs.iterations, pairs.trace
        self._keep_rank(found, kept)
        self._set_attributes(values, vectors)
        self.X_fit_ = X
        sizes = np.sqrt(values)
        inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        self.expansion_ = self._expansion(data, *self._coefficients(vectors * inverse, found.means))
        self._n_features_out = kept
        # Iterations estimate their residuals; a factor of ten is on the safe side.
        known = 10.0 * float(pairs.residuals.max(initial=0.0)) / (float(values.max(initial=0.0)) or 1.0)
        compute = self._certificate_of(data, values, vectors)
        self._evidence = Evidence(data, Computed(len(vectors), compute, known))
        self._decide_status()

    def _keep_rank(self, found: Components, kept: int) -> None:
        """Report the number of components, if there are fewer than requested."""
        self._missing, rank = None, found.rank
        # More than the number of rows may have been requested.
        wanted = len(found.pairs.values) if self.n_components is None else self.n_components
        if not found.is_complete or rank >= wanted:
            return
        is_convex = found.pairs.status == Status.OPTIMAL
        if is_convex:
            self.rank_ = rank
        if self.n_components is not None:
            kind = "centred kernel matrix" if self._is_centred else "kernel matrix"
            has = f"has rank {rank}" if is_convex else f"has only {rank} positive eigenvalues"
            beyond = ", and those beyond are zero" if kept > rank else ""
            self._missing = (
                f"n_components={self.n_components}, but the {kind} {has}: there are {rank} components{beyond}"
            )

    def _count_kept(self, rank: int, found: int) -> int:
        """How many of the pairs found are kept."""
        return rank if self.n_components is None else found

    def _coefficients(self, scaled: FloatArray, means: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        if self._is_centred:
            return spectrum.centred_expansion(scaled, cast(FloatArray, means))
        return scaled, np.zeros(scaled.shape[1])

    def _certificate_of(self, data: "TrainingData", values: FloatArray, vectors: FloatArray) -> Callable[[], Any]:
        def compute() -> Any:
            limits = limits_in_force()
            operator, unit = of_moderate_size(self._operator(data, limits))
            operator = CenteredOperator(operator, stop=limits.stop) if self._is_centred else operator
            return spectrum.certificate(operator, values / unit, vectors, limits.stop)

        return compute

    def transform(self, X: Rows) -> FloatArray:
        """Coordinates of the rows of X along the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        return self._evaluate(X)
