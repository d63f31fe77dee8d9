"""JSON parsed into nodes without recursion: Python's own parser stops at a thousand levels."""

import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn, cast

from mercer._errors import DataError

_BLANK = re.compile(r"[ \t\n\r]*")
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_END = {"{": "}", "[": "]"}


class _Reader:
    """One pass over the text; every open object or array is a frame on a stack."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        # Frames: [bracket, finished children, key whose value is being read].
        self.frames = []

    def fail(self, expected: str) -> NoReturn:
        raise DataError(f"not JSON: expected {expected} at position {self.place}")

    def peek(self) -> str:
        self.place = cast(re.Match[str], _BLANK.match(self.text, self.place)).end()
        return self.text[self.place : self.place + 1]

    def string(self) -> str:
        try:
            value, self.place = scanstring(self.text, self.place + 1, True)
        except JSONDecodeError as error:
            raise DataError(f"not JSON: {error.msg} at position {error.pos}") from error
        return value

    def run(self) -> tuple[str, list[Any]]:
        """The document as (label, children), children of the same form."""
        value = None
        while value is None or self.frames:
            value = self.begin_value() if value is None else self.give(value)
        if self.peek():
            self.fail("the end")
        return value

    def begin_value(self) -> tuple[str, list[Any]] | None:
        """A finished value, or None after an object or array has been opened."""
        character = self.peek()
        if character in ("{", "["):
            self.place += 1
            self.frames.append([character, [], None])
            return self.close() if self.peek() == _END[character] else self.key()
        if character == '"':
            return (self.string(), [])
        found = _PLAIN.match(self.text, self.place)
        if found is None:
            self.fail("a value")
        self.place = found.end()
        return (found[0], [])

    def key(self) -> Any:  # None, which callers pass on: no value is finished yet
        """Read the key of the next entry of an object; arrays have none."""
        frame = self.frames[-1]
        if frame[0] == "{":
            if self.peek() != '"':
                self.fail("a key in quotes")
            frame[2] = self.string()
            if self.peek() != ":":
                self.fail("a colon")
            self.place += 1

    def give(self, value: tuple[str, list[Any]]) -> tuple[str, list[Any]] | None:
        """Pass a finished value to the innermost open frame; the frame itself once it ends."""
        frame = self.frames[-1]
        frame[1].append((frame[2], [value]) if frame[0] == "{" else value)
        character = self.peek()
        if character == ",":
            self.place += 1
            return self.key()
        if character != _END[frame[0]]:
            self.fail(f", or {_END[frame[0]]}")
        return self.close()

    def close(self) -> tuple[str, list[Any]]:
        self.place += 1
        kind, children, _ = self.frames.pop()
        if kind == "{":
            children = sorted(children, key=lambda child: child[0])
        return (kind + _END[kind], children)


def read_json_nodes(text: str) -> tuple[list[str], list[int]]:
    """(labels, counts) of the document's nodes in preorder."""
    labels, counts = [], []
    waiting = [_Reader(text).run()]
    while waiting:
        label, children = waiting.pop()
        labels.append(label)
        counts.append(len(children))
        waiting.extend(reversed(children))
    return labels, counts
