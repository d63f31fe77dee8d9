"""Training data read block by block; one pass gathers what a kernel must know about all rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._jit.memory import available_bytes, parse_bytes
from mercer._jit.threads import thread_count
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.inputs import kernel_of, takes_items
from mercer.estimators.fitting.training import TrainingData
from mercer.estimators.low_rank.block_rows import KeptBlocks, Pieces, ReadSupport
from mercer.estimators.out_of_core.memory import OF_A_ROW
from mercer.estimators.out_of_core.progress import Progress
from mercer.kernels.base.distance_origin import origin_of
from mercer.kernels.base.parameters import GammaFromData
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.items.column_statistics import Summary, summary
from mercer.kernels.items.prepare_rows import squared_norms
from mercer.kernels.notation.sklearn_names import resolve
from mercer.solvers.low_rank.distance import PreparedSupport, SupportRows

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks
    from mercer.kernels.base.kernel import Kernel
    from mercer.solvers.limits import Limits

# Sampled rows used to bind kernels whose parameters depend on more than moments.
SAMPLE = 4096
# Fewest and most rows of a piece; and copies of its values that exist while it is processed.
SHORTEST, LONGEST, COPIES = 1024, 16384, 2.5
# Share of the memory left for kernel values that support rows may use at the end.
IN_MEMORY = 1.0
# Doubles that a row of a kernel machine takes beside those of a linear one: places, sides, weights (116 bytes in all).
OF_A_PROBLEM = 8
# Bytes of rows asked for before that are kept: landmarks, above all.
REMEMBERED = 2**27


@dataclass(frozen=True)
class Room:
    """Rows of a piece, threads, bytes for kept rows and kernel values, and bytes beside the rows."""

    length: int
    n_jobs: int
    rows: int
    values: int
    free: int


def room_for(
    blocks: "Blocks", landmarks: int, n_machines: int, n_jobs: int | None, memory_limit: int | str | None
) -> Room:
    """The plan that fits into `memory_limit`; a ParameterError says how much would be enough."""
    n, d = blocks.shape
    total = available_bytes() // 2 if memory_limit is None else parse_bytes(memory_limit)
    threads = thread_count(n_jobs)
    state = 8 * (OF_A_ROW + OF_A_PROBLEM) * n * n_machines + 8 * (landmarks + 1) ** 2 * (3 * n_machines + 2)
    block = 8 * max(blocks.sizes) * d
    # Per row of a piece: its values, in double precision for the certificate, and a scaled part of them.
    of_row = (
        int(COPIES * 8 * landmarks) + 8 * n_machines + 24 * d + (8 * landmarks * n_machines if n_machines > 1 else 0)
    )

    def left(workers: int) -> int:
        # One block is read while others are processed; reading takes a copy of its own.
        return total - state - (workers + 2) * block

    while threads > 1 and left(threads) < threads * SHORTEST * of_row:
        threads -= 1
    if left(threads) < threads * SHORTEST * of_row:
        enough = math.ceil((total - left(1) + SHORTEST * of_row) / 2**20)
        raise ParameterError(
            f"memory_limit={memory_limit!r} is too little for blocks of {max(blocks.sizes):,} rows, {n:,} rows in all, "
            f'and {landmarks:,} landmarks; set memory_limit="{enough}MiB", use fewer landmarks, or smaller blocks '
            "(block_rows; for Parquet, write smaller row groups)"
        )
    length = int(min(LONGEST, max(SHORTEST, left(threads) // (2 * threads * of_row))))
    kept = left(threads) - threads * length * of_row
    rows = min(kept, 8 * n * d)
    return Room(length, threads, rows, kept - rows if rows == 8 * n * d else 0, left(threads) - rows)


class BlockData(TrainingData):
    """`TrainingData` over `Blocks`: rows are read on demand, and never all at once.

    Parameters
    ----------
    estimator : BaseEstimator
        With an `approximation`.
    blocks : Blocks
    weights : ndarray (n,) or None
        How often each row counts.
    n_machines : int
        That are solved in the same passes.
    limits : Limits
    """

    def __init__(
        self, estimator: Any, blocks: "Blocks", weights: FloatArray | None, n_machines: int, limits: "Limits"
    ) -> None:
        wanted = kernel_of(estimator)
        if takes_items(wanted) and not callable(wanted):
            raise ParameterError(f"kernel must be a kernel of rows of numbers with Blocks, got {wanted!r}")
        self.X, self._limits = blocks, limits
        spec = estimator.approximation
        marks = spec.landmarks if spec.rows is None else len(spec.rows)
        self.room = room_for(blocks, marks, n_machines, estimator.n_jobs, estimator.memory_limit)
        self.source = None
        # All rows as they come, or else as many as have room in single precision, as the steps need them.
        are_all = self.room.rows >= 8 * blocks.n_rows * blocks.n_columns
        whole, pieces = (self.room.rows, 0) if are_all else (0, self.room.rows)
        self.kept = KeptBlocks(blocks, whole, Progress(limits, blocks.n_rows), self.room.n_jobs)
        found = _look(self.kept, weights)
        gamma = "auto" if estimator.gamma is None else estimator.gamma
        unbound = resolve(wanted, gamma, estimator.degree, estimator.coef0)
        if isinstance(unbound, Precomputed):
            raise ParameterError("kernel='precomputed' needs the whole matrix; with Blocks, name a kernel of the rows")
        self.kernel = _bound(unbound, found).bind(found.sample)
        self._summary = found.summary
        self._norms = found.norms
        has_origin = self.kernel.is_translation_invariant and found.summary is not None
        self.origin = origin_of(self.kernel, found.sample, found.summary) if has_origin else None
        self.pieces = Pieces(self.kept, self.kernel, self.origin, self.room.length, pieces)
        self._known: tuple[IndexArray, Any] = np.zeros(0, np.int64), None

    def prepare(self, dtype: DTypeLike, indices: IndexArray | None = None) -> Any:
        """The rows at `indices`, never all of them at once."""
        rows = self._rows(np.arange(self.shape[0]) if indices is None else indices)
        return self.kernel.prepare(rows, dtype, origin=self.origin, check=False)

    def _rows(self, indices: IndexArray) -> Rows:
        known, rows = self._known
        if len(known):
            at = np.minimum(np.searchsorted(known, indices), len(known) - 1)
            if (known[at] == indices).all():
                return rows[at]
        order = np.unique(indices)
        found = self.kept.at(order)
        if found.data.nbytes <= REMEMBERED:
            self._known = order, found
        return found[np.searchsorted(order, indices)]

    def support_rows(self, indices: IndexArray, n_jobs: int | None) -> SupportRows:
        """Rows with non-zero coefficients, in memory if they fit."""
        self.pieces.forget()
        needed = 24 * len(indices) * self.shape[1]
        if needed <= IN_MEMORY * self.room.free:
            return PreparedSupport(self.kernel, self.prepare(np.float64, indices), n_jobs)
        return ReadSupport(self.pieces, indices, self._largest_diagonal(), self.room.n_jobs)

    def _largest_diagonal(self) -> float:
        if self.kernel.is_dot_product_form:
            return self.kernel.entry_bound(self._norm_bounds()[0])
        if not self.kernel.is_translation_invariant:
            return np.inf
        first = self.prepare(np.float64, np.zeros(1, np.int64))
        return float(self.kernel.diag_of(first)[0])

    def _norm_bounds(self) -> tuple[float, float]:
        if self.origin is not None:
            return super()._norm_bounds()
        largest, mean = self._norms
        return largest, min(largest, 4.0 * mean)


@dataclass
class _Looked:
    """The results of one pass: a `Summary` if the rows are dense, |x|^2, moments of entries, a sample."""

    summary: Summary | None
    norms: tuple[float, float]
    variance: float
    n_features: int
    sample: Any


def _look(kept: KeptBlocks, weights: FloatArray | None) -> _Looked:
    n, every = kept.n, max(1, kept.n // SAMPLE)
    own: list[tuple[Any, ...]] = []
    for span in kept.spans():
        places = np.arange(-span.start % every, span.stop - span.start, every)
        own.append((None if weights is None else weights[span], places))
    kept.begin_pass()
    parts = []
    for size, part in zip(kept.sizes, kept.map(look_at_rows, (), own, np.float64), strict=True):
        kept.told.done += size
        parts.append(part)
    total = mean = squares = 0.0
    for weight, own_mean, own_squares in (part[2] for part in parts):
        # Chan, Golub & LeVeque (1983, eq. 1.5).
        step, total = own_mean - mean, total + weight
        if total > 0.0:
            mean += step * weight / total
            squares += own_squares + step**2 * (total - weight) * weight / total
    samples = [part[3] for part in parts]
    sample = sparse.vstack(samples, format="csr") if sparse.issparse(samples[0]) else np.concatenate(samples)
    largest, mean_norm = max(part[1][0] for part in parts), sum(part[1][1] for part in parts) / n
    if not np.isfinite(largest):
        raise DataError("the blocks hold numbers whose squares overflow; scale the features")
    return _Looked(_joined([part[0] for part in parts], kept.sizes), (largest, mean_norm),
                   squares / total if total > 0.0 else 0.0, kept.n_features, sample)  # fmt: skip


def look_at_rows(X: Any, weights: FloatArray | None, places: IndexArray) -> tuple[Any, ...]:
    """(summary or None, (largest, sum) of |x|^2, (weight, mean, sum of squares) of the entries, some rows)."""
    norms, size = squared_norms(X), X.shape[0] * X.shape[1]
    is_dense = not sparse.issparse(X)
    each = np.ones(X.shape[0]) if weights is None else weights
    entries = float(each.sum()) * X.shape[1]
    total = float(np.sum(each @ X))
    mean = total / entries if entries > 0.0 else 0.0
    if is_dense and weights is None:
        squares = float(np.var(X, dtype=np.float64)) * size
    else:
        squares = float(each @ norms) - entries * mean**2
    about = summary(X) if is_dense else None
    return about, (float(norms.max(initial=0.0)), float(norms.sum())), (entries, mean, max(0.0, squares)), X[places]


def _joined(parts: list[Summary | None], sizes: Sequence[int]) -> Summary | None:
    if parts[0] is None:
        return None
    shares = np.asarray(sizes) / sum(sizes)
    found = [part for part in parts if part is not None]
    return Summary(
        sum(share * part.means for share, part in zip(shares, found, strict=True)),
        np.min([part.least for part in found], axis=0),
        np.max([part.greatest for part in found], axis=0),
        float(sum(share * part.mean_square for share, part in zip(shares, found, strict=True))),
    )


def _bound(kernel: "Kernel", found: _Looked) -> "Kernel":
    """The kernel with "scale" computed from all rows; other rules use a sample."""
    changes: dict[str, Any] = {}
    for name, child in kernel.nested_kernels().items():
        bound = _bound(child, found)
        if bound is not child:
            changes[name] = bound
    if isinstance(kernel, GammaFromData) and kernel.gamma == "scale":
        changes["gamma"] = 1.0 / (found.n_features * found.variance) if found.variance > 0.0 else 1.0
    return kernel.replace(**changes) if changes else kernel
