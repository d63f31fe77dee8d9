"""One fit restricted to landmarks: from data to problems solved in coordinates, and back to a sum of kernels."""

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError, ParameterError
from mercer._jit.threads import Stopped
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.given_matrix import count_items
from mercer.estimators.fitting.inputs import as_items, kernel_of, prediction_rows, takes_items
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.support import Support
from mercer.estimators.fitting.training import Budget, TrainingData
from mercer.estimators.low_rank.block_data import BlockData
from mercer.estimators.low_rank.low_rank import LandmarksUsed
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.gram.kernel_matrix import is_ordered
from mercer.kernels.table.frame import Frame
from mercer.kernels.vector.linear import Linear
from mercer.problems.distance import Distance
from mercer.solvers.low_rank import landmarks
from mercer.solvers.low_rank.basis import Basis, coordinate_weights, image, left_of_trace
from mercer.solvers.low_rank.distance import PreparedSupport, SupportRows, by_lengths, half_energy
from mercer.solvers.low_rank.kernel_blocks import RowBlocks, RowsInMemory

if TYPE_CHECKING:
    from mercer.estimators.low_rank.low_rank import LowRank
    from mercer.solvers.limits import Limits


# The sample on which choices of landmarks are compared: its rows, and rows per landmark.
SAMPLE, SHARE = 4000, 8
# Up to this many rows, exact solvers in coordinates are faster than passes over blocks.
FEW_ROWS = 4000
# Up to this many kernel values, double precision takes no longer than the rest of the fit.
FEW_VALUES = 2_000_000
# Kernel values always allowed for a distance: a tenth of a second.
FREE_ENTRIES = 15_000_000
# Otherwise, this multiple of those between rows and landmarks: about a tenth of a fit.
SHARE_OF_VALUES = 1.0


