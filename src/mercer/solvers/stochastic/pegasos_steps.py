r"""The steps of stochastic gradient descent for Soft-SVM, compiled.

The weight vector is never stored. With theta the sum of the rows that fell short of the margin,
w(t) = a theta / (lambda t), where a is 1 unless w was projected; and with
H(t) = sum_{s <= t} a(s) / (lambda s), the sum of all iterates is

.. math::
    \sum_{s=1}^{t} w^{(s)} = H(t)\,\theta - \Theta, \qquad \Theta = \sum_j H(j)\,\delta_j,

where delta_j is what step j added to theta (Xu 2011, for averaged SGD). So a step touches only the
entries of its own rows, averaged or not.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mercer._jit.compile import UNBOUNDED, jit
from mercer._jit.prefetch import prefetch
from mercer._jit.row_steps import row_add_both, row_ask
from mercer._jit.row_views import row_add, row_dot, row_dot_fresh, row_square
from mercer._jit.vectors import vector_loop
from mercer._types import Array, FloatArray, IndexArray

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView

# Entries of a clock: the next step, a, H, |theta|^2; then, for the trace, the rows seen, those below the margin and the
# sum of their losses.
STEP, SCALE, SUM, NORM, ROWS, SHORT, LOSS = range(7)
# A margin of 1 up to rounding counts as 1: otherwise the last bit would decide, and the forms would diverge.
ENOUGH = 1.0 - 1e-10
SMALLEST_SCALE = 1e-5


class Rule(NamedTuple):
    """Rows per step, lambda, the radius of the ball onto which w is projected, and the bias feature."""

    batch: int
    lam: float
    radius: float
    bias: float


class Expansion(NamedTuple):
    """theta and Theta as coefficients of items, and the step at which each was last updated."""

    beta: np.ndarray
    sums: np.ndarray
    ages: np.ndarray


class Pool(NamedTuple):
    """Some items, their kernel matrix, and <theta, psi(x_i)> for each of them."""

    items: np.ndarray
    G: np.ndarray
    values: np.ndarray


def new_clock() -> FloatArray:
    """Before the first step: t = 1, w = 0."""
    clock = np.zeros(7)
    clock[STEP] = clock[SCALE] = 1.0
    return clock


@jit
def value_of(rows: "RowView", i: int, theta: FloatArray, bias: float) -> float:
    """<theta, x_i>, the bias feature included."""
    vector_loop()
    return row_dot_fresh(rows, i, theta) + bias * theta[theta.shape[0] - 1]


@jit
def linear_steps(
    rows: "RowView",
    signs: FloatArray,
    weights: FloatArray,
    order: IndexArray,
    ahead: int,
    rule: Rule,
    clock: FloatArray,
    theta: FloatArray,
    sums: FloatArray,
    short: IndexArray,
) -> None:
    """Visit the rows of `order`, some of them at each step.

    theta and sums (Theta) have one entry more than there are features: the bias, the weight of a feature that is `bias`
    (0 or 1) everywhere. Without averaging `sums` is empty.
    """
    vector_loop()
    batch, lam, radius, bias = rule
    last = theta.shape[0] - 1
    averaged, projected = sums.shape[0] > 0, radius < UNBOUNDED
    # In registers: array entries would be stored and loaded again at each step.
    step_number, factor, total, loss, missed = clock[STEP], clock[SCALE], clock[SUM], 0.0, 0
    for begin in range(0, order.shape[0], batch):
        end = min(begin + batch, order.shape[0])
        scale = factor / (lam * step_number)
        total += scale
        count = 0
        for k in range(begin, end):
            i = order[k]
            if 0 < ahead < order.shape[0] - k:
                row_ask(rows, order[k + ahead])
                prefetch(signs, order[k + ahead])
            margin = signs[i] * scale * value_of(rows, i, theta, bias)
            if margin < ENOUGH:
                short[count] = i
                count += 1
                loss += weights[i] * (1.0 - margin)
        missed += count
        for k in range(count):
            i = short[k]
            step = weights[i] * signs[i] / (factor * (end - begin))
            if projected:
                dot = value_of(rows, i, theta, bias)
                clock[NORM] += step * (2.0 * dot + step * (row_square(rows, i) + bias))
            theta[last] += step * bias
            if averaged:
                row_add_both(rows, i, step, theta, step * total, sums)
                sums[last] += step * bias * total
            else:
                row_add(rows, i, step, theta)
        step_number += 1.0
        if projected:
            clock[STEP], clock[SUM] = step_number, total
            if project(clock, lam, radius):
                rescale(clock, theta, sums)
            factor, total = clock[SCALE], clock[SUM]
    clock[STEP], clock[SUM] = step_number, total
    clock[ROWS] += order.shape[0]
    clock[SHORT] += missed
    clock[LOSS] += loss


@jit
def single_steps(
    rows: "RowView",
    signs: FloatArray,
    weights: FloatArray,
    order: IndexArray,
    ahead: int,
    lam: float,
    bias: float,
    clock: FloatArray,
    theta: FloatArray,
    sums: FloatArray,
) -> None:
    """`linear_steps` with one row per step and no projection: the book's algorithm, a third faster."""
    last, n = theta.shape[0] - 1, order.shape[0]
    step_number, total, loss, missed = clock[STEP], clock[SUM], 0.0, 0
    for k in range(n):
        i = np.uint64(order[k])
        if 0 < ahead < n - k:
            row_ask(rows, order[k + ahead])
            prefetch(signs, order[k + ahead])
        scale = 1.0 / (lam * step_number)
        total += scale
        margin = signs[i] * scale * (row_dot(rows, i, theta) + bias * theta[last])
        if margin < ENOUGH:
            missed += 1
            loss += weights[i] * (1.0 - margin)
            step = weights[i] * signs[i]
            theta[last] += step * bias
            if sums.shape[0] > 0:
                row_add_both(rows, i, step, theta, step * total, sums)
                sums[last] += step * bias * total
            else:
                row_add(rows, i, step, theta)
        step_number += 1.0
    clock[STEP], clock[SUM] = step_number, total
    clock[ROWS] += n
    clock[SHORT] += missed
    clock[LOSS] += loss


