"""What a kernel makes of each column of a table, in a line."""

from typing import Any

from mercer.kernels._types import ColumnName
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.algebra.sum_product import Sum
from mercer.kernels.string.lengths import length_range
from mercer.kernels.string.spectrum import Spectrum
from mercer.kernels.table.columns import Columns
from mercer.kernels.table.encoded import Encoded, ways_of
from mercer.kernels.table.on import On

_WORDS = {
    "number": "its number",
    "log": "its logarithm, for its long tail",
    "rank": "its rank, for its long tail",
    "category": "an indicator for each label",
    "day": "the hour of the day",
    "week": "the day of the week",
    "year": "the time of year",
}


def describe_columns(kernel: Any) -> dict[ColumnName, str]:
    """One line for each column that a kernel reads: as what, and how much it counts.

    The share of a column is that of its relevance among all that are compared jointly.

    Examples
    --------
    >>> from mercer.kernels import Encoded, RBF, describe_columns
    >>> kernel = Encoded({"age": "number", "town": "category"}, RBF(), relevance={"age": 0.3, "town": 0.1})
    >>> for column, line in describe_columns(kernel).items():
    ...     print(f"{column}: {line}")
    age: its number; 75% of the distance
    town: an indicator for each label; 25% of the distance
    """
    found: dict[ColumnName, str] = {}
    for part in getattr(kernel, "kernels", (kernel,)) if not isinstance(kernel, Columns) else kernel.parts.values():
        weight, own = (part.factor, part.kernel) if isinstance(part, Scaled) else (None, part)
        if isinstance(own, Encoded):
            found.update(_of_encoded(own))
        elif isinstance(own, On):
            beside = "" if weight is None else f", with the weight {weight:.3g}"
            found.update(dict.fromkeys(own.names, f"by {_kind(own.kernel)}{beside}"))
    return found


def _kind(kernel: Any) -> str:
    if isinstance(kernel, Sum):
        return " and ".join(_kind(part) for part in kernel.kernels)
    inner = getattr(kernel, "kernel", None)
    if inner is not None:
        return _kind(inner)
    return _words_of(kernel) if isinstance(kernel, Spectrum) else type(kernel).__name__


def _words_of(kernel: Spectrum) -> str:
    shortest, longest = length_range(kernel.length)
    if kernel.tokenizer != "words":
        return "its letters"
    return "its words" if longest == 1 else "its pairs of words" if shortest == 2 else "its words and pairs of words"


def _of_encoded(kernel: Encoded) -> dict[ColumnName, str]:
    relevances, shares = kernel.relevances, iter(kernel.relevances.tolist())
    total = float(relevances.sum()) or 1.0
    found: dict[ColumnName, str] = {}
    for name, ways in kernel.columns.items():
        own = sum(next(shares) for _ in ways_of(ways)) / total
        how = "less than 1%" if own < 0.01 else f"{100 * own:.0f}%"
        found[name] = f"{' and '.join(_WORDS[way] for way in ways_of(ways))}; {how} of the distance"
    return found
