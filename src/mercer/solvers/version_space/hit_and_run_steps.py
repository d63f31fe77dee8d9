"""The inner loop of hit-and-run, compiled and without the interpreter lock."""

from math import sqrt

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer._types import FloatArray, IndexArray

# Lower bound of the distance to a wall: rounding must not carry a point through.
NEAREST = 1e-200


@jit
def _steepest(rate: FloatArray, distances: FloatArray) -> tuple[float, float]:
    """(largest, smallest) of rate / distance, the reciprocals of the distances to the first wall either way."""
    vector_loop()
    most, least = 0.0, 0.0
    for i in range(distances.shape[0]):
        ratio = rate[i] / distances[i]
        most = ratio if ratio > most else most
        least = ratio if ratio < least else least
    return most, least


@jit
def _ball(direction: FloatArray, point: FloatArray) -> tuple[float, float]:
    """The two ends of the chord of the unit ball along w + t d."""
    vector_loop()
    square, product, norm = 0.0, 0.0, 0.0
    for j in range(point.shape[0]):
        square += direction[j] * direction[j]
        product += direction[j] * point[j]
        norm += point[j] * point[j]
    rest = product * product + square * (1.0 - norm)
    root = sqrt(rest) if rest > 0.0 else 0.0
    return (-product - root) / square, (-product + root) / square


@jit
def _advance(length: float, direction: FloatArray, rate: FloatArray, point: FloatArray, distances: FloatArray) -> None:
    vector_loop()
    for j in range(point.shape[0]):
        point[j] += length * direction[j]
    for i in range(distances.shape[0]):
        moved = distances[i] + length * rate[i]
        distances[i] = moved if moved > NEAREST else NEAREST


@jit
def _write_direction(point: FloatArray, draw: FloatArray) -> None:
    vector_loop()
    norm = 0.0
    for j in range(point.shape[0]):
        norm += point[j] * point[j]
    scale = 1.0 / sqrt(norm)
    for j in range(point.shape[0]):
        draw[j] = scale * point[j]


@jit
def walk(
    directions: FloatArray,
    rates: FloatArray,
    chosen: IndexArray,
    uniforms: FloatArray,
    point: FloatArray,
    distances: FloatArray,
    draws: FloatArray,
    thinning: int,
    phase: int,
) -> int:
    """Take a step along each chosen direction, uniform on the chord of ball and cone.

    Parameters
    ----------
    directions, rates : ndarray (k, r), (k, n)
        Directions d to choose from, and <d, z_i>: how fast the distance to each wall changes.
    chosen, uniforms : ndarray (b,)
        The direction of each step, and where on its chord to stop.
    point, distances : ndarray (r,), (n,)
        w and <w, z_i>, all positive; changed in place.
    draws : ndarray (m, r)
        Gets w / |w| after every `thinning` steps, counted from `phase`.

    Returns
    -------
    Number of draws written.
    """
    written = 0
    for step in range(chosen.shape[0]):
        direction, rate = directions[chosen[step]], rates[chosen[step]]
        low, high = _ball(direction, point)
        most, least = _steepest(rate, distances)
        if most > 0.0:
            low = max(low, -1.0 / most)
        if least < 0.0:
            high = min(high, -1.0 / least)
        if high > low:
            _advance(low + uniforms[step] * (high - low), direction, rate, point, distances)
        if (phase + step + 1) % thinning == 0:
            _write_direction(point, draws[written])
            written += 1
    return written
