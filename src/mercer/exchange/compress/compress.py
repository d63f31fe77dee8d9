"""Fewer support vectors, with a proof of how little that changes: `mercer.compress`.

It belongs here because the result is meant to be saved and exported: a model of the same class, to use
instead of the original. The method and its proof are in `reduced_set`.
"""

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_method import KernelRegression
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.fitting.fitted_parts import drop_part, part, set_parts
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.svm.svdd import SVDD
from mercer.exchange.compress.reduced_set import reduced_set
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.gram.symmetric_operator import EvaluatedOperator
from mercer.kernels.table.frame import Frame

if TYPE_CHECKING:
    from typing import TypeVar

    from sklearn.base import BaseEstimator

    from mercer.exchange.compress.reduced_set import ReducedSet
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator

    Model = TypeVar("Model", bound=BaseEstimator)

# Up to this many vectors the whole matrix is kept.
STORED = 6_000


@dataclass(frozen=True)
class Compression:
    """The result of `mercer.compress`.

    Attributes
    ----------
    bound : float
        The decision functions of the two models differ at no x by more than bound * sqrt(k(x, x)).
    bounds : ndarray
        The same for each function.
    n_before, n_after : int
        Support vectors of the two models.
    path : ndarray
        The error that remained after each chosen vector.
    """

    bound: float
    bounds: np.ndarray = field(repr=False)
    n_before: int
    n_after: int
    path: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        return f"{self.n_after} of {self.n_before} support vectors; |f(x) - g(x)| <= {self.bound:.3g} sqrt(k(x, x))"


def compress(model: "Model", max_error: float | None = None, *, n_vectors: int | None = None) -> "Model":
    r"""A model with fewer support vectors, and a proven bound on the change of its decision functions.

    Parameters
    ----------
    model : estimator
        A fitted kernel model, `KernelRidge` or `KernelLeastSquares`, or a pipeline that ends with one;
        it is not changed. Its kernel must be positive semidefinite.
    max_error : float, optional
        How much a decision function f may change: :math:`|f(x) - g(x)| \le` `max_error`
        :math:`\sqrt{k(x, x)}` for every x, seen or not. For kernels with k(x, x) = 1, such as the
        Gaussian, that is the change itself; for comparison, the margin is at 1.
    n_vectors : int, optional
        Instead of `max_error`: the largest number of support vectors to keep.

    Returns
    -------
    estimator
        Of the same class, with new support vectors (some of the old), coefficients and
        `expansion_`; ``compression_`` describes the result. `dual_coef_` has one row for each
        decision function. `certificate_` and other records of the fit are those of the original.

    Notes
    -----
    The coefficients give the best approximation in the feature space over
    the kept vectors. The bound holds for new points too, and is usually far from
    being reached. If the kernel has few features, like linear or polynomial kernels of few columns, the
    result is exact with as many vectors as there are features.

    See the user guide on model files for the proof.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int) ^ (rng.random(300) < 0.1)
    >>> model = mercer.SVC(gamma=0.5).fit(X, y)
    >>> small = mercer.compress(model, max_error=0.01)
    >>> len(small.support_) < len(model.support_) / 2
    True
    >>> change = np.abs(small.decision_function(X) - model.decision_function(X)).max()
    >>> bool(change <= small.compression_.bound <= 0.01)
    True
    """
    _require_goal(max_error, n_vectors)
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        changed = copy.copy(model)
        changed.steps = [*model.steps[:-1], (model.steps[-1][0], compress(model[-1], max_error, n_vectors=n_vectors))]
        return changed
    expansion = _expansion_of(model)
    scale = 2.0 if isinstance(model, SVDD) else 1.0
    coefficients = scale * _dense_coefficients(expansion)
    found = reduced_set(_operator(expansion, model.n_jobs), coefficients, max_error, n_vectors)
    return _with_vectors(model, expansion, found, found.coefficients / scale)


