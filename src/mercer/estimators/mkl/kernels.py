"""The base kernels of a fit: which they are, whether they take the data, and on what scale."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, MercerError, NotPositiveSemidefiniteError, ParameterError
from mercer._jit.threads import thread_count
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.fitting.given_matrix import look_symmetric, require_gram
from mercer.estimators.fitting.training import LARGEST_ENTRY, OVERFLOW, TrainingData
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.algebra.sum_product import Sum
from mercer.kernels.base.mercer_condition import mercer_check
from mercer.kernels.base.parameters import gamma_from_data
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.given.several_precomputed import GivenMatrices, GivenMatrix
from mercer.kernels.gram.kernel_family import FEW_ENTRIES, SeveralKernels
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.on import On
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.rbf import RBF
from mercer.solvers.linalg.definiteness import are_definite, is_definite

if TYPE_CHECKING:
    from mercer.estimators.mkl.over_landmarks import SeveralCoordinates
    from mercer.kernels.base.kernel import Kernel


# Default Gaussian widths, in units of gamma="scale".
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
NORMALISATIONS = ("variance", "trace")
# A kernel not known to be valid is checked on a sample; the time grows with its cube, and is bounded.
MOST_LOOKED_AT, LOOKING = 128, 2e6
# Eigenvalues this far below zero, relative to the sum of all, are rounding.
ROUNDING = 1e-7
# Variances below this, relative to the mean of k(x, x), count as zero.
CONSTANT = 1e-12


def is_given(kernels: Any) -> bool:
    """Whether the data are the kernel matrices."""
    if isinstance(kernels, str):
        return kernels == "precomputed"
    return _is_list(kernels) and any(isinstance(kernel, Precomputed) or _names_it(kernel) for kernel in kernels)


def _names_it(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "precomputed"


def _is_list(kernels: Any) -> bool:
    return isinstance(kernels, list | tuple)


def require_kernels(kernels: Any) -> None:
    """Refuse anything but a list of kernels or one of the words."""
    if kernels is None or (isinstance(kernels, str) and kernels in ("columns", "precomputed")):
        return
    if not _is_list(kernels) or not kernels:
        raise ParameterError(
            f"kernels must be a list of kernels, 'columns', 'precomputed' or None, got {kernels!r}; "
            "a single kernel has no weight to learn; if that is what you want, pass [kernel]"
        )
    for place, kernel in enumerate(kernels):
        try:
            resolve(kernel)
        except ParameterError as error:
            raise ParameterError(f"kernels[{place}]: {error}") from error
    given = [isinstance(kernel, Precomputed) or _names_it(kernel) for kernel in kernels]
    if any(given) and not all(given):
        raise ParameterError(
            "kernels must all be precomputed, or none of them, since X holds either matrices or items; "
            "compute the others with k(X) and pass a list of matrices"
        )


def require_rows(kernels: Any, X: Rows) -> None:
    """If some kernels take numeric rows and others do not, refuse items that are not rows."""
    if not _is_list(kernels) or is_given(kernels) or sparse.issparse(X):
        return
    chosen = [resolve(kernel) for kernel in kernels]
    rows = [place for place, kernel in enumerate(chosen) if kernel.takes_items is False]
    if rows and any(kernel.takes_items for kernel in chosen):
        try:
            np.asarray(X[:1], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise _refused(rows[0], chosen[rows[0]], error) from error


def as_one(kernels: Any) -> "Kernel":
    """A kernel that takes the same data as all of them together, for input validation."""
    if is_given(kernels):
        return GivenMatrix(0)
    if isinstance(kernels, str):
        return On(0, RBF())
    if not _is_list(kernels) or not kernels:
        return RBF()
    return Sum(tuple(resolve(kernel) for kernel in kernels))


def bound_kernels(
    kernels: Any, X: Rows, weights: FloatArray | None, n_jobs: int | None = None, sum_dtype: Any = None
) -> "list[tuple[str, Kernel]]":
    """(name, kernel bound to the rows X) of each base kernel; given matrices are summed in `sum_dtype`, if set."""
    if kernels is None:
        gamma = gamma_from_data("scale", X, weights)
        chosen = cast("list[Kernel]", [Linear(), *(RBF(gamma=width * gamma) for width in WIDTHS)])
        return [(repr(kernel), kernel) for kernel in chosen]
    if is_given(kernels):
        return _given(kernels, X, n_jobs, sum_dtype)
    if isinstance(kernels, str):
        return [(str(name), kernel.bind(X, weights)) for name, kernel in Columns.infer(X).parts.items()]
    chosen = [resolve(kernel) for kernel in kernels]
    return [(repr(kernel), _bound(place, kernel, X, weights)) for place, kernel in enumerate(chosen)]


def _given(kernels: Any, X: Rows, n_jobs: int | None, sum_dtype: Any) -> "list[tuple[str, Kernel]]":
    if _is_list(kernels) and len(kernels) != len(X.matrices):
        raise DataError(f"kernels names {len(kernels)} precomputed matrices, but X holds {len(X.matrices)}")
    entries = len(X.matrices) * len(X) ** 2
    workers = 1 if entries < FEW_ENTRIES else thread_count(n_jobs)
    are_symmetric, X.total = look_symmetric(X.matrices, workers, sum_dtype)
    for place in np.flatnonzero(~are_symmetric):
        X.require_finite(place)
        try:
            require_gram(X.matrices[place])
        except DataError as error:
            raise DataError(f"X[{place}]: {error}") from None
    return [(f"X[{place}]", GivenMatrix(place)) for place in range(len(X.matrices))]


def _gram(kernel: "Kernel", items: Any, n_jobs: int | None) -> FloatArray:
    """The matrix of some items, taken from the given one."""
    if isinstance(kernel, Precomputed):
        return _part(items.matrix, items.index)
    return tiles.fill(kernel, items, items, np.empty((len(items), len(items))), n_jobs)


def _part(matrix: Array, index: IndexArray) -> Array:
    """matrix[index, index]; a view if the positions are evenly spaced."""
    if len(index) > 1:
        spaced = slice(index[0], index[-1] + 1, index[1] - index[0])
        if np.array_equal(np.arange(spaced.start, spaced.stop, spaced.step), index):
            return matrix[spaced, spaced]
    return matrix[np.ix_(index, index)]


def _bound(place: int, kernel: "Kernel", X: Rows, weights: FloatArray | None) -> "Kernel":
    try:
        return kernel.bind(X, weights)
    except (MercerError, TypeError, ValueError, AttributeError) as error:
        raise _refused(place, kernel, error) from error


def _refused(place: int, kernel: "Kernel", error: BaseException) -> DataError:
    return DataError(f"kernels[{place}] = {kernel!r} does not accept X: {error}")


class BaseKernelData(TrainingData):
    """Rows with several bound kernels, and with their weighted sum as the kernel of the fit.

    Attributes
    ----------
    kernels : list of Kernel
        Normalised by `normalise`.
    scales : ndarray
        The divisor of each kernel.
    weights : ndarray
    is_convex : bool
        Whether all kernels are known to be positive semidefinite on these rows.
    """

    if TYPE_CHECKING:
        weights: FloatArray
        scales: FloatArray

    def __init__(self, kernels: "Sequence[Kernel]", X: Rows, n_jobs: int | None = None) -> None:
        self.kernels, self.n_jobs = list(kernels), n_jobs
        self.is_convex, self.scales = True, np.ones(len(kernels))
        self.X, self.weights = X, np.ones(len(kernels))
        self._take_sum_of(self.kernels)

    def choose(self, weights: FloatArray) -> None:
        """Make the weighted sum of the kernels the kernel of the fit."""
        self.weights = weights
        self._take_sum_of([Scaled.of(float(w), k) for w, k in zip(weights, self.kernels, strict=True) if w > 0])

    def _take_sum_of(self, kernels: "Sequence[Kernel]") -> None:
        super().__init__(kernels[0] if len(kernels) == 1 else Sum(tuple(kernels)), self.X)

    def several(self) -> SeveralKernels:
        """The kernels on all rows, prepared again."""
        shared, items = {}, []
        for place, kernel in enumerate(self.kernels):
            # Kernels of inner products share their rows, centred or not.
            key = kernel.is_translation_invariant if kernel.is_dot_product_form else f"own {place}"
            if key not in shared:
                shared[key] = self.prepared(place, kernel)
            elif kernel.is_dot_product_form and kernel.loses_distances(shared[key]):
                shared[key].by_differences = True
            items.append(shared[key])
        found = SeveralKernels(self.kernels, items, self.n_jobs)
        if isinstance(self.X, GivenMatrices):
            found.total, self.X.total = self.X.total, None
        return found

    def prepared(self, place: int, kernel: "Kernel") -> Any:
        """All rows in the form of one of the kernels."""
        if isinstance(self.X, GivenMatrices):
            return kernel.prepare(self.X, np.float64)
        try:
            return TrainingData(kernel, self.X).prepare(np.float64)
        except (MercerError, TypeError, ValueError, AttributeError) as error:
            raise _refused(place, kernel, error) from error

    def support_vectors(self, indices: IndexArray) -> Rows:
        if isinstance(self.X, GivenMatrices):
            return np.empty((0, 0))
        return super().support_vectors(indices)

    def expansion_vectors(self, indices: IndexArray) -> Any:
        if isinstance(self.X, GivenMatrices):
            return self.X.columns_only(indices)
        return super().expansion_vectors(indices)

    def require_valid(self, used: IndexArray) -> None:
        """Refuse a kernel that is not positive semidefinite on a sample of the rows in use, with a proof."""
        unknown = [place for place, kernel in enumerate(self.kernels) if kernel.is_psd is not True]
        if unknown:
            count = min(MOST_LOOKED_AT, int((LOOKING / len(unknown)) ** (1 / 3)))
            some = used[:: -(-len(used) // max(1, count))]
            if not self._are_given_definite(some):
                rows = self._rows(some)
                for place in unknown:
                    self._require_valid(place, rows)
            self.is_convex = self.is_convex and len(some) == len(used)

    def _are_given_definite(self, some: IndexArray) -> bool:
        """Whether all of several given matrices can be factored on some rows, in one pass."""
        if not isinstance(self.X, GivenMatrices):
            return False
        grams = np.empty((len(self.kernels), len(some), len(some)))
        for gram, matrix in zip(grams, self.X.matrices, strict=True):
            gram[...] = _part(matrix, self.X.index[some])
        diagonals = np.einsum("mii->mi", grams)
        diagonals += np.maximum(1e-300, ROUNDING * np.abs(diagonals).sum(axis=1))[:, None]
        return are_definite(grams)

    def _require_valid(self, place: int, rows: IndexArray) -> None:
        kernel = self.kernels[place]
        gram = _gram(kernel, kernel.prepare(rows, np.float64), self.n_jobs)
        tolerance = ROUNDING * max(1e-300, float(np.abs(gram.diagonal()).sum()))
        if is_definite(gram, tolerance, isinstance(self.X, GivenMatrices)):
            return
        # An exact answer takes much longer, and comes with a proof.
        verdict = mercer_check(kernel, rows, tol=tolerance)
        if not verdict:
            raise NotPositiveSemidefiniteError(
                f"kernels[{place}] must be positive semidefinite for its weight to have a meaning, but {verdict}; "
                "leave it out, change its parameters, or pass repair(gram) of its matrix",
                witness=verdict.witness,
            )

    @staticmethod
    def require_moderate(several: SeveralKernels) -> None:
        """Refuse kernels whose values cannot be multiplied and summed."""
        with np.errstate(over="ignore", invalid="ignore"):
            diagonals = several.diagonals()
        for place, diagonal in enumerate(diagonals):
            if not float(np.abs(diagonal).max(initial=0.0)) < LARGEST_ENTRY:
                raise DataError(f"kernels[{place}]: {OVERFLOW}")

    def normalise(
        self, several: SeveralKernels, how: str | None, weights: FloatArray, stop: Callable[..., Any] | None = None
    ) -> SeveralKernels:
        """Divide each kernel by its variance, or by the mean of k(x, x), over weighted rows.

        A constant kernel has no variance, and is divided by the mean; a zero kernel is left as it is. Returns the
        scaled kernels.
        """
        if how is None:
            return several
        self.scales = self._scales(several, how, weights, stop)
        several = several.scaled(1.0 / self.scales)
        self.kernels = several.kernels
        return several

    def normalise_coordinates(
        self,
        several: "SeveralCoordinates",
        how: str | None,
        weights: FloatArray,
        stop: Callable[..., Any] | None = None,
    ) -> "SeveralCoordinates":
        """The same for kernels over landmarks, judged by their coordinates."""
        if how is None:
            return several
        self.scales = self._scales(several, how, weights, stop)
        self.kernels = [Scaled.of(1.0 / float(s), kernel) for s, kernel in zip(self.scales, self.kernels, strict=True)]
        self.choose(self.weights)
        each = zip(several.coordinates, self.scales, strict=True)
        return type(several)([rows / np.sqrt(scale) for rows, scale in each], self.n_jobs)

    @staticmethod
    def _scales(several: SeveralKernels, how: str, weights: FloatArray, stop: Callable[..., Any] | None) -> FloatArray:
        means, variances = several.spreads(weights, stop)
        has_spread = variances > CONSTANT * means
        scales = np.where(has_spread, variances, means) if how == "variance" else means
        return np.where(scales > 0, scales, 1.0)
