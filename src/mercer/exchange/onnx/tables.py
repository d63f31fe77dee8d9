"""Tables as ONNX inputs, and their columns as the numbers that `Encoded` computes from them."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer.kernels.table.coding import PERIODS
from mercer.kernels.table.encoded import Encoded
from mercer.kernels.table.frame import DictFrame, Frame

if TYPE_CHECKING:
    from mercer.exchange.onnx.graph import Graph, Tensor
    from mercer.kernels._types import ColumnName
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.table.coding import Coding


class Source(Protocol):
    """A source of the columns of the rows."""

    def column(self, name: "ColumnName") -> "Tensor":
        """A column, of shape (n, 1)."""

    def is_text(self, name: "ColumnName") -> bool:
        """Whether it contains texts rather than numbers."""


class Table:
    """The inputs of a graph that takes a table.

    A table of numbers is the matrix ``X``, like an array of them. Otherwise each column that the kernel reads is a
    named input of shape (n, 1): texts for labels, numbers for everything else.

    Parameters
    ----------
    graph : Graph
    kernel : Kernel
        Of tables, bound.
    frame : Frame
        Rows with the same columns as future ones.
    dtype : "float64" or "float32"
        Of numbers; dates are in double precision, which their hours need.
    """

    def __init__(self, graph: "Graph", kernel: "Kernel", frame: Frame, dtype: DTypeLike) -> None:
        self.graph, self._frame, self._dtype = graph, frame, np.dtype(dtype)
        self.kinds = {frame.place(name): kind for name, kind in _kinds(kernel, frame)}
        self.is_matrix = not isinstance(frame, DictFrame) and all(
            self.kinds.get(name, frame.column(name).kind) == "number" for name in frame.names
        )
        if not self.is_matrix and self.kinds:
            graph.entrance = str(next(iter(self.kinds)))

    def column(self, name: "ColumnName") -> "Tensor":
        """A column of the rows, of shape (n, 1); NaN is a missing number."""
        place = self._frame.place(name)
        if self.is_matrix:
            return self._double(self.graph.input("X"), "number").columns([self._frame.names.index(place)])
        return self._double(self.graph.input(str(place)), self.kinds[place])

    def is_text(self, name: "ColumnName") -> bool:
        """Whether a column contains texts rather than numbers; a missing text is empty."""
        return self.kinds[self._frame.place(name)] == "text"

    def _double(self, x: "Tensor", kind: str) -> "Tensor":
        return x.as_double() if kind == "number" and self._dtype == np.float32 else x

    def entrances(self) -> list[tuple[str, str, int]]:
        """(name, type, number of columns) of each input."""
        if self.is_matrix:
            return [("X", str(self._dtype), len(self._frame.names))]
        types = {"number": str(self._dtype), "date": "float64", "text": "text"}
        return [(str(name), types[kind], 1) for name, kind in self.kinds.items()]


def _kinds(kernel: "Kernel", frame: Frame) -> "Iterator[tuple[ColumnName, str]]":
    """Each column read as numbers or labels, with "number", "date" or "text"."""
    for part in _encoded_parts(kernel):
        labels: dict[ColumnName, list[Any]] = {}
        for (name, way), coding in zip(part.readings, part.codings or (), strict=True):
            labels.setdefault(name, []).extend(coding.labels if way == "category" else [0.0])
        for name, values in labels.items():
            are_texts = {isinstance(value, str) for value in values}
            if len(are_texts) > 1:
                raise ParameterError(
                    f"column {name!r} is read both as numbers and as texts, which no ONNX input can be; choose one"
                )
            kind = frame.column(name).kind
            # If every label is rare, none is kept, and the rows have to decide.
            is_text = are_texts.pop() if are_texts else kind != "number"
            yield name, "text" if is_text else "date" if kind == "date" else "number"


def _encoded_parts(kernel: "Kernel") -> Iterator[Encoded]:
    if isinstance(kernel, Encoded):
        yield kernel
        return
    for part in kernel.nested_kernels().values():
        yield from _encoded_parts(part)


def encoded(kernel: Encoded, source: Source) -> "Tensor":
    """The rows as vectors, like those of ``kernel.vectors``."""
    blocks = []
    for (name, way), coding in zip(kernel.readings, kernel.codings or (), strict=True):
        values = source.column(name)
        if way == "category":
            blocks.append(_indicators(coding, values, source.is_text(name)))
        else:
            blocks.append(_numbers(coding, values))
    return blocks[0].graph.concat(blocks, 1) * np.sqrt(kernel.relevances)[kernel.groups]


def _numbers(coding: "Coding", values: "Tensor") -> "Tensor":
    graph = values.graph
    gone = graph.call("IsNaN", values)
    missing = gone.as_double()
    if coding.gap == 1.0:
        return graph.concat([missing * 0.0 for _ in coding.parts], 1)
    present = 1.0 - missing
    values = graph.call("Where", gone, 0.0, values)
    if coding.way in PERIODS:
        rounds = values / PERIODS[coding.way]
        angle = (rounds - graph.call("Floor", rounds)) * (2.0 * math.pi)
        blocks = [graph.call("Cos", angle) * present, graph.call("Sin", angle) * present]
    else:
        blocks = [(_bent(coding, values) - coding.mean) / coding.deviation * present]
    if coding.has_gap:
        blocks.append((missing - coding.gap) / math.sqrt(coding.gap * (1.0 - coding.gap)))
    return graph.concat(blocks, 1)


def _bent(coding: "Coding", values: "Tensor") -> "Tensor":
    if coding.way == "rank":
        return values.interpolated(np.array(coding.knots), np.array(coding.heights))
    moved = (values - coding.place) / coding.scale
    return moved.arsinh() if coding.way == "log" else moved


def _indicators(coding: "Coding", values: "Tensor", is_text: bool) -> "Tensor":
    """An indicator for each label, minus its frequency; all 0 for labels not seen in training."""
    graph, labels, shares = values.graph, coding.labels, np.array(coding.shares)
    if not is_text:
        missing = graph.call("IsNaN", values).as_double()
    elif "" in labels:
        missing = graph.zeros()
    else:
        missing = values.equal([""], object)
    # Nothing equals a missing value.
    marks = [values.equal(list(labels), object if is_text else np.float64)] if labels else []
    seen = marks[0].sum(1) + missing if marks else missing
    whole = graph.concat([*marks, 1.0 - seen, missing], 1)
    spread = math.sqrt(float((shares * (1.0 - shares)).sum())) or 1.0
    # If rare labels or missing values are not labels of their own, they count as nothing.
    counts = np.concatenate([np.ones(len(labels)), shares[-2:] > 0])[:, None]
    numbers = (whole - shares) / spread * (whole @ counts)
    return numbers.columns(np.flatnonzero(shares > 0))
