"""Where a dual with at most one sum stands: its maximal violating pair, and the coordinates still undecided.

In one pass over the coordinates instead of a dozen, because a search over settings asks thousands of times.
"""

from mercer._jit.compile import UNBOUNDED, jit
from mercer._jit.vectors import vector_loop
from mercer._types import FloatArray, IndexArray


@jit
def survey(
    beta: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray, kink: float
) -> tuple[float, float]:
    """(largest gain of a coordinate that may rise, smallest loss of one that may fall).

    In the place of infinity, of bounds as well as where there is no such coordinate, there is `UNBOUNDED`.
    """
    vector_loop()
    highest, lowest = -UNBOUNDED, UNBOUNDED
    for k in range(beta.shape[0]):
        upward = gradient[k] + (kink if beta[k] < 0.0 else -kink)
        upward = upward if beta[k] < upper[k] else -UNBOUNDED
        highest = upward if upward > highest else highest
        downward = gradient[k] + (-kink if beta[k] > 0.0 else kink)
        downward = downward if beta[k] > lower[k] else UNBOUNDED
        lowest = downward if downward < lowest else lowest
    return highest, lowest


@jit
def choose_undecided(
    beta: FloatArray,
    gradient: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    kink: float,
    level: float,
    slack: float,
    chosen: IndexArray,
) -> int:
    """Write the coordinates that are free, or at most `slack` from violating at the bias `level`; their number."""
    count = 0
    for k in range(beta.shape[0]):
        can_rise, can_fall = beta[k] < upper[k], beta[k] > lower[k]
        upward = gradient[k] + (kink if beta[k] < 0.0 else -kink) - level
        downward = level - gradient[k] - (-kink if beta[k] > 0.0 else kink)
        is_free = can_rise and can_fall and (kink == 0.0 or beta[k] != 0.0)
        if is_free or (can_rise and upward >= -slack) or (can_fall and downward >= -slack):
            chosen[count] = k
            count += 1
    return count
