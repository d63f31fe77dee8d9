"""A kernel of the data at the nodes of a graph: their texts, or their numbers."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import Features, Prepared
from mercer.kernels.algebra.scaled_power import Wrapped
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.structured import items_of
from mercer.kernels.graph.graph import Graph
from mercer.kernels.node.spectral import given_graph


@dataclass(frozen=True, eq=False)
class AtNodes(Wrapped):
    """k(u, v) = kernel(values[u], values[v]): compares the data at two nodes of a graph.

    The items are nodes by name, as for the kernels of links, so the two can be added:
    ``Diffusion(graph) + AtNodes(graph, texts, Spectrum(3))``.

    Parameters
    ----------
    graph : Graph
        Or an object that can be converted; see `mercer.Graph.of`.
    values : array, sparse matrix, sequence or mapping
        The data at each node: a row of numbers, a text, anything that `kernel` takes; in the order of the
        graph's nodes, or by name.
    kernel : Kernel
        Compares two of the values.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import AtNodes, Diffusion, Linear
    >>> web = Graph([("a", "b"), ("b", "c")])
    >>> words = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 1.0]}
    >>> AtNodes(web, words, Linear())(["a", "b"])
    array([[1., 1.],
           [1., 2.]])
    >>> (Diffusion(web) + AtNodes(web, words, Linear()))(["a"], ["b"]).round(3)
    array([[1.317]])
    """

    graph: Graph
    values: object = field(repr=False)
    kernel: Kernel

    is_translation_invariant = False
    is_dot_product_form = False
    takes_items = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "graph", given_graph(self.graph))
        if isinstance(self.values, (str, bytes)) or not (
            hasattr(self.values, "__len__") or sparse.issparse(self.values)
        ):
            raise ParameterError(f"values must be a sequence, an array or a mapping, got {type(self.values).__name__}")
        count = self.values.shape[0] if hasattr(self.values, "shape") else len(cast(Sized, self.values))
        if not isinstance(self.values, Mapping) and count != self.graph.n_nodes:
            raise ParameterError(f"values must be as many as the graph has nodes, {self.graph.n_nodes}, got {count}")

    def _at(self, X: Rows) -> Any:
        """The data at the nodes X."""
        names = items_of(X, "node")
        places = self.graph.places(names)
        if isinstance(self.values, Mapping):
            missing = [name for name in names if name not in self.values]
            if missing:
                raise DataError(f"values must have an entry for each node, but has none for {missing[0]!r}")
            return [self.values[name] for name in names]
        if sparse.issparse(self.values):
            return sparse.csr_array(self.values)[places]
        if isinstance(self.values, np.ndarray):
            return self.values[places]
        return [cast("Sequence[Any]", self.values)[place] for place in places]

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        return self.kernel.prepare(self._at(X), dtype, check=check)

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        """The kernel, with its own `kernel` bound to the values at the nodes X."""
        return self if self.is_bound else self.replace(kernel=self.kernel.bind(self._at(X), weights))

    def _finish(self, block: Array) -> Array:
        return block

    def entry_bound(self, norm_bound: float) -> float:
        return self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.kernel.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the data at the nodes."""
        return self.kernel.feature_map(self._at(X))
