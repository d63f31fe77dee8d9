"""The direct product of two graphs: pairs of matching nodes, and walks in both at once.

A node of the product is a pair of nodes with equal labels; an arc leads from one to another if
arcs (with equal labels) do in both graphs. Its weight is the product of theirs, times the kernel of their
edges' attributes if those count.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, FloatArray, IndexArray

# Residual of the linear system, relative to its right-hand side. The error of the sum over the solution is
# its square.
TOLERANCE = 1e-9


@jit
def product_graph(
    graph: int,
    other: int,
    n: int,
    m: int,
    first: tuple[Array, ...],
    second: tuple[Array, ...],
    likeness: Array,
    begins: tuple[int, int],
) -> tuple[IndexArray, IndexArray, FloatArray]:
    """The arcs of the product of graph number `graph` of `first` and number `other` of `second`.

    `first` and `second` are (offsets, node keys, indptr, heads, arc keys, arc weights, edges of the arcs); empty
    keys are all equal. `likeness` has the kernel of the attributes of edges, edge e of `graph`
    in row e - begins[0] and edge e of `other` in column e - begins[1]; if it is empty, they do
    not count. Returns (indptr, heads, weights) over the pairs of like nodes.
    """
    offsets, keys, indptr, heads, arc_keys, weights, edges = first
    other_offsets, other_keys, other_indptr, other_heads, other_arc_keys, other_weights, other_edges = second
    begin, other_begin = offsets[graph], other_offsets[other]
    place, size, most = np.full((n, m), -1, np.int64), 0, 0
    for u in range(n):
        degree = indptr[begin + u + 1] - indptr[begin + u]
        for v in range(m):
            if keys.shape[0] == 0 or keys[begin + u] == other_keys[other_begin + v]:
                place[u, v] = size
                size += 1
                most += degree * (other_indptr[other_begin + v + 1] - other_indptr[other_begin + v])
    new_indptr, new_heads, new_weights = np.zeros(size + 1, np.int64), np.empty(most, np.int64), np.empty(most)
    count, pair = 0, 0
    for u in range(n):
        for v in range(m):
            if place[u, v] < 0:
                continue
            for a in range(indptr[begin + u], indptr[begin + u + 1]):
                for b in range(other_indptr[other_begin + v], other_indptr[other_begin + v + 1]):
                    head = place[heads[a] - begin, other_heads[b] - other_begin]
                    if head >= 0 and (arc_keys.shape[0] == 0 or arc_keys[a] == other_arc_keys[b]):
                        new_heads[count] = head
                        new_weights[count] = weights[a] * other_weights[b]
                        if likeness.shape[0] > 0:
                            new_weights[count] *= likeness[edges[a] - begins[0], other_edges[b] - begins[1]]
                        count += 1
            pair += 1
            new_indptr[pair] = count
    return new_indptr, new_heads[:count], new_weights[:count]


@jit
def _apply(indptr: IndexArray, heads: IndexArray, weights: Array, x: Array, out: Array) -> None:
    """out = A x for the adjacency matrix of a product."""
    for node in range(out.shape[0]):
        total = 0.0
        for arc in range(indptr[node], indptr[node + 1]):
            total += weights[arc] * x[heads[arc]]
        out[node] = total


@jit
def _dot(x: Array, y: Array) -> float:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


@jit
def geometric_sum(indptr: IndexArray, heads: IndexArray, weights: Array, decay: float) -> float:
    """1' (I - decay A)^-1 1 for a symmetric A, by conjugate gradients.

    Those of `solvers` are for few large systems. Here is one of some dozen unknowns for each pair of graphs, solved in
    microseconds within a compiled tile, where a call of Python would cost more than all of its work.
    """
    n = indptr.shape[0] - 1
    x, r, p, q = np.zeros(n), np.ones(n), np.ones(n), np.empty(n)
    norm = float(n)
    for _ in range(10 * n):
        if norm <= TOLERANCE * TOLERANCE * n:
            break
        _apply(indptr, heads, weights, p, q)
        for i in range(n):
            q[i] = p[i] - decay * q[i]
        step = norm / _dot(p, q)
        for i in range(n):
            x[i] += step * p[i]
            r[i] -= step * q[i]
        before, norm = norm, _dot(r, r)
        for i in range(n):
            p[i] = r[i] + norm / before * p[i]
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


@jit
def geometric_series(indptr: IndexArray, heads: IndexArray, weights: Array, decay: float, slack: float) -> float:
    """The same for any A, term by term; the terms fall by 1 - slack or more in the end."""
    n = indptr.shape[0] - 1
    x, following = np.ones(n), np.empty(n)
    total, term = float(n), float(n)
    while term > 1e-16 * slack * total:
        _apply(indptr, heads, weights, x, following)
        term = 0.0
        for i in range(n):
            x[i] = decay * following[i]
            term += x[i]
        total += term
    return total


@jit
def largest_eigenvalue(indptr: IndexArray, heads: IndexArray, weights: Array) -> float:
    """Of a symmetric A without negative entries: |A^(k+1) 1| / |A^k 1|, which grows with k."""
    n = indptr.shape[0] - 1
    x, following = np.ones(n), np.empty(n)
    norm, found = np.sqrt(float(n)), 0.0
    for _ in range(500):
        _apply(indptr, heads, weights, x, following)
        size = np.sqrt(_dot(following, following))
        if size == 0.0:
            return 0.0
        before, found = found, size / norm
        for i in range(n):
            x[i] = following[i] / size
        norm = 1.0
        if found - before <= 1e-9 * found:
            break
    return found
