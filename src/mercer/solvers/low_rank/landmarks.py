"""Which rows become landmarks: drawn uniformly, or by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2023).

Pivots spread over rows that differ, where a uniform draw takes more from where rows are many. Neither is better on all
data, and how much of the trace is left does not tell which: see `LowRank(choice="auto")`.

Cost: nothing, or the kernel values of m rows with up to `POOL` m others, and `POOL` m^3 multiplications.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._types import IndexArray
from mercer.kernels._types import Stop
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.solvers.linalg.pivoted_cholesky import random_pivots

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

CHOICES = ("uniform", "rpcholesky", "auto")
# Pivots come from a uniform sample of this many rows per landmark, and at least this many.
POOL, LEAST_POOL = 20, 4_000


def uniform(n: int, count: int, rng: np.random.Generator) -> IndexArray:
    """Indices of `count` of n rows; any prefix is a uniform draw too."""
    return rng.permutation(n)[:count]


def pivots(
    kernel: "Kernel",
    prepare: Callable[[DTypeLike, IndexArray], Any],
    n: int,
    count: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    stop: Stop | None = None,
) -> IndexArray:
    """Indices of up to `count` of n rows, by random pivots; fewer if these span all the others.

    ``prepare(dtype, indices)`` gives rows in the kernel's prepared form.
    """
    pool = np.sort(uniform(n, min(n, max(LEAST_POOL, POOL * count)), rng))

    def prepared(dtype: DTypeLike, indices: IndexArray | None = None) -> Any:
        return prepare(dtype, pool if indices is None else pool[indices])

    matrix = EvaluatedMatrix(kernel, prepared, np.float64, n_jobs=n_jobs)
    return pool[random_pivots(matrix, count, rng, stop)]
