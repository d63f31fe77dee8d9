"""From several classes to two-class problems and back: one-vs-one and one-vs-rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer._types import BoolArray, FloatArray, IndexArray

# More two-class problems than this would take minutes, however small they are.
MOST_PROBLEMS = 1_000_000


@dataclass(frozen=True)
class BinaryTask:
    """One two-class problem: which points take part, and which are positive."""

    indices: np.ndarray
    signs: np.ndarray
    label: tuple


def strategy_of(estimator: Any) -> str:
    """How several classes are learnt: `multi_class`, or pairs if "auto" found nothing better."""
    told = getattr(estimator, "multi_class", "ovr")
    return getattr(estimator, "multi_class_", "ovo") if told == "auto" else told


def two_class_tasks(
    codes: IndexArray, n_classes: int, multi_class: str, weights: FloatArray | None = None
) -> list[BinaryTask]:
    """The two-class problems of a fit, over the points of positive weight."""
    places = np.arange(len(codes)) if weights is None else weights.nonzero()[0]
    own = codes[places]
    if n_classes == 2:
        return [binary_task(places, own)]
    return {"ovo": one_vs_one, "ovr": one_vs_rest}[multi_class](places, own, n_classes)


def problem_count(n_classes: int, multi_class: str) -> int:
    """How many two-class problems this many classes make."""
    return n_classes if n_classes > 2 and multi_class == "ovr" else n_classes * (n_classes - 1) // 2


def require_few(n_classes: int, multi_class: str) -> None:
    """Refuse more two-class problems than can be solved in reasonable time."""
    n_problems = problem_count(n_classes, multi_class)
    if n_problems > MOST_PROBLEMS:
        raise DataError(
            f"{n_classes} classes make {n_problems} two-class problems, more than {MOST_PROBLEMS}; "
            'multi_class="ovr" makes fewer; if the labels are quantities, use a regressor'
        )


def binary_task(places: IndexArray, codes: IndexArray) -> BinaryTask:
    """Points of two classes: the second one is positive."""
    return BinaryTask(places, np.where(codes == 1, 1.0, -1.0), (1, 0))


def one_vs_one(places: IndexArray, codes: IndexArray, n_classes: int) -> list[BinaryTask]:
    """A problem for each pair i < j, in which class i is positive."""
    members = [places[codes == c] for c in range(n_classes)]
    return [_pair(members, i, j) for i, j in pairs(n_classes)]


def _pair(members: Sequence[IndexArray], i: int, j: int) -> BinaryTask:
    signs = np.concatenate([np.ones(len(members[i])), -np.ones(len(members[j]))])
    return BinaryTask(np.concatenate([members[i], members[j]]), signs, (i, j))


def one_vs_rest(places: IndexArray, codes: IndexArray, n_classes: int) -> list[BinaryTask]:
    """A problem for each class, in which it is positive and all others are negative."""
    return [BinaryTask(places, np.where(codes == c, 1.0, -1.0), (c,)) for c in range(n_classes)]


def sides_of(codes: IndexArray, n_classes: int) -> FloatArray:
    """+1 or -1 for each point in each problem of one-vs-rest; two classes are one problem."""
    chosen = [1] if n_classes == 2 else range(n_classes)
    return np.array([np.where(codes == c, 1.0, -1.0) for c in chosen])


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs (i, j), i < j, in scikit-learn's order."""
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def votes(decisions: FloatArray, n_classes: int) -> IndexArray:
    """The number of pairs won by each class, shape (n, n_classes); a zero is a win of the second."""
    return _count(decisions > 0, n_classes)


def _count(first_wins: BoolArray, n_classes: int) -> IndexArray:
    # Integers this small are exact in single precision, and a product counts all pairs at once.
    gains = first_wins.astype(np.float32) @ _sides(n_classes)
    return gains.astype(np.int64) + np.arange(n_classes)


@cache
def _sides(n_classes: int) -> FloatArray:
    """For each pair, +1 in the column of its first class and -1 in that of its second.

    If all pairs were won by their second class, class c would have c wins.
    """
    sides = np.zeros((n_classes * (n_classes - 1) // 2, n_classes), np.float32)
    for row, (i, j) in enumerate(pairs(n_classes)):
        sides[row, i], sides[row, j] = 1.0, -1.0
    return sides


def ovr_from_ovo(decisions: FloatArray, n_classes: int) -> FloatArray:
    """One score per class from pair decisions: the votes, with ties broken by confidence.

    The summed confidences are squeezed into (-1/3, 1/3), so that they never outweigh a vote. A zero counts as a win of
    the first class here and of the second in `votes`, as in scikit-learn's decision function and LIBSVM's prediction
    respectively.
    """
    confidence = np.zeros((len(decisions), n_classes))
    for column, (i, j) in enumerate(pairs(n_classes)):
        confidence[:, i] += decisions[:, column]
        confidence[:, j] -= decisions[:, column]
    return _count(decisions >= 0, n_classes) + confidence / (3.0 * (np.abs(confidence) + 1.0))


def one_or_all(found: Sequence[Any]) -> Any:
    """The entry of the only two-class problem, or a list with one for each."""
    return found[0] if len(found) == 1 else found


def pair_row(own: int, other: int) -> int:
    """The row of scikit-learn's dual_coef_ that holds class `own` against class `other`."""
    return other - 1 if other > own else other


@cache
def pair_columns(own: int, n_classes: int) -> IndexArray:
    """For each row of dual_coef_ of a vector of class `own`, the column of its pair."""
    place = {pair: column for column, pair in enumerate(pairs(n_classes))}
    others = [other for other in range(n_classes) if other != own]
    return np.array([place[min(own, other), max(own, other)] for other in others])
