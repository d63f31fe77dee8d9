"""A kernel of the rows of a table: one kernel a column, added up or multiplied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.kernels._types import ColumnName, Features, Prepared
from mercer.kernels.algebra.scaled_power import Scaled, require_kernel
from mercer.kernels.algebra.sum_product import Product, Sum
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import require_non_negative
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.infer_kernel import inferred_kernels
from mercer.kernels.table.on import On, compares_labels
from mercer.kernels.table.standardized import Standardized

_COMBINATIONS = ("sum", "mean", "product")


@dataclass(frozen=True)
class Columns(Kernel):
    """The kernels of several columns of a table, added up: sum of w_c k_c(x[c], y[c]).

    Parameters
    ----------
    kernels : dict
        A kernel for each column, by its name (in an array, its position). A kernel that itself says what it reads, such
        as ``On(["width", "height"], RBF())``, may have any name.
    weights : dict, optional
        How much a column counts, 0 or more; 1 for those not named.
    combine : {"sum", "mean", "product"}
        "mean" divides by the sum of the weights; "product" multiplies, so that rows are alike only if they are alike in
        every column, and takes no weights.
    standardize : bool
        Bring columns of numbers to mean 0 and deviation 1, measured on the training rows.
    missing : float or "error"
        The kernel of two missing values of a column; see `On` for the rule, and its proof.

    Notes
    -----
    Parameters of a column's kernel are named after it: ``kernel__age__gamma`` in a grid search.

    Examples
    --------
    >>> from mercer.kernels import Columns, Delta, RBF
    >>> people = [{"age": 31, "town": "Ulm"}, {"age": 33, "town": "Ulm"}, {"age": 60, "town": "Bonn"}]
    >>> Columns({"age": RBF(gamma=0.1), "town": Delta()}, weights={"town": 0.5})(people).round(4)
    array([[1.5   , 1.1703, 0.    ],
           [1.1703, 1.5   , 0.    ],
           [0.    , 0.    , 1.5   ]])
    """

    kernels: dict
    weights: dict | None = None
    combine: str = "sum"
    standardize: bool = False
    missing: float | str = 1.0

    takes_items = True
    takes_tables = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernels, Mapping) or not self.kernels:
            raise ParameterError(f"kernels must be a dict with a kernel for each column, got {self.kernels!r}")
        for name, kernel in self.kernels.items():
            require_kernel(f"the kernel of column {name!r}", kernel)
        if self.combine not in _COMBINATIONS:
            raise ParameterError(f"combine must be one of {', '.join(_COMBINATIONS)}, got {self.combine!r}")
        self._check_weights()
        # Each part checks its own.
        _ = self.parts

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        if self.combine == "product":
            raise ParameterError("a product takes no weights; use combine='sum', or a power of a kernel")
        for name, weight in self.weights.items():
            if name not in self.kernels:
                raise ParameterError(
                    f"weights names {name!r}, but kernels has only {', '.join(map(repr, self.kernels))}"
                )
            require_non_negative(f"the weight of column {name!r}", weight)
        if not sum(self._weights) > 0:
            raise ParameterError("weights must not all be zero")

    def __hash__(self) -> int:
        return hash((tuple(self.kernels.items()), self.combine, self.standardize, self.missing))

    @classmethod
    def infer(
        cls,
        X: Rows,
        *,
        exclude: Sequence[ColumnName] = (),
        text: Kernel | None = None,
        cyclic: Sequence[str] = (),
        combine: str = "mean",
        missing: float | str = 1.0,
    ) -> Self:
        """A kernel for a table as it stands: numbers, categories, dates, texts, trees and graphs.

        Parameters
        ----------
        X : table
            The types and values of its columns are examined; it is not kept.
        exclude : list of column names
            Left out, such as the label. Columns with no value at all are left out too.
        text : Kernel, optional
            For columns of texts; ``Spectrum().normalized()`` by default.
        cyclic : list of {"day", "week", "year"}
            For each column of dates, also compare their places in these periods.
        combine, missing
            How the columns are combined, and the kernel of two missing values: those of `Columns`.

        Returns
        -------
        Columns
            With numbers and dates standardised and compared by `RBF`, categories (also unseen
            ones: like themselves only) by `Delta`.

        Examples
        --------
        >>> from mercer.kernels import Columns
        >>> Columns.infer([{"age": 31, "town": "Ulm"}, {"age": 60, "town": "Bonn"}]).kernels
        {'age': RBF(gamma=1.0), 'town': Delta()}
        """
        kernels = inferred_kernels(as_frame(X), exclude, text, cyclic)
        return cls(kernels, combine=combine, standardize=True, missing=missing)

    @property
    def parts(self) -> dict[ColumnName, Kernel]:
        """The kernel of each column, by name, as one of rows."""
        return {name: self._part(name, kernel) for name, kernel in self.kernels.items()}

    def _part(self, name: ColumnName, kernel: Kernel) -> Kernel:
        if kernel.takes_tables:
            return kernel
        return On(name, Standardized(kernel) if self._waits(kernel) else kernel, self.missing)

    def _waits(self, kernel: Kernel) -> bool:
        """Whether a kernel is to be standardised and has not been."""
        is_of_numbers = kernel.takes_items is False and not compares_labels(kernel)
        return self.standardize and is_of_numbers and not isinstance(kernel, Standardized)

    @property
    def _weights(self) -> list[float]:
        weights = self.weights or {}
        return [float(weights.get(name, 1.0)) for name in self.kernels]

    @property
    def _shares(self) -> dict[ColumnName, float]:
        total = sum(self._weights) if self.combine == "mean" else 1.0
        return {name: weight / total for name, weight in zip(self.kernels, self._weights, strict=True)}

    @property
    def _whole(self) -> Sum | Product:
        """The same kernel, by the algebra."""
        if self.combine == "product":
            return Product(tuple(self.parts.values()))
        return Sum(tuple(Scaled(self._shares[name], part) for name, part in self.parts.items()))

    def nested_kernels(self) -> dict[str, Any]:
        return {str(name): kernel for name, kernel in self.kernels.items()}

    def _with_nested(self, fields: dict[str, Any], nested: dict[str, Any]) -> dict[str, Any]:
        if fields["kernels"] is not self.kernels:
            return fields
        return {**fields, "kernels": {name: nested[str(name)] for name in self.kernels}}

    @property
    def is_psd(self) -> bool | None:
        return self._whole.is_psd

    @property
    def is_bound(self) -> bool:
        return all(part.is_bound for part in self.parts.values())

    def bind(self, X: Rows, weights: FloatArray | None = None) -> Self:
        frame = as_frame(X)
        kernels = {name: part.bind(frame, weights) for name, part in self.parts.items()}
        if all(kernels[name] is kernel for name, kernel in self.kernels.items()):
            return self
        return type(self)(kernels, self.weights, self.combine, False, self.missing)

    def prepare(
        self, X: Rows, dtype: DTypeLike = np.float64, *, origin: Array | None = None, check: bool = True
    ) -> Prepared:
        self._require_bound()
        return self._whole.prepare(as_frame(X), dtype)

    def tile(self, left: Prepared, right: Prepared, out: Array, row: int, column: int) -> None:
        self._whole.tile(left, right, out, row, column)

    def diag_of(self, prepared: Prepared) -> FloatArray:
        return self._whole.diag_of(prepared)

    def entry_bound(self, norm_bound: float) -> float:
        return self._whole.entry_bound(norm_bound)

    def entry_error(self, norm_bound: float, dtype: DTypeLike) -> float:
        return self._whole.entry_error(norm_bound, dtype)

    def feature_map(self, X: Rows) -> Features:
        """The features of all columns, side by side; of a product, all their products."""
        return self.bind(X)._whole.feature_map(as_frame(X))

    def feature_names(self, X: Rows, names: Sequence[str] | None = None) -> list[str]:
        return self._whole.feature_names(as_frame(X))

    def terms(self) -> list[tuple[str | None, Kernel]]:
        """One term a column; a product is one term."""
        if self.combine == "product":
            return super().terms()
        return [(str(name), Scaled.of(self._shares[name], part)) for name, part in self.parts.items()]