@jit
def project(clock: FloatArray, lam: float, radius: float) -> bool:
    """Project w, by its scale alone, onto the ball that contains the minimiser.

    Returns whether the scale has become so small that sums of iterates would lose digits.
    """
    norm = clock[SCALE] / (lam * clock[STEP]) * np.sqrt(max(clock[NORM], 0.0))
    if norm > radius:
        clock[SCALE] *= radius / norm
    return clock[SCALE] < SMALLEST_SCALE


@jit
def rescale(clock: FloatArray, theta: FloatArray, sums: FloatArray) -> None:
    """Multiply the scale into theta."""
    scale, total = clock[SCALE], clock[SUM]
    for j in range(sums.shape[0]):
        sums[j] -= total * theta[j]
    for j in range(theta.shape[0]):
        theta[j] *= scale
    clock[NORM] *= scale * scale
    clock[SCALE], clock[SUM] = 1.0, 0.0


@jit
def kernel_steps(
    pool: Pool,
    order: IndexArray,
    signs: FloatArray,
    weights: FloatArray,
    rule: Rule,
    clock: FloatArray,
    expansion: Expansion,
    short: IndexArray,
    budget: int,
    merging: bool,
) -> None:
    """The same steps for rows known only by their kernel matrix.

    theta = sum_j beta_j psi(x_j), and `order` holds indices into the pool. With a budget the pool holds every support
    vector.
    """
    (items, G, values), (beta, sums, ages) = pool, expansion
    batch, lam, radius, _ = rule
    projected = radius < UNBOUNDED
    for begin in range(0, order.shape[0], batch):
        end = min(begin + batch, order.shape[0])
        scale = clock[SCALE] / (lam * clock[STEP])
        clock[SUM] += scale
        count = 0
        for k in range(begin, end):
            i = order[k]
            margin = signs[items[i]] * scale * values[i]
            if margin < ENOUGH:
                short[count] = i
                count += 1
                clock[LOSS] += weights[items[i]] * (1.0 - margin)
        clock[SHORT] += count
        for k in range(count):
            i, item = short[k], items[short[k]]
            step = weights[item] * signs[item] / (clock[SCALE] * (end - begin))
            clock[NORM] += step * (2.0 * values[i] + step * G[i, i])
            beta[item] += step
            sums[item] += step * clock[SUM]
            ages[item] = clock[STEP]
            add_scaled(G[i], step, values)
        clock[STEP] += 1.0
        if budget > 0 and count > 0:
            keep_budget(G, items, clock, beta, sums, values, ages, budget, merging)
        if projected and project(clock, lam, radius):
            add_scaled(values, clock[SCALE] - 1.0, values)
            rescale(clock, beta, sums)
    clock[ROWS] += order.shape[0]


