"""Small induced subgraphs, listed or drawn at random, in compiled code.

The positions of the nodes of a subgraph are 0, 1, ...; its code has the bit p(p - 1)/2 + q for an
edge between positions p > q. `mask[u]` has the bit p if u is a neighbour of the node at position p,
so the code of a subgraph with one more node can be read off.
"""

from itertools import combinations, permutations

import numpy as np

from mercer._jit.compile import jit
from mercer._types import Array, IndexArray
from mercer.kernels.items.feature_keys import mixed


def canonical_codes(size: int) -> IndexArray:
    """The smallest code among all orders of the nodes, for each code."""
    pairs = list(combinations(range(size), 2))
    bit = {frozenset(pair): max(pair) * (max(pair) - 1) // 2 + min(pair) for pair in pairs}
    codes = np.arange(1 << len(pairs))
    smallest = codes.copy()
    for order in permutations(range(size)):
        moved = np.zeros_like(codes)
        for p, q in pairs:
            moved |= (codes >> bit[frozenset((p, q))] & 1) << bit[frozenset((order[p], order[q]))]
        np.minimum(smallest, moved, out=smallest)
    return smallest


@jit
def _mark(node: int, position: int, begin: int, indptr: IndexArray, heads: IndexArray, mask: IndexArray) -> None:
    """Note in `mask` that the neighbours of `node` have one at this position, or no longer do."""
    for arc in range(indptr[begin + node], indptr[begin + node + 1]):
        mask[heads[arc] - begin] ^= 1 << position


@jit
def _shift(position: int) -> int:
    return position * (position - 1) // 2


@jit
def list_connected(begin: int, n: int, size: int, indptr: IndexArray, heads: IndexArray, counts: Array) -> None:
    """Count the connected subgraphs of `size` nodes, each once (ESU: Wernicke 2006).

    A subgraph grows by nodes that are larger than its first and are neighbours of the latest node
    only, so that there is one way to reach it.
    """
    mask, inside = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    waiting, left = np.empty((size, n), np.int64), np.zeros(size, np.int64)
    chosen, code = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for root in range(n):
        depth = 0
        chosen[0], left[0], inside[root] = root, 0, True
        for arc in range(indptr[begin + root], indptr[begin + root + 1]):
            if heads[arc] - begin > root:
                waiting[0, left[0]] = heads[arc] - begin
                left[0] += 1
        _mark(root, 0, begin, indptr, heads, mask)
        while depth >= 0:
            if depth == size - 2:
                for place in range(left[depth]):
                    counts[code[depth] | mask[waiting[depth, place]] << _shift(depth + 1)] += 1.0
                left[depth] = 0
            if left[depth] == 0:
                _mark(chosen[depth], depth, begin, indptr, heads, mask)
                inside[chosen[depth]] = False
                depth -= 1
                continue
            left[depth] -= 1
            node, count = waiting[depth, left[depth]], left[depth]
            waiting[depth + 1, :count] = waiting[depth, :count]
            for arc in range(indptr[begin + node], indptr[begin + node + 1]):
                other = heads[arc] - begin
                if other > root and mask[other] == 0 and not inside[other]:
                    waiting[depth + 1, count] = other
                    count += 1
            code[depth + 1] = code[depth] | mask[node] << _shift(depth + 1)
            depth += 1
            chosen[depth], left[depth], inside[node] = node, count, True
            _mark(node, depth, begin, indptr, heads, mask)


@jit
def list_all(begin: int, n: int, size: int, indptr: IndexArray, heads: IndexArray, counts: Array) -> None:
    """Count all subgraphs of `size` nodes, connected or not."""
    mask = np.zeros(n, np.int64)
    chosen, code = np.zeros(size, np.int64), np.zeros(size, np.int64)
    depth, node = 0, 0
    while depth >= 0:
        if n - node < size - depth:
            depth -= 1
            if depth >= 0:
                _mark(chosen[depth], depth, begin, indptr, heads, mask)
                node = chosen[depth] + 1
        elif depth == size - 1:
            for last in range(node, n):
                counts[code[depth] | mask[last] << _shift(depth)] += 1.0
            node = n
        else:
            code[depth + 1] = code[depth] | mask[node] << _shift(depth)
            chosen[depth] = node
            _mark(node, depth, begin, indptr, heads, mask)
            depth, node = depth + 1, node + 1


@jit
def _seed(begin: int, n: int, indptr: IndexArray, heads: IndexArray, seed: np.uint64) -> np.uint64:
    """A number that depends on the graph and on `seed`, so that a graph is drawn from alike wherever
    it stands."""
    key = mixed(np.uint64(seed), np.uint64(n))
    for arc in range(indptr[begin], indptr[begin + n]):
        key = mixed(key, np.uint64(heads[arc] - begin))
    return key


@jit
def _below(key: np.uint64, n: int) -> np.int64:
    """A number from 0 to n - 1 from a random key."""
    return np.int64((key >> np.uint64(11)) % np.uint64(n))


@jit
def draw_all(
    begin: int, n: int, size: int, indptr: IndexArray, heads: IndexArray, samples: int, seed: np.uint64, counts: Array
) -> None:
    """Estimate the counts of all subgraphs from subsets drawn at random, all alike likely."""
    if n < size:
        return
    weight = 1.0 / samples
    for position in range(size):
        weight *= (n - position) / (position + 1.0)
    mask, chosen = np.zeros(n, np.int64), np.zeros(size, np.int64)
    key = _seed(begin, n, indptr, heads, seed)
    for _ in range(samples):
        code = 0
        for position in range(size):
            # Floyd's method of drawing without repetition.
            key = mixed(key, np.uint64(position))
            last = n - size + position
            node = _below(key, last + 1)
            for earlier in range(position):
                if chosen[earlier] == node:
                    node = last
                    break
            chosen[position] = node
        for position in range(size):
            code |= mask[chosen[position]] << _shift(position)
            _mark(chosen[position], position, begin, indptr, heads, mask)
        counts[code] += weight
        for position in range(size):
            _mark(chosen[position], position, begin, indptr, heads, mask)


@jit
def _chance(mask: IndexArray, chosen: IndexArray, size: int, n: int, outside: IndexArray) -> float:
    """The chance that the nodes `chosen` are drawn, in any order.

    `outside[m]` is how many nodes not chosen have mask m. A set grows by one of its f neighbours, each
    with chance 1 / f.
    """
    chance = np.zeros(1 << size)
    for subset in range(1, 1 << size):
        if subset & (subset - 1) == 0:
            chance[subset] = 1.0 / n
        if chance[subset] == 0.0:
            continue
        neighbours = 0
        for m in range(1, 1 << size):
            if m & subset:
                neighbours += outside[m]
        for position in range(size):
            neighbours += not subset >> position & 1 and mask[chosen[position]] & subset != 0
        for position in range(size):
            if not subset >> position & 1 and mask[chosen[position]] & subset:
                chance[subset | 1 << position] += chance[subset] / neighbours
    return chance[(1 << size) - 1]


@jit
def draw_connected(
    begin: int, n: int, size: int, indptr: IndexArray, heads: IndexArray, samples: int, seed: np.uint64, counts: Array
) -> None:
    """Estimate the counts of connected subgraphs from some that grow at random, neighbour by
    neighbour, each weighed by one over its chance (Horvitz & Thompson 1952)."""
    mask, inside, is_next = np.zeros(n, np.int64), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    chosen, waiting, outside = np.zeros(size, np.int64), np.empty(n, np.int64), np.zeros(1 << size, np.int64)
    key = _seed(begin, n, indptr, heads, seed)
    for _ in range(samples):
        code, count, position = 0, 0, 0
        key = mixed(key, np.uint64(size))
        node = _below(key, n)
        while True:
            chosen[position], inside[node] = node, True
            code |= mask[node] << _shift(position)
            _mark(node, position, begin, indptr, heads, mask)
            for arc in range(indptr[begin + node], indptr[begin + node + 1]):
                other = heads[arc] - begin
                if not inside[other] and not is_next[other]:
                    waiting[count], is_next[other] = other, True
                    count += 1
            position += 1
            if position == size or count == 0:
                break
            key = mixed(key, np.uint64(position))
            place = _below(key, count)
            node = waiting[place]
            count -= 1
            waiting[place], is_next[node] = waiting[count], False
        if position == size:
            outside[:] = 0
            for place in range(count):
                outside[mask[waiting[place]]] += 1
            counts[code] += 1.0 / (samples * _chance(mask, chosen, size, n, outside))
        for place in range(count):
            is_next[waiting[place]] = False
        for earlier in range(position):
            inside[chosen[earlier]] = False
            _mark(chosen[earlier], earlier, begin, indptr, heads, mask)
