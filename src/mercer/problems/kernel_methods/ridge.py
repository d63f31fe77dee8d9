r"""Ridge regression in the features of a kernel.

With the weights of the rows :math:`W = \mathrm{diag}(w)` and :math:`f = K\alpha` on the training rows,

.. math::
    P(\alpha) = \tfrac12 (y - K\alpha)^\top W (y - K\alpha) + \tfrac\lambda2 \alpha^\top K \alpha,
    \qquad
    D(\alpha) = \lambda y^\top\alpha - \tfrac{\lambda^2}2 \alpha^\top W^{-1}\alpha
                - \tfrac\lambda2 \alpha^\top K\alpha .

:math:`D \le P` whatever :math:`\alpha` is, and

.. math:: P - D = \tfrac12 r^\top W r, \qquad r = y - (K + \lambda W^{-1})\alpha,

so the gap is half the squared residual of the normal equations. They are solved in the form
:math:`(SKS + \lambda I)\, u = S y` with :math:`S = W^{1/2}` and :math:`\alpha = S u`.

Leaving row i out changes only its own equation (Golub, Heath & Wahba 1979): with
:math:`A = K + \lambda W^{-1}`, the prediction of a model that never saw it errs by
:math:`y_i - f_{-i}(x_i) = \alpha_i / (A^{-1})_{ii}`. Generalised cross-validation replaces
:math:`(A^{-1})_{ii}` by its mean over the rows (for equal weights).
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from mercer._types import Array, FloatArray
from mercer.problems.certificate import relative_gap


@dataclass(frozen=True)
class RidgeCertificate:
    """How well coefficients solve a ridge regression, in double precision from data and coefficients.

    Attributes
    ----------
    primal, dual : float
        Objectives, summed over the targets.
    gap : float
        primal - dual: the primal objective is at most this far from its minimum.
    relative_gap : float
        gap / max(1, |primal|).
    residual : float
        Largest |y - (K + lambda W^-1) alpha| / |y| over the targets, in the weights' norm.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    residual: float

    def is_optimal(self, tol: float = 1e-6) -> bool:
        """Whether the normal equations hold to within `tol`, relative to the targets."""
        return self.residual <= tol

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"primal {self.primal:.10g}  dual {self.dual:.10g}  gap {self.gap:.2e} "
            f"(relative {self.relative_gap:.1e})\nresidual of the normal equations {self.residual:.2e}"
        )


@dataclass(frozen=True)
class Ridge:
    """Targets (n, t), the penalty of each target, and the root of each row's weight."""

    targets: np.ndarray
    penalties: np.ndarray
    scale: np.ndarray

    def right(self) -> FloatArray:
        """S y, the right-hand side of the normal equations."""
        return self.targets * self.scale[:, None]

    def certificate(self, alpha: FloatArray, fitted: FloatArray) -> RidgeCertificate:
        """From coefficients and f = K alpha, both of shape (n, t)."""
        scale, lam = self.scale[:, None], self.penalties
        loss = scale * (self.targets - fitted)
        residual = loss - lam * alpha / scale
        energy = np.einsum("ij,ij->j", alpha, fitted)
        primal = float((0.5 * (loss**2).sum(axis=0) + 0.5 * lam * energy).sum())
        gap = float(0.5 * (residual**2).sum())
        return RidgeCertificate(primal, primal - gap, gap, relative_gap(primal, primal - gap), self._share(residual))

    def _share(self, residual: FloatArray) -> float:
        norms = np.linalg.norm(self.right(), axis=0)
        return float((np.linalg.norm(residual, axis=0) / np.where(norms > 0, norms, 1.0)).max(initial=0.0))


@dataclass(frozen=True)
class LeaveOneOut:
    """Predictions of each training row by the model without it, and their mean squared errors."""

    predictions: np.ndarray
    mean_squared_error: float
    generalized: float

    @classmethod
    def of(cls, problem: Ridge, alpha: FloatArray, inverse_diagonal: FloatArray) -> Self:
        """From coefficients (n, t) and the diagonal of (SKS + lambda I)^-1 for each target (n, t)."""
        weights = problem.scale[:, None] ** 2
        errors = _ratio(alpha, inverse_diagonal * weights)
        total = weights.sum() * alpha.shape[1]
        # Generalised: every row is judged with the mean of the inverse's diagonal.
        common = _ratio(problem.scale[:, None] * alpha / weights, inverse_diagonal.mean(axis=0))
        return cls(
            problem.targets - errors,
            float((weights * errors**2).sum() / total),
            float((common**2).sum() / total),
        )

    def like(self, coefficients: FloatArray, used: Array) -> "LeaveOneOut":
        """The same with predictions in the shape of `coefficients`; NaN for rows that took no part."""
        predictions = np.full((len(coefficients), self.predictions.shape[1]), np.nan)
        predictions[used] = self.predictions
        return replace(self, predictions=predictions.reshape(coefficients.shape))


def _ratio(alpha: FloatArray, inverse: FloatArray) -> FloatArray:
    """alpha / inverse; NaN if a pseudo-inverse has zero, where a row's contribution to its equations is unknown."""
    inverse = np.broadcast_to(inverse, alpha.shape)
    return np.divide(alpha, inverse, out=np.full(alpha.shape, np.nan), where=inverse != 0)