@jit
def add_scaled(row: Array, step: float, values: FloatArray) -> None:
    """values += step row."""
    vector_loop()
    for j in range(values.shape[0]):
        values[j] += step * row[j]


@jit
def keep_budget(
    G: FloatArray,
    pool: IndexArray,
    clock: FloatArray,
    beta: FloatArray,
    sums: FloatArray,
    values: FloatArray,
    ages: FloatArray,
    budget: int,
    merging: bool,
) -> None:
    """Remove support vectors until at most `budget` are left."""
    held = 0
    for j in pool:
        held += beta[j] != 0.0
    for _ in range(held - budget):
        least = least_needed(G, pool, clock, beta, ages)
        if merging:
            least = cheapest_merge(G, pool, clock, beta, ages, least)
        item, other = pool[least], best_partner(G, pool, beta, least)
        given_up, sum_given_up = beta[item], sums[item]
        beta[item], sums[item] = 0.0, 0.0
        add_scaled(G[least], -given_up, values)
        if merging and other != least:
            share = G[least, other] / G[other, other]
            beta[pool[other]] += share * given_up
            sums[pool[other]] += share * sum_given_up
            add_scaled(G[other], share * given_up, values)
    if held > budget:
        clock[NORM] = 0.0
        for j in range(pool.shape[0]):
            clock[NORM] += beta[pool[j]] * values[j]


@jit
def least_needed(G: FloatArray, pool: IndexArray, clock: FloatArray, beta: FloatArray, ages: FloatArray) -> int:
    """The support vector of smallest |beta_j| |psi(x_j)|, not of this step; among equals the oldest."""
    least, smallest = -1, 0.0
    newest = clock[STEP] - 1.0
    for j in range(pool.shape[0]):
        coefficient = beta[pool[j]]
        if coefficient != 0.0:
            size = coefficient * coefficient * G[j, j]
            if ages[pool[j]] == newest:
                size += 1e300  # only if there is no other
            if least < 0 or size < smallest or (size == smallest and ages[pool[j]] < ages[pool[least]]):
                least, smallest = j, size
    return least


@jit
def cheapest_merge(
    G: FloatArray, pool: IndexArray, clock: FloatArray, beta: FloatArray, ages: FloatArray, least: int
) -> int:
    """`least`, or a support vector of this step that another can replace at a smaller loss."""
    best, smallest = least, merge_loss(G, pool, beta, least)
    for j in range(pool.shape[0]):
        if beta[pool[j]] != 0.0 and ages[pool[j]] == clock[STEP] - 1.0:
            loss = merge_loss(G, pool, beta, j)
            if loss < smallest:
                best, smallest = j, loss
    return best


@jit
def merge_loss(G: FloatArray, pool: IndexArray, beta: FloatArray, j: int) -> float:
    """The residual of |beta_j psi(x_j)|^2 after projection on its best partner."""
    other, coefficient = best_partner(G, pool, beta, j), beta[pool[j]]
    left = G[j, j] if other == j else G[j, j] - G[j, other] * G[j, other] / G[other, other]
    return coefficient * coefficient * left


@jit
def best_partner(G: FloatArray, pool: IndexArray, beta: FloatArray, gone: int) -> int:
    """The support vector whose multiple is nearest to psi(x_gone); itself if there is no other."""
    best, closeness = gone, -1.0
    for j in range(pool.shape[0]):
        if j != gone and beta[pool[j]] != 0.0 and G[j, j] > 0.0:
            close = G[gone, j] * G[gone, j] / G[j, j]
            if close > closeness:
                best, closeness = j, close
    return best
