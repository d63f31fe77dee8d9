"""A graph of ONNX operators, written as formulas: every operand is a `Tensor`, every number a double.

Only operators of the main domain are used, so that any runtime has them.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import MissingExtraError
from mercer._types import Array, ArrayLike, FloatArray

# Versions that runtimes of a few years ago support; texts could be compared one version later.
OPSET, OPSET_OF_TEXTS, IR_VERSION = 18, 19, 9


def require_onnx() -> Any:
    """The onnx package."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("to_onnx needs the package onnx: pip install 'mercer[onnx]'") from error
    return onnx


class Graph:
    """Nodes and constants with unique names: they begin with a slash, as names of columns rarely do.

    Parameters
    ----------
    prefix : str
        Begins every name; a nested graph has its own.

    Attributes
    ----------
    entrance : str
        An input with all rows, used to count them.
    """

    if TYPE_CHECKING:
        _one: "Tensor | None"

    def __init__(self, prefix: str = "") -> None:
        self.onnx = require_onnx()
        self.prefix, self.nodes, self.constants, self._known, self._one = prefix, [], [], {}, None
        self.entrance = "X"

    def _name(self) -> str:
        return f"{self.prefix}/t{len(self.nodes) + len(self.constants)}"

    def input(self, name: str) -> "Tensor":
        """The input of this name."""
        return Tensor(self, name)

    def constant(self, values: ArrayLike, dtype: DTypeLike = np.float64) -> "Tensor":
        """A tensor of given values; equal ones are stored once."""
        values = np.asarray(values, dtype=dtype)
        key = (values.dtype.str, values.shape, values.tobytes() if values.dtype != object else tuple(values.ravel()))
        if key not in self._known:
            name = f"{self.prefix}/c{len(self.constants)}"
            self.constants.append(_initializer(self.onnx, name, values))
            self._known[key] = Tensor(self, name)
        return self._known[key]

    def call(
        self, operator: str, *inputs: "Tensor | ArrayLike", name: str | None = None, **attributes: Any
    ) -> "Tensor":
        """The output of an operator."""
        names = [each.name if isinstance(each, Tensor) else self.constant(each).name for each in inputs]
        output = name or self._name()
        # Optimisers name new nodes after old ones: without names, all would be the same (onnxruntime 1.20).
        self.nodes.append(self.onnx.helper.make_node(operator, names, [output], name=output, **attributes))
        return Tensor(self, output)

    def factor(self, value: ArrayLike) -> "Tensor":
        """A constant factor or divisor.

        onnxruntime merges a product with a constant scalar into an adjacent matrix product, and then
        keeps the scalar in single precision. So a scalar that does not fit there is multiplied by a
        1 that no optimiser can recognise: whether the number of rows is nonnegative.
        """
        values = np.asarray(value, dtype=np.float64)
        if self.prefix or values.size != 1 or np.float32(values.ravel()[0]) == values.ravel()[0]:
            return self.constant(values)
        if self._one is None:
            count = self.call("Gather", self.call("Shape", self.input(self.entrance)), self.integers(0), axis=0)
            self._one = self.call("GreaterOrEqual", count, self.integers(0)).as_double()
        key = ("factor", values.shape, values.tobytes())
        if key not in self._known:
            self._known[key] = self.call("Mul", self.constant(values), self._one)
        return self._known[key]

    def integers(self, values: ArrayLike) -> "Tensor":
        """A constant of integers: positions, axes, shapes."""
        return self.constant(values, np.int64)

    def zeros(self) -> "Tensor":
        """A column of zeros, one for each row."""
        count = self.call("Gather", self.call("Shape", self.input(self.entrance)), self.integers([0]), axis=0)
        return self.call("Expand", [[0.0]], self.concat([count, self.integers([1])], 0))

    def concat(self, tensors: "Sequence[Tensor]", axis: int) -> "Tensor":
        """Tensors side by side."""
        return self.call("Concat", *tensors, axis=axis) if len(tensors) > 1 else tensors[0]

    def for_each_row(self, rows: FloatArray, step: "Callable[[Graph, Tensor], Tensor]") -> "Tensor":
        """Stack ``step(graph, row)`` of each of the constant `rows`, shape (len(rows), ...).

        The rows are visited one by one, so there is never a tensor of all pairs and features.
        """
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        body = Graph(f"{self.prefix}/b{len(self.nodes)}")
        result = step(body, Tensor(body, f"{body.prefix}/row"))
        inner = helper.make_graph(
            body.nodes,
            f"{body.prefix}/body",
            [helper.make_tensor_value_info(f"{body.prefix}/row", double, [rows.shape[1]])],
            [helper.make_tensor_value_info(result.name, double, None)],
            body.constants,
        )
        return self.call("Scan", rows, body=inner, num_scan_inputs=1)


def _initializer(onnx: Any, name: str, values: Array) -> Any:
    if values.dtype == object:
        texts = [str(each).encode() for each in values.ravel()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, values.shape, texts)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)


