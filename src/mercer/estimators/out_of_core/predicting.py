"""Predictions of a fitted machine for `Blocks`: an array for each block, and scores over all of them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError
from mercer._types import Array
from mercer.estimators.out_of_core.given import are_blocks, require_alone

if TYPE_CHECKING:
    from mercer.io.blocks.blocks import Blocks


class PredictsBlocks:
    """Predictions for `Blocks`: one array per block."""

    if TYPE_CHECKING:
        # Attributes of the estimator this is mixed into.
        n_features_in_: int

        def predict(self, X: Any) -> Array: ...

    def predict_blocks(self, blocks: "Blocks") -> Iterator[Array]:
        """The predictions of each block, as it is read: memory is bounded by a block.

        Parameters
        ----------
        blocks : Blocks
            With the columns of the fit.

        Yields
        ------
        ndarray of shape (rows of the block,)
        """
        return (self.predict(rows) for rows in rows_of(self, blocks))


class ClassifiesBlocks(PredictsBlocks):
    """The same for a classifier, with its accuracy; precedes `ClassifierMixin`."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose label is predicted.

        Parameters
        ----------
        X : as `predict` takes it, or Blocks
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        if not are_blocks(X):
            return float(cast(Any, super()).score(X, y, sample_weight))
        require_alone(y, sample_weight)
        right, total = _right_and_total(self, X)
        return right / total


class RegressesBlocks(PredictsBlocks):
    """The same for a regression, with its R^2; precedes `RegressorMixin`."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R^2 of the predictions.

        Parameters
        ----------
        X : as `predict` takes it, or Blocks
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        if not are_blocks(X):
            return float(cast(Any, super()).score(X, y, sample_weight))
        require_alone(y, sample_weight)
        return _determination(self, X)


def with_columns_of_fit(model: Any, blocks: "Blocks") -> "Blocks":
    """The blocks with the columns that the model has learnt from."""
    names = getattr(model, "feature_names_in_", None)
    chosen = blocks.with_columns(list(names)) if names is not None and blocks.is_table else blocks
    if chosen.n_columns != model.n_features_in_:
        raise DataError(
            f"the blocks have {chosen.n_columns} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input"
        )
    return chosen


def rows_of(model: Any, blocks: "Blocks") -> Iterator[Any]:
    """The rows of each block, as the model takes them."""
    # Imported here: without blocks, tables are not needed.
    from mercer.kernels.table.column_frame import ColumnFrame

    check_is_fitted(model)
    names, chosen = getattr(model, "feature_names_in_", None), with_columns_of_fit(model, blocks)
    for i in range(len(chosen)):
        rows = chosen.matrix(i)
        # By name, if the fit knew names.
        yield rows if names is None else ColumnFrame({str(name): rows[:, k] for k, name in enumerate(names)})


def _right_and_total(model: Any, blocks: "Blocks") -> tuple[float, float]:
    """(weight of the rows whose label is predicted, weight of all)."""
    right = total = 0.0
    for (y, weights), predicted in zip(_targets(blocks), model.predict_blocks(blocks), strict=True):
        truth = y.astype(str) if model.classes_.dtype.kind in "UO" and y.dtype.kind != "U" else y
        is_right = (predicted == truth).astype(np.float64)
        right += float(is_right.sum() if weights is None else is_right @ weights)
        total += float(len(y) if weights is None else weights.sum())
    return right, total


def _determination(model: Any, blocks: "Blocks") -> float:
    """R^2: 1 minus the share of the targets' variance left by the predictions."""
    from mercer.estimators.out_of_core.column_summary import ColumnSummary

    errors, spread = 0.0, ColumnSummary()
    for (y, weights), predicted in zip(_targets(blocks), model.predict_blocks(blocks), strict=True):
        each = np.ones(len(y)) if weights is None else weights
        errors += float(each @ (predicted - y) ** 2)
        total = float(each.sum())
        mean = float(each @ y) / max(total, 1e-300)
        spread.add(ColumnSummary({}, total, 0, mean, float(each @ (y - mean) ** 2)))
    return 1.0 - errors / spread.squares if spread.squares > 0 else float(errors == 0.0)


def _targets(blocks: "Blocks") -> Iterator[tuple[Any, Any]]:
    if not blocks.has_targets:
        raise DataError("the blocks have no target to compare with; name it: Blocks(..., target=...)")
    return (blocks.targets(i) for i in range(len(blocks)))
