r"""The error of a low-rank quadratic form, exactly or from a random sample of rows: see `mercer.problems.distance`.

With :math:`E = K - \hat K`, which is positive semidefinite, :math:`q = \beta^\top E \beta = \sum_i \beta_i r_i`. Row
i is drawn with probability proportional to :math:`\ell_i = |\beta_i| \sqrt{k(x_i, x_i)}`, and kept with probability
:math:`a_i = \sqrt{d_i / k(x_i, x_i)}`, where :math:`d_i \ge E_{ii}` is the residual of k(x_i, x_i) after a quarter of
the landmarks. With :math:`T = \sum_i \ell_i`, the value :math:`X = T \beta_i r_i / (\ell_i a_i)` of a row that is kept,
0 of another, has mean q, and :math:`X \le T \sqrt q` by the Cauchy-Schwarz inequality. So whoever bets against each
draw that its value exceeds a supposed mean m has the capital :math:`\prod_i (1 + (m - X_i) / (T \sqrt m))`. If m is the
mean, this is never negative, and ever reaches 1 / risk with a probability of at most `risk` (Ville 1939; Waudby-Smith &
Ramdas 2023). Hence rows may be drawn until the bound is close enough; those that are not kept cost next to nothing.

After the first sample, r is computed in single precision where that is possible, and corrected by its difference from
double precision in one row of several, drawn at random, times their number. The mean is as before, whatever the
rounding errors; the largest value is larger by their largest sum, which is little beside it.

Cost: n_sv^2 / 2 kernel values in double precision, or n_sv for each row that is kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Prepared, Stop
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.symmetric_product import symmetric_product

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.low_rank.basis import Basis

CONFIDENCE = 0.95
# Rows of the first sample: fewer tell nothing.
FEWEST = 200
# Rows are drawn until the bound is at most this many times the mean of their values, or as many as are allowed.
ENOUGH = 1.35
# At most so many times as many draws as before are made at once, of the number that is expected to be enough; and so
# many draws in all, where next to nothing is left of any row.
GROWS, RESERVE, MOST_DRAWS = 4.0, 1.1, 2**20
# One landmark in this many estimates how well a row is approximated; less than this share of k(x, x) is rounding.
SOME, ROUNDING = 4, 1e-8
# By how much, relatively, rounding may raise the largest value; the least probability of keeping a row after the first
# sample, relative to the mean of that; and the largest share of rows corrected where single precision is worth it.
LITTLE, LEAST, WORTH_SINGLE = 0.05, 0.5, 0.25
# Kernel values from here on are not computed in single precision.
MODERATE = 1e15
# Halvings of the logarithm of the interval in which the bound is sought.
HALVINGS = 50


def by_lengths(diagonal: FloatArray, beta: FloatArray) -> float:
    """An upper bound from the norms alone, without kernel values between rows (the triangle inequality).

    `diagonal` has k(x, x) of each row.
    """
    beta = beta if beta.ndim == 2 else beta[:, None]
    return 0.5 * float(np.sqrt(np.einsum("ij,ij->i", beta, beta) * np.maximum(diagonal, 0.0)).sum()) ** 2


class SupportRows(Protocol):
    """The rows with non-zero coefficients: in memory (`PreparedSupport`), or read on demand."""

    def __len__(self) -> int: ...

    @property
    def are_read(self) -> bool:
        """Whether rows are read on demand, all of them twice for each sample, so that one is drawn and no more."""
        ...

    def diagonal(self, reads: bool) -> Array:
        """k(x, x), or an upper bound of it where rows would have to be read; infinite if none is known without."""
        ...

    def take(self, places: IndexArray) -> Prepared:
        """Some of the rows, in double precision."""
        ...

    def product(self, some: Prepared, beta: FloatArray, stop: Stop | None) -> FloatArray:
        """K(some, all) beta."""
        ...

    def single(self) -> "SingleRows | None":
        """The rows in single precision, where that may serve."""
        ...

    def image(self, beta: FloatArray, stop: Stop | None) -> FloatArray:
        """K beta."""
        ...


@dataclass(frozen=True)
class SingleRows:
    """Rows in the kernel's prepared form, in single precision, with the largest error of a kernel value."""

    points: Prepared
    error: float


