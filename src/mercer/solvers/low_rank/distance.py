r"""What landmarks leave of a quadratic form, exactly or by rows drawn at random: see `mercer.problems.distance`.

With :math:`E = K - \hat K`, which is positive semidefinite, :math:`q = \beta^\top E \beta = \sum_i \beta_i r_i`. Row
i is drawn with a chance in proportion to :math:`\ell_i = |\beta_i| \sqrt{d_i}`, where :math:`d_i \ge E_{ii}` is what
a third of the landmarks leave of k(x_i, x_i); then :math:`X_i = T \beta_i r_i / \ell_i` with :math:`T = \sum_i
\ell_i` has the mean q. By Cauchy and Schwarz :math:`|X_i| \le T \sqrt q`, which is far more than most are. So the
mean is bounded in two parts: of what is cut off at a level that a tenth of the sample has set, by Maurer & Pontil
(2009, theorem 4, an empirical Bernstein bound); of what is beyond, by its largest value times its share, which
Clopper & Pearson (1934) bound by how often it was seen. What follows is an inequality in :math:`\sqrt q`, which is
solved.

Cost: n_sv^2 / 2 kernel values in double precision, or s n_sv for s rows.
"""

from typing import TYPE_CHECKING

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
# Fewer rows than this say next to nothing.
FEWEST = 200
# An exact answer is worth more kernel values than a bound: so many times as many.
WORTH_ALL = 3.7
# One in so many landmarks says how badly a row is described; what is less than this share of k(x, x) is rounding.
SOME, ROUNDING = 3, 1e-8
# Share of a sample that sets the level at which the others are cut off, and how far above its largest value that is.
PILOT, ABOVE = 0.1, 2.0


def by_lengths(kernel: "Kernel", points: Prepared, beta: FloatArray) -> float:
    """A bound of the same without any kernel value between rows: no sum is longer than the lengths of its terms."""
    beta = beta.reshape(len(beta), -1)
    lengths = np.sqrt(np.einsum("ij,ij->i", beta, beta) * np.maximum(kernel.diag_of(points), 0.0))
    return 0.5 * float(lengths.sum()) ** 2


def half_energy(
    basis: "Basis",
    points: Prepared,
    beta: FloatArray,
    entries: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    stop: Stop | None = None,
) -> tuple[float, str, float, int]:
    """(half of beta'(K - K^)beta or a bound of it, method, confidence, rows looked at).

    Parameters
    ----------
    basis : Basis
    points : prepared rows in double precision
        The rows of the problem.
    beta : ndarray (n,) or (n, k)
    entries : int
        Kernel values that may be computed for it.
    rng : Generator
    """
    beta = beta.reshape(len(beta), -1)
    support = np.flatnonzero(beta.any(axis=1))
    if len(support) == 0:
        return 0.0, "exact", 1.0, 0
    points, beta = points.take(support), beta[support]
    w = basis.weights(points, beta, stop)
    count = max(FEWEST, int(entries / len(support)))
    if WORTH_ALL * entries >= len(support) ** 2 / 2 or count >= len(support):
        image = symmetric_product(basis.kernel, points, np.ascontiguousarray(beta), n_jobs, stop)
        energy = float(np.sum(beta * image) - np.sum(w * w))
        return 0.5 * max(0.0, energy), "exact", 1.0, len(support)
    lengths = np.sqrt(np.einsum("ij,ij->i", beta, beta) * _left(basis, points, stop))
    total = float(lengths.sum())
    drawn = rng.choice(len(support), size=count, p=lengths / total)
    left = _residuals(basis, points, beta, w, drawn, n_jobs, stop)
    samples = total * np.einsum("ij,ij->i", beta[drawn], left) / lengths[drawn]
    return 0.5 * upper_bound(samples, total), "sampled", CONFIDENCE, count


def _left(basis: "Basis", points: Prepared, stop: Stop | None) -> Array:
    """What some of the landmarks leave of k(x, x): no less than what all of them do."""
    diagonal = np.maximum(basis.kernel.diag_of(points), 0.0)
    some = basis.first(max(1, basis.size // SOME)).coordinates(points, stop)
    return np.maximum(diagonal - np.einsum("ij,ij->i", some, some), ROUNDING * diagonal)


def _residuals(
    basis: "Basis",
    points: Prepared,
    beta: FloatArray,
    w: FloatArray,
    drawn: IndexArray,
    n_jobs: int | None,
    stop: Stop | None,
) -> FloatArray:
    """((K - K^) beta)_i for the rows drawn, each computed once."""
    rows, places = np.unique(drawn, return_inverse=True)
    some = points.take(rows)
    exact = tiles.product(basis.kernel, some, points, beta, n_jobs, stop)
    spanned = tiles.product(basis.kernel, some, basis.landmarks(np.float64), basis.coefficients(w), n_jobs, stop)
    return (exact - spanned)[places]


def upper_bound(samples: FloatArray, total: float, confidence: float = CONFIDENCE) -> float:
    """An upper bound of their mean q, for samples of which none can exceed total * sqrt(q), with a chance of error."""
    risk, few = 0.5 * (1.0 - confidence), max(1, int(PILOT * len(samples)))
    level = ABOVE * float(np.abs(samples[:few]).max())
    rest = samples[few:]
    cut, log = np.clip(rest, -level, level), float(np.log(2.0 / risk))
    within = float(cut.mean()) + np.sqrt(2.0 * float(cut.var(ddof=1)) * log / len(rest))
    within += 7.0 * 2.0 * level * log / (3.0 * (len(rest) - 1))
    beyond = int(np.sum(rest > level))
    share = float(stats.beta.ppf(1.0 - risk, beyond + 1, len(rest) - beyond))
    root = 0.5 * (share * total + np.sqrt((share * total) ** 2 + 4.0 * max(0.0, within)))
    # No sum is longer than the lengths of its terms.
    return min(float(root) ** 2, total**2)
