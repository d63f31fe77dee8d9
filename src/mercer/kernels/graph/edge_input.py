"""The edges of a `Graph` as given by the caller, checked and converted to arrays."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer._types import ArrayLike, FloatArray, IndexArray


def ends_of_edges(edges: Any, nodes: Sequence[Any], place_of: Mapping[Any, int]) -> IndexArray:
    """The positions (from, to) of each edge, as an array of shape (m, 2)."""
    if isinstance(edges, np.ndarray):
        if edges.size and (edges.ndim != 2 or edges.shape[1] != 2):
            raise DataError(f"edges must be pairs of nodes, got an array of shape {edges.shape}")
        if edges.dtype.kind in "iu" and isinstance(nodes, range):
            return _numbered(edges.reshape(-1, 2), len(nodes))
        edges = edges.tolist()
    ends = np.empty((len(edges), 2), np.int64)
    for number, edge in enumerate(edges):
        ends[number] = _ends(number, edge, place_of)
    return ends


def _numbered(edges: IndexArray, n: int) -> IndexArray:
    outside = np.flatnonzero(((edges < 0) | (edges >= n)).any(axis=1))
    if len(outside):
        pair = tuple(edges[outside[0]].tolist())
        raise DataError(f"edge {outside[0]} is {pair}, but the nodes are 0 to {n - 1}; pass nodes= to name others")
    return edges.astype(np.int64)


def _ends(number: int, edge: Any, place_of: Mapping[Any, int]) -> list[int]:
    if isinstance(edge, (str, bytes)) or not hasattr(edge, "__len__") or len(edge) != 2:
        raise DataError(f"edge {number} must be a pair of nodes, got {edge!r}; weights= and edge_labels= take the rest")
    try:
        return [place_of[node] for node in edge]
    except (KeyError, TypeError):
        raise DataError(f"edge {number} is {edge!r}, but not both of these are nodes; name them in nodes=") from None


def values_of_edges(name: str, values: Any, edges: Any, directed: bool) -> tuple[Any, ...] | None:
    """One value for each edge, from a sequence or from a mapping by pair."""
    if values is None:
        return None
    if not isinstance(values, Mapping):
        values = tuple(values.tolist() if isinstance(values, np.ndarray) else values)
        if len(values) != len(edges):
            raise DataError(f"{name} must have a value for each edge, got {len(values)} for {len(edges)} edges")
        return values
    pairs = [tuple(edge) for edge in (edges.tolist() if isinstance(edges, np.ndarray) else edges)]
    return tuple(_value_at(name, values, pair, directed) for pair in pairs)


def _value_at(name: str, values: Mapping[Any, Any], pair: tuple[Any, ...], directed: bool) -> Any:
    if pair in values:
        return values[pair]
    if not directed and pair[::-1] in values:
        return values[pair[::-1]]
    raise DataError(f"{name} must have a value for each edge, but has none for {pair!r}")


def weights_of_edges(weights: ArrayLike | None, edges: Any) -> FloatArray | None:
    """Positive and finite numbers; None if all are one."""
    if weights is None:
        return None
    try:
        numbers = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"weights must be numbers, one for each edge: {error}") from None
    if numbers.shape != (len(edges),):
        raise DataError(f"weights must have a number for each of {len(edges)} edges, got shape {numbers.shape}")
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))
    if len(bad):
        edge = tuple(edges[bad[0]])
        raise DataError(f"weights must be positive and finite, got {numbers[bad[0]]} for the edge {edge}; drop it")
    return None if (numbers == 1.0).all() else numbers


def numbers_of(kind: str, values: ArrayLike | None, n: int) -> FloatArray | None:
    """A row of finite numbers for each of n nodes or edges."""
    if values is None:
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{kind}_attributes must be numbers: {error}") from None
    numbers = numbers.reshape(n, -1) if numbers.ndim == 1 and len(numbers) == n else numbers
    if numbers.ndim != 2 or len(numbers) != n:
        raise DataError(f"{kind}_attributes must have a row for each of {n} {kind}s, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise DataError(f"{kind}_attributes must be finite, but contain NaN or infinity; impute them")
    return numbers


def merge_repeated(
    ends: IndexArray,
    labels: Sequence[Any] | None,
    weights: FloatArray | None,
    attributes: FloatArray | None,
    directed: bool,
    nodes: Sequence[Any],
) -> tuple[Any, ...]:
    """Each edge once; edges between the same nodes are kept apart if their labels differ."""
    ends = ends if directed else np.sort(ends, axis=1)
    group = np.unique(ends[:, 0] * max(1, len(nodes)) + ends[:, 1], return_inverse=True)[1]
    if labels is not None:
        codes = {label: code for code, label in enumerate(dict.fromkeys(_require_hashable(labels)))}
        group = group * max(1, len(codes)) + np.fromiter((codes[label] for label in labels), np.int64, len(labels))
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    if weights is not None:
        _require_one("weights", weights, first[group], ends, nodes)
    if attributes is not None:
        _require_one("rows of edge_attributes", attributes, first[group], ends, nodes)
    kept = np.sort(first)
    labels = None if labels is None else tuple(labels[number] for number in kept)
    ends = np.ascontiguousarray(ends[kept], np.int32)
    return ends, labels, *(None if values is None else values[kept] for values in (weights, attributes))


def _require_hashable(labels: Sequence[Any]) -> Sequence[Any]:
    for label in labels:
        try:
            hash(label)
        except TypeError:
            raise DataError(
                f"an edge label must be a string, a number, None or a tuple of these, got {label!r}"
            ) from None
    return labels


def _require_one(what: str, values: FloatArray, first: IndexArray, ends: IndexArray, nodes: Sequence[Any]) -> None:
    differ = (values != values[first]).reshape(len(values), -1).any(axis=1) if values.size else []
    for number in np.flatnonzero(differ)[:1]:
        pair = tuple(nodes[end] for end in ends[number])
        both = f"{values[first[number]]} and {values[number]}"
        raise DataError(f"the edge {pair} is given with two {what}, {both}; add them up, or give one")
