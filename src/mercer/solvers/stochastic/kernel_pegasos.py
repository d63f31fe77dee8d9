r"""Stochastic gradient descent for Soft-SVM with kernels.

Method (Shalev-Shwartz, lecture slides; Shalev-Shwartz & Ben-David 2014, section 16.3): as in
`pegasos`, with theta = sum_j beta_j psi(x_j) known only by beta. The rows of the next
steps are drawn ahead, and all their values under theta come from one kernel product; what
the steps change among themselves comes from their own small matrix. The iterates are the same
as one step at a time.

With a budget (Crammer, Kandola & Singer 2003; Wang, Crammer & Vucetic 2012), a step that leaves
too many support vectors gives one up: the one with the smallest |beta_j| |psi(x_j)|, and among equals the oldest.
"removal" drops it; "merging" replaces it by the nearest multiple of another support vector,
which needs no new item and so works for any kernel. (If less is lost that way, the
new support vector is merged instead.)

Cost of a step: a kernel entry for each support vector. Needs of a problem: as in `pegasos`;
of the items: a `KernelMatrix`.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import DataError
from mercer._types import FloatArray, IndexArray
from mercer.solvers.stochastic.pegasos import LARGEST, Iterate
from mercer.solvers.stochastic.pegasos_steps import NORM, SCALE, STEP, SUM, Expansion, Pool, kernel_steps

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.stochastic.pegasos import Steps

STRATEGIES = ("merging", "removal")
# Visits whose kernel values are computed together.
TOGETHER = 256
OVERFLOW = "the coefficients overflow; scale the features, or raise lam"


class KernelIterate(Iterate):
    """beta, and the sum of all iterates, of one two-class problem over the items of a matrix."""

    visits_a_point = TOGETHER

    def __init__(self, n: int, steps: "Steps", budget: int | None = None, strategy: str = "merging") -> None:
        super().__init__(steps)
        self.beta, self.sums, self.ages = np.zeros(n), np.zeros(n), np.zeros(n)
        self.budget, self.strategy = budget, strategy

    def advance(
        self,
        source: "KernelMatrix",
        signs: FloatArray,
        weights: FloatArray,
        order: IndexArray,
        stop: "Stop | None" = None,
    ) -> None:
        """Visit the items of `order` of a `KernelMatrix` in double precision."""
        batch = self.steps.batch_size
        together = max(batch, TOGETHER // batch * batch)
        for begin in range(0, len(order), together):
            self._visit(source, signs, weights, order[begin : begin + together], stop)

    def _first_slice(self, source: "KernelMatrix") -> int:
        return max(self.steps.batch_size, TOGETHER // self.steps.batch_size * self.steps.batch_size)

    def _visit(
        self, matrix: "KernelMatrix", signs: FloatArray, weights: FloatArray, order: IndexArray, stop: "Stop | None"
    ) -> None:
        pool = np.unique(order)
        if self.budget is not None:
            pool = np.union1d(pool, np.flatnonzero(self.beta))
        G = matrix.submatrix(pool, np.empty((len(pool), len(pool)), matrix.dtype), stop).astype(np.float64)
        G += float(self.steps.has_bias)
        kernel_steps(
            Pool(pool, G, self._values(matrix, pool, stop)), np.searchsorted(pool, order), signs, weights,
            self.steps.rule, self.clock, Expansion(self.beta, self.sums, self.ages),
            np.empty(self.steps.batch_size, np.int64), self.budget or 0, self.strategy == "merging",
        )  # fmt: skip
        if not (np.isfinite(self.clock).all() and self.clock[NORM] < LARGEST**2):
            raise DataError(OVERFLOW)

    def _values(self, matrix: "KernelMatrix", pool: IndexArray, stop: "Stop | None") -> FloatArray:
        """<theta, psi(x_i)> for the items of the pool."""
        support = np.flatnonzero(self.beta)
        if len(support) == 0:
            return np.zeros(len(pool))
        values = matrix.product(support, self.beta[support], pool, stop)
        return values + float(self.steps.has_bias) * self.beta.sum()

    def last(self) -> FloatArray:
        """Coefficients of the iterate that the next step uses."""
        return self.clock[SCALE] / (self.steps.lam * self.clock[STEP]) * self.beta

    def mean(self) -> FloatArray:
        """Coefficients of the mean of all iterates so far."""
        return (self.clock[SUM] * self.beta - self.sums) / max(1, self.iterations)

    def coefficients(self) -> FloatArray:
        """As requested: of the mean, or of the last iterate."""
        return self.mean() if self.steps.averaged else self.last()

    def support(self) -> IndexArray:
        """Items that the run needs to continue."""
        return np.flatnonzero((self.beta != 0.0) | (self.sums != 0.0))

    def extended(self, more: int) -> "KernelIterate":
        """The same run with `more` items appended."""
        other = KernelIterate(len(self.beta) + more, self.steps, self.budget, self.strategy)
        other.clock = self.clock.copy()
        for name in ("beta", "sums", "ages"):
            getattr(other, name)[: len(self.beta)] = getattr(self, name)
        return other

    def keep(self, places: IndexArray) -> None:
        """Drop all items but those at `places`, which include `support`."""
        self.beta, self.sums, self.ages = self.beta[places], self.sums[places], self.ages[places]
