r"""Random Fourier features of the Gaussian kernel (Rahimi & Recht 2007).

:math:`\sqrt{2/D}\, \cos(\langle \omega_j, x\rangle + b_j)` with :math:`\omega_j` normal of variance :math:`2\gamma`:
the mean of products of two rows is the kernel, with an error of about :math:`1 / \sqrt D`.

Cost: n d D multiplications and n D cosines.
"""

from typing import Any

import numpy as np

from mercer._jit.threads import run_parallel, thread_count
from mercer._types import Array, FloatArray
from mercer.kernels._types import Span
from mercer.kernels.evaluation import tiles


def frequencies(n_features: int, count: int, gamma: float, rng: Any) -> tuple[FloatArray, FloatArray]:
    """(weights (d, count), phases (count,)), drawn as scikit-learn's RBFSampler draws them."""
    weights = np.sqrt(2.0 * gamma) * rng.normal(size=(n_features, count))
    return weights, rng.uniform(0.0, 2.0 * np.pi, size=count)


def features(X: Any, weights: Array, offset: Array, n_jobs: int | None = None) -> Array:
    """The features of rows, in the precision of both."""
    out = np.empty((X.shape[0], weights.shape[1]), np.result_type(X.dtype, weights.dtype))
    scale = out.dtype.type(np.sqrt(2.0 / weights.shape[1]))

    def panel(span: Span) -> None:
        part = out[slice(*span)]
        part[...] = X[slice(*span)] @ weights
        part += offset
        np.cos(part, out=part)
        part *= scale

    run_parallel(panel, tiles.spans(X.shape[0]), thread_count(n_jobs))
    return out
