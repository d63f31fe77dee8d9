r"""The machine of Crammer & Singer (2001) in the feature space of a kernel.

The problem of `linear_crammer_singer` with :math:`w_m = \sum_i \alpha_i^m \psi(x_i)`: all it needs of the
data are the scores :math:`F = (K + s 11^T)\alpha`, s = 1 for penalised biases and 0 without any. Then
:math:`\sum_m \|w_m\|^2` (with the biases) is :math:`\sum_{i,m} \alpha_i^m F_i^m`.
"""

from dataclasses import dataclass

import numpy as np

from mercer.problems.certificate import Certificate, relative_gap
from mercer.problems.linear_crammer_singer import CrammerSinger


@dataclass(frozen=True)
class KernelCrammerSinger(CrammerSinger):
    """As `CrammerSinger`, whose `scale` is here 1 for penalised biases and 0 without any."""

    @property
    def n_functions(self):
        """One for each class."""
        return self.n_classes

    @property
    def shift(self):
        """s."""
        return float(self.scale**2)

    def objectives(self, alpha, scores):
        """(primal, dual), given alpha (n, K) and all scores F."""
        rows = np.arange(len(self.codes))
        half = 0.5 * float(np.sum(alpha * scores))
        margins = 1.0 + scores - scores[rows, self.codes][:, None]
        margins[rows, self.codes] -= 1.0
        linear = float(alpha.sum() - alpha[rows, self.codes].sum())
        return half + float(self.C @ margins.max(axis=1)), -half - linear

    def violation(self, alpha, scores):
        """Largest violation of the optimality conditions of a row, in units of the scores."""
        return self._violation(scores, alpha)

    def intercept(self, alpha, _bias):
        """The bias of each class."""
        return self.shift * alpha.sum(axis=0)

    def certificate(self, alpha, projections, intercept):
        """The certificate of coefficients alpha, given K alpha in double precision and the biases."""
        scores = projections + intercept
        primal, dual = self.objectives(alpha, scores)
        used, own = np.any(alpha != 0, axis=1), alpha[np.arange(len(self.codes)), self.codes]
        at_bound = used & (own >= self.C)
        return Certificate(
            primal=primal,
            dual=dual,
            gap=primal - dual,
            relative_gap=relative_gap(primal, dual),
            kkt_violation=self.violation(alpha, scores),
            equality_residual=float(np.abs(alpha.sum(axis=1)).max(initial=0.0)),
            box_violation=float(max(0.0, (alpha - self.upper()).max(initial=0.0))),
            n_free=int(np.sum(used & ~at_bound)),
            n_bounded=int(np.sum(at_bound)),
            n_zero=int(np.sum(~used)),
        )
