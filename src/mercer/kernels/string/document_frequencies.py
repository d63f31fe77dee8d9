"""In how many texts each feature occurs, and what that makes it worth (Spärck Jones 1972)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.kernels._types import KeyArray

if TYPE_CHECKING:
    from mercer.kernels.items.counts import Counts


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """What a kernel of texts has counted in the training texts.

    Features of a single text are not listed: they are worth as much as those that no training text has. So a text that
    is left out of the training weighs its words as it would within it, and a file keeps a fraction of the features.

    Parameters
    ----------
    n_texts : float
        How many texts there are; a text of weight two is two.
    keys : ndarray of uint64
        Of the features that more than one text has, ascending.
    counts : ndarray of float
        How many texts have each of them.
    """

    n_texts: float
    keys: KeyArray
    counts: FloatArray

    def __post_init__(self) -> None:
        keys, counts = self.keys, self.counts
        if not (isinstance(keys, np.ndarray) and keys.dtype == np.uint64 and keys.ndim == 1):
            raise ParameterError("keys must be a one-dimensional array of uint64")
        if not (isinstance(counts, np.ndarray) and counts.dtype == np.float64 and counts.shape == keys.shape):
            raise ParameterError("counts must be an array of float64, one for each of the keys")
        if (keys[1:] <= keys[:-1]).any():
            raise ParameterError("keys must be in ascending order")
        if not (np.isfinite(self.n_texts) and (counts > 1.0).all() and (counts <= self.n_texts).all()):
            raise ParameterError("counts must be above 1 and at most n_texts")

    def __repr__(self) -> str:
        return f"<{self.n_texts:g} texts>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DocumentFrequencies)
            and self.n_texts == other.n_texts
            and np.array_equal(self.keys, other.keys)
            and np.array_equal(self.counts, other.counts)
        )

    def __hash__(self) -> int:
        return hash((self.n_texts, self.keys.tobytes(), self.counts.tobytes()))

    @classmethod
    def of(cls, texts: "Counts", weights: FloatArray | None = None) -> "DocumentFrequencies":
        """Count the texts in which each feature occurs."""
        rows = texts.rows
        own = np.ones(len(texts)) if weights is None else np.asarray(weights, dtype=np.float64)
        each = np.repeat(own, np.diff(rows.indptr))
        found = np.zeros(len(texts.vocabulary))
        np.add.at(found, rows.indices, each)
        total = float(own.sum())
        # Sums of weights in another order may differ in their last digit.
        found = np.minimum(found, total)
        often = found > 1.0
        return cls(total, texts.vocabulary.keys[often], found[often])

    def inverse(self, keys: KeyArray) -> FloatArray:
        """1 + log((1 + n) / (1 + count)) for each feature: what is rare says more."""
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        counts = np.ones(len(keys))
        if len(self.keys):
            counts = np.where(self.keys[places] == keys, self.counts[places], 1.0)
        return 1.0 + np.log((1.0 + max(self.n_texts, 1.0)) / (1.0 + counts))
