"""The two halves of a Newton step of `proximal_newton`, each compiled in one piece, for one thread.

On a few hundred rows a step takes microseconds, and the calls between its parts would take longer than
the parts. Beyond `LARGEST` unknowns the factorisation of LAPACK is faster than the one here.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import row_add, row_dot, row_outer
from mercer.solvers.linear.loss_loops import improve_dual, line_minimum, respond, settled_bias

LARGEST = 72
# Entries of all rows above which two threads are faster than one piece.
MOST_ENTRIES = 400_000
# Entries up to which many steps are made in one call, which takes less than 100 ms.
FEW_ENTRIES, STEPS_IN_ONE = 50_000, 50
# Proximal weights below this have no inverse, or none that can be added up.
SMALLEST = 1e-290


@jit
def fused_response(
    rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, beta, change, slope, total
):  # fmt: skip
    """`respond`, and `total` += the sum of change_i x_i; (loss, length of the proximal step, sum of beta)."""
    loss, distance = respond(values, linear, lower, upper, ridge, epsilon, inverse, centre, beta, change, slope)
    balance = 0.0
    for i in range(beta.shape[0]):
        balance += beta[i]
        if change[i] != 0.0:
            row_add(rows, i, change[i], total)
    return loss, distance, balance


@jit
def factorise(H):
    """The lower triangle of H becomes its Cholesky factor; False if H is not positive definite."""
    for j in range(H.shape[0]):
        row = H[j]
        for k in range(j):
            other, value = H[k], row[k]
            for m in range(k):
                value -= row[m] * other[m]
            row[k] = value / other[k]
        value = row[j]
        for m in range(j):
            value -= row[m] * row[m]
        if not value > 0.0:
            return False
        row[j] = np.sqrt(value)
    return True


@jit
def substitute(H, x):
    """x becomes the solution of L L^T s = x for the factor L in H."""
    n = x.shape[0]
    for j in range(n):
        value = x[j]
        for m in range(j):
            value -= H[j, m] * x[m]
        x[j] = value / H[j, j]
    for j in range(n - 1, -1, -1):
        x[j] /= H[j, j]
        for m in range(j):
            x[m] -= H[j, m] * x[j]


@jit
def _system(rows, slope, scale, weight, H):
    last = H.shape[0] - 1
    H[:, :] = 0.0
    for i in range(slope.shape[0]):
        if slope[i] != 0.0:
            row_outer(rows, i, slope[i], H)
            if scale != 0.0:
                row_add(rows, i, slope[i] * scale, H[last])
                H[last, last] += slope[i] * scale * scale
    for j in range(last):
        H[j, j] += 1.0
    H[last, last] += weight if scale != 0.0 else 1.0
    if H[last, last] == 0.0:
        H[last, last] = 1.0


@jit
def fused_step(
    rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, slope, step, w, H, direction, scale, weight
):  # fmt: skip
    """Solve the system for the right-hand side in `step`, search the line, move w and the values.

    False, with nothing moved, if the system cannot be factorised.
    """
    last = w.shape[0] - 1
    _system(rows, slope, scale, weight, H)
    if not factorise(H):
        return False
    substitute(H, step)
    if scale == 0.0:
        step[last] = 0.0
    along, square = weight * step[last] * w[last], weight * step[last] * step[last]
    for j in range(last):
        along += step[j] * w[j]
        square += step[j] * step[j]
    for i in range(values.shape[0]):
        direction[i] = row_dot(rows, i, step) + scale * step[last]
    t = line_minimum(values, direction, along, square, linear, lower, upper, ridge, epsilon, inverse, centre)
    for j in range(last + 1):
        w[j] += t * step[j]
    for i in range(values.shape[0]):
        values[i] += t * direction[i]
    return True


@jit
def fused_run(
    rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, beta, change, slope, total,
    best, best_sum, w, best_w, H, direction, scale, weight, has_kinks, inner, narrower, numbers, gap_tol, steps,
):  # fmt: skip
    """Up to `steps` steps of `proximal_newton` in one call; how many were made.

    `numbers` holds the best primal and the best dual value, `best_w` the weights of the former.
    """
    last = w.shape[0] - 1
    residual = np.empty(last + 1)
    for done in range(steps):
        if weight == 0.0:
            shift = settled_bias(values, linear, lower, upper, ridge, epsilon, inverse, centre)
            w[last] += shift
            for i in range(values.shape[0]):
                values[i] += shift
        primal, distance, balance = fused_response(
            rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, beta, change, slope, total
        )
        primal += 0.5 * weight * w[last] * w[last]
        for j in range(last):
            primal += 0.5 * w[j] * w[j]
        if primal < numbers[0]:
            numbers[0] = primal
            best_w[:] = w
        numbers[1] = improve_dual(best, best_sum, numbers[1], beta, total, linear, ridge, epsilon, weight * scale)
        if numbers[0] - numbers[1] <= gap_tol * abs(numbers[0]):
            return done
        square = _residual(total, w, scale * balance, weight, residual)
        if has_kinks and square <= inner * distance:
            centre[:] = beta
            narrow(inverse, narrower)
            _, _, balance = fused_response(
                rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, beta, change, slope, total
            )
            _residual(total, w, scale * balance, weight, residual)
        if not fused_step(
            rows, values, linear, lower, upper, ridge, epsilon, inverse, centre, slope, residual, w, H, direction,
            scale, weight,
        ):  # fmt: skip
            return done
    return steps


@jit
def narrow(inverse, times):
    """Divide the proximal weights, in place, as far as they have an inverse: those of a huge box would become zero."""
    for i in range(inverse.shape[0]):
        if inverse[i] > 0.0:
            inverse[i] = max(inverse[i] / times, SMALLEST)


@jit
def _residual(total, w, pull, weight, out):
    """Minus the gradient of the rounded primal, and its square."""
    last = w.shape[0] - 1
    out[last] = pull - weight * w[last]
    square = out[last] * out[last]
    for j in range(last):
        out[j] = total[j] - w[j]
        square += out[j] * out[j]
    return square
