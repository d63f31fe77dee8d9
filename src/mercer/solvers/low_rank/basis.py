"""Landmarks of a kernel, with the factor that makes coordinates of kernel values.

With L L' = K_ZZ + jitter I, row x has the coordinates L^-1 k(Z, x), and the function w of these is the sum of kernels
at the landmarks with the coefficients L^-T w. Its norm is at most |w|, whatever the jitter is.

Cost: m^3 / 3 for the factor; m kernel values per row, and m^2 multiplications if its coordinates are needed.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import blas, lapack, solve_triangular

from mercer._errors import NotPositiveSemidefiniteError
from mercer._jit.lasting import lasting_empty
from mercer._jit.scratch import scratch
from mercer._jit.threads import blas_threads_for, run_parallel, thread_count
from mercer._types import Array, FloatArray, IndexArray
from mercer.kernels._types import Prepared, Span, Stop
from mercer.kernels.evaluation import tiles
from mercer.solvers.linalg.definiteness import is_seen_indefinite

if TYPE_CHECKING:
    from mercer.kernels.base.expansion import Group
    from mercer.kernels.base.kernel import Kernel

# The first jitter in units of rounding of the largest entry, by precision of the entries. In double precision the
# factor needs about one unit per landmark. In single precision, coefficients of 1 / sqrt(jitter) would amplify the
# rounding of the entries; a few units lose next to nothing beside the approximation itself.
UNITS_OF_DOUBLE, UNITS_OF_SINGLE = 1.0, 8.0
# If the factorisation fails, the jitter is multiplied by this, up to that share of the largest entry.
MORE, MOST_JITTER = 10.0, 1e-5
# Rows whose coordinates are computed at a time.
PANEL = 256
# Rows whose coordinates are gathered at a time.
GATHERED = 4096
# Rows for each landmark from which on they are multiplied by L^-1: quicker than to solve with L, once it is there.
WORTH_AN_INVERSE = 4


class Basis:
    """Landmarks and their factor.

    Parameters
    ----------
    kernel : Kernel
        Bound to its training data.
    prepare : callable
        ``prepare(dtype)`` gives the landmarks in the kernel's prepared form.
    dtype : float32 or float64
        Precision in which kernel values will be computed, which decides the jitter.

    Attributes
    ----------
    factor : ndarray (m, m)
        L, lower triangular.
    jitter : float

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix of the landmarks shows that the kernel is indefinite.
    """

    def __init__(
        self,
        kernel: "Kernel",
        prepare: Callable[[DTypeLike], Any],
        dtype: DTypeLike = np.float64,
        n_jobs: int | None = None,
        stop: Stop | None = None,
    ) -> None:
        self.kernel, self.n_jobs, self._prepare = kernel, n_jobs, prepare
        self._prepared: dict[Any, Any] = {}
        points = self.landmarks(np.float64)
        gram = tiles.gram(kernel, points, np.empty((len(points), len(points))), n_jobs, stop)
        np.fill_diagonal(gram, kernel.diag_of(points))
        if kernel.is_psd is not True and is_seen_indefinite(gram):
            raise indefinite(gram)
        with blas_threads_for(len(gram)):
            self.factor, self.jitter = jittered_factor(gram, dtype)

    @classmethod
    def of_factor(
        cls,
        kernel: "Kernel",
        prepare: Callable[[DTypeLike], Any],
        factor: FloatArray,
        jitter: float,
        n_jobs: int | None = None,
    ) -> Self:
        """The same basis from stored parts."""
        basis = cls.__new__(cls)
        basis.kernel, basis.n_jobs, basis._prepare, basis._prepared = kernel, n_jobs, prepare, {}
        basis.factor, basis.jitter = factor, jitter
        return basis

    def __getstate__(self) -> dict[str, Any]:
        # Elsewhere landmarks are what is needed of the data, not the data.
        made = {np.dtype(kind): self.landmarks(kind) for kind in (np.float32, np.float64)}
        return {**vars(self), "_prepare": None, "_prepared": made}

    def first(self, count: int) -> "Basis":
        """The same basis with only the first few landmarks."""

        def prepare(dtype: DTypeLike) -> Any:
            return self.landmarks(dtype).slice(0, count)

        factor = np.ascontiguousarray(self.factor[:count, :count])
        return Basis.of_factor(self.kernel, prepare, factor, self.jitter, self.n_jobs)

    @property
    def size(self) -> int:
        """How many landmarks there are."""
        return len(self.factor)

    def landmarks(self, dtype: DTypeLike) -> Any:
        """The landmarks in the kernel's prepared form; made once per precision."""
        dtype = np.dtype(dtype)
        if dtype not in self._prepared:
            self._prepared[dtype] = self._prepare(dtype)
        return self._prepared[dtype]

    def values(self, points: Prepared, out: Array | None = None, stop: Stop | None = None) -> Array:
        """k(x, z) for prepared rows, shape (n, m), in their precision."""
        out = np.empty((len(points), self.size), points.dtype) if out is None else out
        return tiles.fill(self.kernel, points, self.landmarks(points.dtype), out, self.n_jobs, stop)

    def coordinates(self, points: Prepared, stop: Stop | None = None) -> Array:
        """L^-1 k(Z, x) for prepared rows, shape (n, m), in their precision."""
        out = lasting_empty((len(points), self.size), points.dtype)
        write = self._writer(points, stop)
        _by_panels(points, lambda span: write(span, out[slice(*span)]), self.n_jobs, stop)
        return out

    def captured(self, points: Prepared, stop: Stop | None = None) -> Array:
        """|L^-1 k(Z, x)|^2 for prepared rows, shape (n,): the part of k(x, x) that the landmarks span."""
        out, write = np.empty(len(points), points.dtype), self._writer(points, stop)

        def panel(span: Span) -> None:
            begin, end = span
            rows = write(span, scratch("coordinates", (end - begin, self.size), points.dtype))
            np.einsum("ij,ij->i", rows, rows, out=out[begin:end])

        _by_panels(points, panel, self.n_jobs, stop)
        return out

    def _writer(self, points: Prepared, stop: Stop | None) -> Callable[[Span, Array], Array]:
        """A function that writes the coordinates of some of the rows into an array for them, and returns it."""
        marks = self.landmarks(points.dtype)
        multiplies = len(points) >= WORTH_AN_INVERSE * self.size
        apply = blas.get_blas_funcs("trmm" if multiplies else "trsm", dtype=points.dtype)
        lower = np.asfortranarray(self.inverse() if multiplies else self.factor, points.dtype)

        def write(span: Span, rows: Array) -> Array:
            part = points.slice(*span)
            for left, right in tiles.spans(len(marks)):
                tiles.unless(stop)
                self.kernel.tile(part, marks.slice(left, right), rows, 0, left)
            # Rows in C order are columns in Fortran's: solved in place.
            solved = apply(1.0, lower, rows.T, lower=1, overwrite_b=1)
            if not np.shares_memory(solved, rows):
                rows[...] = solved.T
            return rows

        return write

    def inverse(self) -> FloatArray:
        """L^-1."""
        with blas_threads_for(self.size):
            return np.ascontiguousarray(lapack.dtrtri(self.factor, lower=1)[0])

    def coefficients(self, w: FloatArray) -> FloatArray:
        """L^-T w: the coefficients of the landmarks in the function with weights w, shape (m,) or (m, k)."""
        return solve_triangular(self.factor, w, lower=True, trans="T")

    def weights(self, points: Prepared, beta: FloatArray, stop: Stop | None = None) -> FloatArray:
        """sum_i beta_i phi(x_i), for prepared rows in double precision and coefficients (n,) or (n, k)."""
        sums = tiles.product(self.kernel, self.landmarks(np.float64), points, beta, self.n_jobs, stop)
        return solve_triangular(self.factor, sums, lower=True)


