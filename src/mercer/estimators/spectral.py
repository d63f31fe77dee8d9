"""What principal components and singular vectors have in common: eigenvectors of a kernel matrix."""

import warnings
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from mercer._jit.threads import Stopped
from mercer.estimators.inputs import unlabelled_input
from mercer.estimators.kernel_method import KernelMethod, Proof
from mercer.estimators.parameters import require_choice, require_count, require_number
from mercer.estimators.progress import warn_unless_optimal
from mercer.kernels.fixed_point import FixedPointOperator
from mercer.kernels.operator import CentredOperator, EvaluatedOperator
from mercer.problems import spectrum
from mercer.solvers import eigen
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

EIGEN_SOLVERS = ("auto", "dense", "arpack", "krylov", "randomized")
# Up to this many items, all eigenvalues are as quick as a few.
_DENSE = 500


class SpectralMethod(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMethod):
    """Base of what takes eigenvectors of a kernel matrix: solve, keep, project."""

    _is_centred = True
    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "A larger max_iter or tol helps.",
        Status.TIME_LIMIT: "A larger time_limit helps.",
        Status.INTERRUPTED: "Fit again.",
    }

    def fit(self, X, y=None):
        """Find the components of the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = Limits(-1 if self.max_iter is None else self.max_iter, self.time_limit, self._watchers())
        X = unlabelled_input(self, X)
        data = self._training_data(X)
        with limits.catching_interrupts():
            means, found = self._solve(data, limits)
        self._keep(X, data, means, found)
        warn_unless_optimal(self.status_, self.max_iter, self._remedies)
        if self._missing:
            warnings.warn(self._missing, UserWarning, stacklevel=2)
        return self

    def _solve(self, data, limits):
        """Means of the rows of the kernel matrix, and the eigenpairs; zeros if there was no time for any."""
        try:
            operator = self._spectral_operator(data, limits)
            return getattr(operator, "means", None), self._eigenpairs(operator, limits)
        except Stopped:
            n = data.shape[0]
            nothing = eigen.EigenSolution.none(n, self._count(n), limits.reached() or Status.INTERRUPTED)
            return np.zeros(n), nothing

    def _count(self, n):
        return n if self.n_components is None else min(self.n_components, n)

    def _check_parameters(self):
        self._check_shared_parameters()
        require_number("tol", self.tol, least=0.0)
        require_choice("eigen_solver", self.eigen_solver, EIGEN_SOLVERS)
        for name in ("n_components", "max_iter"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        if self.iterated_power != "auto":
            require_count("iterated_power", self.iterated_power, least=0)

    def _spectral_operator(self, data, limits):
        """The matrix whose eigenvectors are wanted; its triangle is stored where it has room."""
        base = self._operator(data, limits)
        has_room = 2 * base.n**2 <= self._budget(data.X)
        if isinstance(base, EvaluatedOperator) and has_room and self._chosen_solver(base.n) != "dense":
            base = FixedPointOperator.of(base, limits.stop) or base
        return CentredOperator(base, stop=limits.stop) if self._is_centred else base

    def _eigenpairs(self, operator, limits):
        count = self._count(operator.n)
        solver = self._chosen_solver(operator.n)
        self.solver_ = solver
        if solver == "dense":
            return eigen.dense(operator, count, limits.stop)
        # Without a seed the start is still the same: the answer does not depend on it.
        rng = np.random.default_rng(check_random_state(self.random_state or 0).randint(2**31))
        if solver == "randomized":
            auto = 7 if count < 0.1 * operator.n else 4
            power = auto if self.iterated_power == "auto" else self.iterated_power
            return eigen.randomised(operator, count, power, rng, limits.stop)
        return eigen.krylov(operator, count, self.tol, rng, limits)

    def _chosen_solver(self, n):
        if self.eigen_solver == "arpack":
            return "krylov"
        if self.eigen_solver != "auto":
            return self.eigen_solver
        return "dense" if n <= _DENSE or 6 * self._count(n) > n else "krylov"

    def _keep(self, X, data, means, found):
        rank = spectrum.numerical_rank(found.values, data.shape[0])
        kept = self._kept(rank, found)
        values, vectors = found.values[:kept], spectrum.with_signs(found.vectors[:, :kept])
        # What is not more than rounding spans no direction.
        values = np.where(np.arange(kept) < rank, values, 0.0)
        self.status_, self.n_iter_, self.trace_ = found.status, found.iterations, found.trace
        self._set_attributes(values, vectors)
        self.X_fit_ = X
        sizes = np.sqrt(values)
        inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        self.expansion_ = self._expansion(data, *self._coefficients(vectors * inverse, means))
        self._n_features_out = kept
        self._proof = Proof(data, self._certificate_of(data, values, vectors))

    def _kept(self, rank, found):
        """How many components there are; notes where they are fewer than asked for."""
        self._missing = None
        if found.status == Status.OPTIMAL and rank < len(found.values):
            self.rank_ = rank
            if self.n_components is not None:
                kind = "centred kernel matrix" if self._is_centred else "kernel matrix"
                self._missing = (
                    f"n_components={self.n_components}, but the {kind} has rank {rank}: "
                    f"there are {rank} components, those beyond are zero"
                )
        return self._count_kept(rank, len(found.values))

    def _count_kept(self, rank, found):
        """How many of the pairs found are kept."""
        return rank if self.n_components is None else found

    def _coefficients(self, scaled, means):
        if self._is_centred:
            return spectrum.centred_expansion(scaled, means)
        return scaled, np.zeros(scaled.shape[1])

    def _certificate_of(self, data, values, vectors):
        def compute():
            operator = self._operator(data, Limits())
            return spectrum.certificate(CentredOperator(operator) if self._is_centred else operator, values, vectors)

        return compute

    def transform(self, X):
        """Coordinates of the rows of X along the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n, n_components)
        """
        return self._evaluate(X)
