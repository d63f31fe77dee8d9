"""Sums over pairs of matching nodes of two trees, without recursion.

Both kernels of fragments have the form k(x, y) = sum over nodes a of x and b of y of D(a, b),
where D(a, b) is zero unless a and b match (have the same production, or the same label) and
otherwise follows from D of their children. Moschitti (2006) sorts the nodes of each tree, so
that only matching pairs are visited. Here the nodes of x are visited in postorder; the
values D(a, .) of the children of a node are on top of a stack and are replaced by those of
the node itself, so that memory is that of a path, not of all pairs.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, IndexArray


@jit
def _groups(
    codes: IndexArray,
    order: IndexArray,
    translation: IndexArray,
    others: IndexArray,
    others_order: IndexArray,
    begin: IndexArray,
    count: IndexArray,
) -> None:
    """For each node of one tree, where the like nodes of the other stand in its order.

    Codes ascend along `order`, and so do their translations.
    """
    other = 0
    for k in range(order.shape[0]):
        node = order[k]
        begin[node], count[node] = 0, 0
        if codes[node] < 0 or translation[codes[node]] < 0:
            continue
        code = translation[codes[node]]
        while other < others_order.shape[0] and others[others_order[other]] < code:
            other += 1
        end = other
        while end < others_order.shape[0] and others[others_order[end]] == code:
            end += 1
        begin[node], count[node] = other, end - other


@jit
def _subset(
    a: int,
    b: int,
    x: tuple[IndexArray, ...],
    y: tuple[IndexArray, ...],
    begin: IndexArray,
    count: IndexArray,
    row: IndexArray,
    values: Array,
    decay: float,
) -> float:
    """decay times the product over children of 1 + D, for nodes with equal productions."""
    x_children, x_size, _ = x
    _, y_size, y_rank = y
    value = decay
    p, q = a - 1, b - 1
    for _ in range(x_children[a]):
        k = y_rank[q] - begin[p]
        if x_children[p] > 0 and 0 <= k < count[p]:
            value *= 1.0 + values[row[p] + k]
        p -= x_size[p]
        q -= y_size[q]
    return value


@jit
def _partial(
    a: int,
    b: int,
    x: tuple[IndexArray, ...],
    y: tuple[IndexArray, ...],
    begin: IndexArray,
    count: IndexArray,
    row: IndexArray,
    values: Array,
    decay: float,
    height_decay: float,
    sums: Array,
) -> float:
    """height_decay times (decay^2 + the sum over pairs of sequences of children).

    A sequence that ends at children p and q is worth D(p, q) times decay^2 times one plus what
    those that end earlier in both are worth, decayed by the way from there.
    """
    x_children, x_size, _ = x
    y_children, y_size, y_rank = y
    n, m, square = x_children[a], y_children[b], decay * decay
    total = 0.0
    for j in range(m + 1):
        sums[j] = 0.0
    p = a - 1
    for _ in range(n):
        q, row_sum, diagonal = b - 1, 0.0, 0.0
        for j in range(1, m + 1):
            k = y_rank[q] - begin[p]
            above, ending = sums[j], 0.0
            if 0 <= k < count[p]:
                ending = values[row[p] + k] * square * (1.0 + diagonal)
                total += ending
            row_sum = decay * row_sum + ending
            sums[j] = decay * above + row_sum
            diagonal = above
            q -= y_size[q]
        p -= x_size[p]
    return height_decay * (square + total)


@jit
def _grown(values: Array, needed: int) -> Array:
    """The stack with room for `needed` numbers."""
    if needed <= values.shape[0]:
        return values
    larger = np.empty(max(needed, 2 * values.shape[0]), np.float64)
    larger[: values.shape[0]] = values
    return larger


@jit
def _sum_over_pairs(
    x_codes: IndexArray,
    x_order: IndexArray,
    translation: IndexArray,
    y_codes: IndexArray,
    y_order: IndexArray,
    x: tuple[IndexArray, ...],
    y: tuple[IndexArray, ...],
    decays: tuple[float, float, bool],
    work: tuple[Array, ...],
    values: Array,
) -> tuple[float, Array]:
    """(sum over pairs of nodes, the stack, which may have grown)."""
    begin, count, row, sums = work
    decay, height_decay, is_partial = decays
    _groups(x_codes, x_order, translation, y_codes, y_order, begin, count)
    total, top = 0.0, 0
    for a in range(x_codes.shape[0]):
        children = x[0][a]
        bottom, child = top, a - 1
        for _ in range(children):
            bottom = row[child]
            child -= x[1][child]
        values = _grown(values, top + count[a])
        for k in range(count[a]):
            b = y_order[begin[a] + k]
            if is_partial:
                value = _partial(a, b, x, y, begin, count, row, values, decay, height_decay, sums)
            else:
                value = _subset(a, b, x, y, begin, count, row, values, decay)
            values[top + k] = value
            total += value
        for k in range(count[a]):
            values[bottom + k] = values[top + k]
        row[a], top = bottom, bottom + count[a]
    return total, values


@jit
def tree_tile(
    left: tuple[Array, ...],
    translation: IndexArray,
    right: tuple[Array, ...],
    decays: tuple[float, float, bool],
    is_symmetric: bool,
    out: Array,
    row: int,
    column: int,
) -> None:
    """out[row + i, column + j] = the sum over pairs of nodes of trees i and j.

    `left` and `right` are (codes, order, n_children, size, rank, offsets, index), `translation`
    is the right-hand code of each left-hand one, or -1; nodes of code -1 are like no other.
    `is_symmetric` says that both sides are the same trees.
    """
    x_codes, x_order, x_children, x_size, x_rank, x_offsets, x_index = left
    y_codes, y_order, y_children, y_size, y_rank, y_offsets, y_index = right
    most, widest = 1, 1
    for i in range(x_index.shape[0]):
        most = max(most, x_offsets[x_index[i] + 1] - x_offsets[x_index[i]])
    for j in range(y_index.shape[0]):
        widest = max(widest, y_offsets[y_index[j] + 1] - y_offsets[y_index[j]])
    work = (np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), np.empty(widest + 1))
    values = np.empty(1024)
    for i in range(x_index.shape[0]):
        first, last = x_offsets[x_index[i]], x_offsets[x_index[i] + 1]
        x = (x_children[first:last], x_size[first:last], x_rank[first:last])
        for j in range(i if is_symmetric else 0, y_index.shape[0]):
            begin, end = y_offsets[y_index[j]], y_offsets[y_index[j] + 1]
            y = (y_children[begin:end], y_size[begin:end], y_rank[begin:end])
            total, values = _sum_over_pairs(
                x_codes[first:last], x_order[first:last], translation, y_codes[begin:end], y_order[begin:end],
                x, y, decays, work, values,
            )  # fmt: skip
            out[row + i, column + j] = total
            if is_symmetric:
                out[row + j, column + i] = total