def _require_goal(max_error: float | None, n_vectors: int | None) -> None:
    if (max_error is None) == (n_vectors is None):
        raise ParameterError("pass either max_error or n_vectors, not both")
    if max_error is not None and not (isinstance(max_error, (int, float)) and 0 <= max_error < np.inf):
        raise ParameterError(f"max_error must be a number, 0 or more, got {max_error!r}")
    if n_vectors is not None and not (isinstance(n_vectors, (int, np.integer)) and n_vectors >= 1):
        raise ParameterError(f"n_vectors must be a whole number, 1 or more, got {n_vectors!r}")


def _expansion_of(model: "BaseEstimator") -> Expansion:
    """The expansion of a model, if it can be compressed."""
    if not isinstance(model, (KernelModel, KernelRegression)):
        raise ParameterError(
            f"model must be a kernel machine, KernelRidge or KernelLeastSquares, or a pipeline of one, got a "
            f"{type(model).__name__}"
        )
    if "expansion_" not in vars(model):
        raise ParameterError(f"this {type(model).__name__} is not fitted yet; call fit first")
    kernel = model.expansion_.kernel
    if isinstance(kernel, Precomputed):
        raise ParameterError("a precomputed matrix is not part of the model, so its support vectors cannot be compared")
    if kernel.is_psd is not True:
        raise ParameterError(
            f"the bound needs a kernel that is known to be positive semidefinite, and {kernel!r} is not; "
            "mercer.mercer_check says more"
        )
    return model.expansion_


def _dense_coefficients(expansion: Expansion) -> FloatArray:
    """Coefficients of every vector for every function, shape (n, m)."""
    vectors = expansion.vectors
    n = vectors.shape[0] if hasattr(vectors, "shape") else len(vectors)
    found = np.zeros((n, expansion.n_functions))
    for group in expansion.groups:
        found[group.begin : group.end, group.outputs] = group.coefficients
    return found


def _operator(expansion: Expansion, n_jobs: int | None) -> "SymmetricOperator":
    def prepare(dtype: DTypeLike) -> Any:
        return expansion.kernel.prepare(expansion.vectors, dtype, origin=expansion.origin, check=False)

    operator = EvaluatedOperator(expansion.kernel, prepare, n_jobs)
    return operator.stored() if operator.n <= STORED else operator


def _with_vectors(
    model: "BaseEstimator", expansion: Expansion, found: "ReducedSet", coefficients: FloatArray
) -> "BaseEstimator":
    """A copy of the model over the chosen vectors."""
    data = TrainingData(expansion.kernel, expansion.vectors)
    vectors = data.expansion_vectors(found.chosen)
    changed = copy.copy(model)
    # Rows that were left out had been scored by a different function.
    drop_part(changed, "conformity")
    changed.expansion_ = Expansion.single(
        expansion.kernel, vectors, coefficients, expansion.intercepts, expansion.origin
    )
    rows = vectors.native if isinstance(vectors, Frame) else vectors
    if isinstance(model, KernelModel):
        _set_support(changed, model, found.chosen, rows, coefficients)
    else:
        changed.X_fit_ = rows
        changed.dual_coef_ = coefficients[:, 0] if part(model, "is_flat") else coefficients
    changed.compression_ = Compression(
        float(found.bounds.max(initial=0.0)), found.bounds, data.shape[0], len(found.chosen), found.path
    )
    return changed


def _set_support(
    changed: "BaseEstimator", model: "BaseEstimator", chosen: IndexArray, rows: Rows, coefficients: FloatArray
) -> None:
    edges = np.concatenate([[0], np.cumsum(model.n_support_)])
    changed.support_, changed.support_vectors_ = model.support_[chosen], rows
    if edges[-1] == len(model.support_):
        changed.n_support_ = np.diff(np.searchsorted(chosen, edges)).astype(model.n_support_.dtype)
    changed.dual_coef_ = type(model.dual_coef_)(coefficients.T) if part(model, "sparse") else coefficients.T
    set_parts(changed, last_betas=None)
