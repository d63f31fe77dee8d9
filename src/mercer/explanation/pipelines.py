"""Explanations of pipelines: the model's contributions, credited to the columns that went in.

The last step sees the output of the steps before it. If each output comes from one
column of the input (scalers, imputers, selections, one-hot codes, a ColumnTransformer of these), the contributions of
outputs are added up by column, and the sum is still the decision value. An output made from
several columns (principal components) or from a text (its words) keeps the name that its step gives it.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer.explanation.columns import ANY_ROW
from mercer.explanation.explanation import Contributions

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline


def transformed(pipeline: "Pipeline", x: Any) -> tuple[Any, list[str] | None, list[str] | None]:
    """(the one item after all steps but the last, the names of its features, where each comes from).

    The last is a list of input names, one for each feature, or None if there is no such column; both
    are None if the steps pass items that are not rows of numbers.
    """
    steps = pipeline[:-1]
    if not steps.steps:
        return x, None, None
    after = steps.transform(_batch(x, pipeline))
    if getattr(after, "ndim", 1) != 2:
        return after[0], None, None
    given = _input_names(steps)
    origins = None if given is None else _origins(steps, list(given))
    return after, _output_names(steps, after.shape[1], origins), origins


def by_input(
    table: Contributions | None, names: Sequence[str] | None, origins: Sequence[str] | None
) -> Contributions | None:
    """Contributions of the features called `names`, added up by the input columns they come from."""
    if table is None or origins is None or not {*table.names} - {ANY_ROW} <= set(cast(Sequence[str], names)):
        return table
    source = {ANY_ROW: ANY_ROW, **dict(zip(cast(Sequence[str], names), origins, strict=True))}
    found = list(dict.fromkeys(source[name] for name in table.names))
    values = np.zeros((len(table.values), len(found)))
    for k, name in enumerate(table.names):
        values[:, found.index(source[name])] += table.values[:, k]
    return Contributions(table.kind, found, values)


def _batch(x: Any, pipeline: "Pipeline") -> Any:
    """A batch of the one item, as the first step takes it."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", 2) == 1:
        return x.to_frame().T.infer_objects()
    if getattr(x, "ndim", 1) == 2 or hasattr(x, "columns"):
        return x
    if isinstance(x, dict) and hasattr(pipeline, "feature_names_in_"):
        # A pipeline fitted to named columns implies pandas.
        return import_module("pandas").DataFrame([x])
    return [x]


def _input_names(steps: "Pipeline") -> list[str] | None:
    if hasattr(steps, "feature_names_in_"):
        return [str(name) for name in steps.feature_names_in_]
    count = getattr(steps, "n_features_in_", None)
    return None if count is None else [f"x{k}" for k in range(count)]


def _output_names(steps: "Pipeline", count: int, origins: Sequence[str] | None) -> list[str]:
    try:
        names = [str(name) for name in steps.get_feature_names_out()]
    except (AttributeError, ValueError):
        if origins is None or len(set(origins)) != count:
            raise ParameterError(
                f"the steps {', '.join(name for name, _ in steps.steps)} do not name what they make of the input; "
                "explain the last step in terms of that: mercer.explain(pipeline[-1], pipeline[:-1].transform([x]))"
            ) from None
        names = list(origins)
    return names if len(set(names)) == len(names) else [f"{name} ({k})" for k, name in enumerate(names)]


def _origins(step: Any, names: list[str] | None) -> list[str] | None:
    """The input that each output of a fitted step comes from, or None if an output has several."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return names
    if hasattr(step, "steps"):
        for _, inner in step.steps:
            names = None if names is None else _origins(inner, names)
        return names
    if hasattr(step, "output_indices_"):
        return _of_columns(step, cast(list[str], names))
    if hasattr(step, "categories_") and hasattr(step, "drop_idx_"):
        return _of_codes(step, cast(list[str], names))
    return _of_kept(step, cast(list[str], names))


def _of_kept(step: "BaseEstimator", names: list[str]) -> list[str] | None:
    """Steps that return some of their inputs, changed: scalers, imputers, selections."""
    from sklearn.base import OneToOneFeatureMixin

    if isinstance(step, OneToOneFeatureMixin):
        return names
    # A step may refuse unknown columns; any names it makes up are not among them.
    asked = np.array([f"column {k}" for k in range(len(names))], dtype=object)
    if hasattr(step, "feature_names_in_"):
        asked = np.asarray(step.feature_names_in_, dtype=object)
    try:
        answered = step.get_feature_names_out(asked)
    except (AttributeError, ValueError, TypeError):
        return None
    places = {str(name): place for place, name in enumerate(asked)}
    kept = [places.get(str(name)) for name in answered]
    return None if None in kept else [names[cast(int, place)] for place in kept]


def _of_codes(step: "BaseEstimator", names: list[str]) -> list[str] | None:
    """One-hot codes: a column for each category that is not dropped, with the infrequent ones together."""
    origins = []
    infrequent = getattr(step, "infrequent_categories_", None) or [None] * len(names)
    dropped = [None] * len(names) if step.drop_idx_ is None else step.drop_idx_
    for name, categories, rare, drop in zip(names, step.categories_, infrequent, dropped, strict=True):
        count = len(categories) - (drop is not None) - (0 if rare is None else len(rare) - 1)
        origins += [name] * count
    return origins if len(origins) == len(step.get_feature_names_out()) else None


def _of_columns(step: "BaseEstimator", names: list[str]) -> list[str] | None:
    """A ColumnTransformer: each of its parts turns some columns into a contiguous range of outputs."""
    width = max((part.stop for part in step.output_indices_.values()), default=0)
    origins = [cast(Any, None)] * width
    for name, part, columns in step.transformers_:
        stretch = step.output_indices_[name]
        if stretch.stop == stretch.start:
            continue
        found = _origins(part, [names[place] for place in _places(columns, step, len(names))])
        if found is None or len(found) != stretch.stop - stretch.start:
            return None
        origins[stretch] = found
    return None if None in origins else origins


def _places(columns: Any, step: "BaseEstimator", count: int) -> list[int]:
    """The positions of columns that are given by name, position, slice or mask."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, slice):
        return list(range(count))[columns]
    columns = list(columns)
    if columns and all(isinstance(column, (bool, np.bool_)) for column in columns):
        return np.flatnonzero(columns).tolist()
    known = list(getattr(step, "feature_names_in_", []))
    return [known.index(column) if isinstance(column, str) else int(column) for column in columns]
