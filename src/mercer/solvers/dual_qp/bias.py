"""The bias of a solution of the dual, compiled: the same as `DualProblem.bias`."""

from mercer._jit.compile import UNBOUNDED, jit
from mercer._types import FloatArray
from mercer.problems.svm.signed_dual import AT_BOUND


@jit
def common_bias(beta: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """The mean gradient of the free points, or the middle of the allowed interval.

    Points closer to a bound than rounding count as bounded: scaling a start, or fixing its sum, leaves such points.
    """
    largest = 0.0
    for i in range(beta.shape[0]):
        largest = max(largest, abs(beta[i]))
    highest, lowest, total, free = -UNBOUNDED, UNBOUNDED, 0.0, 0
    for i in range(beta.shape[0]):
        slack = AT_BOUND * min(upper[i] - lower[i], largest)
        can_rise, can_fall = upper[i] - beta[i] > slack, beta[i] - lower[i] > slack
        if can_rise:
            highest = max(highest, gradient[i])
        if can_fall:
            lowest = min(lowest, gradient[i])
        if can_rise and can_fall:
            total += gradient[i]
            free += 1
    if free > 0:
        return total / free
    if highest > -UNBOUNDED and lowest < UNBOUNDED:
        return 0.5 * (highest + lowest)
    return highest if highest > -UNBOUNDED else (lowest if lowest < UNBOUNDED else 0.0)
