"""Which row a stochastic method visits at each step.

The draw of visit k is a function only of the seed and of k (`splitmix`), so it does not depend on how
a run was sliced, a longer run begins with the shorter one, and two methods with one seed visit
the same rows.

Weights are multiplicities: a row of weight two is a row that occurs twice. A visit is a
position on a line on which each row takes up its weight.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._jit.compile import jit
from mercer._jit.splitmix import GOLDEN, stirred
from mercer._types import FloatArray, IndexArray, Rows

if TYPE_CHECKING:
    from mercer.kernels._types import KeyArray

SAMPLINGS = ("replacement", "permutation")
# Rows with up to this many entries in all are ordered by their contents. Beyond, that would cost as much as a pass over
# the data, and rows keep their order.
ARRANGED = 2**15


@jit
def _fill_uniform(seed: int, first: int, out: FloatArray) -> None:
    """out[k] in [0, 1) for visit first + k."""
    for k in range(out.shape[0]):
        z = stirred(seed + (first + np.uint64(k)) * np.uint64(GOLDEN))
        out[k] = np.float64(np.int64(z >> np.uint64(11))) * 2.0**-53


def uniform(seed: int, first: int, count: int) -> FloatArray:
    """`count` numbers in [0, 1), those of the visits from `first` on."""
    out = np.empty(count)
    _fill_uniform(np.uint64(seed), np.uint64(first), out)
    return out


class Sampler:
    """Rows in the order in which they are visited.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
    sampling : {"replacement", "permutation"}
        Independent draws, as the theorems want, or all rows once in each epoch.
    weights : ndarray (n,), optional
        How often each row counts. In a permutation a row of weight 2.5 has two visits an
        epoch, or three.
    arrangement : ndarray of int (n,), optional
        The order of the rows on the line (see `arranged`); by default, by position.

    Examples
    --------
    >>> from mercer.solvers.stochastic.visit_order import Sampler
    >>> sampler = Sampler(3, seed=0, sampling="permutation")
    >>> sorted(sampler.draw(0, 3).tolist())
    [0, 1, 2]
    """

    _epoch: int | None
    _places: FloatArray | Any
    _edges: FloatArray | None

    def __init__(
        self,
        n: int,
        seed: int = 0,
        sampling: str = "replacement",
        weights: FloatArray | None = None,
        arrangement: IndexArray | None = None,
    ) -> None:
        self.seed, self.sampling, self.arrangement = int(seed), sampling, arrangement
        self._edges = None
        self.total = float(n)
        if weights is not None:
            self._edges = np.cumsum(weights if arrangement is None else weights[arrangement])
            self.total = float(self._edges[-1])
        self.epoch_size = max(1, round(self.total))
        self._epoch, self._places = None, None

    def draw(self, first: int, count: int) -> IndexArray:
        """Rows of the visits first .. first + count."""
        positions = self._draws(first, count) if self.sampling == "replacement" else self._cards(first, count)
        if self._edges is None:
            found = positions.astype(np.int64)
        else:
            # A position rounded up to the very end belongs to the last row with a weight.
            found = np.searchsorted(self._edges, np.minimum(positions, np.nextafter(self.total, 0.0)), side="right")
        return found if self.arrangement is None else self.arrangement[found]

    def _draws(self, first: int, count: int) -> FloatArray:
        return uniform(self.seed, first, count) * self.total

    def _cards(self, first: int, count: int) -> FloatArray:
        parts = []
        while count > 0:
            epoch, begin = divmod(first, self.epoch_size)
            part = self._shuffled(epoch)[begin : begin + count]
            parts.append(part)
            first, count = first + len(part), count - len(part)
        return np.concatenate(parts)

    def _shuffled(self, epoch: int) -> FloatArray:
        """Evenly spaced positions, shifted by a common random fraction of a space, in random order."""
        if epoch != self._epoch:
            generator = np.random.default_rng([self.seed, epoch])
            places = generator.permutation(self.epoch_size) + generator.random()
            self._epoch, self._places = epoch, places * (self.total / self.epoch_size)
        return self._places


def arranged(X: Rows, codes: IndexArray) -> IndexArray | None:
    """An order of the rows that depends on their contents, not on their positions; or None.

    Equal rows are neighbours. A model drawn in this order is therefore the same, bit for bit, if the rows are permuted,
    or if a row is given once with weight two instead of twice. Too many rows, or items that are not vectors, keep their
    order.
    """
    is_matrix = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f")
    if not is_matrix or (X.nnz if sparse.issparse(X) else X.size) > ARRANGED:
        return None
    return np.argsort(_fingerprints(X) ^ _mixed(codes), kind="stable")


def _fingerprints(X: Rows) -> "KeyArray":
    """A number for each row, independent of storage (dense or sparse) and precision."""
    factors = _mixed(np.arange(X.shape[1]))
    with np.errstate(over="ignore"):
        if not sparse.issparse(X):
            return _bits(X) @ factors
        totals = np.concatenate([[np.uint64(0)], np.cumsum(_bits(X.data) * factors[X.indices], dtype=np.uint64)])
        return totals[X.indptr[1:]] - totals[X.indptr[:-1]]


def _bits(values: FloatArray) -> "KeyArray":
    # Adding zero turns -0.0 into 0.0.
    return (values.astype(np.float64) + 0.0).view(np.uint64)


def _mixed(numbers: IndexArray) -> "KeyArray":
    """Odd random numbers, one for each number."""
    seeds = np.asarray(numbers).astype(np.uint64)
    return stirred((seeds + np.uint64(1)) * GOLDEN) | np.uint64(1)