class Landmarks:
    """Training rows with the landmarks that a `LowRank` asks for.

    Parameters
    ----------
    estimator : BaseEstimator
        Who is to be fitted.
    spec : LowRank
    data : TrainingData
    used : ndarray of int
        Rows that take part: landmarks are drawn among them.

    Attributes
    ----------
    places : ndarray of int or None
        Positions of the landmarks among the training rows; None where they were given.
    basis : Basis
    used_as : LandmarksUsed
    """

    def __init__(self, estimator: Any, spec: "LowRank", data: TrainingData, used: IndexArray, limits: "Limits") -> None:
        self.spec = spec
        self.data, self.used, self.limits, self.n_jobs = data, used, limits, estimator.n_jobs
        state = generator_of(self.spec.random_state)
        # scikit-learn draws landmarks in the same way: the same seed gives the same ones.
        order = state.permutation(len(used))
        grows = spec.distance_tol is not None
        self.order = order if grows else order[: max(SAMPLE, spec.landmarks)].copy()
        self.rng = np.random.default_rng(state.randint(2**31))
        self.given: Any = None
        self.places: Any = None
        self.dtype: DTypeLike = np.float64
        if self.spec.rows is not None:
            self.given = _given(estimator, self.spec.rows, data)
        count = self.spec.landmarks if self.given is None else count_items(self.given)
        _require_fewer(count, len(used))
        self.choice = "given" if self.given is not None else self.spec.choice

    @property
    def are_many(self) -> bool:
        """Whether there are enough rows to take them in blocks."""
        return len(self.used) > FEW_ROWS

    @property
    def are_read(self) -> bool:
        """Whether the rows are `Blocks`."""
        return isinstance(self.data, BlockData)

    def precision(self, tol: float) -> DTypeLike:
        """The precision in which kernel values are accurate to `tol`; double if they are few."""
        is_small = len(self.used) * self.spec.landmarks <= FEW_VALUES
        return np.float64 if is_small else self.data.precision(tol)

    def take(self, count: int) -> None:
        """Choose `count` landmarks and factor their matrix, for kernel values in the precision `dtype`."""
        if self.given is None:
            self.places = self.used[self._chosen(count)]
        self.basis = Basis(self.data.kernel, self._prepare, self.dtype, self.n_jobs, self.limits.stop)
        self.used_as = LandmarksUsed(self.basis.size, self.choice, self.basis.jitter)

    def basis_within(self, rows: IndexArray, choice: str, count: int) -> Basis:
        """`count` landmarks among a sample of the rows, in double precision, to try a choice."""
        rng = np.random.default_rng(0)
        places = rows[self._drawn(rows, choice, count, rng)]
        kernel = self.data.kernel
        return Basis(kernel, lambda dtype: self.data.prepare(dtype, places), np.float64, self.n_jobs, self.limits.stop)

    def _chosen(self, count: int) -> IndexArray:
        # Landmarks added later join the present ones.
        is_uniform = self.choice == "uniform"
        return self.order[:count] if is_uniform else self._drawn(self.used, self.choice, count, self.rng)

    def _drawn(self, rows: IndexArray, choice: str, count: int, rng: np.random.Generator) -> IndexArray:
        if choice == "uniform":
            return landmarks.uniform(len(rows), count, rng)

        def prepare(dtype: DTypeLike, indices: IndexArray) -> Any:
            return self.data.prepare(dtype, rows[indices])

        return landmarks.pivots(self.data.kernel, prepare, len(rows), count, rng, self.n_jobs, self.limits.stop)

    def _prepare(self, dtype: DTypeLike) -> Any:
        if self.given is None:
            return self.data.prepare(dtype, self.places)
        return self.data.kernel.prepare(self.given, dtype, origin=self.data.origin, check=False)

    def prepared_for(self, kernel: Any, items: Any) -> Any:
        """The landmarks in the form of a kernel, which has prepared all rows as `items`."""
        if self.given is None:
            return items.take(self.places)
        return kernel.prepare(self.given, np.float64, origin=TrainingData(kernel, self.data.X).origin, check=False)

    def coordinates(self, budget: Budget, beside: int = 0) -> TrainingData:
        """The training rows as rows of coordinates, whose kernel is linear, where their user needs memory `beside`."""
        n, m = self.data.shape[0], self.basis.size
        require_room(8 * n * m + beside, budget, self.data.X)
        return TrainingData(Linear(), self.basis.coordinates(self.data.prepare(np.float64), self.limits.stop))

    def vectors(self) -> tuple[Any, Any]:
        """(the landmarks as an `Expansion` takes them, and as the user gave them)."""
        if self.given is None:
            return self.data.expansion_vectors(self.places), self.data.support_vectors(self.places)
        return self.given, self.given.native if isinstance(self.given, Frame) else self.given

    def support(self, coefficients: FloatArray, codes: IndexArray, n_classes: int) -> Support:
        """The landmarks as support vectors, with coefficients (m, k), grouped by class."""
        coefficients = coefficients.T
        if self.places is None:
            counts = np.zeros(n_classes, np.int64)
            counts[0] = self.basis.size
            return Support(np.arange(self.basis.size), counts, coefficients, has_pairs=False)
        order = np.lexsort((self.places, codes[self.places]))
        self.places = self.places[order]
        counts = np.bincount(codes[self.places], minlength=n_classes)
        return Support(self.places, counts, coefficients[:, order], has_pairs=False)

    def row_blocks(self) -> RowBlocks:
        """The rows of a fit in blocks, in the kernel's form: those that take part, or all that are read."""
        if isinstance(self.data, BlockData):
            return self.data.pieces
        whole = None if len(self.used) == self.data.shape[0] else self.used
        return RowsInMemory(lambda dtype: self.data.prepare(dtype, whole), len(self.used))

    @property
    def rows_in_blocks(self) -> IndexArray:
        """Places among the training rows of those in `row_blocks`."""
        are_some = len(self.used) < self.data.shape[0]
        return np.arange(self.data.shape[0]) if are_some and isinstance(self.data, BlockData) else self.used

    def memory(self, budget: Budget) -> int:
        """Bytes available for kernel values."""
        return self.data.room.values if isinstance(self.data, BlockData) else budget.cache + budget.working

    def distance(
        self, beta: FloatArray, indices: IndexArray, primal: float, image: FloatArray | None = None
    ) -> Distance:
        """The distance of a problem's solution from that without landmarks.

        `beta` (n,) or (n, k) are the coefficients of the rows at `indices`, and `image` is their sum in coordinates, if
        known.
        """
        entries = max(FREE_ENTRIES, int(SHARE_OF_VALUES * self.data.shape[0] * self.basis.size))
        beta = beta.reshape(len(beta), -1)
        some = np.flatnonzero(beta.any(axis=1))
        support, beta = self._support_rows(indices[some]), beta[some]
        try:
            if image is None:
                image = self.basis.weights(support.take(np.arange(len(some))), beta, self.limits.stop)
            value, method, confidence, n_rows = half_energy(
                self.basis, support, beta, image, entries, self.rng, self.limits.stop
            )
        except Stopped:
            # The model is complete, but there is no time for more than a bound.
            value, method, confidence, n_rows = by_lengths(support.diagonal(reads=False), beta), "bounded", 1.0, 0
        return Distance(value, value / max(1.0, abs(primal)), method, confidence, n_rows)

    def _support_rows(self, indices: IndexArray) -> SupportRows:
        if isinstance(self.data, BlockData):
            return self.data.support_rows(indices, self.n_jobs)
        data = self.data

        def prepare(dtype: DTypeLike) -> Any:
            return data.prepare(dtype, indices)

        return PreparedSupport(data.kernel, prepare(np.float64), self.n_jobs, prepare)

    def missed_variance(self, coordinates: FloatArray) -> Distance:
        """The share of the variance outside the span of the landmarks, a bound on what components miss."""
        left, share = left_of_trace(coordinates, self.data.diagonal(np.arange(len(coordinates))))
        return Distance(left, share, "exact", 1.0, len(coordinates))

    def choice_by_trace(self) -> str:
        """Uniform landmarks or random pivots, whichever leave less of the variance of a sample."""
        chosen = np.sort(self.order[: min(len(self.used), SAMPLE)])
        count, left = min(self.spec.landmarks, max(1, len(chosen) // SHARE)), {}
        for choice in ("uniform", "rpcholesky"):
            basis = self.basis_within(self.used[chosen], choice, count)
            left[choice] = -float(np.sum(basis.coordinates(self.data.prepare(np.float64, self.used[chosen])) ** 2))
        return min(left, key=lambda choice: left[choice])


class Restricted:
    """Solutions of problems in coordinates, as those of a machine over the landmarks.

    Like `SolvedProblems`, with certificates of the restricted problems and distances to the exact ones.
    """

    def __init__(
        self, solved: Any, marks: Landmarks, support: Support, certificates: list[Any], distances: list[Distance]
    ) -> None:
        self.solved, self.marks, self.support = solved, marks, support
        self.certificates, self.distances = certificates, distances
        self.statuses, self.iterations, self.intercepts = solved.statuses, solved.iterations, solved.intercepts
        self.solutions = getattr(solved, "solutions", None)

    def betas(self) -> list[FloatArray]:
        return self.solved.betas()

    def traces(self) -> list[Any]:
        return self.solved.traces()

    @property
    def relative_distance(self) -> float:
        """The largest over all problems."""
        return max(each.relative for each in self.distances)


def solved_in_coordinates(
    solve: Callable[[TrainingData], Any], marks: Landmarks, setup: Any, budget: Budget, beside: int
) -> Restricted:
    """The result of ``solve(data)`` on coordinates, with a linear kernel, as for any kernel machine.

    `beside` is what it takes at least, in bytes.
    """
    part = marks.coordinates(budget, beside)
    solved = solve(part)
    weights = coordinate_weights(part.X, solved.support.indices, solved.support.groups(), len(solved.intercepts))
    certificates, distances = [], []
    for problem, indices, beta, intercept in _points(setup, solved):
        certificates.append(problem.certificate(beta, image(part.X, indices, beta), intercept))
        distances.append(marks.distance(beta, indices, certificates[-1].primal))
    support = marks.support(marks.basis.coefficients(weights), setup.codes, setup.n_classes)
    return Restricted(solved, marks, support, certificates, distances)


def _points(setup: Any, solved: Any) -> Iterator[tuple[Any, IndexArray, FloatArray, Any]]:
    """(problem, its rows, coefficients, intercept), where all functions may be one problem."""
    if hasattr(setup, "joint"):
        beta = solved.solution.beta
        intercept = solved.intercepts if beta.ndim == 2 else float(solved.intercepts[0])
        yield setup.joint, setup.tasks[0].indices, beta, intercept
        return
    for problem, task, beta, intercept in zip(
        setup.problems, setup.tasks, solved.betas(), solved.intercepts, strict=True
    ):
        yield problem, task.indices, beta, intercept


def note_passes(model: Any, data: TrainingData) -> None:
    """Record the number of passes and of rows read, if they came as `Blocks`."""
    for name in ("n_passes_", "rows_read_"):
        vars(model).pop(name, None)
    if isinstance(data, BlockData):
        model.n_passes_, model.rows_read_ = data.kept.passes, data.kept.rows_read


def rows_used(setup: Any) -> IndexArray:
    """The rows that take part in any problem, in order."""
    indices = [task.indices for task in setup.tasks]
    if len(indices) == 1 and is_ordered(indices[0]):
        return indices[0]
    # Marked: sorting or hashing 10^7 of them takes as long as a pass, and half a gigabyte.
    is_used = np.zeros(1 + max(int(own.max(initial=-1)) for own in indices), bool)
    for own in indices:
        is_used[own] = True
    return np.flatnonzero(is_used)


def grown(marks: Landmarks, solve: Callable[[Any], Any]) -> Any:
    """``solve(solution so far)`` with as many landmarks as the required distance takes."""
    spec, n = marks.spec, len(marks.used)
    count, most = spec.landmarks, min(n, spec.most_landmarks or n)
    solved = None
    while True:
        marks.take(count)
        solved = solve(solved)
        if spec.distance_tol is None or solved.relative_distance <= spec.distance_tol:
            return solved
        if count >= most or marks.limits.reached() is not None:
            _warn_of_distance(spec.distance_tol, solved, count)
            return solved
        count = min(2 * count, most)


def _warn_of_distance(asked: float, solved: Any, count: int) -> None:
    warnings.warn(
        f"distance_tol={asked:g} was not reached: with {count} landmarks the relative distance is "
        f"{solved.relative_distance:.2g}; raise most_landmarks or the limits, or fit without an approximation",
        UserWarning,
        stacklevel=6,
    )


def _given(estimator: Any, rows: Any, data: TrainingData) -> Rows:
    """User-given landmarks, validated like rows to predict."""
    if isinstance(data.kernel, Precomputed):
        raise ParameterError(
            "rows cannot be given with a precomputed kernel, whose values for them are not known; keep rows=None: "
            "landmarks are then drawn from the training items"
        )
    kernel = kernel_of(estimator)
    return as_items(rows, kernel) if takes_items(kernel) else prediction_rows(estimator, rows)


def _require_fewer(count: int, n: int) -> None:
    if count > n:
        raise DataError(
            f"landmarks must be at most the number of training rows, n_samples={n}, got {count}; with so few "
            "rows the exact machine is as quick: approximation=None"
        )


def require_room(needed: int, budget: Budget, X: Rows) -> None:
    """Refuse coordinates that do not fit into memory."""
    if needed > budget.left:
        enough = -(-Budget.limit_for(needed, X) // 2**20)
        raise DataError(
            f"coordinates of all rows need {needed / 2**20:.3g} MiB, but memory_limit leaves {budget.left / 2**20:.3g} "
            f'MiB; set memory_limit="{enough}MiB", or use fewer landmarks'
        )
