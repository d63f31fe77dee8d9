r"""How well a weighted sum of kernels agrees with the targets.

The alignment of two matrices is the cosine of the angle between them (Cristianini, Shawe-Taylor,
Elisseeff & Kandola 2002), with the target :math:`T = \sum_t y_t y_t^T`:

.. math:: A(K, T) = \frac{\langle K, T\rangle}{\|K\|_F\, \|T\|_F}

It is largest over :math:`K = \sum_m \mu_m K_m`, :math:`\mu \ge 0`, at a multiple of the solution of

.. math:: \min_{v \ge 0}\; v^T M v - 2 a^T v, \qquad M_{ml} = \langle K_m, K_l\rangle,
    \quad a_m = \langle K_m, T\rangle .

Centred alignment (Cortes, Mohri & Rostamizadeh 2012, proposition 9) uses :math:`H K_m H` in
place of :math:`K_m`, with :math:`H = I - 11^T/n`, so a constant that all entries share does not
count. Weighted rows count as that many rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_family import SeveralKernels


# If centring leaves less than this fraction of a kernel, squared, it is constant up to rounding.
CONSTANT = 1e-12


@dataclass(frozen=True)
class AlignmentProblem:
    """M and a of the program, and the norm of the target."""

    M: np.ndarray
    a: np.ndarray
    target_norm: float

    def alignment(self, weights: FloatArray) -> float:
        """A of the weighted sum; 0 if it vanishes."""
        size = float(weights @ self.M @ weights) ** 0.5 * self.target_norm
        return float(self.a @ weights) / size if size > 0 else 0.0


def class_targets(codes: IndexArray, n_classes: int) -> FloatArray:
    """y_t for each class, such that T is 1 within a class and -1 / (n_classes - 1) between two."""
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0 / max(1, n_classes - 1))


def alignment_problem(
    several: "SeveralKernels",
    targets: FloatArray,
    weights: FloatArray,
    centred: bool,
    stop: Callable[..., Any] | None = None,
) -> AlignmentProblem:
    """The program of `SeveralKernels` and targets of shape (n, t).

    Parameters
    ----------
    several : SeveralKernels
    targets : ndarray (n, t)
    weights : ndarray (n,)
        How many rows each counts for.
    centred : bool
    stop : callable, optional
    """
    total = float(weights.sum())
    if centred:
        targets = targets - (weights @ targets) / total
    weighted = weights[:, None] * targets
    M = several.inner_products(weights, stop)
    columns = several.products(np.column_stack([weighted, weights]), stop=stop)
    a = np.einsum("mit,it->m", columns[:, :, :-1], weighted)
    if centred:
        sums = columns[:, :, -1]
        whole = sums @ weights
        before = np.diag(M)
        M = M - 2.0 / total * (sums * weights) @ sums.T + np.outer(whole, whole) / total**2
        # If a kernel is constant on these rows, centring leaves rounding errors, whose square may be negative.
        is_left = np.diag(M) > CONSTANT * before
        M, a = M * np.outer(is_left, is_left), a * is_left
    gram = targets.T @ weighted
    return AlignmentProblem(M, a, float(np.linalg.norm(gram)))
