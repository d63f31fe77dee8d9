"""Which columns of a text file contain numbers, and how they are written: decided from all words of all columns.

1. A given decimal mark holds everywhere.
2. Otherwise a column has the mark by which all of its words are numbers.
3. If both would do and the values differ (1,234 or 1.234 throughout), the other columns decide, if they agree.
4. If they do not decide either, the mark is a point, and a comma groups thousands; but if semicolons separate
   fields, as is usual where the comma is the decimal mark, the mark that occurs is the decimal one. A note says
   so.

Numbers in two currencies, and percentages beside other numbers, are not comparable: such a column stays text, and
a note says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mercer.io.column_notes import ColumnNote
from mercer.io.csv.numbers import DECIMALS, PER_CENT, Form, is_either, is_plain, undressed, value_of

# A column with at least this fraction of numbers was meant to contain nothing else.
SOME_NUMBERS = 0.9


class Verdict(NamedTuple):
    """The contents of a column.

    Attributes
    ----------
    form : Form or None
        How its numbers are written; None if it contains texts.
    strangers : frozenset of str
        Words that are not numbers, in a column that was meant to contain nothing else.
    note : ColumnNote or None
    """

    form: Form | None
    strangers: frozenset[str] = frozenset()
    note: ColumnNote | None = None


class Words(NamedTuple):
    """The distinct words of a column, without those for missing values, and how often each occurs."""

    words: Sequence[str]
    counts: Sequence[int]


class _Column(NamedTuple):
    """What a column shows by itself."""

    name: str
    words: Words
    # For each decimal mark, how many rows have a number.
    rows: Mapping[str, int]
    units: frozenset[str]
    either: Sequence[str]
    # Whether all words are numbers as programs write them.
    are_plain: bool

    @property
    def total(self) -> int:
        return sum(self.words.counts)

    @property
    def whole(self) -> list[str]:
        """The decimal marks under which every word is a number."""
        return [mark for mark in DECIMALS if self.total and self.rows[mark] == self.total]

    @property
    def vote(self) -> str | None:
        """The decimal mark that this column shows."""
        return self.whole[0] if len(self.whole) == 1 else None


def judged(columns: Mapping[str, Words], decimal: str | None, delimiter: str) -> dict[str, Verdict]:
    """The contents of each column; `decimal` is the given mark, if any."""
    known = [_examined(name, words) for name, words in columns.items()]
    votes = {column.vote for column in known} - {None}
    mark = decimal or (votes.pop() if len(votes) == 1 else None)
    return {column.name: _verdict(column, mark, decimal is not None, delimiter) for column in known}


def shows_comma(words: Words) -> bool:
    """Whether a decimal comma is possible in a column, so that points of other columns must be examined."""
    column = _examined("", words)
    return "," in column.whole and (column.vote == "," or bool(column.either))


def _examined(name: str, words: Words) -> _Column:
    rows, units, either, are_plain = dict.fromkeys(DECIMALS, 0), set(), [], True
    for word, count in zip(*words, strict=True):
        if is_plain(word):
            unit, marks = "", _marks_of_plain(word)
        else:
            dress, are_plain = undressed(word), False
            if dress is None:
                continue
            unit = dress.unit
            marks = [mark for mark in DECIMALS if value_of(word, Form(mark, unit)) is not None]
        if not marks:
            continue
        units.add(unit)
        for mark in marks:
            rows[mark] += count
        if len(marks) == len(DECIMALS) and is_either(word):
            either.append(word)
    return _Column(name, words, rows, frozenset(units), either, are_plain)


def _marks_of_plain(word: str) -> Sequence[str]:
    return DECIMALS if "." not in word or is_either(word) else (".",)


def _verdict(column: _Column, mark: str | None, is_given: bool, delimiter: str) -> Verdict:
    """The verdict on a column; `mark` is the given decimal mark, or the one that all others agree on."""
    if not column.total:
        return Verdict(None, note=ColumnNote(column.name, "empty", "no row has a value"))
    allowed = [mark] if mark is not None and (is_given or mark in column.whole) else list(DECIMALS)
    best = max(allowed, key=column.rows.__getitem__)
    if column.rows[best] < SOME_NUMBERS * column.total:
        return Verdict(None, note=_other_mark(column, best) if is_given else _mixed_marks(column))
    is_doubtful = mark is None and len(column.whole) == len(DECIMALS) and bool(column.either)
    if is_doubtful and delimiter == ";":
        marks = {"," if "," in word else "." for word in column.either}
        if len(marks) > 1:
            return Verdict(None, note=_mixed_marks(column))
        best = marks.pop()
    named = sorted(column.units - {"", PER_CENT})
    if len(named) > 1 or (PER_CENT in column.units and len(column.units) > 1):
        return Verdict(None, note=_mixed_units(column, best))
    form = Form(best, PER_CENT if PER_CENT in column.units else "".join(named))
    is_whole = column.rows[best] == column.total
    strangers = frozenset(() if is_whole else (w for w in column.words.words if value_of(w, form) is None))
    return Verdict(form, strangers, None if strangers else _note(column, form, is_doubtful, delimiter))


def _note(column: _Column, form: Form, is_doubtful: bool, delimiter: str) -> ColumnNote | None:
    if is_doubtful and (delimiter == ";" or any("," in word for word in column.either)):
        word = _shown(column.either)
        other = next(mark for mark in DECIMALS if mark != form.decimal)
        choice = f"for that, pass decimal={other!r} (--decimal {other})"
        text = f"{_read(word, form)}, though it may be {value_of(word, form._replace(decimal=other))}; {choice}"
        return ColumnNote(column.name, "ambiguous", text)
    if column.are_plain and form.decimal == ".":
        return None
    dressed = [word for word in column.words.words if not is_plain(word) or (form.decimal == "," and "." in word)]
    if not dressed:
        return None
    return ColumnNote(column.name, "numbers", _read(_shown(dressed), form))


def _read(word: str, form: Form) -> str:
    return f"read as numbers: {word.strip()} -> {value_of(word, form)}"


def _mixed_marks(column: _Column) -> ColumnNote | None:
    """A note if every word is a number, but not all with the same decimal mark."""
    by_mark = {
        mark: [w for w in column.words.words if _is_number(w, mark) and not _is_number(w, other)]
        for mark, other in (DECIMALS, DECIMALS[::-1])
    }
    if not all(any(_is_number(word, mark) for mark in DECIMALS) for word in column.words.words):
        return None
    examples = [_shown(words).strip() for words in by_mark.values() if words] or column.either[:2]
    return _mixed(column, examples, "have different decimal marks")


def _other_mark(column: _Column, mark: str) -> ColumnNote | None:
    """A note if every word is a number with a decimal mark other than the given one."""
    if all(column.whole != [other] for other in DECIMALS if other != mark):
        return None
    word = _shown([word for word in column.words.words if not _is_number(word, mark)])
    return _mixed(column, [word.strip()], f"is not a number with the given decimal mark {mark!r}")


def _is_number(word: str, mark: str) -> bool:
    dress = undressed(word)
    return dress is not None and value_of(word, Form(mark, dress.unit)) is not None


def _mixed_units(column: _Column, mark: str) -> ColumnNote:
    units = sorted(column.units)[-2:] if len(column.units) > 1 else sorted(column.units)
    examples = []
    for unit in units:
        words = [w for w in column.words.words if _is_number(w, mark) and _unit_of(w) == unit]
        examples.append(_shown(words).strip())
    return _mixed(column, examples, "are not of one kind")


def _unit_of(word: str) -> str:
    dress = undressed(word)
    return "" if dress is None else dress.unit


def _mixed(column: _Column, examples: Iterable[str], why: str) -> ColumnNote:
    shown = " and ".join(examples)
    return ColumnNote(column.name, "mixed", f"looks like numbers, but read as texts: {shown} {why}")


def _shown(words: Sequence[str]) -> str:
    """An example, the same in whatever order the words came."""
    return min(words, key=lambda word: (-len(word), word))
