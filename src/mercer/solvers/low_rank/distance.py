r"""The error of a low-rank quadratic form, exactly or from a random sample of rows: see `mercer.problems.distance`.

With :math:`E = K - \hat K`, which is positive semidefinite, :math:`q = \beta^\top E \beta = \sum_i \beta_i r_i`. Row
i is drawn with probability proportional to :math:`\ell_i = |\beta_i| \sqrt{d_i}`, where :math:`d_i \ge E_{ii}` is the
residual of k(x_i, x_i) after a quarter of the landmarks; then :math:`X_i = T \beta_i r_i / \ell_i` with
:math:`T = \sum_i \ell_i` has mean q. By the Cauchy-Schwarz inequality :math:`|X_i| \le T \sqrt q`, which is far larger
than most. So the mean is bounded in two parts: that of the values truncated at a level set by a tenth of the sample,
by betting against it (Waudby-Smith & Ramdas 2023); and that of the excess, by the largest possible value times the
probability of exceeding the level (Clopper & Pearson 1934). Together they give an inequality in :math:`\sqrt q`, which
is solved.

Cost: n_sv^2 / 2 kernel values in double precision, or s n_sv for s rows.
"""

from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import stats

from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Prepared, Stop
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.low_rank.basis import Basis

CONFIDENCE = 0.95
# Fewer sampled rows than this are uninformative.
FEWEST = 200
# An exact answer may cost this many times the kernel values of a bound.
WORTH_ALL = 2.5
# One landmark in this many estimates how well a row is approximated; less than this share of k(x, x) is rounding.
SOME, ROUNDING = 4, 1e-8
# Share of the sample that sets the truncation level of the rest, and the ratio of that level to its largest value.
PILOT, ABOVE = 0.1, 2.0
# Share of the risk that goes to the probability of exceeding the level, whose factor is large; and the most that a bet
# may lose.
RISK_OF_EXCESS, STAKE = 0.7, 0.75
# Halvings of the interval from 0 to the level in which the bound is sought.
HALVINGS = 30


def by_lengths(diagonal: FloatArray, beta: FloatArray) -> float:
    """An upper bound from the norms alone, without kernel values between rows (the triangle inequality).

    `diagonal` has k(x, x) of each row.
    """
    beta = beta if beta.ndim == 2 else beta[:, None]
    return 0.5 * float(np.sqrt(np.einsum("ij,ij->i", beta, beta) * np.maximum(diagonal, 0.0)).sum()) ** 2


class SupportRows(Protocol):
    """The rows with non-zero coefficients: in memory (`PreparedSupport`), or read on demand."""

    def __len__(self) -> int: ...

    def diagonal(self) -> Array:
        """k(x, x), or an upper bound of it where rows would have to be read."""
        ...

    def left(self, basis: "Basis", stop: Stop | None) -> Array:
        """The residual of k(x, x) after projection on the landmarks of `basis`."""
        ...

    def take(self, places: IndexArray) -> Prepared:
        """Some of the rows, in double precision."""
        ...

    def product(self, some: Prepared, beta: FloatArray, stop: Stop | None) -> FloatArray:
        """K(some, all) beta."""
        ...

    def image(self, beta: FloatArray, stop: Stop | None) -> FloatArray:
        """K beta."""
        ...


class PreparedSupport:
    """Rows in the kernel's prepared form, in double precision."""

    def __init__(self, kernel: "Kernel", points: Prepared, n_jobs: int | None = None) -> None:
        self.kernel, self.points, self.n_jobs = kernel, points, n_jobs

    def __len__(self) -> int:
        return len(self.points)

    def diagonal(self) -> Array:
        return self.kernel.diag_of(self.points)

    def left(self, basis: "Basis", stop: Stop | None) -> Array:
        return left_of_rows(basis, self.points, stop)

    def take(self, places: IndexArray) -> Prepared:
        return self.points.take(places)

    def product(self, some: Prepared, beta: FloatArray, stop: Stop | None) -> FloatArray:
        return tiles.product(self.kernel, some, self.points, beta, self.n_jobs, stop)

    def image(self, beta: FloatArray, stop: Stop | None) -> FloatArray:
        return symmetric_product(self.kernel, self.points, np.ascontiguousarray(beta), self.n_jobs, stop)