class PreparedSupport:
    """Rows in the kernel's prepared form, in double precision; ``prepare(dtype)`` gives them in another."""

    are_read = False

    def __init__(
        self,
        kernel: "Kernel",
        points: Prepared,
        n_jobs: int | None = None,
        prepare: Callable[[DTypeLike], Prepared] | None = None,
    ) -> None:
        self.kernel, self.points, self.n_jobs, self._prepare = kernel, points, n_jobs, prepare

    def __len__(self) -> int:
        return len(self.points)

    def diagonal(self, reads: bool) -> Array:
        return self.kernel.diag_of(self.points)

    def take(self, places: IndexArray) -> Prepared:
        return self.points.take(places)

    def product(self, some: Prepared, beta: FloatArray, stop: Stop | None) -> FloatArray:
        return tiles.product(self.kernel, some, self.points, beta, self.n_jobs, stop)

    def single(self) -> SingleRows | None:
        if self._prepare is None or not self.kernel.is_dot_product_form:
            return None
        largest = cast(Any, self.points).largest_norm
        if not self.kernel.entry_bound(largest) < MODERATE:
            return None
        return SingleRows(self._prepare(np.float32), self.kernel.entry_error(largest, np.float32))

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
    if entries >= len(support) ** 2 / 2 or len(support) <= FEWEST:
        energy = float(np.sum(beta * support.image(beta, stop)) - np.sum(w * w))
        return 0.5 * max(0.0, energy), "exact", 1.0, len(support)
    drawn = _Draws(basis, support, beta, w, rng)
    drawn.until_enough(max(FEWEST, int(entries / len(support))), stop)
    return 0.5 * drawn.bound(), "sampled", CONFIDENCE, len(drawn.values)


class Sample(NamedTuple):
    """Values of rows that were kept of so many draws, none above T sqrt(q) and what corrections may add."""

    values: FloatArray
    draws: int
    extra: float = 0.0


