r"""A kernel model in the terms of other tools: support vectors by class, coefficients, biases.

:math:`f(x) = \sum_j c_j\, k(x_j, x) + b`, one function for regression, one-class learning and two
classes, one for each pair of several classes. `Machine.of` extracts it from a fitted estimator,
`Machine.into` puts it into one that never saw the training data.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from mercer._errors import ParameterError
from mercer._types import Array, Rows
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.bases.probabilities import Calibration, Sigmoid
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.fitted_parts import part, set_parts
from mercer.estimators.fitting.support import Support, linear_coefficients
from mercer.estimators.fitting.tasks import pair_row, pairs, strategy_of
from mercer.kernels.base.distance_origin import origin_of
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import MatrixItems
from mercer.kernels.vector.linear import Linear
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.base.kernel import Kernel

# Sparser rows than this stay sparse: dense, they would take more than twice the memory.
DENSE = 0.25


@dataclass(frozen=True)
class Machine:
    """One or several functions over one set of support vectors.

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray, CSR matrix, or MatrixItems
        Support vectors, grouped by class; their positions for a precomputed kernel.
    dual_coef : ndarray of shape (n_functions, n_support), or (n_classes - 1, n_support) for pairs
        In scikit-learn's layout; a positive value of a single function is the second class.
    counts : ndarray of int
        Support vectors of each class.
    intercepts : ndarray of shape (n_functions,)
    classes : ndarray or None
    sigmoids : list of Sigmoid, or None
        The sigmoid that turns each function into a probability.
    support : ndarray of int, or None
        Positions in the training data, if known.
    """

    kernel: object
    vectors: object
    dual_coef: np.ndarray
    counts: np.ndarray
    intercepts: np.ndarray
    classes: np.ndarray | None = None
    sigmoids: list | None = None
    support: np.ndarray | None = None

    @property
    def has_pairs(self) -> bool:
        """Whether there is a function for each pair of several classes."""
        return self.classes is not None and len(self.classes) > 2

    @classmethod
    def of(cls, model: "BaseEstimator") -> Self:
        """The parts of a fitted estimator; refuses other kinds of model."""
        if not isinstance(model, KernelModel) or not hasattr(model, "expansion_"):
            raise ParameterError(
                f"model must be a fitted kernel machine such as SVC, SVR or OneClassSVM, got {type(model).__name__}"
            )
        classes = getattr(model, "classes_", None)
        if classes is not None and len(classes) > 2 and not part(model, "has_pairs"):
            raise ParameterError(
                f"a machine of {len(classes)} classes must have a function for each pair of them: multi_class must be "
                f"'ovo', got {strategy_of(model)!r}; ONNX takes the others"
            )
        if classes is not None and len(classes) > 2 and hasattr(model, "approximation_"):
            raise ParameterError(
                f"a machine of {len(classes)} classes over landmarks has no place in this format, where a vector "
                "serves the pairs of its own class only; ONNX takes it"
            )
        if part(model, "items", None) is not None:
            raise ParameterError("the kernel is a Python function, which no file can hold; pass a Kernel or a name")
        dual_coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
        expansion = model.expansion_
        machine = cls(
            expansion.kernel,
            expansion.vectors,
            np.asarray(dual_coef, dtype=np.float64),
            np.asarray(model.n_support_),
            expansion.intercepts,
            classes,
            _sigmoids(model),
        )
        return machine._of_weights(linear_coefficients(expansion)) if _is_weights(model) else machine

    def without_support_vectors(self) -> Self:
        """The same functions as weights of features: one row each, with coefficient 1."""
        if not isinstance(self.kernel, Linear):
            raise ParameterError(f"only a linear kernel needs no support vectors here, got {self.kernel!r}")
        return self._of_weights(linear_coefficients(self._expansion()))

    def _of_weights(self, weights: Any) -> Self:
        weights = weights.toarray() if sparse.issparse(weights) else weights
        counts = np.zeros(len(self.counts), np.int64)
        if not self.has_pairs:
            # The row is grouped with the class on whose side it is.
            counts[-1] = 1
            return replace(self, vectors=weights, dual_coef=np.ones((1, 1)), counts=counts, support=None)
        table = np.zeros((len(cast(Array, self.classes)) - 1, len(weights)))
        for row, (i, j) in enumerate(pairs(len(cast(Array, self.classes)))):
            table[pair_row(i, j), row] = 1.0
            counts[i] += 1
        return replace(self, vectors=weights, dual_coef=table, counts=counts, support=None)

    def _support(self) -> Support:
        places = np.arange(self.dual_coef.shape[1]) if self.support is None else self.support
        return Support(places, self.counts, self.dual_coef, self.has_pairs)

    def _expansion(self) -> Expansion:
        vectors = self.vectors
        is_dense = (
            isinstance(vectors, np.ndarray) and cast("Kernel", self.kernel).is_translation_invariant and len(vectors)
        )
        origin = origin_of(cast(Any, self.kernel), cast(Any, vectors)) if is_dense else None
        return Expansion(cast(Any, self.kernel), vectors, self._support().groups(), self.intercepts, origin)

    def into(self, estimator: Any, shape: tuple[int, ...], status: Status = Status.OPTIMAL, iterations: int = 0) -> Any:
        """`estimator` with fitted attributes; `shape` is that of the training data, as far as it is known."""
        is_given = isinstance(self.vectors, MatrixItems)
        estimator.expansion_ = self._expansion()
        estimator.support_vectors_ = np.empty((0, 0)) if is_given else self.vectors
        estimator.n_support_ = self.counts.astype(np.int32)
        estimator.dual_coef_, estimator.intercept_ = self.dual_coef, self.intercepts
        # If it is not known which training rows they were, they are numbered.
        estimator.support_ = self._support().indices
        # Dense and sparse rows are accepted, whatever the fit had.
        set_parts(estimator, sparse=not is_given, items=None, last_betas=None, traces=list, evidence=Evidence.missing())
        estimator.shape_fit_, estimator.n_features_in_ = shape, shape[1]
        estimator.n_iter_ = np.full(len(self.intercepts), iterations, np.int32)
        estimator.status_, estimator.fit_status_ = status, int(status != Status.OPTIMAL)
        if self.classes is None:
            estimator.n_iter_ = int(estimator.n_iter_[0])
        else:
            self._classify(estimator)
        return estimator

    def _classify(self, estimator: Any) -> None:
        estimator.classes_, estimator.class_weight_ = self.classes, np.ones(len(cast(Array, self.classes)))
        calibration = None
        if self.sigmoids is not None:
            calibration = Calibration.of_maps("sigmoid", self.sigmoids, len(cast(Array, self.classes)), self.has_pairs)
        set_parts(estimator, calibration=calibration)


def _is_weights(model: "BaseEstimator") -> bool:
    """Whether a linear model expands in its weights instead of its support vectors, as a hard margin does."""
    expansion, rows = model.expansion_, model.support_vectors_
    if not isinstance(expansion.kernel, Linear):
        return False
    return expansion.vectors.shape != rows.shape or bool((expansion.vectors != rows).sum())


def _sigmoids(model: "BaseEstimator") -> list[Sigmoid] | None:
    calibration = part(model, "calibration", None)
    if calibration is None:
        return None
    if calibration.method != "sigmoid":
        raise ParameterError(
            f"probability={calibration.method!r} cannot be written, only Platt's sigmoid; "
            "fit with probability=True or False, or export to ONNX"
        )
    return list(calibration.maps)


def sigmoid_of_other_side(sigmoid: Sigmoid) -> Sigmoid:
    """The probability of the other class, as a sigmoid of minus the function."""
    return Sigmoid(sigmoid.A, -sigmoid.B)


def compact_rows(rows: Rows) -> Rows:
    """Sparse rows unchanged if they are mostly zeros, otherwise dense."""
    if sparse.issparse(rows) and rows.nnz >= DENSE * rows.shape[0] * rows.shape[1]:
        return rows.toarray()
    return rows
