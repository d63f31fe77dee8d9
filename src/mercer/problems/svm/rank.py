r"""Ranking: the right order of pairs, by a margin (Herbrich, Graepel & Obermayer 2000; Joachims 2002).

Primal, over w in the feature space; P are pairs (i, j) of which i should come first, and :math:`u_i` is the
multiplicity of a row:

.. math:: \tfrac12\|w\|^2 + C\sum_{(i,j) \in P} u_i u_j\, \varphi\big(1 - (f(x_i) - f(x_j))\big),
    \qquad f(x) = \langle w, \psi(x)\rangle,

with the squared hinge :math:`\varphi(s) = \max(0, s)^2` (Chapelle & Keerthi 2010) or the hinge
:math:`\max(0, s)`. Dual, with :math:`\beta_i = \sum_j \alpha_{ij} - \sum_j \alpha_{ji}`:

.. math:: \max_\alpha\; \sum_P \alpha_{ij} - \frac{\alpha_{ij}^2}{4 C u_i u_j} - \tfrac12\beta^T K\beta,
    \quad \alpha_{ij} \ge 0,
    \qquad\text{or}\qquad
    \max_\alpha\; \sum_P \alpha_{ij} - \tfrac12\beta^T K\beta, \quad 0 \le \alpha_{ij} \le C u_i u_j.

Any f gives a feasible dual point. For the squared hinge it is
:math:`\alpha_{ij} = 2 C u_i u_j \max(0, 1 - (f_i - f_j))`, the optimal one at the optimum. For the hinge it is, for
any width :math:`\delta`,

.. math:: \alpha_{ij} = C u_i u_j \min\big(1, \max(0, 1 - (f_i - f_j)) / \delta\big),

the optimal one if f minimises the hinge with its corner rounded off over that width; the cost of the
rounding falls as :math:`\delta^2`. The values need only sums over the active pairs of each row, so gap and
certificate need no list of pairs either (`mercer.problems.svm.rank_pairs`). A bias would cancel.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.svm.rank_pairs import GivenPairs, GradedPairs

if TYPE_CHECKING:
    from mercer.problems.svm.rank_pairs import _ActiveGrades, _ActiveList


LOSSES = ("squared_hinge", "hinge")
# The factor from one width over which the corner of the hinge is rounded off to the next.
NARROWER, NARROWEST = 0.25, 0.25**14


@dataclass(frozen=True)
class Ranking:
    """Pairs, C, and the multiplicity of each row.

    Attributes
    ----------
    pairs : GradedPairs or GivenPairs
    C : float
    weights : ndarray (n,)
        u; all positive.
    loss : {"squared_hinge", "hinge"}
    width : float
        Over which the corner of the hinge is rounded off.
    """

    pairs: GradedPairs | GivenPairs
    C: float
    weights: np.ndarray
    loss: str = "squared_hinge"
    width: float = 1.0

    n_functions = 1
    bias = "none"

    def at(self, f: FloatArray) -> "RankPoint":
        """Losses and their derivatives at values f."""
        return RankPoint(self, f)

    @property
    def n_pairs(self) -> float:
        """Number of pairs, counted by weight."""
        return _weight(self.pairs.active(np.zeros(len(self.weights)), np.inf), self.weights)

    def concordance(self, f: FloatArray) -> float:
        """Fraction of the pairs that f puts in the right order; a tie counts half."""
        wrong = _weight(self.pairs.active(f, 0.0), self.weights)
        not_right = _weight(self.pairs.active(f, np.nextafter(0.0, 1.0)), self.weights)
        return 1.0 - 0.5 * (wrong + not_right) / self.n_pairs

    def intercept(self, _beta: FloatArray, _bias: float) -> float:
        """None: it would cancel."""
        return 0.0

    def certificate(
        self, beta: FloatArray, projections: FloatArray, _intercept: float, product: Callable[[FloatArray], FloatArray]
    ) -> Certificate:
        """The certificate of a solution.

        Parameters
        ----------
        beta : ndarray (n,)
        projections : ndarray (n,)
            K beta, in double precision.
        product : callable
            ``product(values)``, K @ values in double precision: for the norm of the dual point.
        """
        point = self._judging(beta, projections)
        primal = 0.5 * float(beta @ projections) + point.hinges
        dual = point.dual_of_hinge(product(point.response))
        return Certificate.of(
            primal,
            dual,
            kkt_violation=point.violation(beta),
            equality_residual=abs(float(beta.sum())),
            box_violation=0.0,
            n_free=int(np.count_nonzero(beta)),
            n_bounded=0,
            n_zero=int(np.sum(beta == 0)),
        )

    def narrowed(self, width: float) -> "Ranking":
        """The same with another width."""
        return replace(self, width=width)

    def _judging(self, beta: FloatArray, projections: FloatArray) -> "RankPoint":
        """The dual point that these values imply; for the hinge, that of the width it fits best."""
        if self.loss == "squared_hinge":
            return self.at(projections)
        widths = NARROWER ** np.arange(round(np.log(NARROWEST) / np.log(NARROWER)) + 1)
        return min((self.narrowed(width).at(projections) for width in widths), key=lambda point: point.violation(beta))


class RankPoint:
    """The losses and their derivatives at values f of all rows.

    A pair that falls short by less than the width costs the square of that, others the remainder too; for the
    squared hinge all pairs are of the first kind.
    """

    def __init__(self, problem: Ranking, f: FloatArray) -> None:
        u, is_hinge = problem.weights, problem.loss == "hinge"
        width = problem.width if is_hinge else 0.5
        self.scale, self._weights = problem.C * u / width, u
        # Only differences matter, and squares of small numbers are more accurate.
        f = f - f.mean()
        terms = np.column_stack([u, u * f, u * f * f])
        self._active = problem.pairs.active(f)
        worse, better = self._active.sums(terms)
        self.hinges = float(problem.C * u @ _short(f, worse))
        self._beyond, far = None, 0.0
        total, paid = 0.0, 0.0
        pull = np.zeros(len(f))
        if is_hinge:
            self._beyond = problem.pairs.active(f, 1.0 - width)
            deep, deeper = self._beyond.sums(terms)
            worse, better = worse - deep, better - deeper
            pull = width * (deep[:, 0] - deeper[:, 0])
            total = float(problem.C * u @ deep[:, 0])
            paid, far = 0.5 * width * total, float(problem.C * u @ _short(f, deep))
        short = _short(f, worse)
        self.total = float(self.scale @ short) + total
        if is_hinge:
            squares = cast(FloatArray, (1.0 - f) ** 2 * worse[:, 0] + 2.0 * (1.0 - f) * worse[:, 1] + worse[:, 2])
        else:
            squares = self._active.squares(u)
        near = max(0.0, 0.5 * float(self.scale @ squares))
        self.risk, self._paid = near + far - paid, near + paid
        self.response = self.scale * (short - (1.0 + f) * better[:, 0] + better[:, 1] + pull)
        self._count = worse[:, 0] + better[:, 0]
        if not is_hinge:
            self.hinges = self.risk

    def curved(self, v: FloatArray) -> FloatArray:
        """H v, with H the second derivatives of the losses in f; v may have several columns."""
        columns = v.reshape(len(v), -1)
        values = self._weights[:, None] * columns
        worse, better = self._active.sums(values)
        if self._beyond is not None:
            deep, deeper = self._beyond.sums(values)
            worse, better = worse - deep, better - deeper
        found = self.scale[:, None] * (columns * self._count[:, None] - worse - better)
        return cast(FloatArray, found.reshape(v.shape))

    def dual(self, image: FloatArray) -> float:
        """Dual value of the point that f implies, given K @ response."""
        return self.total - self._paid - 0.5 * float(self.response @ image)

    def dual_of_hinge(self, image: FloatArray) -> float:
        """The same without the cost of the width: for the hinge itself."""
        return self.dual(image) if self._beyond is None else self.total - 0.5 * float(self.response @ image)

    def violation(self, beta: FloatArray) -> float:
        """Largest difference between a coefficient and its value from the losses, as a fraction of the largest."""
        largest = max(float(np.abs(self.response).max(initial=0.0)), float(np.abs(beta).max(initial=0.0)))
        return float(np.abs(beta - self.response).max(initial=0.0)) / max(largest, 1e-300)


def _short(f: FloatArray, worse: FloatArray) -> FloatArray:
    """For each row, by how much its active pairs fall short, weighted by their worse rows."""
    return (1.0 - f) * worse[:, 0] + worse[:, 1]


def _weight(active: "_ActiveGrades | _ActiveList", weights: FloatArray) -> float:
    worse, _ = active.sums(weights[:, None])
    with np.errstate(over="ignore"):  # pairs of very large weights count as infinite
        return float(weights @ worse[:, 0])
