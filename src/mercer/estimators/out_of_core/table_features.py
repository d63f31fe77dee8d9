"""Columns of a table as features of a linear machine: numbers to one scale, a feature a label, gaps filled."""

import warnings
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError
from mercer._types import Array, FloatArray, IndexArray
from mercer.estimators.fitting.parameters import require_choice, require_count, require_flag
from mercer.estimators.out_of_core.column_summary import ColumnSummary, Values, values_of, values_of_column
from mercer.estimators.out_of_core.feature_columns import FeatureColumn, LabelColumn, NumberColumn, Where
from mercer.io.blocks.blocks import Blocks
from mercer.io.blocks.stack import Room, Stack
from mercer.kernels.table.frame import as_frame

# Rows of more features than this are kept sparse, if at most this share of them is non-zero.
WIDE, SPARSE = 256, 0.1


class TableFeatures(BaseEstimator):
    """Turns the columns of a table into features of a linear machine, learnt in one pass over blocks.

    A column of numbers becomes one feature with mean 0 and standard deviation 1; dates count as numbers of days. A
    column of texts becomes one feature for each label. A missing number is replaced by the mean, and a further feature
    records that it was missing; a missing label gets a feature of its own. Rare labels share a feature. A label that
    did not occur in the fit counts as rare; if there were no rare ones, all features of its column are 0. The same goes
    for a value that is missing in a column where none was missing in the fit.

    Parameters
    ----------
    scale : bool, default=True
        Whether numbers are brought to a common scale.
    rare : int, default=10
        Labels that occur in fewer rows share a feature.
    most_labels : int, default=1000
        Largest number of labels of a column that have a feature each, the most frequent ones; the others count as rare.
    missing : {"impute", "refuse"}, default="impute"
        How to treat a missing value: fill it as above, or raise an error that names its block, row and column.

    Attributes
    ----------
    columns_ : list of NumberColumn and LabelColumn
        How each column becomes features.
    is_sparse_ : bool
        Whether features come as CSR matrices.
    n_features_out_ : int
        Number of features.
    text_columns_ : list of str
        The columns that hold labels.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of these columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from mercer import TableFeatures
    >>> table = pa.table({"age": [31.0, None, 35.0], "town": ["Ulm", "Ulm", "Bonn"]})
    >>> found = TableFeatures(rare=1).fit(table)
    >>> found.get_feature_names_out().tolist()
    ['age', 'age is missing', 'town = Ulm', 'town = Bonn']
    >>> found.transform(table)
    array([[-1.,  0.,  1.,  0.],
           [ 0.,  1.,  1.,  0.],
           [ 1.,  0.,  0.,  1.]])
    """

    def __init__(self, *, scale: bool = True, rare: int = 10, most_labels: int = 1000, missing: str = "impute") -> None:
        self.scale = scale
        self.rare = rare
        self.most_labels = most_labels
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features from the contents of the columns.

        Parameters
        ----------
        X : Blocks of a table, or a table
        y : ignored

        Returns
        -------
        self
        """
        from mercer.estimators.out_of_core.first_pass import first_pass

        self.check_parameters()
        if isinstance(X, Blocks):
            self.learn(first_pass(X, with_targets=False).columns, X)
            return self
        frame = as_frame(X)
        names = [str(name) for name in frame.names]
        columns = [values_of_column(frame.column(name)) for name in frame.names]
        self.learn({name: ColumnSummary.of(each, 0) for name, each in zip(names, columns, strict=True)})
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, and then `transform`."""
        return self.fit(X, y).transform(X)

    def check_parameters(self) -> None:
        """Refuse parameters that `fit` cannot use."""
        require_flag("scale", self.scale)
        require_count("rare", self.rare)
        require_count("most_labels", self.most_labels)
        require_choice("missing", self.missing, ("impute", "refuse"))

    def learn(self, summaries: dict[str, ColumnSummary], blocks: Blocks | None = None) -> None:
        """Decide on the features, from the contents of all blocks; `blocks` locate missing values in errors."""
        for name, summary in summaries.items():
            if self.missing == "refuse" and summary.missing:
                raise _missing(name, blocks)
        self.columns_ = [self._column(name, summary) for name, summary in summaries.items()]
        self.feature_names_in_ = np.array(list(summaries), dtype=object)
        self.n_features_in_ = len(self.columns_)
        width = len(self.get_feature_names_out())
        if not width:
            raise DataError("no column has anything to learn from: numbers, dates, or labels that several rows share")
        filled = sum(1 if isinstance(column, LabelColumn) else len(column.features) for column in self.columns_)
        self.is_sparse_ = width > WIDE and filled < SPARSE * width

    def _column(self, name: str, summary: ColumnSummary) -> FeatureColumn:
        if "text" not in summary.kinds:
            mean, deviation = (summary.mean, summary.deviation) if self.scale else (0.0, 1.0)
            # A gap is filled with the mean, scaled or not.
            return NumberColumn(name, mean, deviation, summary.mean, bool(summary.missing))
        ranked = sorted(summary.labels.items(), key=lambda each: (-each[1], each[0]))
        kept = [label for label, count in ranked[: self.most_labels] if count >= self.rare]
        if not kept:
            warnings.warn(
                f"column {name!r} is left out: it has {len(ranked):,} different texts, none of them in as many as "
                f"rare={self.rare} rows. A kernel of texts could learn from it (see SVC)",
                UserWarning, stacklevel=2,
            )  # fmt: skip
            return LabelColumn(name, (), False, False)
        has_rare = len(kept) < len(ranked) or summary.forgotten > 0
        return LabelColumn(name, tuple(kept), has_rare, bool(summary.missing))

    @property
    def n_features_out_(self) -> int:
        """Number of features."""
        return sum(len(column.features) for column in self.columns_)

    @property
    def text_columns_(self) -> list[str]:
        """The columns that hold labels."""
        return [column.name for column in self.columns_ if isinstance(column, LabelColumn)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the features."""
        check_is_fitted(self)
        return np.array([name for column in self.columns_ for name in column.features], dtype=object)

    def transform(self, X: Any) -> Any:
        """The features of the rows of a table: an array or CSR matrix, or `Blocks` of them for `Blocks`.

        Parameters
        ----------
        X : table, array with the same columns, or Blocks of a table

        Returns
        -------
        ndarray or CSR matrix of shape (n, n_features), or Blocks
        """
        check_is_fitted(self)
        if isinstance(X, Blocks):
            return X.with_text(self.text_columns_).mapped(self)
        frame = as_frame(X)
        by_name = all(isinstance(name, str) for name in frame.names)
        if not by_name and len(frame.names) != self.n_features_in_:
            raise DataError(f"X must have {self.n_features_in_} columns, got {len(frame.names)}")
        read = (frame.column(column.name if by_name else k) for k, column in enumerate(self.columns_))
        values = (values_of_column(each, column.kind) for each, column in zip(read, self.columns_, strict=True))
        return self._features(values, len(frame), np.float64, lambda row=0: f"row {row}")

    def of_block(self, blocks: Blocks, i: int, dtype: DTypeLike, room: Room | None = None) -> Any:
        """The features of block i, read column by column; a DataError names block, row and column."""
        read = blocks.columns(i, [column.name for column in self.columns_])
        pairs = zip(read, self.columns_, strict=True)
        values = (values_of(name, array, column.kind) for (name, array), column in pairs)
        return self._features(values, blocks.sizes[i], dtype, lambda row=0: blocks.place(i, row), room)

    def _features(
        self, values: Iterable[Values], n: int, dtype: DTypeLike, where: Where, room: Room | None = None
    ) -> Any:
        """Features of n rows, from the values of each column in turn."""
        is_filled = all(isinstance(column, NumberColumn) and not column.has_missing for column in self.columns_)
        made, at = (SparseRows if self.is_sparse_ else Stack)(n, self.n_features_out_, dtype, room, is_filled), 0
        for column, found in zip(self.columns_, values, strict=True):
            if self.missing == "refuse" and found.missing.any():
                raise _no_value(where(int(np.flatnonzero(found.missing)[0])), column.name)
            column.fill(found, made, at, where)
            at += len(column.features)
        return made.finished()


class SparseRows:
    """Features as a CSR matrix under construction: the counterpart of `Stack`."""

    def __init__(self, n: int, width: int, dtype: DTypeLike, *_others: Any) -> None:
        self._shape, self._dtype = (n, width), dtype
        self._parts: list[tuple[Array, Array, FloatArray]] = []

    def column(self, at: int) -> FloatArray:
        """The destination of a column's values."""
        values = np.empty(self._shape[0])
        self.put(np.arange(self._shape[0]), at, values)
        return values

    def put(self, rows: IndexArray, at: IndexArray | int, values: FloatArray) -> None:
        """Single values."""
        self._parts.append((rows, np.broadcast_to(at, rows.shape), values))

    def finished(self) -> sparse.csr_matrix:
        """The matrix."""
        rows, features, values = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        return sparse.csr_matrix((values.astype(self._dtype), (rows, features)), shape=self._shape)


def _missing(name: str, blocks: Blocks | None) -> DataError:
    """The error that names the first row with a missing value."""
    if blocks is None:
        return _no_value("the table", name)
    for i in range(len(blocks)):
        [(_, array)] = blocks.columns(i, [name])
        gone = values_of(name, array, "text" if name in blocks.text else None).missing
        if gone.any():
            return _no_value(blocks.place(i, int(np.flatnonzero(gone)[0])), name)
    return _no_value("a block", name)


def _no_value(where: str, name: str) -> DataError:
    return DataError(
        f"{where}, column {name!r}: there is no value, and missing='refuse'; drop the row, or set missing='impute'"
    )
