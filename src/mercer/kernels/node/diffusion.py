"""The diffusion kernel: how much heat flows from one node to another."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from mercer._errors import ParameterError
from mercer._types import FloatArray
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.graph.graph import Graph
from mercer.kernels.node.spectral import MOST_TERMS, NEGLIGIBLE, SpectralNodeKernel


@dataclass(frozen=True)
class Diffusion(SpectralNodeKernel):
    """k(u, v) = exp(-beta L)[u, v], with L the Laplacian of a graph (Kondor & Lafferty 2002).

    The items are nodes of the graph, by name. A unit of heat released at u flows along the edges;
    after time `beta`, k(u, v) of it is at v.

    Parameters
    ----------
    graph : Graph
        Or an object that can be converted; see `mercer.Graph.of`. A link in only one direction counts half.
    beta : float
        How long the heat flows; 0 or more.
    laplacian : "combinatorial" or "normalized"
        L = D - A, or L = I - D^-1/2 A D^-1/2, which does not favour nodes with few edges. A self loop
        changes only the second.

    Notes
    -----
    Rows are computed on demand, a few at a time, by about sqrt(beta times the largest
    eigenvalue) products with the sparse L.

    Examples
    --------
    >>> from mercer import Graph
    >>> from mercer.kernels import Diffusion
    >>> chain = Graph([("a", "b"), ("b", "c")])
    >>> Diffusion(chain, beta=1.0)(["a"], ["a", "b", "c"]).round(3)
    array([[0.526, 0.317, 0.158]])
    """

    graph: Graph
    beta: float = 1.0
    laplacian: str = "combinatorial"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_non_negative("beta", self.beta)

    def series(self, bound: float) -> FloatArray:
        # exp(-t (x + 1)) = e^-t I_0(t) + 2 sum_k (-1)^k e^-t I_k(t) T_k(x)
        t = 0.5 * self.beta * bound
        terms = int(10.0 * np.sqrt(t) + t ** (1 / 3) + 40.0)
        if terms > MOST_TERMS:
            raise ParameterError(f"beta must be smaller for this graph, got {self.beta}: it would take {terms} terms")
        sizes = special.ive(np.arange(terms), t)
        sizes = sizes[: np.flatnonzero(sizes > NEGLIGIBLE * sizes[0])[-1] + 1]
        signs = np.where(np.arange(len(sizes)) % 2, -2.0, 2.0)
        signs[0] = 1.0
        return signs * sizes
