"""The functions of a linear smoother without each of its rows, all at once.

Without row i, least squares (with a penalty or without) finds the function that it finds where the target of row i is
what that function predicts there: the row then adds nothing to the loss. So all n functions are one fit to n targets,
with one factor, once the n predictions are known (Allen 1974; Golub, Heath & Wahba 1979).
"""

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.plan import fit_without_report

# A row with leverage this close to one is fitted whatever its target, so its residual is uninformative.
_FITTED = 1e-8


def alone(model: Any, **parameters: Any) -> Any:
    """An unfitted copy of the machine, without callbacks, bounded by the fit that it is part of."""
    quiet = {"conformal": None, "callbacks": None, "time_limit": None, "verbose": False}
    return clone(model).set_params(**{**quiet, **parameters})


def of_ridge(model: Any, X: Rows, y: FloatArray) -> tuple[Any, FloatArray]:
    """(`KernelRidge` with n functions, the leave-one-out prediction of each row), with the alpha found."""
    one = alone(model, alpha=model.alpha_, alphas=None, leave_one_out=True)
    fit_without_report(one, X, y, None)
    functions = alone(one, leave_one_out=False)
    fit_without_report(functions, X, _targets(y, one.loo_.predictions), None)
    return functions, one.loo_.predictions


def of_least_squares(model: Any, X: Rows, y: FloatArray) -> tuple[Any, FloatArray]:
    """The same for `KernelLeastSquares`."""
    functions = alone(model)
    fit_without_report(functions, X, np.eye(len(y)), None)
    inverse, leverage = functions.dual_coef_.diagonal(), functions.predict(X).diagonal()
    residuals, is_fitted = y - model.predict(X).ravel(), 1.0 - leverage < _FITTED
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(is_fitted, model.dual_coef_.ravel() / inverse, residuals / (1.0 - leverage))
    fit_without_report(functions, X, _targets(y, y - errors), None)
    return functions, y - errors


def _targets(y: FloatArray, predictions: FloatArray) -> FloatArray:
    """y in every column, with the held-out row's target replaced by its prediction, if that is known."""
    targets = np.repeat(y[:, None], len(y), axis=1)
    np.fill_diagonal(targets, np.where(np.isfinite(predictions), predictions, y))
    return targets


LEFT_OUT = {"KernelRidge": of_ridge, "KernelLeastSquares": of_least_squares}
