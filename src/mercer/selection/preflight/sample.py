"""What an estimator receives: rows chosen by position, and at the end of a pipeline the output of its steps."""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mercer._errors import DataError
from mercer._types import ArrayLike, IndexArray, Rows
from mercer.estimators.fitting.inputs import is_precomputed
from mercer.estimators.mkl.base import WeightedKernelModel
from mercer.estimators.mkl.kernels import is_given
from mercer.kernels.given.several_precomputed import GivenMatrices
from mercer.kernels.table.frame import is_data_frame
from mercer.selection.tuning.shared_matrix import take_part

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# The steps of a pipeline are fitted to at most this many rows: enough to see their output.
MOST_SEEN = 5_000


@dataclass(frozen=True)
class Seen:
    """The data of the last step.

    Attributes
    ----------
    X : array, sparse matrix, data frame, list or GivenMatrices
    order : ndarray of int
        Its rows, in an order in which the first of them are a fair sample.
    n_columns : int
        0 if items are not rows.
    is_transformed : bool
        Whether steps came before.
    """

    X: object
    order: np.ndarray
    n_columns: int
    is_transformed: bool = False

    @property
    def numbers(self) -> Any:
        """The rows as numbers, dense or sparse; None if they are something else."""
        return numbers_of(self.X)


def last_step(estimator: "BaseEstimator") -> "BaseEstimator":
    """The estimator that learns: in a pipeline, the last step."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def weights_of(estimator: "BaseEstimator", sample_weight: ArrayLike | None) -> dict[str, Any]:
    """The arguments of `fit` that weigh rows in the last step."""
    if sample_weight is None:
        return {}
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return {f"{prefix}sample_weight": sample_weight}


def is_gram(estimator: "BaseEstimator") -> bool:
    """Whether the data are the kernel matrix, or several of them."""
    return holds_matrices(estimator) or is_precomputed(getattr(estimator, "kernel", None))


def holds_matrices(estimator: "BaseEstimator") -> bool:
    """Whether the data are several kernel matrices."""
    return isinstance(estimator, WeightedKernelModel) and is_given(estimator.kernels)


def countable(X: Rows, is_several: bool = False) -> tuple[Any, int, int]:
    """(rows that can be chosen by position, how many, columns)."""
    X, n, d = _counted(X, is_several)
    if n == 0:
        raise DataError("X must have at least one row, got none")
    return X, n, d


def _counted(X: Rows, is_several: bool) -> tuple[Any, int, int]:
    if is_several:
        X = GivenMatrices.of(X, check_finite=False)
        return X, len(X), 0
    if sparse.issparse(X):
        return X.tocsr(), X.shape[0], X.shape[1]
    if hasattr(X, "iloc") or hasattr(X, "columns"):
        return X, len(X), len(X.columns) if hasattr(X, "columns") else 0
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], (list, tuple, np.ndarray)):
        X = np.asarray(X)
    if hasattr(X, "ndim") and X.ndim == 2:
        return np.asarray(X), X.shape[0], X.shape[1]
    X = list(X)
    return X, len(X), 0


def part_of(X: Rows, rows: IndexArray, is_matrix: bool = False) -> Any:
    """Some of the rows; for a kernel matrix, the same columns too."""
    if isinstance(X, GivenMatrices):
        return [matrix[np.ix_(rows, rows)] for matrix in X.matrices]
    return X.iloc[rows] if hasattr(X, "iloc") else take_part(X, rows, rows, is_matrix)


def numbers_of(X: Rows) -> Any:
    """Rows of numbers, dense or sparse, also from a data frame; None if there are others."""
    if sparse.issparse(X):
        return X
    if is_data_frame(X):
        X = np.asarray(X)
    return X if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub" else None


def seen_by_last_step(estimator: "BaseEstimator", X: Rows, y: Any, order: IndexArray, n_columns: int) -> Seen | None:
    """What the last step of a pipeline receives for X, or for some of many rows; None if a step refuses them."""
    if not isinstance(estimator, Pipeline):
        return Seen(X, order, n_columns)
    rows = order[:MOST_SEEN]
    part, y = part_of(X, rows), None if y is None else y[rows]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while isinstance(estimator, Pipeline):
                if len(estimator.steps) > 1:
                    part = clone(estimator)[:-1].fit_transform(part, y)
                estimator = estimator.steps[-1][1]
        part, n, d = countable(part)
    except (ValueError, TypeError):
        # Fitting a sample will say why.
        return None
    return Seen(part, np.arange(n), d, is_transformed=True)
