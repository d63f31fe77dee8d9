"""Steps of a pipeline as ONNX operators: scikit-learn's scalers, selectors and projections."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.onnx.graph import Tensor


def step(transformer: Any, x: "Tensor") -> "Tensor":
    """The output of a fitted transformer for x, a tensor of rows."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return x
    if isinstance(transformer, SelectorMixin):
        return x.columns(np.flatnonzero(transformer.get_support()))
    rule = None
    if type(transformer).__module__.startswith("sklearn."):
        rule = _RULES.get(type(transformer).__name__)
    if rule is None:
        raise ParameterError(
            f"{type(transformer).__name__} cannot be exported; steps that can are {', '.join(_RULES)}, selectors of "
            "columns, and Mercer's KernelPCA and KernelSVD"
        )
    check_is_fitted(transformer)
    return rule(transformer, x)


def _standard(scaler: "BaseEstimator", x: "Tensor") -> "Tensor":
    x = x - scaler.mean_ if scaler.with_mean else x
    return x / scaler.scale_ if scaler.with_std else x


def _min_max(scaler: "BaseEstimator", x: "Tensor") -> "Tensor":
    x = x * scaler.scale_ + scaler.min_
    return x.clip(*map(float, scaler.feature_range)) if scaler.clip else x


def _max_abs(scaler: "BaseEstimator", x: "Tensor") -> "Tensor":
    x = x / scaler.scale_
    return x.clip(-1.0, 1.0) if getattr(scaler, "clip", False) else x


def _robust(scaler: "BaseEstimator", x: "Tensor") -> "Tensor":
    x = x - scaler.center_ if scaler.with_centering else x
    return x / scaler.scale_ if scaler.with_scaling else x


def _normalizer(normalizer: "BaseEstimator", x: "Tensor") -> "Tensor":
    lengths = {
        "l2": lambda: (x * x).sum(1).sqrt(),
        "l1": lambda: x.abs().sum(1),
        "max": lambda: x.abs().largest(1),
    }[normalizer.norm]()
    return x / lengths.where_above_zero(1.0)


def _imputer(imputer: "BaseEstimator", x: "Tensor") -> "Tensor":
    if imputer.add_indicator or not np.isnan(np.asarray(imputer.missing_values, dtype=np.float64)):
        raise ParameterError("SimpleImputer can be exported with missing_values=nan and add_indicator=False only")
    kept = np.flatnonzero(~np.isnan(imputer.statistics_))
    x = x.columns(kept)
    return x.graph.call("Where", x.graph.call("IsNaN", x), imputer.statistics_[kept], x)


def _pca(pca: "BaseEstimator", x: "Tensor") -> "Tensor":
    x = (x - pca.mean_) @ np.ascontiguousarray(pca.components_.T)
    return x / np.sqrt(pca.explained_variance_) if pca.whiten else x


def _svd(svd: "BaseEstimator", x: "Tensor") -> "Tensor":
    return x @ np.ascontiguousarray(svd.components_.T)


_RULES = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
    "Normalizer": _normalizer,
    "SimpleImputer": _imputer,
    "PCA": _pca,
    "TruncatedSVD": _svd,
}
