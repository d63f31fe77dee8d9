"""The regularised Laplacian kernel: nodes are alike if smooth functions cannot tell them apart."""

from dataclasses import dataclass

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.graph.graph import Graph
from mercer.kernels.node.spectral import MOST_TERMS, NEGLIGIBLE, SpectralNodeKernel


@dataclass(frozen=True)
class RegularizedLaplacian(SpectralNodeKernel):
    """k(u, v) = ((I + sigma^2 L)^-1)[u, v], with L the Laplacian of a graph (Smola & Kondor 2003).

    The items are nodes of the graph, by name. A function on the nodes whose norm is small in this
    kernel's space changes little along the edges.

    Parameters
    ----------
    graph : Graph
        Or an object that can be converted; see `mercer.Graph.of`. A link in only one direction counts half.
    sigma : float
        How far similarity reaches; 0 or more.
    laplacian : "combinatorial" or "normalized"
        L = D - A, or L = I - D^-1/2 A D^-1/2. A self loop changes only the second.

    Notes
    -----
    Rows are computed on demand, a few at a time, by about sigma times the square root of the
    largest eigenvalue products with the sparse L.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import RegularizedLaplacian
    >>> chain = Graph([("a", "b"), ("b", "c")])
    >>> RegularizedLaplacian(chain, sigma=1.0)(["a"], ["a", "b", "c"])
    array([[0.625, 0.25 , 0.125]])
    """

    graph: Graph
    sigma: float = 1.0
    laplacian: str = "combinatorial"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_non_negative("sigma", self.sigma)

    def series(self, bound: float) -> FloatArray:
        # 1 / (1 + s (x + 1)) = (1 / (s sqrt(a^2 - 1))) (1 + 2 sum_k (-q)^k T_k(x)), a = 1 + 1/s, q = a - sqrt(a^2 - 1)
        s = 0.5 * self.sigma**2 * bound
        if s < NEGLIGIBLE:
            return np.ones(1)
        root = np.sqrt(1.0 + 2.0 * s)  # s sqrt(a^2 - 1)
        q = s / (1.0 + s + root)
        terms = np.log(NEGLIGIBLE) / np.log(q) + 1.0
        if terms > MOST_TERMS:
            raise ParameterError(
                f"sigma must be smaller for this graph, got {self.sigma}: it would take {terms:.0f} terms"
            )
        powers = (-q) ** np.arange(int(terms) + 1)
        return np.where(np.arange(len(powers)) == 0, 1.0, 2.0) * powers / root
