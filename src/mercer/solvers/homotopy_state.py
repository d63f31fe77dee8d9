"""Where a parametric active-set method stands: its arrays, and the factor of its free points.

See `homotopy_steps` for what they mean. The Cholesky factor of K_FF + c 11' = R'R is kept up to date by
bordering and by rotations (Golub & Van Loan 2013, section 6.5), a few f^2 multiplications each, along
its rows.
"""

from typing import NamedTuple

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.vectors import vector_loop
from mercer.solvers.definiteness import INDEFINITE

# A pivot below this share of its diagonal says that a row depends on others.
DEPENDENT = 1e-12
TAKEN, DEPENDS, INDEFINITE_ROW = 0, 1, 2
# Places in `Track.scalars` and `Track.counts`.
TIME, BIAS, RATES, RATES_SCALE, LARGEST, HELD_RATE, SUM, BIAS_RATE, OLD_RATE = range(9)
N_FREE, N_PIECES, N_EVENTS, N_VALUES, TIES, AGE, HELD_POINT, CHANGED, LAST = range(9)
# Changes of the sets after which the slopes of all points are computed anew.
UNKNOWN = 2


class Track(NamedTuple):
    """Where a solution stands, and the log of how it got there.

    Attributes
    ----------
    values : ndarray (n, width)
        The kernel matrix, rows padded with zeros.
    linear, linear_rate, gradient, drive, slope : ndarray (width,)
        p and its rate, g = p - K beta, s (which includes the rate of p), and the rate of g.
    root, sway, drift, early : ndarray (n,)
        The root of k(x, x), bounds of the errors of `slope` and of `gradient`, and a step before which a
        point does not meet the margin. They say nothing of free points.
    queue : ndarray of int (n,)
        Room for points that may be the first to meet it.
    signs, bound, bound_rate, beta : ndarray (n,)
        y, u, its rate, and the solution.
    status, barred : ndarray (n,)
        The sets; points not to be set free until another one leaves.
    places, factor, right, step, ones : ndarray
        The free points, the Cholesky factor R of their matrix, room for a solution of it, and the x of
        R'x = 1.
    scalars : ndarray (9,)
        Parameter, bias, sum of the rates d and its size, largest kernel value, rate of the held point,
        the sum that beta has, the rate of the bias on the last piece, and that of the coefficient that
        changed its set last, before it did.
    counts : ndarray (9,)
        Free points; pieces, events and free values logged; ties in a row; events since the gradient
        was computed from scratch; the held point, or -1; changes of the sets since the last piece, and whose.
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

    values: np.ndarray
    linear: np.ndarray
    linear_rate: np.ndarray
    gradient: np.ndarray
    drive: np.ndarray
    slope: np.ndarray
    root: np.ndarray
    sway: np.ndarray
    drift: np.ndarray
    early: np.ndarray
    queue: np.ndarray
    signs: np.ndarray
    bound: np.ndarray
    bound_rate: np.ndarray
    beta: np.ndarray
    status: np.ndarray
    barred: np.ndarray
    places: np.ndarray
    factor: np.ndarray
    right: np.ndarray
    step: np.ndarray
    ones: np.ndarray
    scalars: np.ndarray
    counts: np.ndarray
    log: np.ndarray
    begins: np.ndarray
    frees: np.ndarray
    free_values: np.ndarray
    shift: float
    has_equality: bool


# Loops run from 0 over slices: where an index might be negative, they would not become vector loops.


@jit
def forward(factor, f, values):
    """Solve R' x = values in place, a row of R at a time."""
    vector_loop()
    for i in range(f):
        row, rest = factor[i, i + 1 : f], values[i + 1 : f]
        done = values[i] / factor[i, i]
        values[i] = done
        for k in range(rest.shape[0]):
            rest[k] -= row[k] * done


@jit
def backward(factor, f, values):
    """Solve R x = values in place."""
    vector_loop()
    for i in range(f - 1, -1, -1):
        row, rest, total = factor[i, i + 1 : f], values[i + 1 : f], values[i]
        for k in range(rest.shape[0]):
            total -= row[k] * rest[k]
        values[i] = total / factor[i, i]


@jit
def border(values, factor, places, f, shift, point, column, ones):
    """Take a point into the factor: TAKEN, or not where its row depends on those of the free ones,
    or shows that the kernel is not positive semidefinite. `ones` gets the next entry of x in R'x = 1."""
    vector_loop()
    source = values[point]
    for k in range(f):
        column[k] = source[places[k]] + shift
    forward(factor, f, column)
    own = source[point] + shift
    pivot, rest = own, 1.0
    for k in range(f):
        pivot -= column[k] * column[k]
        rest -= column[k] * ones[k]
    for k in range(f):
        factor[k, f] = column[k]
    places[f] = point
    if not pivot > DEPENDENT * own:
        return INDEFINITE_ROW if pivot < INDEFINITE * abs(own) else DEPENDS
    factor[f, f] = np.sqrt(pivot)
    ones[f] = rest / factor[f, f]
    return TAKEN


