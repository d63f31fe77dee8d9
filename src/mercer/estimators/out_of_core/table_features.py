"""Columns of a table as features of a linear machine: numbers to one scale, a feature a label, missing values filled."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
from mercer.io.blocks.blocks import Blocks
from mercer.kernels.table.frame import as_frame

# Features beyond which rows are kept sparse, if so small a share of them is not zero.
WIDE, SPARSE = 256, 0.1


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers (or of dates, as days): what is subtracted, what divides, and what is put where one is missing."""

    name: str
    kind: str
    mean: float
    deviation: float
    filling: float
    has_missing: bool

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [self.name, *([f"{self.name} is missing"] if self.has_missing else [])]


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels: those that have a feature, and whether rare ones share one and missing ones have one."""

    name: str
    labels: tuple[str, ...]
    has_rare: bool
    has_missing: bool

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        names = [f"{self.name} = {label}" for label in self.labels]
        names += [f"{self.name} is rare"] if self.has_rare else []
        return names + ([f"{self.name} is missing"] if self.has_missing else [])

    def places(self, labels: Sequence[str | None]) -> IndexArray:
        """The feature of each label, -1 for none."""
        known: dict[str | None, int] = {label: place for place, label in enumerate(self.labels)}
        n = len(self.labels)
        known[None] = n + self.has_rare if self.has_missing else -1
        unknown = n if self.has_rare else -1
        return np.fromiter((known.get(label, unknown) for label in labels), np.int64, len(labels))


class TableFeatures(BaseEstimator):
    """Turns the columns of a table into features of a linear machine, learnt in one pass over blocks.

    A column of numbers is one feature, brought to mean 0 and deviation 1; dates are numbers of days. A column of texts
    is one feature for each label. A missing number is taken for the mean, and a further feature says that it was
    missing; a missing label has a feature of its own. Labels that too few rows have share a feature, and one that was
    never met counts as one of them; where there were none, all features of its column are 0. So is what is missing
    later and never was in the fit: neutral.

    Parameters
    ----------
    scale : bool, default=True
        Whether numbers are brought to one scale.
    rare : int, default=10
        Labels of fewer rows share a feature.
    most_labels : int, default=1000
        Labels of a column that have a feature each, the most frequent; the others are rare.
    missing : {"impute", "refuse"}, default="impute"
        What a missing value is: filled as above, or an error that names its block, row and column.

    Attributes
    ----------
    columns_ : list of NumberColumn and LabelColumn
    is_sparse_ : bool
        Whether features come as CSR matrices.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

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

    def __init__(
        self, *, scale: bool = True, rare: int = 10, most_labels: int = 1000, missing: str = "impute"
    ) -> None:
        self.scale = scale
        self.rare = rare
        self.most_labels = most_labels
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns hold.

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
        """Refuse what `fit` could not use."""
        require_flag("scale", self.scale)
        require_count("rare", self.rare)
        require_count("most_labels", self.most_labels)
        require_choice("missing", self.missing, ("impute", "refuse"))

    def learn(self, summaries: dict[str, ColumnSummary], blocks: Blocks | None = None) -> None:
        """Decide on the features, by what all blocks together hold; `blocks` know where a value was missing."""
        for name, summary in summaries.items():
            if self.missing == "refuse" and summary.missing:
                raise _missing(name, blocks)
        self.columns_ = [self._column(name, summary) for name, summary in summaries.items()]
        self.feature_names_in_ = np.array(list(summaries), dtype=object)
        self.n_features_in_ = len(self.columns_)
        width = len(self.get_feature_names_out())
        if not width:
            raise DataError("no column has anything to learn from: numbers, dates, or labels that several rows have")
        filled = sum(1 if isinstance(column, LabelColumn) else len(column.features) for column in self.columns_)
        self.is_sparse_ = width > WIDE and filled < SPARSE * width

    def _column(self, name: str, summary: ColumnSummary) -> "NumberColumn | LabelColumn":
        if "text" not in summary.kinds:
            kind = next(iter(summary.kinds), "number")
            mean, deviation = (summary.mean, summary.deviation) if self.scale else (0.0, 1.0)
            # What fills a gap is the mean, scaled or not.
            return NumberColumn(name, kind, mean, deviation, summary.mean, bool(summary.missing))
        ranked = sorted(summary.labels.items(), key=lambda each: (-each[1], each[0]))
        kept = [label for label, count in ranked[: self.most_labels] if count >= self.rare]
        if not kept:
            warnings.warn(
                f"column {name!r} is left out: it has {len(ranked):,} different texts, none of them in as many as "
                f"rare={self.rare} rows. A kernel of texts could make something of it (SVC)",
                UserWarning, stacklevel=2,
            )  # fmt: skip
            return LabelColumn(name, (), False, False)
        has_rare = len(kept) < len(ranked) or summary.forgotten > 0
        return LabelColumn(name, tuple(kept), has_rare, bool(summary.missing))

    @property
    def n_features_out(self) -> int:
        """Features of a row."""
        return sum(len(column.features) for column in self.columns_)

    @property
    def has_sparse_rows(self) -> bool:
        """Whether features come as CSR matrices."""
        return bool(self.is_sparse_)

    @property
    def text_columns(self) -> list[str]:
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
            return X.with_text(self.text_columns).mapped(self)
        frame = as_frame(X)
        if len(frame.names) != self.n_features_in_ and not all(isinstance(name, str) for name in frame.names):
            raise DataError(f"X must have {self.n_features_in_} columns, got {len(frame.names)}")
        by_name = all(isinstance(name, str) for name in frame.names)
        read = (frame.column(column.name if by_name else k) for k, column in enumerate(self.columns_))
        return self._features((values_of_column(each, column_kind(column)) for each, column in
                               zip(read, self.columns_, strict=True)), len(frame), np.float64, None)  # fmt: skip

    def of_block(self, blocks: Blocks, i: int, dtype: DTypeLike) -> Any:
        """The features of block i, read column by column; a DataError names block and column."""
        names = [column.name for column in self.columns_]
        read = blocks.columns(i, names)
        values = (values_of(name, array, column_kind(column)) for (name, array), column in
                  zip(read, self.columns_, strict=True))  # fmt: skip
        return self._features(values, blocks.sizes[i], dtype, lambda row=None: blocks.place(i, row))

    def _features(
        self, values: Iterable[Values], n: int, dtype: DTypeLike, place: Callable[..., str] | None
    ) -> "FloatArray | sparse.csr_matrix":
        """Features of n rows, from the values of each column in turn."""
        width, at = self.n_features_out, 0
        dense = None if self.is_sparse_ else np.zeros((n, width), dtype)
        parts: list[tuple[Array, Array, Array]] = []
        for column, found in zip(self.columns_, values, strict=True):
            self._require_sound(column, found, place)
            for rows, features, entries in _entries(column, found):
                if dense is not None:
                    dense[rows, at + features] = entries
                else:
                    parts.append((np.arange(n)[rows], np.broadcast_to(at + features, np.shape(np.arange(n)[rows])), entries))
            at += len(column.features)
        if dense is not None:
            return dense
        rows, features, entries = (np.concatenate([np.asarray(part[k]) for part in parts]) for k in range(3))
        return sparse.csr_matrix((entries.astype(dtype), (rows, features)), shape=(n, width))

    def _require_sound(self, column: "NumberColumn | LabelColumn", found: Values, place: Callable[..., str] | None) -> None:
        where = "" if place is None else f"{place()}, "
        if isinstance(column, NumberColumn):
            if found.numbers is None and any(label is not None for label in found.labels or ()):
                shown = next(label for label in found.labels or () if label is not None)
                raise DataError(f"{where}column {column.name!r}: numbers were expected, got texts such as {shown!r}")
            if found.numbers is not None and np.isinf(found.numbers).any():
                row = int(np.flatnonzero(np.isinf(found.numbers))[0])
                where = f"row {row}" if place is None else place(row)
                raise DataError(f"{where}, column {column.name!r}: a finite number was expected, got {found.numbers[row]}")
        if self.missing == "refuse" and found.missing.any():
            row = int(np.flatnonzero(found.missing)[0])
            where = f"row {row}" if place is None else place(row)
            raise DataError(f"{where}, column {column.name!r}: there is no value, and missing='refuse'")