class Tensor:
    """The result of a node, with arithmetic operators."""

    # NumPy arrays on the left leave the operation to the tensor.
    __array_ufunc__ = None

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def _call(self, operator: str, *others: "Tensor | ArrayLike", **attributes: Any) -> "Tensor":
        return self.graph.call(operator, self, *others, **attributes)

    def __add__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Add", other)

    __radd__ = __add__

    def __sub__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Sub", other)

    def __rsub__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self.graph.call("Sub", other, self)

    def __mul__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Mul", other if isinstance(other, Tensor) else self.graph.factor(other))

    __rmul__ = __mul__

    def __truediv__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Div", other if isinstance(other, Tensor) else self.graph.factor(other))

    def __rtruediv__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self.graph.call("Div", other, self)

    def __neg__(self) -> "Tensor":
        return self._call("Neg")

    def __pow__(self, exponent: float) -> "Tensor":
        return self._call("Pow", float(exponent))

    def __matmul__(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("MatMul", other)

    def exp(self) -> "Tensor":
        return self._call("Exp")

    def log(self) -> "Tensor":
        return self._call("Log")

    def sqrt(self) -> "Tensor":
        return self._call("Sqrt")

    def tanh(self) -> "Tensor":
        return self._call("Tanh")

    def abs(self) -> "Tensor":
        return self._call("Abs")

    def arsinh(self) -> "Tensor":
        """The inverse of sinh; onnxruntime has this operator only in single precision."""
        size = self.abs()
        # Squares of what is at most 1 do not overflow.
        large = size.maximum(1.0)
        root = large * ((size / large) ** 2 + (1.0 / large) ** 2).sqrt()
        return self._call("Sign") * (size + root).log()

    def sigmoid(self) -> "Tensor":
        """1 / (1 + exp(-x)); the operator of this name has only ten digits in onnxruntime."""
        return 1.0 / ((-self).exp() + 1.0)

    def maximum(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Max", other)

    def minimum(self, other: "Tensor | ArrayLike") -> "Tensor":
        return self._call("Min", other)

    def clip(self, low: float, high: float) -> "Tensor":
        return self.maximum(low).minimum(high)

    def above(self, other: "Tensor | ArrayLike") -> "Tensor":
        """1.0 where it is larger, otherwise 0.0."""
        return self._call("Greater", other).as_double()

    def not_below(self, other: "Tensor | ArrayLike") -> "Tensor":
        """1.0 where it is at least as large, otherwise 0.0."""
        return self._call("GreaterOrEqual", other).as_double()

    def equal(self, values: ArrayLike, dtype: DTypeLike) -> "Tensor":
        """1.0 where it equals each of constant `values`, otherwise 0.0."""
        return self._call("Equal", self.graph.constant(values, dtype)).as_double()

    def as_double(self) -> "Tensor":
        return self._call("Cast", to=self.graph.onnx.TensorProto.DOUBLE)

    def as_integer(self) -> "Tensor":
        return self._call("Cast", to=self.graph.onnx.TensorProto.INT64)

    def where_above_zero(self, other: "Tensor | ArrayLike") -> "Tensor":
        """The tensor where it is above zero, `other` elsewhere."""
        return self.graph.call("Where", self._call("Greater", 0.0), self, other)

    def sum(self, axis: int, keep: bool = True) -> "Tensor":
        return self._call("ReduceSum", self.graph.integers([axis]), keepdims=int(keep))

    def largest(self, axis: int, keep: bool = True) -> "Tensor":
        return self._call("ReduceMax", self.graph.integers([axis]), keepdims=int(keep))

    def position_of_largest(self) -> "Tensor":
        """Position in each row; the first if several are equal."""
        return self._call("ArgMax", axis=1, keepdims=0)

    def columns(self, positions: ArrayLike, axis: int = 1) -> "Tensor":
        """Some of the columns, in this order."""
        return self._call("Gather", self.graph.integers(positions), axis=axis)

    def chosen(self, values: ArrayLike, dtype: DTypeLike) -> "Tensor":
        """The entry of constant `values` at each of these positions."""
        return self.graph.call("Gather", self.graph.constant(values, dtype), self, axis=0)

    def interpolated(self, knots: FloatArray, levels: FloatArray) -> "Tensor":
        """The piecewise linear function through the knots at a column of numbers, constant beyond them."""
        if len(knots) == 1:
            return self * 0.0 + float(levels[0])
        gaps = np.diff(knots)
        slopes = np.divide(np.diff(levels), gaps, out=np.zeros(len(gaps)), where=gaps > 0)
        place = (self.not_below(knots).sum(1) - 1.0).clip(0.0, float(len(gaps) - 1)).as_integer()
        start, level, slope = (place.chosen(each, np.float64) for each in (knots[:-1], levels[:-1], slopes))
        inside = level + slope * (self - start)
        at_end = self.not_below(float(knots[-1]))
        before = 1.0 - self.not_below(float(knots[0]))
        return inside * (1.0 - at_end) * (1.0 - before) + at_end * float(levels[-1]) + before * float(levels[0])

    def transposed(self) -> "Tensor":
        return self._call("Transpose")

    def squeezed(self, axis: int = 1) -> "Tensor":
        return self._call("Squeeze", self.graph.integers([axis]))

    def reshaped(self, *shape: int) -> "Tensor":
        """A dimension of 0 is unchanged, one of -1 takes the rest."""
        return self._call("Reshape", self.graph.integers(shape))

    def called(self, name: str) -> "Tensor":
        """The same tensor under an external name."""
        return self._call("Identity", name=name)
