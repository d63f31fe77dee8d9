"""Compiled Newton steps of a primal active-set method, on a matrix held in memory.

The free coordinates minimise the quadratic while the others stay at their bounds: with the
Cholesky factor of their matrix, d = Q_FF^-1 (g_F - b), where b keeps the sum of a step zero.
A step that meets a bound ends there and its coordinate is free no more; after a full step,
the bounded coordinate that violates the KKT conditions most is set free (Nocedal & Wright
2006, section 16.5).

Cost of a step: f^3 / 6 multiplications for f free coordinates, and n f for the gradient.
"""

import numpy as np

from mercer._jit.compile import jit

EXACT, NO_STEP, UNFINISHED = 0, 1, 2
EPSILON = 2.0**-52
# Added to the diagonal, relative to its mean: repeated rows make the system singular.
FIRST_RIDGE = 1e-14
LAST_RIDGE = 1e-8
# Full steps that only remove what the ridge leaves behind.
CORRECTIONS = 3
# A dual without a maximum shows itself by coefficients that grow for ever.
DIVERGED = 1e100


@jit
def _factor(matrix, places, f, added, ridge, system, inverse):
    """Rows of the Cholesky factor of Q_FF + added 11' + ridge I; False if it is indefinite.

    `inverse` receives the reciprocals of its diagonal.
    """
    for i in range(f):
        source, row = matrix[places[i]], system[i]
        for j in range(i):
            other = system[j]
            total = source[places[j]] + added
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total * inverse[j]
        pivot = source[places[i]] + added + ridge
        for k in range(i):
            pivot -= row[k] * row[k]
        if pivot <= 0.0:
            return False
        inverse[i] = 1.0 / np.sqrt(pivot)
    return True


@jit
def _substitute(system, inverse, f, values):
    """Solve L L' x = values in place."""
    for i in range(f):
        row = system[i]
        total = values[i]
        for k in range(i):
            total -= row[k] * values[k]
        values[i] = total * inverse[i]
    for i in range(f - 1, -1, -1):
        values[i] *= inverse[i]
        row = system[i]
        for k in range(i):
            values[k] -= row[k] * values[i]


@jit
def _direction(matrix, places, f, gradient, has_equality, system, inverse, step, ones):
    """Write the Newton step of the free coordinates to `step`; False where there is none."""
    mean = 0.0
    for i in range(f):
        mean += matrix[places[i], places[i]] / f
    # On steps that sum to zero a constant changes nothing, but keeps the system well posed.
    added = mean if has_equality else 0.0
    ridge = FIRST_RIDGE
    while not _factor(matrix, places, f, added, ridge * f * mean, system, inverse):
        ridge *= 1000.0
        if ridge > LAST_RIDGE or mean <= 0.0:
            return False
    for i in range(f):
        step[i] = gradient[places[i]]
        ones[i] = 1.0
    _substitute(system, inverse, f, step)
    if has_equality:
        _substitute(system, inverse, f, ones)
        total, towards_bias = 0.0, 0.0
        for i in range(f):
            total += step[i]
            towards_bias += ones[i]
        for i in range(f):
            step[i] -= total / towards_bias * ones[i]
    return True


@jit
def _move(matrix, places, f, step, beta, gradient, lower, upper):
    """Take the step, or as much as the box allows; the coordinate that ends it, or -1."""
    length, first, end = 1.0, -1, 0.0
    for i in range(f):
        p = places[i]
        bound = upper[p] if step[i] > 0.0 else lower[p]
        # In this form a step of zero asks for no quotient.
        if abs(bound - beta[p]) < length * abs(step[i]):
            length, first, end = (bound - beta[p]) / step[i], p, bound
    for i in range(f):
        p = places[i]
        row, change = matrix[p], length * step[i]
        beta[p] += change
        for k in range(gradient.shape[0]):
            gradient[k] -= change * row[k]
    if first >= 0:
        beta[first] = end
    return first


@jit
def _common_gradient(gradient, places, f):
    """The bias: what the gradients of free coordinates have in common."""
    total = 0.0
    for i in range(f):
        total += gradient[places[i]]
    return total / f


@jit
def _violations(beta, gradient, lower, upper, free, bias):
    """Largest violation of a free coordinate, of a bounded one, and which that is."""
    unequal, worst, which = 0.0, 0.0, 0
    for i in range(beta.shape[0]):
        above = gradient[i] - bias
        if free[i]:
            unequal = max(unequal, abs(above))
        elif above > worst and beta[i] < upper[i]:
            worst, which = above, i
        elif -above > worst and beta[i] > lower[i]:
            worst, which = -above, i
    return unequal, worst, which


@jit
def newton_steps(matrix, beta, gradient, lower, upper, free, has_equality, least, max_steps):
    """Take Newton steps until the violation is rounding error or `max_steps` are done.

    Parameters
    ----------
    matrix, gradient
        K + s 11' + R and its negative gradient, padded as in `smo_steps`.
    beta, free : ndarray (n,)
        The point, and which coordinates are free; both are changed.
    least : float
        A violation that counts as none.

    Returns
    -------
    int
        EXACT, NO_STEP (indefinite, or nothing is free), or UNFINISHED.
    """
    n = beta.shape[0]
    places, system = np.empty(n, np.int64), np.empty((n, n))
    inverse, step, ones = np.empty(n), np.empty(n), np.empty(n)
    largest = 0.0
    for i in range(n):
        largest = max(largest, matrix[i, i])
    corrections = 0
    for _ in range(max_steps):
        f = 0
        for i in range(n):
            if free[i]:
                places[f] = i
                f += 1
        if f < 1 + has_equality:
            return NO_STEP
        if not _direction(matrix, places, f, gradient, has_equality, system, inverse, step, ones):
            return NO_STEP
        at_bound = _move(matrix, places, f, step, beta, gradient, lower, upper)
        size = 0.0
        for i in range(n):
            size += abs(beta[i])
        if size > DIVERGED:
            return NO_STEP
        if at_bound >= 0:
            free[at_bound] = False
            continue
        bias = _common_gradient(gradient, places, f) if has_equality else 0.0
        unequal, worst, which = _violations(beta, gradient, lower, upper, free, bias)
        rounding = max(least, 4.0 * EPSILON * largest * size)
        if worst > rounding:
            free[which] = True
            continue
        # What free coordinates are left with comes from the ridge; the same step again removes it.
        corrections += 1
        if unequal <= rounding or corrections == CORRECTIONS:
            return EXACT
    return UNFINISHED
