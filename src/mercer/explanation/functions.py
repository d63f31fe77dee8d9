"""Names for the decision functions of a model."""

from typing import TYPE_CHECKING

from mercer.estimators.fitting.tasks import pairs, strategy_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def function_names(model: "BaseEstimator", count: int) -> list[str]:
    """The meaning of a positive value of each decision function."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ["the value"] if count == 1 else [f"value {k}" for k in range(count)]
    names = [str(label) for label in classes]
    if len(names) == 2:
        return [f"{names[1]} rather than {names[0]}"]
    if strategy_of(model) == "ovo":
        return [f"{names[i]} rather than {names[j]}" for i, j in pairs(len(names))]
    return [f"{name} rather than the others" for name in names]
