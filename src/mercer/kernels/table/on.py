"""A kernel applied to one column of a table, or to several columns of numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import Array, BoolArray, FloatArray, Rows
from mercer.kernels._types import ColumnName, Features
from mercer.kernels.algebra.scaled_power import Wrapped, require_kernel
from mercer.kernels.algebra.sum_product import Product, Sum
from mercer.kernels.base.kernel import Kernel, block_of
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.missing_rows import Present
from mercer.kernels.vector.delta import Delta

if TYPE_CHECKING:
    from mercer.kernels.table.column import Column


def compares_labels(kernel: Kernel) -> bool:
    """Whether a kernel asks of two values only if they are equal, so that any labels will do."""
    if isinstance(kernel, Sum | Product):
        parts = [part for part in kernel.kernels if part.takes_items is not None]
        return bool(parts) and all(map(compares_labels, parts))
    return compares_labels(kernel.kernel) if isinstance(kernel, Wrapped) else isinstance(kernel, Delta)


@dataclass(frozen=True)
class On(Kernel):
    r"""A kernel of rows that looks at one column: k(x[column], y[column]).

    A row without a value is like other rows without one, and like nothing else: with
    :math:`\varnothing` for no value and :math:`m` for `missing`,

    .. math:: \tilde k(u, v) = k(u, v), \quad \tilde k(u, \varnothing) = 0,
        \quad \tilde k(\varnothing, \varnothing) = m \ge 0.

    It is positive semidefinite where k is: order the rows so that those without a value come
    last, and the Gram matrix has the two blocks K and :math:`m\,1 1^\top` and zeros elsewhere.
    In features, :math:`\psi(u) \oplus 0` and :math:`0 \oplus \sqrt m`.

    Parameters
    ----------
    column : str, int, or a list of them
        Name in a data frame or a list of dictionaries, position in an array. Several columns of
        numbers make one vector, which is missing where one of them is.
    kernel : Kernel
        Of numbers, of labels (`Delta`), or of what the column holds: texts, trees, graphs.
        Dates are numbers, days since 1970.
    missing : float or "error"
        The kernel of two missing values, 0 or more; "error" refuses them.
    origin : tuple of float, optional
        Subtracted before distances are taken, so that they keep their digits; `bind` sets it.

    Examples
    --------
    >>> from mercer.kernels import RBF, Delta, On
    >>> people = [{"age": 31, "town": "Ulm"}, {"age": 33, "town": "Ulm"}, {"age": None, "town": "Bonn"}]
    >>> (On("age", RBF(gamma=0.1)) + On("town", Delta()))(people).round(4)
    array([[2.    , 1.6703, 0.    ],
           [1.6703, 2.    , 0.    ],
           [0.    , 0.    , 2.    ]])
    """

    column: object
    kernel: Kernel
    missing: float | str = 1.0
    origin: tuple | None = field(default=None, repr=False)

    takes_items = True
    takes_tables = True

    def __post_init__(self) -> None:
        require_kernel("kernel", self.kernel)
        if self.kernel.takes_tables:
            raise ParameterError(f"kernel must compare the values of a column, got {self.kernel!r}, which reads tables")
        if self.missing != "error":
            require_non_negative("missing", self.missing)
        if not self.names:
            raise ParameterError("column must name at least one column, got none")
        if len(self.names) > 1 and (self.kernel.takes_items or compares_labels(self.kernel)):
            raise ParameterError(f"several columns need a kernel of numbers, got {self.kernel!r}; add one On for each")

    @property
    def names(self) -> tuple[Any, ...]:
        """The columns that are read."""
        return tuple(self.column) if isinstance(self.column, list | tuple) else (self.column,)

    def __hash__(self) -> int:
        return hash((self.names, self.kernel, self.missing, self.origin))

    @property
    def is_psd(self) -> bool | None:
        return self.kernel.is_psd

    @property
    def is_bound(self) -> bool:
        return self.kernel.is_bound

    def _values(self, X: Rows) -> tuple[Any, BoolArray]:
        """(what the kernel takes, of the rows that have a value; which rows those are)."""
        columns = [as_frame(X).column(name) for name in self.names]
        present = ~np.any([column.missing for column in columns], axis=0)
        if self.missing == "error" and not present.all():
            row = int(np.flatnonzero(~present)[0])
            raise DataError(f"column {self._place(columns, row)!r} has no value in row {row}, and missing='error'")
        if self.kernel.takes_items is None:
            return np.zeros((np.count_nonzero(present), 1)), present
        if self.kernel.takes_items:
            return columns[0].items(present), present
        if compares_labels(self.kernel):
            return columns[0].codes(present), present
        return np.column_stack([column.numbers(present) for column in columns]), present

    @staticmethod
    def _place(columns: "Sequence[Column]", row: int) -> ColumnName:
        return next(column.name for column in columns if column.missing[row])

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        values, present = self._values(X)
        if not present.any():
            values = self._instead(values)
        weights = weights[present] if weights is not None and present.any() else None
        kernel = self.kernel.bind(values, weights)
        origin = self.origin
        if origin is None and kernel.is_translation_invariant and not self.kernel.takes_items:
            origin = tuple(values.mean(axis=0).tolist())
        if kernel is self.kernel and origin is self.origin:
            return self
        return type(self)(self.column, kernel, self.missing, origin)

    def _instead(self, values: Any) -> Any:
        """What a kernel is fitted to where every value is missing."""
        if isinstance(values, np.ndarray):
            return np.zeros((1, max(1, values.shape[1])))
        if self.kernel.is_bound:
            return values
        raise DataError(f"column {self.column!r} has no value in any row, and {self.kernel!r} must learn from some")

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Present:
        self._require_bound()
        values, present = self._values(X)
        own = None if self.origin is None else np.asarray(self.origin)
        return Present(self.kernel.prepare(values, dtype, origin=own), present, dtype)

    def tile(self, left: Present, right: Present, out: Array, row: int, column: int) -> None:
        if left.is_whole and right.is_whole:
            self.kernel.tile(left.part, right.part, out, row, column)
            return
        block = block_of(out, row, column, (len(left), len(right)))
        known = np.empty((len(left.part), len(right.part)), out.dtype)
        if known.size:
            self.kernel.tile(left.part, right.part, known, 0, 0)
        block[...] = 0
        block[np.ix_(left.mask, right.mask)] = known
        block[np.ix_(~left.mask, ~right.mask)] = self._likeness

    @property
    def _likeness(self) -> float:
        return 0.0 if self.missing == "error" else float(self.missing)

    def diag_of(self, prepared: Present) -> FloatArray:
        diagonal = np.full(len(prepared), self._likeness)
        if prepared.mask.any():
            diagonal[prepared.mask] = self.kernel.diag_of(prepared.part)
        return diagonal

    def entry_bound(self, norm_bound: float) -> float:
        return max(self.kernel.entry_bound(norm_bound), self._likeness)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self.kernel.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of the values, and one more that says that there is none."""
        values, present = self.bind(X)._values(X)
        features = self.kernel.feature_map(values)
        if present.all() and not self._likeness:
            return features
        place = sparse.csr_array(
            (np.ones(len(values)), (np.flatnonzero(present), np.arange(len(values)))), shape=(len(present), len(values))
        )
        spread = place @ features
        if not self._likeness:
            return spread
        indicator = math.sqrt(self._likeness) * ~present[:, None]
        return sparse.hstack([spread, indicator], "csr") if sparse.issparse(spread) else np.hstack([spread, indicator])

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        """The names of the kernel's own features after that of the column, and "no value"."""
        values, present = self._values(X)
        shown = " & ".join(map(str, self.names))
        if isinstance(self.kernel, Delta):
            labels = as_frame(X).column(cast(ColumnName, self.column)).items(present)
            _, first = np.unique(values, axis=0, return_index=True)
            own = [f"{shown}: {labels[place]}" for place in first]
        elif isinstance(values, np.ndarray):
            own = self.kernel.feature_names(values, names=[str(name) for name in self.names])
        else:
            own = [f"{shown}: {name}" for name in self.kernel.feature_names(values)]
        return [*own, f"{shown}: no value"] if self._likeness else own

    def terms(self) -> list[tuple[str | None, Kernel]]:
        return [(" & ".join(map(str, self.names)), self)]
