"""Kernels as ONNX operators: the matrix between the rows of the input and constant support vectors."""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.once import computed_once
from mercer._types import ArrayLike, Rows
from mercer.exchange.onnx.tables import Table, encoded
from mercer.kernels.algebra.centered import Centered
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.scaled_power import Power, Scaled
from mercer.kernels.algebra.sum_product import Product, Sum
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.on import On
from mercer.kernels.vector.chi_squared import ChiSquared
from mercer.kernels.vector.constant import Constant
from mercer.kernels.vector.cosine import Cosine
from mercer.kernels.vector.delta import Delta
from mercer.kernels.vector.laplacian import Laplacian
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.matern import FARTHEST, Matern, polynomial_coefficients
from mercer.kernels.vector.polynomial import Polynomial
from mercer.kernels.vector.rational_quadratic import RationalQuadratic
from mercer.kernels.vector.rbf import RBF
from mercer.kernels.vector.second_order import SecondOrder
from mercer.kernels.vector.sigmoid import Sigmoid

if TYPE_CHECKING:
    from mercer.exchange.onnx.graph import Graph, Tensor
    from mercer.kernels._types import ColumnName
    from mercer.kernels.base.kernel import Kernel


class Pairs:
    """The rows of the input and constant vectors; quantities that kernels share are computed once.

    Parameters
    ----------
    x : Tensor of shape (n, d)
    vectors : ndarray of shape (m, d)
    """

    def __init__(self, x: "Tensor", vectors: ArrayLike) -> None:
        self.x, self.vectors = x, np.asarray(vectors, dtype=np.float64)
        self.graph = x.graph

    def beside(self, vectors: ArrayLike) -> "Pairs":
        """The same rows with other vectors."""
        return Pairs(self.x, vectors)

    def encoded(self, kernel: Encoded) -> "Pairs":
        """The pairs that `kernel` passes to its inner kernel."""
        return Pairs(encoded(kernel, self), kernel.vectors(self.vectors))

    def column(self, name: "ColumnName") -> "Tensor":
        """A column of the rows."""
        return self.x.columns([int(name)])

    def is_text(self, _name: "ColumnName") -> bool:
        """The rows are numbers."""
        return False

    @computed_once
    def dots(self) -> "Tensor":
        """<x, v>."""
        return self.x @ np.ascontiguousarray(self.vectors.T)

    @computed_once
    def norms(self) -> "Tensor":
        """|x|^2, a column."""
        return squared_norms(self.x)

    @computed_once
    def distances(self) -> "Tensor":
        """|x - v|^2, from rows minus the mean of the vectors, so that large coordinates do not cancel."""
        origin = self.vectors.mean(axis=0)
        centred, near = self.x - origin, self.vectors - origin
        products = centred @ np.ascontiguousarray(near.T)
        return (squared_norms(centred) + (near**2).sum(axis=1) - 2.0 * products).maximum(0.0)

    def along_features(self, difference: "Callable[[Tensor, Tensor], Tensor]") -> "Tensor":
        """A matrix from ``difference(x, v)`` of the rows and one vector, a column for each vector."""

        def step(graph: "Graph", row: "Tensor") -> "Tensor":
            # The rows of the input are visible inside the loop.
            inner = type(self.x)(graph, self.x.name)
            return difference(inner, row)

        return self.x.graph.for_each_row(self.vectors, step).transposed()


class TablePairs:
    """The rows of an input table, and constant rows of such a table.

    Parameters
    ----------
    table : Table
    vectors : table
        Such as the support vectors.
    """

    def __init__(self, table: Table, vectors: Rows) -> None:
        self.table, self.vectors, self.graph = table, as_frame(vectors), table.graph

    def beside(self, vectors: Rows) -> "TablePairs":
        """The same rows with other vectors."""
        return TablePairs(self.table, vectors)

    def encoded(self, kernel: Encoded) -> Pairs:
        """The pairs that `kernel` passes to its inner kernel."""
        return Pairs(encoded(kernel, self.table), kernel.vectors(self.vectors))


def squared_norms(x: "Tensor") -> "Tensor":
    """|x|^2 of each row, a column."""
    return (x * x).sum(1)


def _inverse_roots(diagonal: "Tensor") -> "Tensor":
    """1 / sqrt of positive values, otherwise 0."""
    return diagonal.above(0.0) / diagonal.where_above_zero(1.0).sqrt()


def matrix(kernel: "Kernel", pairs: Pairs | TablePairs) -> "Tensor":
    """k(x, v) for each row and vector, a tensor of shape (n, m)."""
    return _rule(kernel)[0](kernel, pairs)


def diagonal(kernel: "Kernel", pairs: Pairs | TablePairs) -> "Tensor | float":
    """k(x, x) for each row, a column, or a number if it is the same for all."""
    return _rule(kernel)[1](kernel, pairs)


def _rule(kernel: "Kernel") -> tuple[Callable[..., Any], Callable[..., Any]]:
    for kind, rule in _RULES.items():
        if type(kernel) is kind:
            return rule
    if isinstance(kernel, On):
        raise _refused(kernel)
    if isinstance(kernel, Columns):
        raise _refused(next(part for part in kernel.parts.values() if isinstance(part, On)))
    names = ", ".join(sorted(kind.__name__ for kind in _RULES))
    raise ParameterError(f"{type(kernel).__name__} cannot be written with ONNX operators; those that can are {names}")


def _sum_of(parts: Iterable[Any]) -> Any:
    return reduce(lambda left, right: left + right, parts)


def _product_of(parts: Iterable[Any]) -> Any:
    return reduce(lambda left, right: left * right, parts)