def _by_panels(points: Prepared, panel: Callable[[Span], object], n_jobs: int | None, stop: Stop | None) -> None:
    length = min(PANEL, tiles.longest(points))
    run_parallel(panel, tiles.spans(len(points), length), thread_count(n_jobs), stop)


def coordinate_weights(
    coordinates: FloatArray, indices: IndexArray, groups: "Sequence[Group]", n_functions: int
) -> FloatArray:
    """w of each function, shape (m, k), from groups of coefficients of the rows at `indices` (see `Group`)."""
    weights = np.zeros((coordinates.shape[1], n_functions))
    for group in groups:
        weights[:, group.outputs] += _summed(coordinates, indices[group.begin : group.end], group.coefficients)
    return weights


def image(coordinates: FloatArray, indices: IndexArray, beta: FloatArray) -> FloatArray:
    """K^ beta, for the rows at `indices` and their coefficients."""
    w = _summed(coordinates, indices, beta)
    return np.concatenate([coordinates[some] @ w for some in _gathered(indices)])


def _summed(coordinates: FloatArray, indices: IndexArray, beta: FloatArray) -> FloatArray:
    total = np.zeros((coordinates.shape[1], *beta.shape[1:]))
    for some, part in zip(_gathered(indices), _gathered(beta), strict=True):
        total += coordinates[some].T @ part
    return total


def _gathered(of_rows: Array) -> list[Array]:
    """A few rows at a time, since what is gathered of coordinates is a copy."""
    return [of_rows[begin : begin + GATHERED] for begin in range(0, max(1, len(of_rows)), GATHERED)]


def left_of_trace(coordinates: FloatArray, diagonal: FloatArray) -> tuple[float, float]:
    """The residual trace as a share of the trace of centred rows."""
    left = float(np.maximum(diagonal - np.einsum("ij,ij->i", coordinates, coordinates), 0.0).sum())
    mean = coordinates.mean(axis=0)
    total = float(diagonal.sum()) - len(diagonal) * float(mean @ mean)
    return left, left / total if total > 0.0 else 0.0


def jittered_factor(gram: FloatArray, dtype: DTypeLike = np.float64) -> tuple[FloatArray, float]:
    """(L, jitter) with L L' = gram + jitter I, for the smallest jitter that precision and the factorisation allow."""
    scale = float(gram.diagonal().max())
    is_single = np.dtype(dtype) == np.float32
    units = UNITS_OF_SINGLE if is_single else UNITS_OF_DOUBLE * len(gram)
    share = units * float(np.finfo(np.float32 if is_single else np.float64).eps)
    while share <= MOST_JITTER:
        jitter = share * (scale or 1.0)
        matrix = np.array(gram, order="F")
        matrix[np.diag_indices_from(matrix)] += jitter
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=1, overwrite_a=1)
        if not failed and np.isfinite(factor).all():
            return np.ascontiguousarray(factor), jitter
        share *= MORE
    raise indefinite(gram)


def indefinite(gram: FloatArray) -> NotPositiveSemidefiniteError:
    """The error, with a vector over the landmarks as the witness."""
    values, vectors = np.linalg.eigh(gram)
    return NotPositiveSemidefiniteError(
        f"the kernel is not positive semidefinite on the landmarks: v'Kv = {values[0]:.3g} for v = error.witness, so "
        "they span no feature space; approximation=None finds a stationary point, and other parameters may help",
        vectors[:, 0],
    )
