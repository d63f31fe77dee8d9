"""Hard-SVM: the solution, or the proof that there is none.

Method: the nearest points of the hulls of the classes (`wolfe_nearest_points`), from coordinates if
the kernel has few of them, otherwise from kernel values. Coordinates decide to the last digits of the
data. Kernel values determine squared lengths, so they cannot distinguish a distance below 1e-8 of the radius
from zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, sparse

from mercer._errors import DataError
from mercer._types import FloatArray
from mercer.solvers.hard_margin.cholesky_corral import KernelCorral
from mercer.solvers.hard_margin.qr_corral import FeatureCorral
from mercer.solvers.hard_margin.wolfe_nearest_points import nearest_points
from mercer.solvers.linalg.definiteness import refuse_indefinite
from mercer.solvers.linalg.pivoted_cholesky import pivoted_factor
from mercer.solvers.result import SOLVED, Solution, Status

if TYPE_CHECKING:
    from mercer.kernels._types import Features
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.hard_margin import HardMargin
    from mercer.solvers.hard_margin.wolfe_nearest_points import Nearest
    from mercer.solvers.limits import Limits

# Beyond this many features, kernel values are cheaper than coordinates.
MOST_FEATURES = 512
EPSILON = float(np.finfo(np.float64).eps)
# A squared distance below minus this share of the squared radius shows that the kernel is indefinite.
INDEFINITE = 1e-12
# Error of a kernel value, in units in the last place.
VALUE_ERROR = 2.0
# Endings caused by rounding errors rather than limits.
ROUNDING = (Status.OPTIMAL, Status.OPTIMAL_INACCURATE, Status.STALLED)


@dataclass
class Separation(Solution):
    """A solution of the hard margin.

    Attributes
    ----------
    bias : float
        b_0, also where it is penalised.
    margin : float
        1 / |w_0|, or 1 / |(w_0, b_0)| where the bias is penalised; not positive if the search was stopped before it
        found a hyperplane.
    distance : float
        Of the nearest point from the hyperplane: 1 / |w_0| whatever the bias.
    normal : ndarray or None
        w_0 in coordinates, where they were used.
    """

    margin: float = 0.0
    distance: float = 0.0
    normal: np.ndarray | None = None


@dataclass
class Overlap:
    """The hulls meet: rows and weights of a common point, and the radius."""

    members: np.ndarray
    weights: np.ndarray
    radius: float


def separate_features(
    problem: "HardMargin", features: "Features", limits: "Limits", tol: float
) -> Separation | Overlap:
    """Solve in coordinates.

    Where columns are of such different sizes that the widest margin is lost in rounding errors,
    columns of one size decide: that changes margins, but neither a common point of the hulls nor
    whether there is one.

    Parameters
    ----------
    problem : HardMargin
    features : ndarray or CSR matrix (n, r)
        psi(x_i), in double precision.
    limits : Limits
    tol : float
        The largest violation of a margin of 1 that counts as none.

    Returns
    -------
    Separation or Overlap
    """
    if problem.bias == "penalized":
        features = _with_constant(features)
    sizes = _column_sizes(features)
    units = np.full(len(sizes), _power_of_two(sizes.max(initial=0.0)))
    answer = _separate(problem, features, units, limits, tol)
    if isinstance(answer, Overlap) or answer.margin > 0.0 or answer.status not in ROUNDING:
        return answer
    units = column_units(features)
    other = _separate(problem, features, units, limits, tol)
    if isinstance(other, Separation) and other.margin > 0.0:
        other.status = max(other.status, Status.STALLED)
    return other


def _separate(
    problem: "HardMargin", features: "Features", units: FloatArray, limits: "Limits", tol: float, error: float = 0.0
) -> Separation | Overlap:
    """`separate_features` with each column rescaled; `error` is that of an inner product."""
    scaled, origin = _moved_and_scaled(problem, features, units)
    corral = FeatureCorral(_signed(scaled, problem.signs), problem.groups)
    found = nearest_points(corral, limits)
    found.noise = max(found.noise, error / units.max() / units.max())
    if _has_met(found):
        return _overlap(problem, found, corral.radius * units.max())
    scale = problem.scale(found.square, found.lows)
    normal = scale * found.point
    offset = float(normal @ origin)
    bias = problem.free_bias(found.lows, scale) - offset
    constant = float(normal[-1] / units[-1]) if problem.bias == "penalized" else 0.0
    projections = problem.signs * scale * found.scores + offset - constant
    separation = _separation(problem, found, scale, projections, bias + constant, tol)
    with np.errstate(over="ignore"):
        # Only with a common unit are the weights of the points also the multipliers.
        separation.beta = separation.beta / units.max() / units.max()
        separation.normal = (normal / units)[: -1 if problem.bias == "penalized" else None]
        separation.margin *= units.max()
        separation.distance = _distance(problem, separation.margin, lambda: linalg.norm(separation.normal))
    if not (np.isfinite(separation.beta).all() and np.isfinite(separation.normal).all()):
        raise DataError("the margin is too small for the weights to be finite numbers; scale the features")
    return separation


def _overlap(problem: "HardMargin", found: "Nearest", radius: float) -> Overlap:
    """The common point, with the rounding errors of its weight sums removed."""
    groups = problem.groups[found.members]
    sums = np.bincount(groups, found.weights)
    return Overlap(found.members, found.weights / sums[groups], radius)


def _has_met(found: "Nearest") -> bool:
    """Whether the search ended with a common point rather than a hyperplane."""
    if found.status in SOLVED:
        return not found.is_separating
    return found.status == Status.STALLED and found.square <= 2.75 * len(found.lows) * found.noise


def _moved_and_scaled(problem: "HardMargin", features: "Features", units: FloatArray) -> "tuple[Features, FloatArray]":
    """(rescaled points, the offset subtracted)."""
    scaled = features @ sparse.diags_array(1.0 / units) if sparse.issparse(features) else features / units
    origin = np.zeros(len(units))
    if problem.bias == "free" and not sparse.issparse(features):
        # Translation invariant; points near the origin have more accurate digits.
        origin = scaled.mean(axis=0)
        scaled = scaled - origin
    return scaled, origin


def separate_matrix(
    problem: "HardMargin", matrix: "KernelMatrix", limits: "Limits", tol: float, memory: int
) -> Separation | Overlap:
    """Solve with kernel values; `memory` bounds the bytes of rows that are kept.

    A matrix of low rank, which is where kernel values are hard to work with, is factored into
    coordinates first.

    Returns
    -------
    Separation or Overlap

    Raises
    ------
    NotPositiveSemidefiniteError
        If the matrix is found to be indefinite.
    """
    most = min(MOST_FEATURES, memory // (16 * max(1, matrix.n)))
    features = pivoted_factor(matrix, most, limits.stop)
    if features is not None:
        return _separate_factor(problem, features, limits, tol)
    corral = KernelCorral(matrix, problem.signs, problem.groups, problem.shift, memory)
    found = nearest_points(corral, limits)
    if found.square < -INDEFINITE * corral.radius**2:
        refuse_indefinite(matrix, found.members)
    if _has_met(found):
        return _overlap(problem, found, corral.radius)
    scale = problem.scale(found.square, found.lows)
    constant = problem.shift * scale * float(problem.signs[found.members] @ found.weights)
    projections = problem.signs * scale * found.scores - constant
    bias = problem.free_bias(found.lows, scale) + constant
    separation = _separation(problem, found, scale, projections, bias, tol)
    square = max(0.0, float(separation.beta @ projections))
    separation.distance = _distance(problem, separation.margin, lambda: np.sqrt(square))
    return separation


def _separate_factor(problem: "HardMargin", features: "Features", limits: "Limits", tol: float) -> Separation | Overlap:
    """Solve in coordinates that reproduce the kernel values, to their precision."""
    if problem.bias == "penalized":
        features = _with_constant(features)
    sizes = _column_sizes(features)
    units = np.full(len(sizes), _power_of_two(sizes.max(initial=0.0)))
    radius = float(np.sqrt(np.einsum("ij,ij->i", features, features).max(initial=0.0)))
    answer = _separate(problem, features, units, limits, tol, VALUE_ERROR * EPSILON * radius**2)
    if isinstance(answer, Overlap):
        # Kernel values are as accurate as the largest of them, wherever the mean lies.
        return Overlap(answer.members, answer.weights, radius)
    answer.normal = None
    return answer


def _distance(problem: "HardMargin", margin: float, length: Callable[[], float]) -> float:
    """1 / |w_0|, from the margin if no bias enters it; `length` gives |w_0|."""
    if problem.bias != "penalized" or margin <= 0.0:
        return margin
    norm = length()
    return 1.0 / float(norm) if norm > 0.0 else np.inf


def _separation(
    problem: "HardMargin", found: "Nearest", scale: float, projections: FloatArray, bias: float, tol: float
) -> Separation:
    """The solution in the corral's units."""
    reach = max(found.square, np.finfo(np.float64).tiny)
    violation = max(found.square - float(found.lows.sum()), len(found.lows) * found.noise) / reach
    is_inaccurate = found.status == Status.OPTIMAL and violation > tol
    return Separation(
        beta=problem.beta(found.members, found.weights, scale),
        gradient=problem.signs - projections,
        bias=bias,
        status=Status.OPTIMAL_INACCURATE if is_inaccurate else found.status,
        iterations=found.iterations,
        trace=found.trace,
        margin=problem.margin(found.square, found.lows),
    )


def _column_sizes(features: "Features") -> FloatArray:
    """The largest absolute value of each column."""
    largest = abs(features).max(axis=0)
    return largest.toarray().ravel() if sparse.issparse(largest) else np.asarray(largest).ravel()


def column_units(features: "Features") -> FloatArray:
    """For each column, a power of two that is about its largest absolute value."""
    return np.array([_power_of_two(size) for size in _column_sizes(features)])


def _power_of_two(size: float) -> float:
    """A power of two near `size`: squares neither overflow nor underflow, and division is exact."""
    return float(2.0 ** np.clip(np.frexp(size)[1], -1000, 1000)) if size > 0.0 else 1.0


def _with_constant(features: "Features") -> "Features":
    """A penalised bias is the weight of an extra feature."""
    column = np.ones((features.shape[0], 1))
    if sparse.issparse(features):
        return sparse.hstack([features, sparse.csr_array(column)], format="csr")
    return np.hstack([features, column])


def _signed(features: "Features", signs: FloatArray) -> "Features":
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(signs) @ features)
    return features * signs[:, None]
