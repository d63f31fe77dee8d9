r"""A density from a kernel at each training row.

With bandwidth h, weights :math:`w_i` of sum W and a kernel that depends on the distance alone,
:math:`k(x, y) = \varphi(\lvert x - y\rvert)`,

.. math::
    p(x) = \frac{1}{W Z h^d} \sum_i w_i\, \varphi\Bigl(\frac{\lvert x - x_i\rvert}h\Bigr),
    \qquad
    Z = \int_{\mathbb R^d} \varphi(\lvert u\rvert)\, du
      = S_d \int_0^\infty \varphi(r)\, r^{d-1} dr
      = S_d \int_{-\infty}^\infty \varphi(e^t)\, e^{td}\, dt,

where :math:`S_d = 2 \pi^{d/2} / \Gamma(d/2)` is the surface of the unit sphere; for the 1-norm it is
:math:`2^d / \Gamma(d)`. The trapezoid rule on the last integral converges geometrically, because the
integrand vanishes at both ends. A kernel without a finite integral has no density.

Items that are not rows have no volume to integrate over. If every item contributes the same total, whatever
that is, which :math:`k(x, x) = c` for all stands for, then

.. math:: \log p(x) = \log \frac{1}{W} \sum_i w_i\, k(x, x_i) / c + \text{a constant}

which is unknown but which no comparison needs: order, ratios and level sets are those of the density.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy import special
from scipy.spatial.distance import cdist

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray
from mercer.kernels.vector.density_window import NAMES as WINDOWS
from mercer.kernels.vector.density_window import Window
from mercer.kernels.vector.matern import Matern
from mercer.kernels.vector.rbf import RBF

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


NAMES = ("gaussian", "exponential", *WINDOWS)
_LOG_RADII = np.linspace(-60.0, 330.0, 78_001)
# Points whose distances to all rows are in memory at the same time.
_TOGETHER = 64
_STEP = float(_LOG_RADII[1] - _LOG_RADII[0])


def kernel_of(name: str) -> "Kernel":
    """The kernel of bandwidth one with a name of scikit-learn's."""
    if name == "gaussian":
        return RBF(gamma=0.5)
    return Matern(nu=0.5, length_scale=1.0) if name == "exponential" else Window(name)


def log_normalizer(kernel: "Kernel", d: int) -> float:
    """log Z of a kernel that is bound, in d dimensions."""
    log_surface = _log_surface(_norm_of(kernel, d), d)
    if isinstance(kernel, RBF):
        return 0.5 * d * math.log(math.pi / cast(float, kernel.gamma))
    if isinstance(kernel, Window):
        return log_surface + math.log(_window_integral(kernel.shape, d))
    return log_surface + _log_integral(kernel, d)


def _window_integral(shape: str, d: int) -> float:
    """Integral of the window times r^(d - 1) over [0, 1]."""
    closed = {"tophat": 1 / d, "epanechnikov": 2 / (d * (d + 2)), "linear": 1 / (d * (d + 1))}
    if shape in closed:
        return closed[shape]
    nodes, weights = special.roots_legendre(200)
    r = 0.5 * (nodes + 1.0)
    return float((0.5 * weights * np.cos(0.5 * np.pi * r) * r ** (d - 1)).sum())


