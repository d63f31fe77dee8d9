"""Transformers and pipelines of scikit-learn that a model file may hold, by their fitted attributes.

They compute with NumPy, which checks its indices; only the types of their attributes are checked.
"""

from typing import TYPE_CHECKING, Any, cast

from mercer.exchange.model_file import rules
from mercer.exchange.model_file.attributes import ATTRIBUTES
from mercer.exchange.model_file.registry import Kind, add, kind_of
from mercer.exchange.model_file.rules import Refused

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

_INPUT = ("n_features_in_", "feature_names_in_", "_sklearn_output_config", "n_samples_seen_")
_number_array = rules.optional(rules.array("fiu", finite=False))
_arrays = rules.optional(rules.list_of(rules.instance("ndarray")))

_RULES = {
    **ATTRIBUTES,
    "_sklearn_output_config": rules.dict_of,
    "n_samples_seen_": rules.either(rules.number(), rules.array("iuf")),
    **dict.fromkeys(
        ("mean_", "var_", "scale_", "min_", "data_min_", "data_max_", "data_range_", "max_abs_", "center_", "lambdas_",
         "references_", "quantiles_", "variances_", "n_bins_", "components_", "explained_variance_", "features_",
         "explained_variance_ratio_", "singular_values_"),
        _number_array,
    ),
    **dict.fromkeys(("categories_",), _arrays),
    **dict.fromkeys(("bin_edges_", "statistics_"), rules.instance("ndarray")),
    **dict.fromkeys(("drop_idx_", "_drop_idx_after_grouping"), rules.optional(rules.instance("ndarray"))),
    **dict.fromkeys(
        ("_infrequent_enabled", "_precomputed", "sparse_output_", "sparse_input_", "_with_centering"), rules.flag
    ),
    **dict.fromkeys(
        ("_min_degree", "_max_degree", "n_output_features_", "_n_out_full", "n_quantiles_", "_n_features", "n_samples_",
         "n_components_"),
        rules.integer(0),
    ),
    "_n_features_outs": rules.list_of(rules.integer(0)),
    "_infrequent_indices": rules.list_of(rules.anything),
    "_default_to_infrequent_mappings": rules.list_of(rules.anything),
    "_missing_indices": rules.dict_of,
    "_fit_dtype": rules.instance("dtype"),
    "_fill_dtype": rules.instance("dtype"),
    "indicator_": rules.optional(rules.instance("MissingIndicator")),
    "_scaler": rules.instance("StandardScaler"),
    "_encoder": rules.instance("OneHotEncoder"),
    "y_type_": rules.text,
    "noise_variance_": rules.number(finite=False),
    "_fit_svd_solver": rules.text,
    "transformers_": rules.list_of(rules.list_of(rules.anything)),
    "output_indices_": rules.dict_of,
    "_columns": rules.list_of(rules.anything),
    "_transformer_to_input_indices": rules.dict_of,
    "_remainder": rules.list_of(rules.anything),
    "_name_to_fitted_passthrough": rules.dict_of,
}  # fmt: skip


# Attributes that a fitted transformer uses, always or depending on a parameter.
_USES = {
    "StandardScaler": {"mean_": "with_mean", "scale_": "with_std"},
    "MinMaxScaler": {"min_": None, "scale_": None},
    "MaxAbsScaler": {"scale_": None},
    "RobustScaler": {"center_": "with_centering", "scale_": "with_scaling"},
    "PowerTransformer": {"lambdas_": None, "_scaler": "standardize"},
    "QuantileTransformer": {"quantiles_": None, "references_": None},
    "KBinsDiscretizer": {"bin_edges_": None, "n_bins_": None},
    "OneHotEncoder": {"categories_": None},
    "OrdinalEncoder": {"categories_": None},
    "SimpleImputer": {"statistics_": None},
    "VarianceThreshold": {"variances_": None},
    "PCA": {"components_": None, "explained_variance_": None},
}


