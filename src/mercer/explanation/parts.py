r"""Which characters, words or nodes of one item a decision value comes from.

For substrings and subsequences, every occurrence has known positions, and its contribution is divided equally among
them: the parts add up to :math:`f(x) - b` exactly. For every other kernel of texts, trees or graphs, a part
is judged by hiding it: its label becomes one that occurs nowhere, and the part's value is

.. math:: f(x) - f(x_{\setminus i}),

everything that is lost with it. What several parts have in common is counted for each of them, so these values do not
add up to anything; they say what the model would miss. If a kernel of graphs ignores labels, a node is cut
off from its neighbours instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import BoolArray, FloatArray
from mercer.estimators.fitting.inputs import expansion_input, require_fitted
from mercer.explanation.positions import symbols_of_text
from mercer.kernels.graph.graph import Graph
from mercer.kernels.string.spectrum import Spectrum
from mercer.kernels.string.tokens import joined
from mercer.kernels.tree.tree import Tree

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.explanation.explanation import Contributions, Explanation
    from mercer.explanation.positions import TextKernel
    from mercer.kernels.base.kernel import Kernel

# A code point that no text contains, by definition of Unicode.
NOWHERE = "\uffff"
# Hiding a part takes one more evaluation of the model.
MOST_PARTS = 2000


@dataclass(frozen=True, eq=False)
class Parts:
    """Values of the parts of one item.

    Attributes
    ----------
    kind : {"text", "tree", "graph"}
    item : list of str, Tree or Graph
        As it was read; a text is its symbols.
    names : list of str
        The symbols, or the labels of the nodes.
    values : ndarray of shape (n_functions, n_parts)
    is_division : bool
        Whether they add up to the decision value minus its intercept; otherwise, each is the loss when it is hidden.
    """

    kind: str
    item: Any
    names: list
    values: np.ndarray
    is_division: bool


def by_parts(model: "BaseEstimator", x: Any, explanation: "Explanation") -> Parts | None:
    """Values of the parts of a text, tree or graph; None for a model of anything else.

    Parameters
    ----------
    model : fitted kernel machine
    x : text, tree or graph
    explanation : Explanation
        The result of `mercer.explain` for the item.

    Returns
    -------
    Parts or None

    Examples
    --------
    >>> import mercer
    >>> from mercer.explanation.parts import by_parts
    >>> from mercer.kernels import Spectrum
    >>> model = mercer.SVC(kernel=Spectrum(length=2)).fit(["abab", "abba", "cdcd", "cddc"], [0, 0, 1, 1])
    >>> parts = by_parts(model, "abcd", mercer.explain(model, "abcd"))
    >>> [f"{name} {value:.2f}" for name, value in zip(parts.names, parts.values[0])]
    ['a -0.17', 'b -0.17', 'c 0.17', 'd 0.17']
    """
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "expansion_"):
        return None
    require_fitted(model)
    kernel = _without_wrappers(model.expansion_.kernel)
    kind = getattr(kernel, "item_name", None)
    if kind == "text":
        return _parts_of_text(model, cast("TextKernel", kernel), x, explanation)
    if kind == "tree":
        return _parts_of_tree(model, x if isinstance(x, Tree) else Tree.parse(x))
    if kind == "graph":
        return _parts_of_graph(model, Graph.of(x))
    return None


def _without_wrappers(kernel: "Kernel") -> "Kernel":
    """The kernel that reads the items, inside its scaling and normalisation."""
    while getattr(kernel, "item_name", None) is None and len(kernel.nested_kernels()) == 1:
        (kernel,) = kernel.nested_kernels().values()
    return kernel


def _parts_of_text(model: "BaseEstimator", kernel: "TextKernel", text: Any, explanation: "Explanation") -> Parts:
    symbols = symbols_of_text(kernel, text)
    names = [str(symbol) for symbol in symbols]
    if explanation.by_position is not None and len(explanation.by_position.names) == len(symbols):
        return Parts("text", names, names, explanation.by_position.values, True)
    if isinstance(kernel, Spectrum) and explanation.by_feature is not None:
        return Parts("text", names, names, _spread(names, explanation.by_feature), True)
    hidden = [cast(Any, [*symbols[:k], NOWHERE, *symbols[k + 1 :]]) for k in range(len(symbols))]
    whole = cast(Any, symbols)
    if isinstance(text, str) and kernel.tokenizer == "characters":
        whole, hidden = text, ["".join(each) for each in hidden]
    return Parts("text", names, names, _missed(model, whole, hidden), False)


def _spread(symbols: list[Any], features: "Contributions") -> FloatArray:
    """Contributions of substrings, divided equally among the symbols of their occurrences."""
    columns = {name: k for k, name in enumerate(features.names)}
    places = {}
    longest = max((len(name) for name in features.names), default=0)
    for begin in range(len(symbols)):
        for end in range(begin + 1, min(len(symbols), begin + longest) + 1):
            name = joined(symbols[begin:end])
            if name in columns:
                places.setdefault(name, []).append((begin, end))
    values = np.zeros((len(features.values), len(symbols)))
    for name, found in places.items():
        share = features.values[:, columns[name]] / len(found)
        for begin, end in found:
            values[:, begin:end] += share[:, None] / (end - begin)
    return values


def _parts_of_tree(model: "BaseEstimator", tree: Any) -> Parts:
    labels = list(tree.labels)
    hidden = [Tree.from_preorder([*labels[:k], NOWHERE, *labels[k + 1 :]], tree.counts) for k in range(len(labels))]
    return Parts("tree", tree, labels, _missed(model, tree, hidden), False)


def _parts_of_graph(model: "BaseEstimator", graph: Graph) -> Parts:
    names = [str(name) for name in (graph.node_labels or graph.nodes)]
    values = cast(FloatArray, np.zeros((1, graph.n_nodes)))
    if graph.node_labels is not None:
        values = _missed(model, graph, [_hiding(graph, k) for k in range(graph.n_nodes)])
    if not values.any():
        # There are no labels, or the kernel ignores them.
        values = _missed(model, graph, [_cutting_off(graph, k) for k in range(graph.n_nodes)])
    return Parts("graph", graph, names, values, False)


def _hiding(graph: Graph, node: int) -> Graph:
    """The graph with a label that occurs nowhere else at one node."""
    return graph.labeled([*cast(Any, graph.node_labels)[:node], NOWHERE, *cast(Any, graph.node_labels)[node + 1 :]])


def _cutting_off(graph: Graph, node: int) -> Graph:
    """The graph without the edges of one node."""
    kept = (graph.ends != node).all(axis=1)
    return Graph.of_parts(
        graph.n_nodes,
        graph.ends[kept],
        node_labels=graph.node_labels,
        edge_labels=None if graph.edge_labels is None else _kept(graph.edge_labels, kept),
        weights=None if graph.weights is None else graph.weights[kept],
        node_attributes=graph.node_attributes,
        edge_attributes=None if graph.edge_attributes is None else graph.edge_attributes[kept],
        directed=graph.directed,
    )


def _kept(labels: Sequence[Any], mask: BoolArray) -> tuple[Any, ...]:
    return tuple(label for label, keep in zip(labels, mask, strict=True) if keep)


def _missed(model: "BaseEstimator", item: Any, hidden: list[Any]) -> FloatArray:
    """f(x) minus f of every item with a hidden part, shape (n_functions, n_parts)."""
    if len(hidden) > MOST_PARTS:
        raise ParameterError(
            f"an item of {len(hidden)} parts is too long to hide them one by one; at most {MOST_PARTS}"
        )
    values = model.expansion_.values(expansion_input(model, [item, *hidden]))
    return (values[0] - values[1:]).T