class _Draws:
    """Samples of rows so far."""

    def __init__(
        self, basis: "Basis", support: SupportRows, beta: FloatArray, w: FloatArray, rng: np.random.Generator
    ) -> None:
        self.basis, self.support, self.beta, self.rng = basis, support, beta, rng
        self.spanned = basis.coefficients(w)
        self.diagonal = np.maximum(support.diagonal(reads=True), 0.0)
        self.lengths = np.sqrt(np.einsum("ij,ij->i", beta, beta) * self.diagonal)
        self.total = float(self.lengths.sum())
        # The probability of keeping a row, as soon as it has been drawn.
        self.keeps = np.full(len(beta), np.nan)
        self.samples: list[Sample] = []
        # The least such probability, from the second sample on; rows in single precision, the share of those kept that
        # are corrected, and what corrections may add to the largest value. What is seen decides about later samples.
        self.least = 0.0
        self.rounded: SingleRows | None = None
        self.corrected, self.extra = 1.0, 0.0

    @property
    def count(self) -> int:
        """All draws."""
        return sum(sample.draws for sample in self.samples)

    @property
    def values(self) -> FloatArray:
        """The values of all rows that were kept."""
        return np.concatenate([sample.values for sample in self.samples])

    def until_enough(self, most: int, stop: Stop | None) -> None:
        """Draw until the bound is close, or about `most` rows are kept."""
        count, done, goal = most if self.support.are_read else FEWEST, 0, -np.log(1.0 - CONFIDENCE)
        while count > done / 20:
            self._draw(count, stop)
            done, values = self.count, self.values
            mean = max(0.0, values.sum() / done)
            capital = log_capital(self.samples, self.total, ENOUGH * mean) if mean > 0.0 else -np.inf
            if capital >= goal or self.support.are_read:
                return
            wanted = done * (min(GROWS, RESERVE * goal / capital) if capital > 0.0 else GROWS)
            allowed = most * done / max(1, len(values))
            count = int(min(wanted, allowed, MOST_DRAWS) - done)
            if len(self.samples) == 1:
                self._round(mean, len(values) / done)

    def _round(self, mean: float, kept: float) -> None:
        """Go on in single precision if that is worth it, after a sample with this mean and share of rows kept."""
        self.least = LEAST * kept
        found = self.support.single() if self.beta.shape[1] == 1 and mean > 0.0 else None
        nearest = self.least * float(np.sqrt(self.diagonal.min()))
        if found is None or nearest == 0.0:
            return
        # The most that rounding changes a value by, if the errors of a row all add up.
        most = self.total * found.error * float(np.abs(self.beta).sum()) / nearest
        extra = LITTLE * self.total * np.sqrt(mean)
        share = most / (most + extra)
        if share <= WORTH_SINGLE:
            self.rounded, self.corrected, self.extra = found, share, extra

    def _draw(self, count: int, stop: Stop | None) -> None:
        drawn = self.rng.choice(len(self.beta), size=count, p=self.lengths / self.total)
        rows = np.unique(drawn)
        points, new = self.support.take(rows), np.flatnonzero(np.isnan(self.keeps[rows]))
        if len(new):
            some = self.basis.first(max(1, self.basis.size // SOME))
            left = left_of_rows(some, points.take(new), stop) / self.diagonal[rows[new]]
            self.keeps[rows[new]] = np.sqrt(np.minimum(left, 1.0))
        keeps = np.maximum(self.keeps, self.least)
        kept = drawn[self.rng.random(count) < keeps[drawn]]
        if not len(kept):
            self.samples.append(Sample(np.zeros(0), count, self.extra))
            return
        own, places = np.unique(kept, return_inverse=True)
        residuals = self._residuals(own, places, points.take(np.searchsorted(rows, own)), stop)
        values = self.total * np.einsum("ij,ij->i", self.beta[kept], residuals) / (self.lengths[kept] * keeps[kept])
        self.samples.append(Sample(values, count, self.extra))

    def _residuals(self, rows: IndexArray, places: IndexArray, points: Prepared, stop: Stop | None) -> FloatArray:
        """((K - K^) beta)_i for the rows at some places among `rows`, which are `points` in double precision."""
        basis, support = self.basis, self.support
        spanned = tiles.product(basis.kernel, points, basis.landmarks(np.float64), self.spanned, basis.n_jobs, stop)
        if self.rounded is None:
            return (support.product(points, self.beta, stop) - spanned)[places]
        every = self.rounded.points
        rounded = tiles.product(basis.kernel, every.take(rows), every, self.beta, basis.n_jobs, stop)
        # A row that was drawn twice is corrected, or not, each time for itself: draws are independent.
        corrected = np.flatnonzero(self.rng.random(len(places)) < self.corrected)
        some, back = np.unique(places[corrected], return_inverse=True)
        values = (rounded - spanned)[places]
        if len(some):
            errors = support.product(points.take(some), self.beta, stop) - rounded[some]
            values[corrected] += errors[back] / self.corrected
        return values

    def bound(self) -> float:
        """An upper bound of the quadratic form."""
        return upper_bound(self.samples, self.total)


def left_of_rows(basis: "Basis", points: Prepared, stop: Stop | None) -> Array:
    """The residual of k(x, x) for prepared rows; a subset of the landmarks leaves at least as much."""
    diagonal = np.maximum(basis.kernel.diag_of(points), 0.0)
    return np.maximum(diagonal - basis.captured(points, stop), ROUNDING * diagonal)


def log_capital(samples: Sequence[Sample], total: float, mean: float) -> float:
    """The logarithm of the capital won by betting on a supposed mean.

    If a value exceeds total * sqrt(mean) + extra, the mean is larger than that.
    """
    capital = 0.0
    for values, draws, extra in samples:
        bet = 1.0 / (total * np.sqrt(mean) + extra)
        if bet * values.max(initial=0.0) > 1.0:
            return -np.inf
        capital += float(np.log1p(bet * (mean - values)).sum() + (draws - len(values)) * np.log1p(bet * mean))
    return capital


def upper_bound(samples: Sequence[Sample], total: float, confidence: float = CONFIDENCE) -> float:
    """An upper confidence bound of the mean q of draws that cannot exceed total * sqrt(q), beside what corrections add.

    A mean m at which the capital reaches 1 / risk is refuted, and so are larger ones: for m above minus the mean of a
    sample, its share of the capital grows with m, as the derivative has the sign of sum_i (1 - c (m - x_i)) /
    (1 + bet (m - x_i)) with c = bet total / (2 sqrt(m)) <= 1 / (2 m), a sum of terms times weights that both grow with
    x_i (Chebyshev's sum inequality).
    """
    goal = -float(np.log(1.0 - confidence))
    # By the triangle inequality, no mean is larger.
    high = total**2
    least = max(-float(values.sum()) / draws for values, draws, _ in samples)
    low = min(high, max(least, float(np.finfo(float).eps) * high))
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if log_capital(samples, total, middle) >= goal else (middle, high)
    return high
