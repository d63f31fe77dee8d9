"""The tokens of a kernel expression, each with its position in the text."""

import re
from typing import NamedTuple

from mercer._errors import ParameterError

# Digits of an integer: more than a double can hold exactly, and fewer than Python refuses to convert.
MOST_DIGITS = 18
# Characters of an expression that an error quotes.
SHOWN = 200

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[^\W\d]\w*)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>\*\*|[-+*^@.,=:()\[\]{}])
    | (?P<end>$)
    | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class Token(NamedTuple):
    """One word, number, string or operator, or the end."""

    kind: str
    text: str
    place: int

    def is_sign(self, *signs: str) -> bool:
        """Whether this is one of some operators."""
        return self.kind == "sign" and self.text in signs


def tokenise(text: str) -> list[Token]:
    """All tokens of a text; the last marks its end."""
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        token = Token(kind, match[kind], match.start(kind))
        if kind == "other":
            raise refusal(text, token, f"{token.text!r} has no meaning here")
        tokens.append(token)
        if kind == "end":
            break
    return tokens


def refusal(text: str, token: Token, reason: str) -> ParameterError:
    """The error to raise about a token: the text, the position and the reason."""
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "..."
    return ParameterError(f"kernel expression {shown!r}, character {token.place + 1}: {reason}")


def unquoted(token: Token) -> str:
    """The contents of a string; escapes as in Python."""
    return _ESCAPE.sub(lambda match: _unescaped(match[1]), token.text[1:-1])


def _unescaped(escape: str) -> str:
    if len(escape) == 1:
        return _ESCAPED.get(escape, escape)
    code = int(escape[1:], 16)
    return chr(code) if code <= 0x10FFFF else escape


def number_of(text: str, token: Token) -> float:
    """A token's number: integers stay integers."""
    if not token.text.isdigit():
        return float(token.text)
    if len(token.text) > MOST_DIGITS:
        raise refusal(text, token, f"a whole number may have at most {MOST_DIGITS} digits, got {len(token.text)}")
    return int(token.text)