def _check_uses(transformer: "BaseEstimator") -> None:
    """Check that a fitted transformer has everything it computes with."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(transformer)):
        return
    for name, parameter in cast(dict[str, Any], _USES.get(type(transformer).__name__, {})).items():
        if (parameter is None or getattr(transformer, parameter)) and getattr(transformer, name, None) is None:
            raise Refused(f"must have {name}")


def _check_pipeline(pipeline: "Pipeline") -> None:
    """Check that the steps are pairs of a name and an object of a known class, in working order."""
    steps = pipeline.steps
    if not isinstance(steps, list) or not steps:
        raise Refused("must have a list of steps")
    for place, step in enumerate(steps):
        if not isinstance(step, tuple | list) or len(step) != 2 or not isinstance(step[0], str):
            raise Refused(f"must have a name and an object as step {place}")
        _require_step(step[1], "transform" if place < len(steps) - 1 else None)


def _require_step(step: Any, method: str | None) -> None:
    if step is None or (isinstance(step, str) and step in ("passthrough", "drop")):
        return
    kind = kind_of(step)
    if kind is None or not kind.is_estimator or (method is not None and not hasattr(step, method)):
        raise Refused(f"must have steps that can {method or 'be fitted'}, got a {type(step).__name__}")


def _check_columns(columns: "ColumnTransformer") -> None:
    """Check that each part of a table has a name, a transformer and columns."""
    for part in vars(columns).get("transformers_", ()):
        if len(part) != 3 or not isinstance(part[0], str):
            raise Refused("must have a name, a transformer and columns for each part")
        _require_step(part[1], "transform")


_CHECKS = {"Pipeline": _check_pipeline, "ColumnTransformer": _check_columns}


def transformer(home: str, *state: str) -> None:
    """Register a class of scikit-learn by the names of its fitted attributes."""
    module, _, name = home.partition(":")
    rules_of = {one: _RULES[one] for one in (*_INPUT, *state)}
    check = _CHECKS.get(name, _check_uses)
    kind = Kind(f"sklearn.{name}", f"sklearn.{module}", name, None, rules_of, check=check)
    add(kind, (_private_home(home), name))


def _private_home(home: str) -> str:
    """The module of a class as scikit-learn reports it for an object."""
    return _HOMES[home.partition(":")[2]]


_HOMES = {
    **dict.fromkeys(
        ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "PowerTransformer",
         "QuantileTransformer", "Binarizer"),
        "sklearn.preprocessing._data",
    ),
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder"), "sklearn.preprocessing._encoders"),
    **dict.fromkeys(("LabelEncoder", "LabelBinarizer"), "sklearn.preprocessing._label"),
    **dict.fromkeys(("SimpleImputer", "MissingIndicator"), "sklearn.impute._base"),
    "PolynomialFeatures": "sklearn.preprocessing._polynomial",
    "KBinsDiscretizer": "sklearn.preprocessing._discretization",
    "FunctionTransformer": "sklearn.preprocessing._function_transformer",
    "VarianceThreshold": "sklearn.feature_selection._variance_threshold",
    "PCA": "sklearn.decomposition._pca",
    "ColumnTransformer": "sklearn.compose._column_transformer",
    "Pipeline": "sklearn.pipeline",
}  # fmt: skip

transformer("preprocessing:StandardScaler", "mean_", "var_", "scale_")
transformer("preprocessing:MinMaxScaler", "scale_", "min_", "data_min_", "data_max_", "data_range_")
transformer("preprocessing:MaxAbsScaler", "scale_", "max_abs_")
transformer("preprocessing:RobustScaler", "center_", "scale_")
transformer("preprocessing:Normalizer")
transformer("preprocessing:Binarizer")
transformer("preprocessing:PowerTransformer", "lambdas_", "_scaler")
transformer("preprocessing:QuantileTransformer", "n_quantiles_", "references_", "quantiles_")
transformer("preprocessing:PolynomialFeatures", "_min_degree", "_max_degree", "n_output_features_", "_n_out_full")
transformer("preprocessing:KBinsDiscretizer", "bin_edges_", "n_bins_", "_encoder")
transformer("preprocessing:FunctionTransformer")
transformer(
    "preprocessing:OneHotEncoder", "categories_", "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs",
    "_infrequent_enabled", "_infrequent_indices", "_default_to_infrequent_mappings",
)  # fmt: skip
transformer(
    "preprocessing:OrdinalEncoder", "categories_", "_missing_indices", "_infrequent_enabled", "_infrequent_indices",
    "_default_to_infrequent_mappings",
)  # fmt: skip
transformer("preprocessing:LabelEncoder", "classes_")
transformer("preprocessing:LabelBinarizer", "classes_", "y_type_", "sparse_input_")
transformer("impute:SimpleImputer", "statistics_", "indicator_", "_fit_dtype", "_fill_dtype")
transformer("impute:MissingIndicator", "features_", "_precomputed", "_n_features")
transformer("feature_selection:VarianceThreshold", "variances_")
transformer(
    "decomposition:PCA", "mean_", "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
    "noise_variance_", "n_samples_", "n_components_", "_fit_svd_solver",
)  # fmt: skip
transformer(
    "compose:ColumnTransformer", "transformers_", "output_indices_", "sparse_output_", "_columns", "_remainder",
    "_transformer_to_input_indices", "_n_features", "_name_to_fitted_passthrough",
)  # fmt: skip
transformer("pipeline:Pipeline")
