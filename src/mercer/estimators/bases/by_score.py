"""Classifiers that predict by their scores, and the scores of linear ones."""

import numpy as np
from scipy import sparse

from mercer._errors import DataError


class PredictsByScore:
    """`predict` for what has a `decision_function`: the sign of one score, or the largest of several."""

    def predict(self, X):
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


def linear_scores(X, weights, intercepts):
    """<w, x> + b for each row and each problem, dense whatever X and the weights are."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = X @ weights.T
        scores = (products.toarray() if sparse.issparse(products) else np.asarray(products)) + intercepts
    if not np.isfinite(scores).all():
        raise DataError("the decision function overflows on X; scale it as the training data were")
    return scores
