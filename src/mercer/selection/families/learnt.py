"""Kernels that are learnt from labels: a recipe, which each fold follows with the rows that it learns from.

A kernel fitted to all labels would have seen those by which a fold judges it. So a search passes on the recipe; each
fold, and the last fit, makes the kernel from its own rows.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels.algebra.sum_product import Sum
from mercer.kernels.base.kernel import Kernel
from mercer.problems.mkl.alignment import AlignmentProblem, class_targets
from mercer.solvers.mkl.alignment import align

# The most rows from which weights are learnt.
MOST_ROWS = 800


@runtime_checkable
class Recipe(Protocol):
    """How to learn a kernel from rows and targets."""

    @property
    def learnt_once(self) -> Hashable:
        """Equal for recipes that measure the same."""

    def learn(self, X: Any, y: Array, weights: FloatArray | None, classifies: bool) -> Any:
        """What is learnt from rows and targets; a row of weight two counts as two."""

    def kernel(self, learnt: Any) -> Kernel:
        """The kernel that results."""


@dataclass(frozen=True)
class Aligned:
    """The sum of kernels whose weights agree best with the targets (Cortes, Mohri & Rostamizadeh 2012)."""

    kernels: tuple[Kernel, ...]

    @property
    def learnt_once(self) -> Hashable:
        return self.kernels

    def learn(self, X: Any, y: Array, weights: FloatArray | None, classifies: bool) -> FloatArray:
        """The weights of the kernels, which sum to 1."""
        return self.measure(*sample_of(X, y, weights, classifies))

    def measure(self, X: Rows, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """The same for targets of shape (n, t)."""
        share, roots = weights / weights.sum(), np.sqrt(weights)
        Ks = [np.outer(roots, roots) * _centred(np.asarray(kernel(X), np.float64), share) for kernel in self.kernels]
        targets = roots[:, None] * (targets - share @ targets)
        M = np.array([[float(np.vdot(one, other)) for other in Ks] for one in Ks])
        a = np.array([float(np.vdot(K @ targets, targets)) for K in Ks])
        return align(AlignmentProblem(M, a, float(np.linalg.norm(targets.T @ targets))))

    def kernel(self, learnt: FloatArray) -> Kernel:
        """The weighted sum, without kernels whose weight is 0."""
        pairs = list(zip(learnt.tolist(), self.kernels, strict=True))
        used = [(weight, kernel) for weight, kernel in pairs if weight > 0.0]
        parts = tuple(kernel if len(used) == 1 else weight * kernel for weight, kernel in used)
        return parts[0] if len(parts) == 1 else Sum(parts)


def _centred(K: FloatArray, share: FloatArray) -> FloatArray:
    K = K - share @ K
    return K - (K @ share)[:, None]


def learnt_kernel(
    recipe: Recipe,
    X: Any,
    y: Array,
    weights: FloatArray | None,
    classifies: bool,
    known: dict[Any, Any],
) -> Kernel:
    """The kernel of a recipe for some rows; `known` keeps what was learnt from them."""
    if recipe.learnt_once not in known:
        known[recipe.learnt_once] = recipe.learn(X, y, weights, classifies)
    return recipe.kernel(known[recipe.learnt_once])


def sample_of(X: Any, y: Array, weights: FloatArray | None, classifies: bool) -> tuple[Any, FloatArray, FloatArray]:
    """(some of the rows, their targets of shape (n, t), what each counts for)."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    chosen, counts = _different(X, y, weights)
    rows = _sample(y[chosen], classifies)
    chosen, counts = chosen[rows], counts[rows]
    sample = [X[i] for i in chosen] if isinstance(X, list) else X[chosen]
    return sample, _targets(y[chosen], classifies), counts


def _different(X: Any, y: Array, weights: FloatArray) -> tuple[IndexArray, FloatArray]:
    """(the distinct rows that count, the weight of each): a row that occurs twice is a row of weight two."""
    used = np.flatnonzero(weights)
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f":
        return used, weights[used]
    codes = np.unique(y[used], return_inverse=True)[1]
    _, first, place = np.unique(np.column_stack([X[used], codes]), axis=0, return_index=True, return_inverse=True)
    return used[first], np.bincount(place.ravel(), weights=weights[used]).astype(np.float64)


def _targets(y: Array, classifies: bool) -> FloatArray:
    """A column for a quantity or two classes, a column for each of several classes."""
    if not classifies:
        return np.asarray(y, dtype=np.float64)[:, None]
    classes, codes = np.unique(y, return_inverse=True)
    columns = class_targets(codes, len(classes))
    return columns[:, :1] if len(classes) == 2 else columns


def _sample(y: Array, classifies: bool) -> IndexArray:
    """A bounded number of rows, the same each time; for classes, in equal proportions."""
    if len(y) <= MOST_ROWS:
        return np.arange(len(y))
    order = np.random.RandomState(0).permutation(len(y))
    if classifies:
        # In the order of the classes, evenly spaced: each has its share.
        order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[((np.arange(MOST_ROWS) + 0.5) * len(y) / MOST_ROWS).astype(np.intp)])
