"""What is to be predicted: classes or quantities, how many of each, and whether a machine can learn it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError
from mercer.io.dataset import Dataset

TASKS = ("classification", "regression")
# Whole numbers with more distinct values than this are quantities, not classes.
CLASSES = 20
# With more classes, a machine for each pair is hours of work that hardly anybody intended.
MOST_CLASSES = 100
_SHOWN = 6


def task_of(target: NDArray[Any]) -> str:
    """What a target asks for."""
    if target.dtype.kind not in "iuf":
        return "classification"
    is_whole = target.dtype.kind in "iu" or bool((target == np.rint(target)).all())
    return "classification" if is_whole and len(np.unique(target)) <= CLASSES else "regression"


def require_learnable(dataset: Dataset, task: str | None = None) -> None:
    """Refuse labels that cannot be learnt, or that nobody would have meant as classes unless `task` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.io import Dataset
    >>> from mercer.workflow.target import require_learnable
    >>> towns = np.array([f"town {k}" for k in range(1500)])
    >>> try:
    ...     require_learnable(Dataset(np.zeros((1500, 1)), towns, "vectors", "csv", "towns.csv", "town"))
    ... except ValueError as error:
    ...     print(str(error)[:58])
    towns.csv: 'town' has 1,500 different values in 1,500 rows
    """
    y = dataset.target
    if y is None or (task or task_of(y)) != "classification":
        return
    which, count = _name(dataset), len(np.unique(y))
    if count == 1:
        raise DataError(
            f"{dataset.name}: {which} has the same value {str(y[0])!r} in all {len(y):,} rows; there must be at least "
            "two classes to learn from"
        )
    if count > MOST_CLASSES and task is None:
        raise DataError(
            f"{dataset.name}: {which} has {count:,} different values in {len(y):,} rows, which would take "
            f"{count * (count - 1) // 2:,} fits, one for each pair; did you mean another column? --task classification "
            "goes ahead anyway"
        )


def describe_target(dataset: Dataset, task: str | None = None) -> dict[str, Any] | None:
    """Name, task, and the classes by frequency or the range; None if there is no target."""
    y = dataset.target
    if y is None:
        return None
    about = {"name": dataset.target_name, "task": task or task_of(y)}
    if about["task"] == "classification":
        labels, counts = np.unique(y, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return about | {"classes": {str(labels[k]): int(counts[k]) for k in order}}
    if y.dtype.kind not in "iuf":
        return about
    return about | {"least": float(y.min()), "mean": float(y.mean()), "most": float(y.max())}


def target_words(about: dict[str, Any]) -> str:
    """What is to be predicted, in a few words.

    Examples
    --------
    >>> from mercer.workflow.target import target_words
    >>> target_words({"name": "late", "task": "classification", "classes": {"no": 90, "yes": 10}})
    'late: 2 classes (no: 90%, yes: 10%)'
    """
    name = about["name"] or "labels"
    if "classes" in about:
        classes, rows = about["classes"], sum(about["classes"].values())
        shown = [f"{label}: {_share(count / rows)}" for label, count in list(classes.items())[:_SHOWN]]
        more = f" and {len(classes) - _SHOWN} more" if len(classes) > _SHOWN else ""
        return f"{name}: {len(classes):,} classes ({', '.join(shown)}{more})"
    if "mean" not in about:
        return f"{name}: quantities"
    return f"{name}: quantities from {about['least']:.4g} to {about['most']:.4g}, {about['mean']:.4g} on average"


def _share(share: float) -> str:
    """A share in words that never shows a small one as zero."""
    return f"{share:.{0 if share >= 0.1 else 1}%}"


def _name(dataset: Dataset) -> str:
    return "the label" if dataset.target_name is None else f"{dataset.target_name!r}"
