"""Estimators that learn where most of the data are, and answer +1 inside and -1 outside."""

from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from mercer._types import Array, ArrayLike, FloatArray, Rows
from mercer.estimators.bases.one_function import OneFunctionModel
from mercer.estimators.fitting.auto_strength import choose_kernel
from mercer.estimators.fitting.inputs import unlabeled_input


class Detector(OutlierMixin, OneFunctionModel):
    """The common part of a half-space and a ball around most of the data."""

    # Whether the kernel may be "auto".
    _chooses_kernel = True

    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn where the rows of X are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How many rows each counts for; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, None, sample_weight)

    def _checked(self, X: Rows, y: None, sample_weight: ArrayLike | None) -> tuple[Rows, None]:
        choose_kernel(self, X)
        return unlabeled_input(self, X), None

    def predict(self, X: Rows) -> Array:
        """+1 for each row that is inside, -1 for each that is not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def decision_function(self, X: Rows) -> FloatArray:
        """The scores less their offset: positive inside, 0 at the border, negative outside.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_samples(X) - self.offset_
