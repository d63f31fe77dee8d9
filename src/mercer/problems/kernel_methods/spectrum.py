r"""Principal components and singular vectors in the features of a kernel.

With the features :math:`\Psi` of the training items in rows, :math:`K = \Psi\Psi^\top`. The singular value
decomposition :math:`\Psi = U \Sigma V^\top` has :math:`K U = U \Sigma^2`; a right singular vector is
:math:`v_j = \Psi^\top u_j / \sigma_j`, and the coordinate of an item along it

.. math:: \langle v_j, \psi(x)\rangle = \sum_i \frac{u_{ij}}{\sigma_j} k(x_i, x).

Principal components are the same for the features minus their mean, whose matrix is
:math:`\bar K = H K H` with :math:`H = I - \mathbf 1 \mathbf 1^\top / n`. For a new item the mean is still that of
the training items (Schölkopf, Smola & Müller 1998), and

.. math::
    \sum_i a_i \bar k(x_i, x) = \sum_i (a_i - \bar a) k(x_i, x) - \sum_i a_i (m_i - M),

with :math:`m_i` the mean of row i of K and M the mean of all: an expansion in k itself, with an intercept.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.symmetric_operator import CenteredOperator, SymmetricOperator


_EPS = float(np.finfo(np.float64).eps)
# Entries computed from differences of large numbers err by up to this fraction of the largest.
_INACCURATE = 1e-8


@dataclass(frozen=True)
class EigenCertificate:
    """How well values and vectors are eigenpairs, in double precision from data and vectors alone.

    Attributes
    ----------
    residuals : ndarray
        |K v - value v| / largest value, for each pair; a value is no further than this (times the
        largest) from an eigenvalue. Relative to the largest entry if no value is above zero.
    residual : float
        The largest of them.
    orthogonality : float
        Largest entry of |V'V - I|.
    explained : float
        Fraction of the trace that the values are: more than 1 if negative eigenvalues reduce the trace,
        0 if they leave nothing of it.
    """

    residuals: np.ndarray
    residual: float
    orthogonality: float
    explained: float

    def is_optimal(self, tol: float = 1e-8) -> bool:
        """Whether every pair is an eigenpair to within `tol`."""
        return self.residual <= tol and self.orthogonality <= tol

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return {**asdict(self), "residuals": self.residuals.tolist()}

    def __str__(self) -> str:
        return (
            f"{len(self.residuals)} pairs: residual {self.residual:.2e}  orthogonality {self.orthogonality:.1e}  "
            f"share of the trace {self.explained:.2%}"
        )


def certificate(
    operator: "SymmetricOperator", values: FloatArray, vectors: FloatArray, stop: "Stop | None" = None
) -> EigenCertificate:
    """Of eigenpairs of a `SymmetricOperator`."""
    largest = float(values.max(initial=0.0)) or operator.size or 1.0
    residuals = np.linalg.norm(operator.product(vectors, stop) - vectors * values, axis=0) / largest
    grown = np.abs(vectors.T @ vectors - np.eye(vectors.shape[1]))
    total, trace = float(values.sum()), float(operator.diag.sum())
    explained = total / trace if trace > _EPS * total else 0.0
    return EigenCertificate(residuals, float(residuals.max(initial=0.0)), float(grown.max(initial=0.0)), explained)


def with_signs(vectors: FloatArray) -> FloatArray:
    """Columns whose entry of largest absolute value is positive, so that the result is unique."""
    places = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[places, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def numerical_rank(values: FloatArray, n: int, before: float = 0.0) -> int:
    """How many of some eigenvalues, given with the largest, are more than rounding errors.

    `before` is the largest eigenvalue, or a lower bound, of the matrix before it was centred: what is left
    of one whose entries are all equal is rounding error, whatever its relative size.
    """
    largest = float(np.max(values, initial=0.0))
    return int(np.sum(values > n * _EPS * max(largest, before)))


def largest_before(operator: "CenteredOperator") -> float:
    """A lower bound on the largest eigenvalue of a centred matrix before centring: its value at 11'/n."""
    return operator.n * abs(operator.grand_mean)


def rounding(operator: "SymmetricOperator") -> float:
    """How far below zero rounding may move an eigenvalue of a positive semidefinite `SymmetricOperator`.

    Ten errors of its largest entry in every position, or what subtractions before it was a kernel value may have
    left there; for a centred one, also errors of the sums that were subtracted.
    """
    subtracted = operator.n**2 * _EPS * abs(getattr(operator, "grand_mean", 0.0))
    share = max(10.0 * operator.n * operator.eps, _INACCURATE)
    return share * operator.size + subtracted + 4.0 * operator.noise


def centred_expansion(
    coefficients: FloatArray, means: FloatArray, shares: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and intercepts in k of functions whose coefficients are in the centred kernel.

    `shares` are the weights of the items in the mean that was subtracted; equal by default.
    """
    p = np.full(len(means), 1.0 / len(means)) if shares is None else shares
    return coefficients - np.outer(p, coefficients.sum(axis=0)), -(coefficients.T @ (means - p @ means))
