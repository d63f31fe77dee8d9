r"""What a kernel of low rank would lose: measured on a sample, before anything is fitted.

Landmarks :math:`z_1, \ldots, z_m`, drawn at random, span a part of the feature space. Of another row x,

.. math:: k(x, x) - k_Z(x)^T K_{ZZ}^{-1} k_Z(x)

is the squared distance of :math:`\psi(x)` from that part. Its mean over rows that are not landmarks, as a share of the
mean of k(x, x), is what m landmarks leave out. One Cholesky factor gives it for every m at once, since the factor of
the first m landmarks is a corner of that of all.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from mercer._types import FloatArray, IndexArray, Rows
from mercer.kernels.notation.sklearn_names import resolve
from mercer.selection.preflight.timer import CoreTimer

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

# Rows of the sample: half of them are landmarks, half are examined. Fewer if an entry takes long.
SAMPLE, SLOW_SAMPLE = 2000, 400
# What is left out is reported for this many landmarks, and how many leave out this share.
USUAL, LITTLE = 1000, 0.01
# Passes over all features that a fit takes: steps, and the certificate (docs/scale.md).
PASSES = 8
# Added to the landmarks' own matrix, as a share of its largest entry: they may be linearly dependent.
JITTER = 1e-10


@dataclass(frozen=True)
class LowRankLoss:
    """What landmarks leave out of a kernel.

    Attributes
    ----------
    shares : ndarray
        The share of the mean of k(x, x) that 1, 2, ... landmarks leave out, for rows that are not landmarks.
    entry, product : float
        Seconds for a kernel value, and for a multiplication of a pass over the features, as measured on the sample.
    """

    shares: np.ndarray
    entry: float = 0.0
    product: float = 0.0

    def seconds(self, n: int, landmarks: int) -> float:
        """About how long a fit of n rows with this many landmarks takes: features once, then passes over them."""
        return n * landmarks * (self.entry + PASSES * landmarks * self.product)

    @property
    def enough(self) -> int | None:
        """How many landmarks leave out no more than a hundredth; None if all those tried leave out more."""
        places = np.flatnonzero(self.shares <= LITTLE)
        return int(places[0]) + 1 if len(places) else None

    @property
    def left(self) -> float:
        """What all the landmarks tried leave out."""
        return float(self.shares[-1])

    def __str__(self) -> str:
        tried = len(self.shares)
        if self.enough is not None:
            words = f"{self.enough} random landmarks capture all but 1% of the kernel"
            return words if self.enough == tried else f"{words}, {tried} all but {_per_cent(self.left)}"
        words = f"{tried} random landmarks leave out {_per_cent(self.left)} of the kernel"
        return f"{words}: low rank would lose much" if self.left > 0.1 else words


def _per_cent(share: float) -> str:
    return f"{100 * share:.2g}%" if share >= 1e-6 else "next to nothing"


def low_rank_loss(kernel: "Kernel", X: Rows, rows: IndexArray) -> LowRankLoss | None:
    """What landmarks leave out of a kernel on a sample of `rows` in fair order; None if its features have no length."""
    kernel = resolve(kernel, X=_part(X, rows[: min(len(rows), SAMPLE)]))
    sample = rows[: SAMPLE if kernel.is_dot_product_form else SLOW_SAMPLE]
    half = len(sample) // 2
    if half == 0:
        return None
    landmarks, others = (_part(X, part) for part in (sample[:half], sample[half:]))
    own, cross = kernel(landmarks, dtype=np.float64), kernel(landmarks, others, dtype=np.float64)
    found = _shares(own, cross, kernel.diag(others))
    entry, product = _speed(kernel, landmarks, others)
    return None if found is None else replace(found, entry=entry, product=product)


def _speed(kernel: "Kernel", landmarks: Rows, others: Rows) -> tuple[float, float]:
    """Seconds for (an entry, a multiplication), in single precision, which fits use for their features."""
    timer = CoreTimer()
    features = kernel(others, landmarks, dtype=np.float32)
    entry = timer.seconds()[0] / features.size
    timer = CoreTimer()
    _ = features.T @ features
    return entry, timer.seconds()[0] / (features.size * features.shape[1])


def _shares(own: FloatArray, cross: FloatArray, diagonal: FloatArray) -> LowRankLoss | None:
    total = float(np.mean(diagonal))
    if not total > 0:
        return None
    own = own + JITTER * float(np.max(np.diagonal(own))) * np.eye(len(own))
    try:
        factor = linalg.cholesky(own, lower=True)
    except linalg.LinAlgError:
        return None  # not positive semidefinite: there is nothing to be spanned
    held = np.cumsum(np.square(linalg.solve_triangular(factor, cross, lower=True)).mean(axis=1))
    return LowRankLoss(np.clip(1.0 - held / total, 0.0, 1.0))


def _part(X: Rows, rows: IndexArray) -> Rows:
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]
