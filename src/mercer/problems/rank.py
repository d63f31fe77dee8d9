r"""Ranking: the right order of pairs, by a margin (Herbrich, Graepel & Obermayer 2000; Joachims 2002).

Primal, over w in the feature space, with the squared hinge (Chapelle & Keerthi 2010); P are pairs
(i, j) of which i is to come first, and :math:`u_i` says how often a row counts:

.. math:: \tfrac12\|w\|^2 + C\sum_{(i,j) \in P} u_i u_j \max\big(0,\, 1 - (f(x_i) - f(x_j))\big)^2,
    \qquad f(x) = \langle w, \psi(x)\rangle.

Dual, with :math:`\alpha_{ij} \ge 0` and :math:`\beta_i = \sum_j \alpha_{ij} - \sum_j \alpha_{ji}`:

.. math:: \max_\alpha\; \sum_P \alpha_{ij} - \frac{\alpha_{ij}^2}{4 C u_i u_j} - \tfrac12\beta^T K\beta.

Any f gives a feasible dual point, :math:`\alpha_{ij} = 2 C u_i u_j \max(0, 1 - (f_i - f_j))`, the optimal one
at the optimum. Its value needs only sums over the active pairs of each row, so that gap and
certificate need no list of pairs either (`mercer.problems.rank_pairs`). A bias would cancel.
"""

from dataclasses import dataclass

import numpy as np

from mercer.problems.certificate import Certificate, relative_gap
from mercer.problems.rank_pairs import GivenPairs, GradedPairs


@dataclass(frozen=True)
class Ranking:
    """Pairs, C, and how often each row counts.

    Attributes
    ----------
    pairs : GradedPairs or GivenPairs
    C : float
    weights : ndarray (n,)
        u; all positive.
    """

    pairs: GradedPairs | GivenPairs
    C: float
    weights: np.ndarray

    n_functions = 1
    bias = "none"

    def at(self, f):
        """Losses and their derivatives where the values are f."""
        return RankPoint(self, f)

    @property
    def n_pairs(self):
        """Number of pairs, counted by weight."""
        return _weight(self.pairs.active(np.zeros(len(self.weights)), np.inf), self.weights)

    def concordance(self, f):
        """Share of the pairs that f puts in the right order; a tie counts half."""
        wrong = _weight(self.pairs.active(f, 0.0), self.weights)
        not_right = _weight(self.pairs.active(f, np.nextafter(0.0, 1.0)), self.weights)
        return 1.0 - 0.5 * (wrong + not_right) / self.n_pairs

    def intercept(self, _beta, _bias):
        """None: it would cancel."""
        return 0.0

    def certificate(self, beta, projections, _intercept, product):
        """The certificate of a solution.

        Parameters
        ----------
        beta : ndarray (n,)
        projections : ndarray (n,)
            K beta, in double precision.
        product : callable
            ``product(values)``, K @ values in double precision: for the norm of the dual point.
        """
        point = self.at(projections)
        primal = 0.5 * float(beta @ projections) + point.risk
        dual = point.dual(product(point.response))
        return Certificate(
            primal=primal,
            dual=dual,
            gap=primal - dual,
            relative_gap=relative_gap(primal, dual),
            kkt_violation=point.violation(beta),
            equality_residual=abs(float(beta.sum())),
            box_violation=0.0,
            n_free=int(np.count_nonzero(beta)),
            n_bounded=0,
            n_zero=int(np.sum(beta == 0)),
        )


class RankPoint:
    """What the losses are, and ask for, at values f of all rows."""

    def __init__(self, problem, f):
        u, self.scale = problem.weights, 2.0 * problem.C * problem.weights
        # Only differences matter, and squares of small numbers are more accurate.
        f = f - f.mean()
        self._active, self._weights = problem.pairs.active(f), u
        worse, better = self._active.sums(np.column_stack([u, u * f, u * f * f]))
        short = (1.0 - f) * worse[:, 0] + worse[:, 1]
        self.total = float(self.scale @ short)
        squares = (1.0 - f) ** 2 * worse[:, 0] + 2.0 * (1.0 - f) * worse[:, 1] + worse[:, 2]
        self.risk = max(0.0, 0.5 * float(self.scale @ squares))
        self.response = self.scale * (short - (1.0 + f) * better[:, 0] + better[:, 1])
        self._count = worse[:, 0] + better[:, 0]

    def curved(self, v):
        """H v, with H the second derivatives of the losses in f."""
        worse, better = self._active.sums((self._weights * v)[:, None])
        return self.scale * (v * self._count - worse[:, 0] - better[:, 0])

    def dual(self, image):
        """Dual value of the point that f implies, given K @ response."""
        return self.total - self.risk - 0.5 * float(self.response @ image)

    def violation(self, beta):
        """Largest difference between a coefficient and what the losses ask for, as a share of the largest."""
        largest = max(float(np.abs(self.response).max(initial=0.0)), float(np.abs(beta).max(initial=0.0)))
        return float(np.abs(beta - self.response).max(initial=0.0)) / max(largest, 1e-300)


def _weight(active, weights):
    worse, _ = active.sums(weights[:, None])
    return float(weights @ worse[:, 0])