def column_kind(column: "NumberColumn | LabelColumn") -> str | None:
    """"text" where values are labels whatever they look like."""
    return "text" if isinstance(column, LabelColumn) else None


def _entries(column: "NumberColumn | LabelColumn", found: Values) -> "Iterable[tuple[Any, Any, FloatArray]]":
    """(rows, features within the column, values) that are not 0."""
    if isinstance(column, LabelColumn):
        places = column.places(found.labels or [])
        rows = np.flatnonzero(places >= 0)
        yield rows, places[rows], np.ones(len(rows))
        return
    numbers = found.numbers if found.numbers is not None else np.full(len(found.labels or ()), np.nan)
    missing = np.isnan(numbers)
    scaled = (numbers - column.mean) * (1.0 / column.deviation)
    if missing.any():
        scaled[missing] = (column.filling - column.mean) / column.deviation
        if column.has_missing:
            rows = np.flatnonzero(missing)
            yield rows, np.int64(1), np.ones(len(rows))
    yield slice(None), np.int64(0), scaled


def _missing(name: str, blocks: Blocks | None) -> DataError:
    """The error that names the first row without a value."""
    for i in range(0 if blocks is None else len(blocks)):
        [(_, array)] = blocks.columns(i, [name])
        gone = values_of(name, array, "text" if name in blocks.text else None).missing
        if gone.any():
            place = blocks.place(i, int(np.flatnonzero(gone)[0]))
            return DataError(f"{place}, column {name!r}: there is no value, and missing='refuse'; leave the row out")
    return DataError(f"column {name!r} has rows without a value, and missing='refuse'; leave them out")