def _matern(kernel: Matern, pairs: Pairs) -> "Tensor":
    if kernel.nu == np.inf:
        return matrix(RBF(0.5 / kernel.length_scale**2), pairs)
    if not kernel.has_polynomial:
        raise ParameterError(
            f"Matern(nu={kernel.nu!r}) is a Bessel function, which ONNX does not have; nu = 0.5, 1.5, ... 5.5 and inf "
            "can be written"
        )
    radius = (pairs.distances.sqrt() * (np.sqrt(2.0 * kernel.nu) / kernel.length_scale)).minimum(FARTHEST)
    total = None
    for coefficient in polynomial_coefficients(int(kernel.nu)):
        total = radius * 0.0 + coefficient if total is None else total * radius + coefficient
    return total * (-radius).exp()


def _chi_squared(x: "Tensor", row: "Tensor") -> "Tensor":
    total = x + row
    return ((x - row) ** 2 / total.where_above_zero(1.0)).sum(1, keep=False)


def _laplacian(x: "Tensor", row: "Tensor") -> "Tensor":
    return (x - row).abs().sum(1, keep=False)


def _delta(x: "Tensor", row: "Tensor") -> "Tensor":
    return (x - row).abs().largest(1, keep=False)


def _normalised(kernel: Normalized, pairs: Pairs | TablePairs) -> "Tensor":
    own = kernel.kernel.diag(pairs.vectors)
    right = np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
    values = matrix(kernel.kernel, pairs) * right
    left = diagonal(kernel.kernel, pairs)
    return values * (_inverse_roots(left) if not isinstance(left, float) else left**-0.5 if left > 0 else 0.0)


def _positive(diagonal_value: "Tensor | float") -> "Tensor | float":
    return float(diagonal_value > 0) if isinstance(diagonal_value, float) else diagonal_value.above(0.0)


def _centred(kernel: Centered, pairs: Pairs | TablePairs) -> "Tensor":
    inner, reference = kernel.kernel, kernel.reference
    means = inner(pairs.vectors, reference).mean(axis=1) - inner(reference, reference).mean()
    return matrix(inner, pairs) - _mean_over(inner, pairs, reference) - means


def _mean_over(kernel: "Kernel", pairs: Pairs | TablePairs, reference: Rows) -> "Tensor":
    return matrix(kernel, pairs.beside(reference)).sum(1) / float(len(reference))


def _centred_diagonal(kernel: Centered, pairs: Pairs | TablePairs) -> "Tensor":
    inner, reference = kernel.kernel, kernel.reference
    return diagonal(inner, pairs) - 2.0 * _mean_over(inner, pairs, reference) + inner(reference, reference).mean()


def _refused(kernel: On) -> ParameterError:
    names = ", ".join(map(repr, kernel.names))
    if kernel.kernel.takes_items:
        return ParameterError(
            f"column {names} is compared by {kernel.kernel!r}, which cannot be written with ONNX operators; train "
            f"without that column (on the command line, --drop {kernel.column})"
        )
    return ParameterError(
        f"column {names} has a kernel of its own, which cannot be written with ONNX operators; train with "
        "kernel='auto' (on the command line, without --kernel): numbers, dates and labels can then be exported"
    )


def _one(_kernel: object, _pairs: object) -> float:
    return 1.0


# For each kernel: its matrix, and its diagonal.
_RULES = {
    Linear: (lambda _, p: p.dots, lambda _, p: p.norms),
    Polynomial: (
        lambda k, p: (p.dots * k.gamma + k.coef0) ** k.degree,
        lambda k, p: (p.norms * k.gamma + k.coef0) ** k.degree,
    ),
    SecondOrder: (lambda _, p: p.dots * (p.dots + 1.0), lambda _, p: p.norms * (p.norms + 1.0)),
    RBF: (lambda k, p: (p.distances * -k.gamma).exp(), _one),
    Sigmoid: (
        lambda k, p: (p.dots * k.gamma + k.coef0).tanh(),
        lambda k, p: (p.norms * k.gamma + k.coef0).tanh(),
    ),
    Cosine: (
        lambda _, p: matrix(Normalized(Linear()), p),
        lambda _, p: p.norms.above(0.0),
    ),
    Laplacian: (lambda k, p: (p.along_features(_laplacian) * -k.gamma).exp(), _one),
    ChiSquared: (lambda k, p: (p.along_features(_chi_squared) * -k.gamma).exp(), _one),
    Delta: (lambda _, p: 1.0 - p.along_features(_delta).above(0.0), _one),
    Matern: (_matern, _one),
    RationalQuadratic: (
        lambda k, p: (p.distances * (0.5 / (k.alpha * k.length_scale**2)) + 1.0) ** -k.alpha,
        _one,
    ),
    Constant: (lambda k, p: p.graph.zeros() + np.full(len(p.vectors), float(k.value)), lambda k, _: float(k.value)),
    Scaled: (
        lambda k, p: matrix(k.kernel, p) * float(k.factor),
        lambda k, p: diagonal(k.kernel, p) * float(k.factor),
    ),
    Power: (
        lambda k, p: matrix(k.kernel, p) ** k.exponent,
        lambda k, p: diagonal(k.kernel, p) ** k.exponent,
    ),
    Sum: (
        lambda k, p: _sum_of([matrix(each, p) for each in k.kernels]),
        lambda k, p: _sum_of([diagonal(each, p) for each in k.kernels]),
    ),
    Product: (
        lambda k, p: _product_of([matrix(each, p) for each in k.kernels]),
        lambda k, p: _product_of([diagonal(each, p) for each in k.kernels]),
    ),
    Normalized: (_normalised, lambda k, p: _positive(diagonal(k.kernel, p))),
    Centered: (_centred, _centred_diagonal),
    Encoded: (lambda k, p: matrix(k.kernel, p.encoded(k)), lambda k, p: diagonal(k.kernel, p.encoded(k))),
}
