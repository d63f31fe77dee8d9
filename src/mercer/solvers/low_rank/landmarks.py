"""Which rows become landmarks: drawn uniformly, or by randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2023).

Pivots spread over rows that differ, where a uniform draw takes more from where rows are many. Neither is better on all
data, and how much of the trace is left does not tell which: see `LowRank(choice="auto")`.

Cost: nothing, or the kernel values of m rows with up to `POOL` m others, and `POOL` m^3 multiplications.
"""

import numpy as np

from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.solvers.linalg.pivoted_cholesky import random_pivots

CHOICES = ("uniform", "rpcholesky", "auto")
# Pivots are drawn among so many times as many rows, themselves drawn uniformly, and among so many at least.
POOL, LEAST_POOL = 20, 4_000


def uniform(n, count, rng):
    """Places of `count` of n rows; any first few of them are a uniform draw too."""
    return rng.permutation(n)[:count]


def pivots(kernel, prepare, n, count, rng, n_jobs=None, stop=None):
    """Places of up to `count` of n rows, by random pivots; fewer where these describe all others.

    ``prepare(dtype, indices)`` gives rows in the kernel's prepared form.
    """
    pool = np.sort(uniform(n, min(n, max(LEAST_POOL, POOL * count)), rng))

    def prepared(dtype, indices=None):
        return prepare(dtype, pool if indices is None else pool[indices])

    matrix = EvaluatedMatrix(kernel, prepared, np.float64, n_jobs=n_jobs)
    return pool[random_pivots(matrix, count, rng, stop)]
