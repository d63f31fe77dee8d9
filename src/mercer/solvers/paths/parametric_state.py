"""The state of a parametric active-set method as arrays (see `parametric_steps` for their meaning)."""

from typing import Any, NamedTuple

import numpy as np

from mercer._types import Array
from mercer.solvers.paths.sweep_tableau import Tableau

ZERO, BOUNDED, FREE, HELD = 0, 1, 2, 3
# Indices into `Track.scalars` and `Track.counts`.
TIME, BIAS, RATES_SCALE, LARGEST, HELD_BETA, HELD_RATE, TOTAL, TOTAL_RATE = range(8)
N_FREE, N_PIECES, N_EVENTS, N_VALUES, TIES, N_BARRED, HELD_POINT, EXCHANGES, AGE = range(9)
# Logged values of free points, per point, before the log has to grow.
FREE_IN_ALL = 2000
LOGS = ("log", "begins", "frees", "free_values")


class Track(NamedTuple):
    """The present solution, and the log of how it was reached.

    Attributes
    ----------
    tableau : Tableau
        Of K + c 11', bordered by ones where there is an equality: F are the free points, and the bias with them.
    state, rate : ndarray (m,)
        beta_i of a free point, g_i - b of any other; and after the points, b without c times the sum. If no point is
        free, b counts as 0 and the last entry is the sum still missing. Then their rates.
    side : ndarray (n,)
        The sign with which g_i - b falls to 0, or 0 for points to which the margin does not apply.
    diagonal : ndarray (n,)
        k(x, x).
    linear, linear_rate : ndarray (n,)
        p and its rate.
    signs, bound, bound_rate : ndarray (n,)
        y, u and its rate.
    status, barred : ndarray (n,)
        The sets; points not to be freed until another one leaves.
    places : ndarray of int (n + 1,)
        The free points.
    lengths : ndarray (n,)
        Room for the steps after which points meet the margin.
    scalars : ndarray (8,)
        Parameter, bias where no point is free, size of the rates, largest kernel value, beta of the held point and its
        rate, the sum that beta has and its rate.
    counts : ndarray (9,)
        Free points; pieces, events and free values logged; ties in a row; barred points; the held point, or -1;
        whether points whose rows depend on others may take their places; changes since rates were computed afresh.
    log : ndarray of int
        Events as 4 point + new status.
    begins : ndarray (pieces, 5)
        Of each piece: parameter, bias and its rate, events before it, free values before it.
    frees, free_values : ndarray (values,), (values, 2)
        Points free in a piece, with their beta at its beginning and its rate.
    shift : float
        c, or 0 where no sum is fixed.
    has_equality : bool
        Whether the sum of beta is fixed (a free bias).
    """

    tableau: Tableau
    state: np.ndarray
    rate: np.ndarray
    side: np.ndarray
    diagonal: np.ndarray
    linear: np.ndarray
    linear_rate: np.ndarray
    signs: np.ndarray
    bound: np.ndarray
    bound_rate: np.ndarray
    status: np.ndarray
    barred: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    scalars: np.ndarray
    counts: np.ndarray
    log: np.ndarray
    begins: np.ndarray
    frees: np.ndarray
    free_values: np.ndarray
    shift: float
    has_equality: bool


def new_logs(n: int, short: bool = False) -> tuple[Array, Array, Array, Array]:
    """Space for events, pieces, free points and their values: untouched pages cost nothing."""
    room, values = (64, n + 64) if short else (4 * n + 64, FREE_IN_ALL * n + 64)
    return np.empty(room, np.int64), np.empty((room, 5)), np.empty(values, np.int32), np.empty((values, 2))


def with_longer_logs(track: Track) -> Track:
    """The same track with four times the space in each log."""
    return track._replace(**{name: _longer(getattr(track, name)) for name in LOGS})


def _longer(values: Array) -> Any:
    out = np.empty((4 * len(values), *values.shape[1:]), values.dtype)
    out[: len(values)] = values
    return out
