"""What kernel methods other than two-class machines do alike: check, prepare, keep, evaluate."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer._errors import DataError
from mercer._jit.memory import parse_bytes
from mercer._types import Array, FloatArray, Rows
from mercer.estimators.bases.fits import Fits
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.certificate import CertifiedLazily
from mercer.estimators.fitting.given_matrix import require_gram, require_symmetric_function
from mercer.estimators.fitting.inputs import (
    has_function,
    is_function,
    multi_target_input,
    prediction_input,
    require_fitted,
    tell_input,
)
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.progress import residual_line, watchers
from mercer.estimators.fitting.training import Budget, TrainingData, require_bounded
from mercer.estimators.low_rank.low_rank import require_approximation
from mercer.estimators.out_of_core.given import are_blocks
from mercer.estimators.out_of_core.predicting import rows_of
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Custom, Precomputed
from mercer.kernels.gram.symmetric_operator import EvaluatedOperator, GivenOperator
from mercer.kernels.notation.sklearn_names import resolve
from mercer.solvers.limits import Limits

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer.estimators.low_rank.restricted import Landmarks
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator
    from mercer.problems.kernel_methods.least_squares import LeastSquaresCertificate
    from mercer.problems.kernel_methods.ridge import RidgeCertificate
    from mercer.problems.kernel_methods.spectrum import EigenCertificate


# Up to this many items, or if an entry is slow, the whole matrix is kept in double precision,
STORED = 2_000
# if there is room for this many bytes per entry: eight of its own, and four of a factor's triangle.
STORED_BYTES = 12
# Attributes set before there are training data.
OF_THE_INPUT = ("n_features_in_", "feature_names_in_")


class KernelMethod(Fits, CertifiedLazily, HoldsKernels):
    """Base of estimators whose result is an expansion in a kernel over all training items.

    Callables follow scikit-learn's convention for these estimators: ``kernel(x, y, **kernel_params)`` of two items is a
    number.
    """

    if TYPE_CHECKING:
        approximation: Any
        approximation_: Any
        distance_: Any

    # Prediction accepts any container, whatever the fit was given.
    _sparse = True
    # Default for methods without this parameter.
    approximation = None

    def __sklearn_tags__(self) -> "Tags":
        return tell_input(super().__sklearn_tags__(), self.kernel)

    def _is_reached(self, certificate: "RidgeCertificate | LeastSquaresCertificate | EigenCertificate") -> bool:
        # A random sketch promises a number of steps, and its certificate tells their result. With tol=0, eigenvalues
        # are as accurate as possible.
        if getattr(self, "solver_", None) == "randomized":
            return True
        tol = getattr(self, "tol", None)
        return certificate.is_optimal(tol) if tol else certificate.is_optimal()

    def _check_shared_parameters(self) -> None:
        if not isinstance(self.gamma, str):
            require_optional_number("gamma", self.gamma, above=0.0)
        require_number("coef0", self.coef0)
        require_approximation(self.approximation)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        if self.memory_limit is not None:
            parse_bytes(self.memory_limit)

    def _limits(self) -> Limits:
        max_iter = getattr(self, "max_iter", None)
        return Limits(-1 if max_iter is None else max_iter, self.time_limit, watchers(self, residual_line))

    def _kernel(self, X: Rows, weights: FloatArray | None = None) -> "Kernel":
        """The kernel bound to X; gamma=None is 1 / n_features, as in scikit-learn."""
        kernel = self.kernel
        if is_function(kernel):
            kernel = Custom(partial(kernel, **self.kernel_params) if self.kernel_params else kernel, pairwise=True)
        gamma = "auto" if self.gamma is None else self.gamma
        return resolve(kernel, gamma, self.degree, self.coef0, X, weights)

    def _forget(self) -> None:
        """Remove the attributes of an earlier fit, except those just set from the input."""
        for name in [*vars(self)]:
            if name.endswith("_") and not name.startswith("_") and name not in OF_THE_INPUT:
                delattr(self, name)

    def _training_data(self, X: Rows, weights: FloatArray | None = None) -> TrainingData:
        """X with its kernel, checked; from here on the model is a new one. `weights` are multiplicities of the rows."""
        self._forget()
        kernel = self._kernel(X, weights)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        data = TrainingData(kernel, X)
        if has_function(kernel):
            require_symmetric_function(kernel, data.prepare(np.float64))
        return data

    def _operator(self, data: TrainingData, limits: "Limits") -> "SymmetricOperator":
        """The kernel matrix as an operator; small and slow ones are computed at once."""
        if isinstance(data.kernel, Precomputed):
            return GivenOperator(data.X, self.n_jobs)
        operator = EvaluatedOperator(data.kernel, data.prepare, self.n_jobs)
        require_bounded(data.kernel, operator)
        is_worth_it = operator.n <= STORED or not data.kernel.is_dot_product_form
        if is_worth_it and STORED_BYTES * operator.n**2 <= self._budget(data.X):
            return operator.stored(limits.stop)
        return operator

    def _budget(self, X: Rows) -> int:
        """Bytes that a fit may use for matrices."""
        return 2 * Budget.resolve(self.memory_limit, None, X).cache

    def _require_room(self, data: TrainingData, needed: int, purpose: str, instead: str) -> None:
        """Refuse work that needs more bytes than `memory_limit` leaves; `instead` names what needs less."""
        room = self._budget(data.X)
        if needed > room:
            limit = "half of the free memory" if self.memory_limit is None else f"memory_limit={self.memory_limit!r}"
            enough = -(-Budget.limit_for(needed, data.X) // 2**20)
            raise DataError(
                f"{purpose} needs {needed / 2**20:.3g} MiB for the kernel matrix of {data.shape[0]} rows, but {limit} "
                f'leaves {room / 2**20:.3g} MiB; set memory_limit="{enough}MiB", or {instead}'
            )

    def _expansion(self, data: TrainingData, coefficients: FloatArray, intercepts: FloatArray) -> Expansion:
        everything = np.arange(len(coefficients))
        return Expansion.single(data.kernel, data.expansion_vectors(everything), coefficients, intercepts, data.origin)

    def _keep_landmarks(
        self, data: TrainingData, marks: "Landmarks", coefficients: FloatArray, intercepts: FloatArray
    ) -> Rows:
        """Set the attributes of a fit restricted to landmarks; the landmarks, as the user gave them."""
        vectors, shown = marks.vectors()
        self.expansion_ = Expansion.single(data.kernel, vectors, coefficients, intercepts, data.origin)
        self.approximation_ = marks.used_as
        return data.X if isinstance(data.kernel, Precomputed) else shown

    def _evaluate(self, X: Rows, expansion: Expansion | None = None) -> FloatArray:
        """The functions of an expansion at X, shape (n, n_functions)."""
        require_fitted(self)
        if are_blocks(X):
            return np.concatenate([self._evaluate(rows, expansion) for rows in rows_of(self, X)])
        X = prediction_input(self, X)
        return (expansion or self.expansion_).values(X, n_jobs=self.n_jobs)


class KernelRegression(MultiOutputMixin, RegressorMixin, KernelMethod):
    """Base of estimators of one or several functions; `_is_flat` tells whether y was one-dimensional."""

    def _checked(self, X: Any, y: Any, sample_weight: Any, limits: "Limits") -> tuple[Any, FloatArray, bool, Any]:
        """(rows or Blocks, targets (n, t), whether they were flat, weights or None)."""
        if not are_blocks(X):
            return *multi_target_input(self, X, y), sample_weight
        from mercer.estimators.low_rank.from_blocks import targets_to_learn

        targets, weights = targets_to_learn(self, X, y, sample_weight, limits)
        return X, targets[:, None], True, weights

    def _bound(self, X: Any, weights: FloatArray | None, limits: "Limits") -> TrainingData:
        """`_training_data`, also for `Blocks`."""
        if not are_blocks(X):
            return self._training_data(X, weights)
        # Imported here: it brings all file readers, and few fits need them.
        from mercer.estimators.low_rank.block_data import BlockData

        self._forget()
        return BlockData(self, X, weights, 1, limits)

    def predict(self, X: Rows) -> Array:
        """The value of f at each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
        """
        values = self._evaluate(X)
        return values[:, 0] if self._is_flat else values
