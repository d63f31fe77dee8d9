r"""Whether several random walks have forgotten their starts, and how many independent draws theirs are worth.

Each chain of m draws is cut into halves; with W the mean variance within the parts and B / m the
variance between their means (Gelman et al. 2013, section 11.4; Vehtari et al. 2021),

.. math::
    \hat R = \sqrt{\frac{(m - 1) W / m + B / m}{W}}, \qquad
    \mathrm{ESS} = \frac{M m}{1 + 2 \sum_{t \ge 1} \rho_t},

where M is the number of parts. R-hat is near 1 if the chains agree; the effective sample size
is how many independent draws would give an equally accurate mean. The autocorrelations
:math:`\rho_t` combine all parts, and are summed in pairs as long as these are positive and
decreasing (Geyer 1992). A constant quantity has R-hat 1.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from mercer._types import FloatArray


@dataclass(frozen=True)
class ChainDiagnostics:
    """Convergence diagnostics of the draws of several chains.

    Attributes
    ----------
    r_hat : float
        The largest over all quantities watched; below 1.01 the chains agree.
    effective_sample_size : float
        The smallest.
    angle_error : float
        Standard error of the mean's direction, in radians: what sampling leaves open.
    n_chains, n_draws : int
        Draws are counted over all chains, warm-up excluded.
    steps : int
        Steps of each chain, warm-up included.
    """

    r_hat: float
    effective_sample_size: float
    angle_error: float
    n_chains: int
    n_draws: int
    steps: int

    @classmethod
    def of_nothing(cls, n_chains: int, steps: int = 0) -> Self:
        """Diagnostics of chains without draws."""
        return cls(np.inf, 0.0, np.inf, n_chains, 0, steps)

    def has_converged(self, tol: float = 0.01, min_ess: float = 400) -> bool:
        """Whether R-hat is at most 1 + `tol` and the effective sample size at least `min_ess`."""
        return self.r_hat <= 1.0 + tol and self.effective_sample_size >= min_ess

    def as_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"R-hat {self.r_hat:.4f}  effective sample size {self.effective_sample_size:.0f} "
            f"of {self.n_draws} draws\n"
            f"{self.n_chains} chains of {self.steps} steps  direction known to {self.angle_error:.2e} radians"
        )


def split_chains(draws: FloatArray) -> FloatArray:
    """Each chain split in two: draws (chains, m, ...) become (2 chains, m

    2, ...).
    """
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def r_hat(draws: FloatArray) -> FloatArray:
    """Split R-hat of each quantity; draws have shape (chains, m, q)."""
    within, between, m = _variances(split_chains(draws))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(((m - 1) * within / m + between) / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def effective_sample_size(draws: FloatArray) -> FloatArray:
    """Effective number of independent draws of each quantity; draws have shape (chains, m, q)."""
    parts = split_chains(draws)
    within, between, m = _variances(parts)
    pooled = (m - 1) * within / m + between
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - _autocovariance(parts).mean(axis=0)) / pooled
    count = parts.shape[0] * m
    time = _integrated_time(np.where(pooled > 0, correlation, 0.0))
    # Antithetic draws may be worth more than independent ones, but not without bound.
    return np.where(pooled > 0, count / np.maximum(time, 1.0 / np.log10(max(count, 10))), float(count))


def _variances(parts: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """(mean variance within, variance of the means, draws per part) for each quantity."""
    m = parts.shape[1]
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    # Constant up to rounding counts as constant.
    floor = (np.finfo(float).eps * np.abs(parts).max(axis=(0, 1))) ** 2 * m
    return np.where(within > floor, within, 0.0), np.where(between > floor, between, 0.0), m


def _autocovariance(parts: FloatArray) -> FloatArray:
    """Autocovariance of each part at every lag, by the Fourier transform."""
    m = parts.shape[1]
    centred = parts - parts.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * m, axis=1)
    return np.fft.irfft(spectrum * spectrum.conj(), axis=1)[:, :m] / m


def _integrated_time(correlation: FloatArray) -> FloatArray:
    """1 + 2 sum of rho_t, over Geyer's initial monotone sequence; correlation has shape (lags, q)."""
    lags = len(correlation) // 2 * 2
    correlation = correlation.copy()
    correlation[0] = 1.0
    pairs = correlation[0:lags:2] + correlation[1:lags:2]
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    return -1.0 + 2.0 * falling.sum(axis=0)
