"""Which columns of a table are learnt from, and why the others are not: the same for the command and the Studio.

A column without values, or with the same value everywhere, says nothing. A column that only numbers the rows says which
row it is, and a machine that learns from it learns its rows by heart. What is left out is reported, and can be kept.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, cast

from mercer._errors import DataError, ParameterError
from mercer.io.dataset import Dataset
from mercer.kernels.table.column import Column
from mercer.kernels.table.frame import as_frame
from mercer.kernels.table.infer_kernel import is_prose

# With fewer rows than this, all values may differ by chance.
_FEW = 20
# Words for columns that number or name the rows; the second kind only if all values differ.
_ID = frozenset({"id", "ids", "uid", "uuid", "guid", "rowid", "identifier"})
_NUMBERING = frozenset({
    "index", "idx", "no", "nr", "number", "num", "key", "code", "ref", "reference", "serial", "account", "invoice",
    "ticket", "phone", "telephone", "email", "mail", "ssn", "isbn", "iban", "passport", "unnamed", "column",
})  # fmt: skip
# Names of columns that may well count up from 0 or 1 and still be measurements.
_MEASURES = frozenset({
    "t", "x", "time", "day", "days", "week", "month", "year", "hour", "minute", "second", "step", "age", "order",
    "position", "rank",
})  # fmt: skip
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_WORDS_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHAPE = (re.compile(r"[0-9]"), re.compile(r"[A-Za-z]"))
_SHAPES = 3
_KINDS = {"number": "numbers", "date": "dates", "category": "categories", "object": "items"}


class Seen(NamedTuple):
    """What a column holds, and why it is left out, if it is."""

    name: str
    kind: str  # "numbers", "dates", "categories", "texts", "items" (trees, graphs), or "nothing"
    different: int
    missing: int
    left_out: str = ""


@dataclass(frozen=True)
class Wanted:
    """What was asked for: the only columns to learn from, some to leave out, some to keep whatever they look like."""

    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()


def look(data: Any) -> list[Seen]:
    """What each column of a table holds, and whether it should be left out.

    Parameters
    ----------
    data : table
        As `mercer.read_table` returns it, a data frame, or a list of dictionaries; without the target.

    Returns
    -------
    list of Seen

    Examples
    --------
    >>> from mercer.workflow.columns import look
    >>> rows = [{"id": k, "age": 30 + k % 3, "town": "Ulm"} for k in range(5)]
    >>> [(one.name, one.kind, one.left_out) for one in look(rows)]
    [('id', 'numbers', 'names the rows'), ('age', 'numbers', ''), ('town', 'categories', 'the same value everywhere')]
    """
    frame = as_frame(data)
    return [_seen(frame.column(name)) for name in frame.names]


def choose(dataset: Dataset, wanted: Wanted = Wanted()) -> tuple[Dataset, list[Seen]]:  # noqa: B008 - frozen
    r"""A table with the columns to learn from, and what was seen of each column; other data stay as they are.

    Examples
    --------
    >>> import io
    >>> from mercer.io import read_table
    >>> from mercer.workflow.columns import Wanted, choose
    >>> rows = b"customer_id,age,y\n" + b"".join(b"%d,%d,%d\n" % (900 + k, k % 4, k % 2) for k in range(9))
    >>> found = read_table(io.BytesIO(rows), target="y")
    >>> choose(found)[0].columns, choose(found, Wanted(keep=["customer_id"]))[0].columns
    (['age'], ['customer_id', 'age'])
    """
    if dataset.kind != "table":
        _refuse(dataset, wanted)
        return dataset, []
    names = cast(list[str], dataset.columns)
    only = named(wanted.columns, dataset, "columns")
    dropped, kept = named(wanted.drop, dataset, "drop"), named(wanted.keep, dataset, "keep")
    both = [name for name in dropped if name in (*kept, *only)]
    if both:
        raise ParameterError(f"--drop and --{'keep' if both[0] in kept else 'columns'} both name {both[0]!r}")
    asked = {name: "not among --columns" for name in names if only and name not in (*only, *kept)}
    asked |= dict.fromkeys(dropped, "by --drop")
    seen = [_asked(one, asked, (*only, *kept)) for one in look(dataset.data)]
    chosen = [one.name for one in seen if not one.left_out]
    if not chosen:
        reasons = ", ".join(f"{one.name!r} ({one.left_out})" for one in seen[:6])
        raise DataError(
            f"{dataset.name}: there is no column left to learn from: {reasons}; --keep NAME would keep one anyway"
        )
    return dataset if len(chosen) == len(names) else dataset.with_columns(chosen), seen


def named(asked: Sequence[str], dataset: Dataset, option: str) -> list[str]:
    r"""Columns by name, given one by one or several separated by commas; raises ParameterError for an unknown name.

    Examples
    --------
    >>> import io
    >>> from mercer.io import read_table
    >>> from mercer.workflow.columns import named
    >>> named(["a,c"], read_table(io.BytesIO(b"a,b,c\n1,2,3\n")), "drop")
    ['a', 'c']
    """
    names, found = cast(list[str], dataset.columns), []
    for one in asked:
        for name in [one] if one in names else [part.strip() for part in one.split(",")]:
            if name == dataset.target_name:
                raise ParameterError(f"--{option} names {name!r}, which is the target")
            if name not in names:
                close = get_close_matches(name, names, n=1, cutoff=0.5)
                meant = f" (did you mean {close[0]!r}?)" if close else ""
                shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
                raise ParameterError(
                    f"--{option} names the column {name!r}{meant}, which {dataset.name} does not have; its columns are "
                    f"{shown}"
                )
            found.append(name)
    return list(dict.fromkeys(found))


def kept_beside(dataset: Dataset, names: Sequence[str]) -> dict[str, list[Any]]:
    """Values of some columns as they came, to go alongside the prediction for each row."""
    if names and dataset.kind != "table":
        raise ParameterError(f"--keep needs a table, and {dataset.name} holds {dataset.kind}")
    return {name: as_frame(dataset.data).column(name).as_came() for name in named(names, dataset, "keep")}


def sentences(seen: Sequence[Seen]) -> list[str]:
    """What was left out and why, a sentence for each reason."""
    reasons: dict[str, list[str]] = {}
    for one in seen:
        if one.left_out:
            reasons.setdefault(one.left_out, []).append(repr(one.name))
    return [f"left out: {_listed(names)} ({why})" for why, names in reasons.items()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _refuse(dataset: Dataset, wanted: Wanted) -> None:
    for option in ("columns", "drop", "keep"):
        if getattr(wanted, option):
            raise ParameterError(f"--{option} needs a table, and {dataset.name} holds {dataset.kind}")


def _asked(one: Seen, asked: dict[str, str], kept: Sequence[str]) -> Seen:
    if one.name in asked:
        return one._replace(left_out=asked[one.name])
    return one._replace(left_out="") if one.name in kept and one.kind != "nothing" else one


def _seen(column: Column) -> Seen:
    missing = int(column.missing.sum())
    if missing == len(column):
        return Seen(str(column.name), "nothing", 0, missing, "no values")
    present = [value for value in column.as_came() if value is not None]
    different = _different(present)
    kind = _KINDS.get(column.kind) or ("texts" if is_prose([str(value) for value in present]) else "categories")
    why = ""
    if different == 1 and not missing and len(present) > 1:
        why = "the same value everywhere"
    elif different is not None and _names_rows(str(column.name), column.kind, present, different):
        why = "names the rows"
    return Seen(str(column.name), kind, len(present) if different is None else different, missing, why)


def _different(values: list[Any]) -> int | None:
    """How many different values; None if they cannot be compared, like trees."""
    try:
        return len(set(values))
    except TypeError:
        return None


def _names_rows(name: str, kind: str, values: list[Any], different: int) -> bool:
    """Whether a column says which row it is, rather than what is in it."""
    is_whole = kind == "number" and all(float(value).is_integer() for value in values)
    is_word = kind == "text" and not any(len(str(value)) > 64 or len(str(value).split()) != 1 for value in values)
    if not is_whole and not is_word:
        return False
    words, all_differ = [word.lower() for word in _WORDS_OF_NAME.findall(name)], different == len(values)
    if not _ID.isdisjoint(words):
        return all_differ or different > _FEW
    if not all_differ or different < _FEW:
        return False
    if words and words[-1] in _NUMBERING:
        return True
    return _is_code(values) if is_word else _counts(values) and _MEASURES.isdisjoint(words)


def _counts(values: list[Any]) -> bool:
    """Whether whole numbers that all differ count up from 0 or 1."""
    low, high = min(values), max(values)
    return low in (0, 1) and high - low + 1 == len(values)


def _is_code(values: list[Any]) -> bool:
    """Whether words that all differ follow one pattern, like C00123 and C00124, or are addresses; molecules do not."""
    if all(_ADDRESS.fullmatch(value) or _HEXADECIMAL.fullmatch(value) for value in values):
        return True
    if not all(any(letter.isdigit() for letter in value) for value in values):
        return False
    shapes = {_SHAPE[1].sub("a", _SHAPE[0].sub("9", value)) for value in values}
    return len(shapes) <= _SHAPES
