"""A few rows for people to look at: images, texts with the words that decided, table rows."""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import MercerError
from mercer.estimators.fitting.tasks import strategy_of
from mercer.explanation.contributions import explain
from mercer.kernels.table.frame import as_frame
from mercer.report.figures import Shown, taken
from mercer.report.model_words import final_estimator
from mercer.report.pictures import horizontal_bars, pixels

IMAGES, ITEMS, LONGEST = 16, 5, 700
_PUNCTUATION = ".,;:!?()\"'"
# The strongest colour behind words: with more, text would be hard to read in dark mode.
_DEEPEST = 0.45
_PIXEL = re.compile(r"pixel", re.IGNORECASE)


def examples(shown: Shown) -> str:
    """HTML for some of the scored rows, the wrong ones first."""
    machine = final_estimator(shown.model)
    if shown.scored is None or shown.data is None or not hasattr(machine, "classes_"):
        return ""
    X, y = shown.scored
    predicted = shown.model.predict(X)
    side = _side_of_images(shown.data)
    if side:
        chosen = _chosen(predicted, y, IMAGES)
        return f'<div class="gallery">{"".join(_image(shown.data, k, side, y, predicted) for k in chosen)}</div>'
    cards = [_card(machine, shown, X, k, y, predicted) for k in _chosen(predicted, y, ITEMS)]
    return f'<div class="examples">{"".join(card for card in cards if card)}</div>' if any(cards) else ""


def _chosen(predicted: NDArray[Any], y: NDArray[Any], count: int) -> list[int]:
    """Wrong rows up to half of them, then right ones, spread over the data."""
    wrong, right = np.flatnonzero(predicted != y), np.flatnonzero(predicted == y)
    some = wrong[: (count + 1) // 2]
    rest = right[np.unique(np.linspace(0, len(right) - 1, min(count - len(some), len(right))).astype(int))]
    return [int(k) for k in (*some, *(rest if len(right) else ()))]


def _side_of_images(data: Any) -> int:
    """The width of square images whose columns are pixels; 0 for anything else."""
    names = data.columns or []
    side = round(len(names) ** 0.5)
    return side if side > 3 and side * side == len(names) and all(_PIXEL.match(str(name)) for name in names) else 0


def _image(data: Any, k: int, side: int, y: NDArray[Any], predicted: NDArray[Any]) -> str:
    values = data.rows(np.array([k])).matrix()[0]
    return f'<div class="card">{pixels(values, side)}<br>{_verdict(y[k], predicted[k])}</div>'


def _verdict(truth: Any, predicted: Any) -> str:
    if truth == predicted:
        return f'<span class="right">{escape(str(predicted))}</span>'
    return f'<span class="wrong">{escape(str(predicted))}</span> <span class="soft">(it is {escape(str(truth))})</span>'


def _card(machine: Any, shown: Shown, X: Any, k: int, y: NDArray[Any], predicted: NDArray[Any]) -> str:
    if hasattr(shown.model, "steps"):
        return ""
    try:
        item = taken(X, np.array([k]))
        found = explain(machine, item[0] if isinstance(item, list) else item)
    except MercerError:
        return ""
    function, sign = _function(machine, shown, X, k, predicted[k], y[k])
    head = f"<p>{_verdict(y[k], predicted[k])} <span class='soft'>row {k} of the held-out rows</span></p>"
    if shown.data.kind == "texts" and found.by_feature is not None:
        weights = found.by_feature.as_dict(function)
        body = "".join(_coloured(shown.data.data[k], {name: sign * value for name, value in weights.items()}))
        return f'<div class="card">{head}<p>{body}</p></div>'
    table = found.main
    if table is found.by_support_vector:
        return ""
    top = table.top(8, function)
    bars = horizontal_bars([name for name, _ in top], [sign * value for _, value in top], "contributions")
    return f'<div class="card">{head}<p>{_row(shown.data, k)}</p>{bars}</div>'


def _function(machine: Any, shown: Shown, X: Any, k: int, predicted: Any, truth: Any) -> tuple[int, float]:
    """The decision function that separates the predicted class from its rival, and the sign that favours it."""
    classes = machine.classes_.tolist()
    said = classes.index(predicted)
    if len(classes) == 2:
        return 0, 1.0 if said == 1 else -1.0
    values = shown.model.decision_function(taken(X, np.array([k])))[0]
    against = classes.index(truth) if truth != predicted and truth in classes else _second(values, said)
    if strategy_of(machine) != "ovo":
        return said, 1.0
    i, j = sorted((said, against))
    place = i * len(classes) - i * (i + 1) // 2 + (j - i - 1)
    return place, 1.0 if said == i else -1.0


def _second(values: NDArray[Any], said: int) -> int:
    if len(values) <= said:
        return 1 - said
    others = values.copy()
    others[said] = -np.inf
    return int(others.argmax())


def _coloured(text: str, weights: dict[str, float]) -> Iterator[str]:
    """The text with each word in the colour of the class it favours; longer features are shared among their words."""
    of_word: dict[str, float] = {}
    for name, value in weights.items():
        parts = name.split()
        for part in parts:
            of_word[part] = of_word.get(part, 0.0) + value / len(parts)
    reach = max(map(abs, of_word.values()), default=1.0) or 1.0
    for piece in re.split(r"(\s+)", text[:LONGEST]):
        value = of_word.get(piece, of_word.get(piece.strip(_PUNCTUATION), 0.0)) / reach
        if abs(value) < 0.08 or not piece.strip():
            yield escape(piece)
        else:
            kind = "for" if value > 0 else "against"
            yield f'<span class="part {kind}" style="--w:{_DEEPEST * abs(value):.2f}">{escape(piece)}</span>'


def _row(data: Any, k: int) -> str:
    if data.kind != "table":
        return escape(f"{data.data[k]!s:.{LONGEST}}")
    (row,) = as_frame(data.rows(np.array([k])).data).rows()
    shown = [f"<code>{escape(str(name))}: {escape(_value(value))}</code>" for name, value in list(row.items())[:16]]
    return " ".join(shown)


def _value(value: Any) -> str:
    if value is None:
        return "no value"
    return f"{value:.4g}" if isinstance(value, float) else f"{value!s:.120}"
