"""A kernel of vectors for the rows of a table, whose columns of any kind become numbers on one scale first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import DataError, ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.kernels._types import ColumnName, Features, Prepared
from mercer.kernels.algebra.scaled_power import require_kernel
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.table.coding import WAYS, measured
from mercer.kernels.table.frame import Frame, as_frame
from mercer.kernels.vector.linear import Linear


@dataclass(frozen=True)
class Encoded(Kernel):
    r"""A kernel of vectors, of rows of a table whose columns have become numbers: k(e(x), e(y)).

    All columns stand side by side in one vector, so that the kernel sees them jointly, where `Columns` sees each by
    itself. A column is read in one way or in several, each on its own scale of mean 0 and variance 1:

    - "number": the number, or the date in days;
    - "log": its logarithm (of both signs: arsinh), for long tails; "rank": the normal score of its rank, for anything;
    - "category": an indicator for each label; rare ones share one;
    - "day", "week", "year": the place of a date in the period, as a point on a circle.

    A missing number is the mean, and a further number says that it is missing; a missing label is a label. A label not
    seen in training is a rare one. If training had no rare labels, no missing values or no values at all, those are
    neutral: 0 in all their numbers. Any map of rows to vectors leaves a kernel positive semidefinite.

    Parameters
    ----------
    columns : dict
        The way, or a tuple of ways, for each column, by its name (in an array, its position).
    kernel : Kernel
        Of vectors.
    relevance : dict, optional
        By column, the factor on its squared distances, 0 or more; a tuple if the column is read in several ways. For
        those not named, one over the number of ways of all columns.
    codings : tuple, optional
        What was measured on the training rows; `bind` sets it.

    Examples
    --------
    >>> from mercer.kernels import Encoded, RBF
    >>> people = [
    ...     {"age": 31, "town": "Ulm"},
    ...     {"age": 33, "town": "Ulm"},
    ...     {"age": 60, "town": "Bonn"},
    ...     {"age": None, "town": "Bonn"},
    ... ]
    >>> Encoded({"age": "number", "town": "category"}, RBF(gamma=1.0))(people).round(2)
    array([[1.  , 0.99, 0.01, 0.01],
           [0.99, 1.  , 0.02, 0.01],
           [0.01, 0.02, 1.  , 0.03],
           [0.01, 0.01, 0.03, 1.  ]])
    """

    columns: dict
    kernel: Kernel
    relevance: dict | None = None
    codings: tuple | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        require_kernel("kernel", self.kernel)
        if self.kernel.takes_items:
            raise ParameterError(f"kernel must be a kernel of vectors, got {self.kernel!r}")
        if not isinstance(self.columns, Mapping) or not any(map(ways_of, self.columns.values())):
            raise ParameterError(f"columns must be a dict with a way for each column, got {self.columns!r}")
        for name, ways in self.columns.items():
            for way in ways_of(ways):
                if way not in WAYS:
                    raise ParameterError(f"the way of column {name!r} must be one of {', '.join(WAYS)}, got {way!r}")
        self._check_relevance()
        if self.codings is not None and [coding.way for coding in self.codings] != [way for _, way in self.readings]:
            raise ParameterError("codings must hold one for each way of each column")

    def _check_relevance(self) -> None:
        for name, given in (self.relevance or {}).items():
            if name not in self.columns:
                raise ParameterError(f"relevance names {name!r}, which is not one of the columns")
            values = given if isinstance(given, tuple | list) else (given,)
            if len(values) != len(ways_of(self.columns[name])):
                raise ParameterError(f"the relevance of column {name!r} must be one number for each of its ways")
            for value in values:
                require_non_negative(f"the relevance of column {name!r}", value)

    def __hash__(self) -> int:
        return hash((tuple(self.columns.items()), self.kernel, tuple((self.relevance or {}).items()), self.codings))

    @property
    def is_of_rows(self) -> bool:
        """Whether columns go by position only, so that the items are rows of numbers."""
        return all(isinstance(name, int) for name in self.columns)

    @property
    def takes_items(self) -> bool | None:
        return not self.is_of_rows

    @property
    def takes_tables(self) -> bool:
        return not self.is_of_rows

    @property
    def readings(self) -> list[tuple[ColumnName, str]]:
        """Each (column, way), in order."""
        return [(name, way) for name, ways in self.columns.items() for way in ways_of(ways)]

    @property
    def label_columns(self) -> list[ColumnName]:
        """The columns that are read as labels and in no other way."""
        return [name for name, ways in self.columns.items() if ways_of(ways) == ("category",)]

    @property
    def relevances(self) -> FloatArray:
        """The relevance of each of `readings`."""
        readings, given = self.readings, self.relevance or {}
        usual = 1.0 / len(readings)
        found: list[float] = []
        for name, ways in self.columns.items():
            own = given.get(name, usual)
            found += own if isinstance(own, tuple | list) else [own] * len(ways_of(ways))
        return np.array(found, dtype=np.float64)

    @property
    def is_psd(self) -> bool | None:
        return self.kernel.is_psd

    @property
    def is_bound(self) -> bool:
        return self.codings is not None and self.kernel.is_bound

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        if self.is_bound:
            return self
        bound = self
        if self.codings is None:
            frame = as_frame(X)
            codings = tuple(measured(way, _column(frame, name), weights) for name, way in self.readings)
            bound = type(self)(self.columns, self.kernel, self.relevance, codings)
        kernel = self.kernel.bind(bound.vectors(X), weights)
        return type(self)(self.columns, kernel, self.relevance, bound.codings)

    def vectors(self, X: Rows, is_weighed: bool = True) -> FloatArray:
        """The rows as vectors, as the kernel compares them; without relevances if not `is_weighed`."""
        if self.codings is None:
            raise ParameterError(f"{type(self).__name__} depends on training data; call bind(X) on it first")
        frame = as_frame(X)
        blocks = [
            coding.numbers_of(_column(frame, name))
            for (name, _), coding in zip(self.readings, self.codings, strict=True)
        ]
        numbers = np.hstack(blocks)
        return numbers * np.sqrt(self.relevances)[self.groups] if is_weighed else numbers

    @property
    def groups(self) -> IndexArray:
        """For each number of a vector, the place in `readings` of what it is part of."""
        return np.repeat(np.arange(len(self.readings)), [len(each.parts) for each in cast(Any, self.codings)])

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        self._require_bound()
        return self.kernel.prepare(self.vectors(X), dtype, check=check)

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        self.kernel.tile(left, right, out, row, column)

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return self.kernel.diag_of(prepared)

    def entry_bound(self, norm_bound: float) -> float:
        return self.kernel.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.kernel.entry_error(norm_bound, dtype)

    def terms(self) -> list[tuple[str | None, Kernel]]:
        """All columns jointly, and each by itself where a plane is added to what is joint."""
        parts = getattr(self.kernel, "kernels", ())
        planes = [part for part in parts if isinstance(getattr(part, "kernel", part), Linear)]
        if self.codings is None or len(parts) != 2 or len(planes) != 1:
            return super().terms()
        (joint,) = [part for part in parts if part is not planes[0]]
        whole = type(self)(self.columns, joint, self.relevance, self.codings)
        found: list[tuple[str | None, Kernel]] = [("all columns jointly", whole)]
        relevances, place = self.relevances.tolist(), 0
        for name, ways in self.columns.items():
            span = slice(place, place := place + len(ways_of(ways)))
            own = {name: tuple(relevances[span])}
            found.append((str(name), type(self)({name: ways}, planes[0], own, self.codings[span])))
        return found

    def feature_map(self, X: Rows) -> Features:
        """The features of the vectors."""
        bound = self.bind(X)
        return bound.kernel.feature_map(bound.vectors(X))

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        bound = self.bind(X)
        own = [
            f"{name}: {part}" if part else str(name)
            for (name, _), coding in zip(bound.readings, cast(Any, bound.codings), strict=True)
            for part in coding.parts
        ]
        return bound.kernel.feature_names(bound.vectors(X), names=own)


def ways_of(ways: str | Sequence[str]) -> tuple[str, ...]:
    """The ways in which a column is read; none where it is left out."""
    return (ways,) if isinstance(ways, str) else tuple(ways)


def _column(frame: Frame, name: ColumnName) -> Any:
    column = frame.column(name)
    if column.kind == "object" and not column.missing.all():
        raise DataError(f"column {name!r} must hold numbers, dates or labels, got a mixture or something else")
    return column
