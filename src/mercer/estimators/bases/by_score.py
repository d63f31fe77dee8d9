"""Classifiers that predict by their scores, and the scores of linear ones."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError
from mercer._types import Array, FloatArray, Rows


class PredictsByScore:
    """`predict` from a `decision_function`: the sign of one score, or the largest of several."""

    if TYPE_CHECKING:
        # Attributes of the classifier this is mixed into.
        classes_: Array

        def decision_function(self, X: Rows) -> FloatArray: ...

    def predict(self, X: Rows) -> Array:
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or whatever `decision_function` takes

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[places]


def linear_scores(X: Rows, weights: Any, intercepts: FloatArray) -> FloatArray:
    """<w, x> + b for each row and each problem, as a dense array."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = X @ weights.T
        scores = (products.toarray() if sparse.issparse(products) else np.asarray(products)) + intercepts
    if not np.isfinite(scores).all():
        raise DataError("the decision function overflows on X; scale X as the training data were scaled")
    return scores
