r"""What remains after learning: :math:`f(x) = \sum_j c_j\, k(x_j, x) + b`.

The representer theorem as a class. Several functions may share one set of vectors; where a
vector serves only some of them (one-vs-one), its group names those, and no product with a
zero coefficient is computed.
"""

from dataclasses import dataclass

import numpy as np

from mercer._errors import DataError
from mercer.kernels import engine
from mercer.kernels.matrix_form import MatrixItems


@dataclass(frozen=True)
class Group:
    """Consecutive vectors begin..end and their coefficients for some of the functions."""

    begin: int
    end: int
    coefficients: np.ndarray  # (end - begin, len(outputs))
    outputs: np.ndarray


class Expansion:
    """Functions that are sums of kernels at support vectors.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    vectors : array, CSR matrix, or prepared items
        The support vectors, as the kernel's ``prepare`` takes them.
    groups : list of Group
    intercepts : ndarray (n_functions,)
    origin : ndarray, optional
        Subtracted from rows before distances are taken (see `Kernel.prepare`).
    """

    def __init__(self, kernel, vectors, groups, intercepts, origin=None):
        self.kernel = kernel
        self.vectors = vectors
        self.groups = groups
        self.intercepts = np.asarray(intercepts, dtype=np.float64)
        self.origin = origin
        self._prepared = {}

    @classmethod
    def single(cls, kernel, vectors, coefficients, intercepts, origin=None):
        """One group: every vector has a coefficient for every function."""
        coefficients = np.asarray(coefficients, dtype=np.float64)
        group = Group(0, len(coefficients), coefficients, np.arange(coefficients.shape[1]))
        return cls(kernel, vectors, [group], intercepts, origin)

    @property
    def n_functions(self):
        return len(self.intercepts)

    def prepared(self, dtype):
        """The vectors in the kernel's own form; made once for each precision."""
        if dtype not in self._prepared:
            self._prepared[dtype] = self._prepare(self.vectors, dtype)
        return self._prepared[dtype]

    def _prepare(self, X, dtype):
        if isinstance(X, MatrixItems):
            return X
        return self.kernel.prepare(X, dtype, origin=self.origin, check=False)

    def values(self, X, dtype=np.float64, n_jobs=None):
        """f(x) for each row of X and each function, shape (n, n_functions)."""
        items, vectors = self._prepare(X, dtype), self.prepared(np.dtype(dtype))
        out = np.zeros((len(items), self.n_functions))
        engine.add_products(self.kernel, items, vectors, self._parts(), out, n_jobs)
        if not np.isfinite(out).all():
            raise DataError("the decision function overflows on X; scale it as the training data were")
        return out + self.intercepts

    def _parts(self):
        for group in self.groups:
            alone = len(group.outputs) == self.n_functions
            for begin in range(group.begin, group.end, engine.TILE):
                end = min(begin + engine.TILE, group.end)
                weights = group.coefficients[begin - group.begin : end - group.begin]
                yield begin, end, weights, slice(None) if alone else group.outputs

    def __getstate__(self):
        return {**self.__dict__, "_prepared": {}}
