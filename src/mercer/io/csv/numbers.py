"""The rules for numbers in text: which words are numbers, and their values.

Tables kept by people contain 1.234,56 and $1,234.00, 12 € and 7 %. The value of a word depends on the decimal mark,
which is a property of the column and of its file: `mercer.io.csv.judgement` decides it from all words of all columns.
This module gives the value of one word under one `Form`.

| word | with a point | with a comma |
|---|---|---|
| 1234.5 | 1234.5 | no number |
| 1,234.5 and 1'234.5 and 1 234.5 | 1234.5 | no number |
| 1.234,5 | no number | 1234.5 |
| 1,234 | 1234 | 1.234 |
| 12 % | 0.12 | 0.12 |
| 0,123 | no number | 0.123 |
"""

import re
from typing import NamedTuple

# The usual way to write a number; Arrow, which reads such words by itself, agrees on their values.
NUMBER = r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*"
DECIMALS = (".", ",")
PER_CENT = "%"
# Blanks that people and spreadsheets put into numbers, including no-break spaces.
BLANKS = " \t\u00a0\u202f\u2009"
# Digits of a 64-bit integer; longer numbers are real.
LONGEST_WHOLE = 19

_CURRENCIES = (
    "US$", "A$", "C$", "NZ$", "HK$", "S$", "R$", "$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₪", "₫", "฿", "₴", "₦", "₱",
    "kr", "Kč", "zł", "Ft", "Fr.", "lei",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "KRW", "RUB", "TRY", "ILS", "VND", "THB", "UAH", "NGN", "PHP",
    "SEK", "NOK", "DKK", "ISK", "CZK", "PLN", "HUF", "RON", "BGN", "CAD", "AUD", "NZD", "HKD", "SGD", "BRL", "MXN",
    "ZAR",
)  # fmt: skip
_NUMBER = re.compile(NUMBER)
_BLANK, _CURRENCY = f"[{BLANKS}]*", "|".join(map(re.escape, sorted(_CURRENCIES, key=len, reverse=True)))
_DRESSED = re.compile(
    rf"{_BLANK}(?P<sign>[+−-])?{_BLANK}(?P<before>{_CURRENCY})?{_BLANK}(?P<inner>[+−-])?"
    rf"(?P<body>[0-9.,](?:[0-9.,'’{BLANKS}]*[0-9.,])?)(?P<power>[eE][+-]?[0-9]+)?"
    rf"{_BLANK}(?P<after>{_CURRENCY}|{PER_CENT})?{_BLANK}"
)
# Digits in threes, all with the same mark between them; with a comma also the Indian way: 12,34,567.
_GROUPS = r"[1-9][0-9]{{0,2}}(?P<mark>[{other}'’ \u00a0\u202f\u2009])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*"
_INDIAN = r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"
_BODIES = {
    ".": re.compile(
        rf"(?:(?P<whole>[0-9]*)|(?P<groups>{_GROUPS.format(other=',')}|{_INDIAN}))(?:\.(?P<rest>[0-9]*))?"
    ),
    ",": re.compile(
        rf"(?:(?P<whole>[0-9]*)|(?P<groups>{_GROUPS.format(other='.')}))(?:,(?P<rest>[0-9]*))?"
    ),
}  # fmt: skip
# Words that are numbers with either mark, with different values.
_EITHER = re.compile(r"[^0-9]*[1-9][0-9]{0,2}[.,][0-9]{3}[^0-9]*")
# No number that a person writes is longer.
_LONGEST = 64


class Form(NamedTuple):
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : "." or ","
    unit : str
        Beside every number: "%"; or beside some of them: a currency.
    """

    decimal: str = "."
    unit: str = ""


class Dress(NamedTuple):
    """A word taken apart: its sign, its digits and marks, its power of ten, and its unit."""

    sign: str
    body: str
    power: str
    unit: str


def is_plain(word: str) -> bool:
    """Whether a word is a number as programs write it."""
    return _NUMBER.fullmatch(word) is not None


def is_either(word: str) -> bool:
    """Whether a word is one number with a decimal point and another with a decimal comma."""
    return _EITHER.fullmatch(word) is not None


def plain_value(word: str) -> int | float:
    """The value of a plain number, an integer if it consists of digits (as in pyarrow).

    Zero has no sign: an integer -0 has none, and must not become a different number if others have a point.
    """
    digits = word.strip().removeprefix("-")
    return int(word) if digits.isdigit() and len(digits) <= LONGEST_WHOLE else float(word) + 0.0


def undressed(word: str) -> Dress | None:
    """A word taken apart; None if it contains something that does not belong to a number."""
    found = _DRESSED.fullmatch(word) if len(word) <= _LONGEST else None
    if found is None or (found["sign"] and found["inner"]) or (found["before"] and found["after"]):
        return None
    sign = (found["sign"] or found["inner"] or "").replace("−", "-")
    return Dress(sign, found["body"], found["power"] or "", found["before"] or found["after"] or "")


def value_of(word: str, form: Form) -> int | float | None:
    """The value of a word in a column of this form; None if it is not a number there."""
    if form.decimal == "." and form.unit != PER_CENT and is_plain(word):
        return plain_value(word)
    dress = undressed(word)
    if dress is None or dress.unit not in (form.unit, "") or (form.unit == PER_CENT and not dress.unit):
        return None
    return _worth(dress, form.decimal)


def _worth(dress: Dress, decimal: str) -> int | float | None:
    found = _BODIES[decimal].fullmatch(dress.body)
    if found is None or not any(map(str.isdigit, dress.body)):
        return None
    if dress.power and (found["groups"] or dress.unit == PER_CENT):
        return None
    whole = "".join(filter(str.isdigit, found["whole"] or found["groups"] or ""))
    if found["rest"] is None and not dress.power and dress.unit != PER_CENT and len(whole) <= LONGEST_WHOLE:
        return int(dress.sign + whole)
    # Written out and read once, so that 12.3 % is the double nearest to 0.123.
    power = "e-2" if dress.unit == PER_CENT else dress.power
    return float(f"{dress.sign}{whole or '0'}.{found['rest'] or '0'}{power}") + 0.0
