"""Which kernel suits a column, by what it holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from mercer import kernels  # its names load when asked for: kernels of texts, trees and graphs
from mercer._errors import DataError, ParameterError
from mercer.kernels._types import ColumnName
from mercer.kernels.table.coding import PERIODS
from mercer.kernels.table.cyclic import Cyclic
from mercer.kernels.table.on import On
from mercer.kernels.vector.delta import Delta
from mercer.kernels.vector.rbf import RBF

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.table.column import Column
    from mercer.kernels.table.frame import Frame

# Texts of this many words, or more distinct ones than this, are not categories.
WORDS = 3.0
CATEGORIES = 20


def inferred_kernels(
    frame: "Frame", exclude: str | Sequence[ColumnName] = (), text: "Kernel | None" = None, cyclic: Sequence[str] = ()
) -> "dict[ColumnName, Kernel]":
    """A kernel for each column that has values, by name."""
    _require_periods(cyclic)
    exclude = [frame.place(name) for name in ([exclude] if isinstance(exclude, str) else exclude)]
    found = {}
    for name in frame.names:
        column = frame.column(name)
        if name not in exclude and not column.missing.all():
            found.update(_kernels_of(column, text, cyclic))
    if not found:
        raise DataError(
            f"X must have a column with values to compare, got {len(frame)} rows of {len(frame.names)} columns"
        )
    return found


def _require_periods(cyclic: Sequence[str]) -> None:
    unknown = [period for period in cyclic if period not in PERIODS]
    if unknown or isinstance(cyclic, str):
        raise ParameterError(f"cyclic must list some of {', '.join(PERIODS)}, got {cyclic!r}")


def _kernels_of(column: "Column", text: "Kernel | None", cyclic: Sequence[str]) -> "dict[ColumnName, Kernel]":
    if column.kind == "number":
        return {column.name: RBF(1.0)}
    if column.kind == "date":
        rounds = {f"{column.name} in {period}": On(column.name, Cyclic(PERIODS[period])) for period in cyclic}
        return {column.name: RBF(1.0), **cast("dict[ColumnName, Kernel]", rounds)}
    present = column.items(~column.missing)
    if column.kind == "category" or (column.kind == "text" and not is_prose(present)):
        return {column.name: Delta()}
    return {column.name: text if column.kind == "text" and text is not None else column_kernel(column)}


def column_kernel(column: "Column") -> "Kernel":
    """The kernel for a column of texts to be read, trees or graphs."""
    present = column.items(~column.missing)
    return text_kernel(present, column.name) if column.kind == "text" else _of_objects(column.name, present)


def text_kernel(texts: Sequence[str], name: ColumnName = "text") -> "Kernel":
    """Words and pairs of words, rare ones counting more; letters where there are no words, as in proteins."""
    words = {"length": (1, 2), "tokenizer": "words", "weighting": "tf-idf", "lowercase": True}
    return _named("Spectrum", name, **(words if has_words(texts) else {})).normalized()


def has_words(texts: Sequence[str]) -> bool:
    """Whether half of the texts, or more, are of several words."""
    return 2 * sum(len(text.split(None, 1)) > 1 for text in texts) >= len(texts)


def is_prose(texts: Sequence[str]) -> bool:
    """Whether texts are to be read rather than compared whole: many words, or hardly one twice."""
    words = sum(len(one.split()) for one in texts) / len(texts)
    return words >= WORDS or len(set(texts)) > max(CATEGORIES, len(texts) // 2)


def _of_objects(name: ColumnName, values: Sequence[Any]) -> "Kernel":
    """The kernel for trees or graphs; anything else needs one from the user."""
    kinds = {_structure(value) for value in values}
    if kinds == {"tree"}:
        return _named("SubsetTree", name).normalized()
    if kinds == {"graph"}:
        return _named("WeisfeilerLehman", name).normalized()
    types = sorted({type(value).__name__ for value in values})
    what = f"a mixture of {', '.join(types)}" if len(types) > 1 else types[0]
    raise DataError(
        f"column {name!r} holds {what}, for which no kernel is known; "
        "exclude it, or name a kernel for every column with Columns({...})"
    )


def _structure(value: object) -> str | None:
    room = type(value).__module__.partition(".")[0]
    if room == "mercer":
        return type(value).__name__.lower()
    return "graph" if room == "networkx" else None


def _named(kernel: str, column: ColumnName, **parameters: Any) -> "Kernel":
    found = getattr(kernels, kernel, None)
    if found is None:
        raise ParameterError(f"column {column!r} needs the kernel {kernel}, which this version of Mercer does not have")
    return found(**parameters)