def _log_integral(kernel: "Kernel", d: int) -> float:
    """log of the integral of phi(r) r^(d - 1) over r > 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(_profile(kernel, np.exp(_LOG_RADII)), 0.0)) + d * _LOG_RADII
    if not logs[-1] < logs.max() - 25.0:
        raise ParameterError(f"{kernel!r} has no finite integral in {d} dimensions, so no density; try RBF or Matern")
    return float(special.logsumexp(logs)) + math.log(_STEP)


def _profile(kernel: "Kernel", radii: FloatArray) -> FloatArray:
    """phi(r): the kernel of points on a line and the origin."""
    values = kernel(np.zeros((1, 1)), radii[:, None])[0]
    # Some kernels do not fall below exp(-80), which is as good as nothing but has an integral.
    floor = values[-1] if values[-1] == values[len(values) // 2] else 0.0
    return values - floor


def _norm_of(kernel: "Kernel", d: int) -> int:
    """2 or 1: the norm in which the kernel is a function of distance only."""
    if not kernel.is_translation_invariant:
        raise ParameterError(f"kernel must depend only on the distance between two rows, got {kernel!r}")
    if d == 1:
        return 2
    probes = np.random.default_rng(0).normal(size=(5, d))
    for norm in (2, 1):
        sizes = np.linalg.norm(probes, norm, axis=1)
        values = kernel(np.zeros((1, d)), 0.5 * probes / sizes[:, None])
        if np.ptp(values) <= 1e-9 * np.abs(values).max():
            return norm
    raise ParameterError(f"kernel must depend only on the distance between two rows, got {kernel!r}")


def _log_surface(norm: int, d: int) -> float:
    if norm == 1:
        return d * math.log(2.0) - float(special.gammaln(d))
    return math.log(2.0) + 0.5 * d * math.log(math.pi) - float(special.gammaln(0.5 * d))


def bandwidth(rule: float | str, weights: FloatArray, d: int) -> float:
    """A number unchanged, or Scott's or Silverman's rule for rows whose columns vary by about one."""
    if not isinstance(rule, str):
        return float(rule)
    n = weights.sum() ** 2 / (weights**2).sum()
    return float((n if rule == "scott" else n * (d + 2) / 4) ** (-1.0 / (d + 4)))


def log_tail(kernel: "Kernel") -> Callable[[FloatArray], FloatArray] | None:
    """log phi as a function of squared distance, if it is known beyond the range of doubles."""
    if isinstance(kernel, RBF):
        return lambda squared: -cast(float, kernel.gamma) * squared
    if isinstance(kernel, Matern) and kernel.nu in (0.5, 1.5, 2.5):
        return lambda squared: _log_matern(np.sqrt(2.0 * kernel.nu * squared) / kernel.length_scale, kernel.nu)
    return None


def _log_matern(a: FloatArray, nu: float) -> FloatArray:
    """log of the half-integer Matern functions of the scaled distance a."""
    polynomial = {0.5: 0.0, 1.5: np.log1p(a), 2.5: np.log1p(a + a**2 / 3.0)}
    return cast(FloatArray, polynomial[nu]) - a


def log_sums(
    sums: FloatArray,
    kernel: "Kernel",
    points: FloatArray,
    rows: FloatArray,
    weights: FloatArray,
    own: FloatArray | None = None,
) -> FloatArray:
    """log of sums of kernels; those that would underflow are computed by logarithms.

    If the points are the rows themselves, `own` is what is left of a row's weight at itself.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(sums, 0.0))
    tail = log_tail(kernel)
    if tail is None:
        return logs
    small = np.flatnonzero(sums < 1e-30 * weights.sum())
    for begin in range(0, len(small), _TOGETHER):
        some = small[begin : begin + _TOGETHER]
        factors = np.broadcast_to(weights, (len(some), len(weights)))
        if own is not None:
            factors = factors.copy()
            factors[np.arange(len(some)), some] = own[some]
        logs[some] = special.logsumexp(tail(_squared_distances(points[some], rows)), axis=1, b=factors)
    return logs


def _squared_distances(points: FloatArray, rows: FloatArray) -> FloatArray:
    """Between all of some points and all rows, to within what the sum of logarithms shows.

    By products of matrices where these lose less than 1e-9 of the smallest distance that is asked about, a
    hundred times a bandwidth squared; else by differences.
    """
    origin = rows.mean(axis=0)
    left, right = points - origin, rows - origin
    norms = np.einsum("ij,ij->i", left, left)[:, None], np.einsum("ij,ij->i", right, right)
    if max(norms[0].max(initial=0.0), norms[1].max(initial=0.0)) > 1e8:
        return cdist(points, rows, "sqeuclidean")
    return np.maximum(norms[0] + norms[1] - 2.0 * (left @ right.T), 0.0)


def common_diagonal(diag: FloatArray, remedy: str) -> float:
    """c, the common k(x, x) of all items; refused if they differ."""
    if not (diag.min() > 0 and np.ptp(diag) <= 1e-6 * diag.max()):
        raise ParameterError(
            "a density needs a kernel that gives every item the same positive k(x, x), "
            f"got {diag.min():g} to {diag.max():g}; {remedy}"
        )
    return float(diag[0])


def log_of_items(sums: FloatArray) -> FloatArray:
    """log of sums of kernels between items; a kernel with a negative sum does not give a density."""
    if sums.min(initial=0.0) < -1e-9 * np.abs(sums).max(initial=0.0):
        raise DataError("a density needs a kernel without negative values, but at some items it sums to less than 0")
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(sums, 0.0))


def without_one(weights: FloatArray) -> FloatArray:
    """The weight of each row after removing one copy of it."""
    return np.maximum(weights - 1.0, 0.0)


def log_mass_without_one(weights: FloatArray) -> FloatArray:
    """log of the sum of the weights when one copy of a row is taken away, for each row."""
    left = weights.sum() - np.minimum(weights, 1.0)
    return np.log(left, out=np.full(len(weights), np.inf), where=left > 0)


def level_of(logs: FloatArray, weights: FloatArray, share: float, alone: float) -> float:
    """The log density below which lies at most this fraction of the weight.

    If that fraction has no neighbours, it is just above `alone`, the log density at an isolated row.
    """
    order = np.argsort(logs, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    place = int(np.searchsorted(below, share * (1.0 + 1e-12), side="right"))
    level = float(logs[order][min(place, len(logs) - 1)])
    return alone + 1e-9 if level == -np.inf and len(logs) > 1 else level


def draws(kernel: "Kernel", shape: tuple[int, ...], rng: np.random.RandomState | np.random.Generator) -> FloatArray:
    """Random vectors with the kernel's own density."""
    normal = rng.standard_normal(shape)
    if isinstance(kernel, RBF):
        return normal / math.sqrt(2.0 * cast(float, kernel.gamma))
    if isinstance(kernel, Window) and kernel.shape == "tophat":
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        return directions * rng.uniform(size=(shape[0], 1)) ** (1.0 / shape[1])
    raise ParameterError(f"samples are drawn for the Gaussian and the tophat kernel only, not for {kernel!r}")
