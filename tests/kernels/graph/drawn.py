"""Small graphs of every sort, drawn by hypothesis."""

from hypothesis import strategies as st

from mercer import Graph


@st.composite
def graphs(draw, most=6, least=0, directed=None):
    """Graphs with node labels, edge labels, weights and attributes, self loops and parallel edges."""
    n = draw(st.integers(least, most))
    place = st.integers(0, max(0, n - 1))
    edges = draw(st.lists(st.tuples(place, place), max_size=10 if n else 0))
    labels = [draw(st.sampled_from("ab")) for _ in range(n)]
    edge_labels = [draw(st.sampled_from([1, 2])) for _ in edges]
    # One weight for each pair and label, as an edge that is given twice must have.
    weights = [1.0 + (min(u, v) + 2 * max(u, v) + label) % 3 for (u, v), label in zip(edges, edge_labels, strict=True)]
    attributes = [[draw(st.sampled_from([0.0, 0.5, 2.0]))] for _ in range(n)]
    is_directed = draw(st.booleans()) if directed is None else directed
    return Graph(
        edges,
        n,
        node_labels=labels,
        edge_labels=edge_labels,
        weights=weights,
        node_attributes=attributes if n else None,
        directed=is_directed,
    )


def arcs_of(graph):
    """(from, to, edge label, weight) of every arc, as plain Python."""
    for tail, head, edge in zip(*(part.tolist() for part in graph.arcs()), strict=True):
        label = None if graph.edge_labels is None else graph.edge_labels[edge]
        yield tail, head, label, 1.0 if graph.weights is None else float(graph.weights[edge])


def products(left, right):
    """The inner product of two dictionaries of counts."""
    return float(sum(count * right.get(feature, 0) for feature, count in left.items()))
