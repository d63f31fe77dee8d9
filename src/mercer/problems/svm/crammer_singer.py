r"""The classifier of Crammer & Singer (2001) in the feature space of a kernel.

The problem of `crammer_singer` with :math:`w_m = \sum_i \alpha_i^m \psi(x_i)`: all it needs of the
data are the scores :math:`F = (K + s 11^T)\alpha`, s = 1 for penalised biases and 0 without any. Then
:math:`\sum_m \|w_m\|^2` (with the biases) is :math:`\sum_{i,m} \alpha_i^m F_i^m`.

Free biases :math:`b_m` cost nothing, so :math:`F = K\alpha + 1 b^T`, and the dual has one more equation for
each class, :math:`e_m = \sum_i \alpha_i^m = 0`. If it holds only up to rounding, the stated dual value
bounds the objective for all biases no larger than b: it is reduced by :math:`\sum_m \lvert e_m b_m\rvert`.
"""

from dataclasses import dataclass

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.crammer_singer import CrammerSinger


@dataclass(frozen=True)
class KernelCrammerSinger(CrammerSinger):
    """Like `CrammerSinger`, but `scale` is 1 for penalised biases and 0 for free ones or none."""

    is_free: bool = False

    @property
    def n_functions(self) -> int:
        """One for each class."""
        return self.n_classes

    @property
    def shift(self) -> float:
        """s."""
        return float(self.scale**2)

    def objectives(self, alpha: FloatArray, scores: FloatArray, bias: FloatArray | None = None) -> tuple[float, float]:
        """(primal, dual), given alpha (n, K), all scores F, and the biases if they are free."""
        rows = np.arange(len(self.codes))
        half = 0.5 * float(np.sum(alpha * scores))
        unsettled = 0.0
        if self.is_free:
            owed = alpha.sum(axis=0) * bias
            half -= 0.5 * float(owed.sum())
            unsettled = float(np.abs(owed).sum())
        margins = 1.0 + scores - scores[rows, self.codes][:, None]
        margins[rows, self.codes] -= 1.0
        linear = float(alpha.sum() - alpha[rows, self.codes].sum())
        return half + float(self.C @ margins.max(axis=1)), -half - linear - unsettled

    def violation(self, alpha: FloatArray, scores: FloatArray) -> float:
        """Largest violation of the optimality conditions of a row, in units of the scores."""
        return self._violation(scores, alpha)

    def intercept(self, alpha: FloatArray, bias: FloatArray) -> FloatArray:
        """The bias of each class; free ones are the solver's."""
        return bias if self.is_free else self.shift * alpha.sum(axis=0)

    def residual(self, alpha: FloatArray) -> float:
        """Largest sum over the classes of a row and, if biases are free, over the rows of a class."""
        of_rows = float(np.abs(alpha.sum(axis=1)).max(initial=0.0))
        return max(of_rows, float(np.abs(alpha.sum(axis=0)).max(initial=0.0))) if self.is_free else of_rows

    def certificate(  # type: ignore[override]  # of a kernel, which has no rows to multiply
        self, alpha: FloatArray, projections: FloatArray, intercept: FloatArray
    ) -> Certificate:
        """The certificate of coefficients alpha, given K alpha in double precision and the biases."""
        scores = projections + intercept
        primal, dual = self.objectives(alpha, scores, intercept)
        return Certificate.of(
            primal,
            dual,
            kkt_violation=self.violation(alpha, scores),
            equality_residual=self.residual(alpha),
            **self._box_conditions(alpha),
        )
