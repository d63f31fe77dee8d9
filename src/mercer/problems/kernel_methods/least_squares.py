r"""Least squares in the features of a kernel, without a penalty.

Among all f that minimise :math:`\sum_i w_i (y_i - f(x_i))^2`, the one with the smallest norm is
:math:`f = \sum_i \alpha_i k(x_i, \cdot)` with :math:`\alpha = S (S K S)^+ S y`, :math:`S = W^{1/2}`; the
pseudo-inverse leaves out eigenvalues that are rounding errors, and the number of the others is the rank. It is
the limit of ridge regression as the penalty goes to zero. At the solution
:math:`S K S\, (S y - S K \alpha) = 0` on the eigenvectors that are kept.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray

if TYPE_CHECKING:
    from mercer.kernels.gram.symmetric_operator import SymmetricOperator


@dataclass(frozen=True)
class LeastSquaresCertificate:
    """Loss, norm, rank, and how well the normal equations hold, from data and coefficients alone.

    Attributes
    ----------
    loss : float
        Weighted sum of squared errors over rows and targets.
    norm : float
        Norm of f in the space of the kernel; for several targets the root of the sum of squares.
    residual : float
        Largest |SKS (Sy - SK alpha)| / (|SKS| (|Sy| + |SKS| |u|)) over the targets, alpha = Su: the relative
        rounding of the matrix and the targets that would change as much (a backward error).
    rank : int
        Eigenvalues that were kept.
    condition : float
        The largest eigenvalue over the smallest that was kept.
    cutoff : float
        Eigenvalues up to this fraction of the largest were taken to be zero, and may remain in the equations.
    """

    loss: float
    norm: float
    residual: float
    rank: int
    condition: float
    cutoff: float = 0.0

    def is_optimal(self, tol: float = 1e-8) -> bool:
        """Whether the normal equations hold to within `tol`, apart from eigenvalues that were taken to be zero."""
        return self.residual <= max(tol, self.cutoff)

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"loss {self.loss:.10g}  norm {self.norm:.6g}  rank {self.rank} (condition {self.condition:.1e})\n"
            f"residual of the normal equations {self.residual:.2e}"
        )


def certificate(
    operator: "SymmetricOperator",
    scale: FloatArray,
    targets: FloatArray,
    alpha: FloatArray,
    eigenvalues: FloatArray,
    cutoff: float,
) -> LeastSquaresCertificate:
    """Of coefficients (n, t); `operator` is SKS, `eigenvalues` those that are more than `cutoff` times the largest."""
    S = scale[:, None]
    u = alpha / S
    fitted = operator.product(u)
    errors = S * targets - fitted
    largest = float(np.max(eigenvalues, initial=0.0))
    sizes = largest * (np.linalg.norm(S * targets, axis=0) + largest * np.linalg.norm(u, axis=0))
    residual = np.linalg.norm(operator.product(errors), axis=0) / np.where(sizes > 0, sizes, 1.0)
    return LeastSquaresCertificate(
        loss=float((errors**2).sum()),
        norm=float(np.sqrt(max(0.0, np.einsum("ij,ij->", u, fitted)))),
        residual=float(residual.max(initial=0.0)),
        rank=len(eigenvalues),
        condition=largest / float(np.min(eigenvalues)) if len(eigenvalues) else 1.0,
        cutoff=cutoff,
    )