def half_energy(
    basis: "Basis",
    support: SupportRows,
    beta: FloatArray,
    w: FloatArray,
    entries: float,
    rng: np.random.Generator,
    stop: Stop | None = None,
) -> tuple[float, str, float, int]:
    """(half of beta'(K - K^)beta or an upper bound of it, method, confidence, rows sampled).

    Parameters
    ----------
    basis : Basis
    support : SupportRows
        The rows with non-zero coefficients.
    beta : ndarray (n,) or (n, k)
        Those coefficients.
    w : ndarray (m,) or (m, k)
        sum_i beta_i phi(x_i), in double precision.
    entries : int
        Most kernel values to compute.
    rng : Generator
    """
    if len(support) == 0:
        return 0.0, "exact", 1.0, 0
    beta, w = beta.reshape(len(beta), -1), w.reshape(len(w), -1)
    count = max(FEWEST, int(entries / len(support)))
    if WORTH_ALL * entries >= len(support) ** 2 / 2 or count >= len(support):
        energy = float(np.sum(beta * support.image(beta, stop)) - np.sum(w * w))
        return 0.5 * max(0.0, energy), "exact", 1.0, len(support)
    some = basis.first(max(1, basis.size // SOME))
    lengths = np.sqrt(np.einsum("ij,ij->i", beta, beta) * support.left(some, stop))
    total = float(lengths.sum())
    drawn = rng.choice(len(support), size=count, p=lengths / total)
    left = _residuals(basis, support, beta, w, drawn, stop)
    samples = total * np.einsum("ij,ij->i", beta[drawn], left) / lengths[drawn]
    return 0.5 * upper_bound(samples, total), "sampled", CONFIDENCE, count


def left_of_rows(basis: "Basis", points: Prepared, stop: Stop | None) -> Array:
    """The residual of k(x, x) for prepared rows; a subset of the landmarks leaves at least as much."""
    diagonal = np.maximum(basis.kernel.diag_of(points), 0.0)
    return np.maximum(diagonal - basis.captured(points, stop), ROUNDING * diagonal)


def _residuals(
    basis: "Basis", support: SupportRows, beta: FloatArray, w: FloatArray, drawn: IndexArray, stop: Stop | None
) -> FloatArray:
    """((K - K^) beta)_i for the sampled rows, each computed once."""
    rows, places = np.unique(drawn, return_inverse=True)
    some = support.take(rows)
    marks = basis.landmarks(np.float64)
    spanned = tiles.product(basis.kernel, some, marks, basis.coefficients(w), basis.n_jobs, stop)
    return (support.product(some, beta, stop) - spanned)[places]


def upper_bound(samples: FloatArray, total: float, confidence: float = CONFIDENCE) -> float:
    """An upper confidence bound of their mean q, for samples that cannot exceed total * sqrt(q)."""
    risk, few = 1.0 - confidence, max(1, int(PILOT * len(samples)))
    pilot, rest = samples[:few], samples[few:]
    level = ABOVE * float(np.abs(pilot).max())
    within = _by_betting(np.minimum(rest, level), level, float(pilot.std()), (1.0 - RISK_OF_EXCESS) * risk)
    beyond = int(np.sum(rest > level))
    share = float(stats.beta.ppf(1.0 - RISK_OF_EXCESS * risk, beyond + 1, len(rest) - beyond))
    root = 0.5 * (share * total + np.sqrt((share * total) ** 2 + 4.0 * within))
    # By the triangle inequality.
    return min(float(root) ** 2, total**2)


def _by_betting(samples: FloatArray, level: float, deviation: float, risk: float) -> float:
    """An upper confidence bound, at least 0, of the mean of samples that do not exceed `level`.

    Whoever bets against each sample that it exceeds a supposed mean m has the capital prod_i (1 + bet (m - x_i)) in the
    end, which is never negative. Where m is the mean, a fair game, it exceeds 1 / risk with a probability of at most
    `risk` (Ville 1939). It grows with m, so the bound is where it reaches that. The bet is about the best one for the
    deviation of other samples.
    """
    goal = -float(np.log(risk))
    bet = min(np.sqrt(2.0 * goal / len(samples)) / max(deviation, 1e-300), STAKE / max(level, 1e-300))

    def refutes(mean: float) -> bool:
        return float(np.log1p(bet * (mean - samples)).sum()) >= goal

    low, high = 0.0, level
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high