@jit
def border_all(t, points):
    """Take points into the factor, one after the other, up to one that cannot be; how many were taken."""
    for k in range(points.shape[0]):
        ending = border(t.values, t.factor, t.places, t.counts[N_FREE], t.shift, points[k], t.right, t.ones)
        if ending != TAKEN:
            return k
        t.counts[N_FREE] += 1
    return points.shape[0]


@jit
def unborder(factor, places, f, place, ones):
    """Take the free point at `place` out of the factor; R'x = 1 turns with it."""
    vector_loop()
    for i in range(place, f - 1):
        places[i] = places[i + 1]
    for i in range(f):
        first = max(place, i - 1)
        target, source = factor[i, first : f - 1], factor[i, first + 1 : f]
        for k in range(target.shape[0]):
            target[k] = source[k]
    # What is now one step below the diagonal goes by rotations of rows.
    for i in range(place, f - 1):
        upper, lower = factor[i, i : f - 1], factor[i + 1, i : f - 1]
        length = np.hypot(upper[0], lower[0])
        cosine, sine = upper[0] / length, lower[0] / length
        for k in range(upper.shape[0]):
            first, second = upper[k], lower[k]
            upper[k] = cosine * first + sine * second
            lower[k] = cosine * second - sine * first
        first, second = ones[i], ones[i + 1]
        ones[i], ones[i + 1] = cosine * first + sine * second, cosine * second - sine * first


@jit
def solve_free(factor, f, right, total, has_equality, step, ones):
    """(K_FF + c 11') step + b' 1 = right with 1'step = total; gives b'. `ones` is the x of R'x = 1."""
    vector_loop()
    for i in range(f):
        step[i] = right[i]
    forward(factor, f, step)
    bias = 0.0
    if has_equality:
        along, length = 0.0, 0.0
        for i in range(f):
            along += ones[i] * step[i]
            length += ones[i] * ones[i]
        bias = (along - total) / length
        for i in range(f):
            step[i] -= bias * ones[i]
    backward(factor, f, step)
    return bias


@jit
def step_with_newcomer(factor, f, column, has_equality, step, ones, gap, old_rate):
    """Rates of the free points after the last of f joined them, from those before; the change of b'.

    `column` is what `border` left. Along K_FF u + b 1 = k_F, 1'u = 1, the others make room for the newcomer; its
    rate changes by `gap`, what its slope is ahead of b', over the Schur complement. One triangular solution
    instead of two.
    """
    vector_loop()
    last = f - 1
    bias, length, complement = 0.0, 0.0, factor[last, last] * factor[last, last]
    if has_equality:
        along = -1.0
        for i in range(last):
            along += ones[i] * column[i]
            length += ones[i] * ones[i]
        bias = along / length
        for i in range(last):
            column[i] -= bias * ones[i]
        complement += bias * bias * length
    backward(factor, last, column)
    change = gap / complement
    for i in range(last):
        step[i] -= change * column[i]
    step[last] = old_rate + change
    return -change * bias


@jit
def subtract_rows(values, places, f, step, out):
    """out -= sum_i step_i K[places_i], four rows at a time."""
    vector_loop()
    width, whole = out.shape[0], f - f % 4
    for i in range(0, whole, 4):
        first, second = values[places[i]], values[places[i + 1]]
        third, fourth = values[places[i + 2]], values[places[i + 3]]
        a, b, c, d = step[i], step[i + 1], step[i + 2], step[i + 3]
        for k in range(width):
            out[k] -= (a * first[k] + b * second[k]) + (c * third[k] + d * fourth[k])
    for i in range(whole, f):
        row, a = values[places[i]], step[i]
        for k in range(width):
            out[k] -= a * row[k]


@jit
def recompute(t):
    """gradient = linear - K beta, from scratch."""
    vector_loop()
    t.counts[CHANGED], count = UNKNOWN, 0
    for k in range(t.gradient.shape[0]):
        t.gradient[k] = t.linear[k]
    for i in range(t.beta.shape[0]):
        t.drift[i] = 0.0
        if t.beta[i] != 0.0:
            # Room that nobody needs between two events.
            t.queue[count], t.early[count] = i, t.beta[i]
            count += 1
    subtract_rows(t.values, t.queue, count, t.early, t.gradient)


@jit
def renew_slopes(t):
    """The slope of every point, from the rates of the free ones."""
    vector_loop()
    for i in range(t.sway.shape[0]):
        t.sway[i] = 0.0
    for k in range(t.slope.shape[0]):
        t.slope[k] = -t.drive[k]
    subtract_rows(t.values, t.places, t.counts[N_FREE], t.step, t.slope)


@jit
def make_exact(t, point):
    """The slope of one point, and its gradient where that is not known."""
    vector_loop()
    row, gradient, slope = t.values[point], t.linear[point], -t.drive[point]
    for i in range(t.counts[N_FREE]):
        slope -= row[t.places[i]] * t.step[i]
    t.slope[point], t.sway[point] = slope, 0.0
    if t.drift[point] > 0.0:
        for k in range(t.beta.shape[0]):
            gradient -= row[k] * t.beta[k]
        t.gradient[point], t.drift[point] = gradient, 0.0
