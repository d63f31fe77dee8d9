"""Trees in brackets: ``(S (NP (DT the) (NN dog)) (VP (V barks)))``.

Read with an explicit stack, so no depth is too deep. A position in an error is the
number of characters before it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import cast

from mercer._errors import DataError

_TOKEN = re.compile(r"\s*(?:([()])|((?:\\.|[^\s()\\])+))", re.DOTALL)
_SPECIAL = re.compile(r"([\s()\\])")


def _tokens(text: str) -> Iterator[tuple[int, str | None, str | None]]:
    """(place, bracket or None, word or None) of every token."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            if text[place:].strip():
                raise DataError(f"a backslash at position {len(text.rstrip()) - 1} must be followed by a character")
            return
        yield found.start(cast(int, found.lastindex)), found[1], found[2]
        place = found.end()


def _unescaped(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word, flags=re.DOTALL) if "\\" in word else word


def read_all(text: str) -> list[tuple[list[str], list[int]]]:
    """Every tree in `text`, as (labels, counts) in preorder."""
    trees, opened = [], []
    labels, counts = [], []
    wants_label = False
    for place, bracket, word in _tokens(text):
        if bracket == "(":
            if wants_label:
                labels.append("")
                counts.append(0)
            wants_label = True
            if opened:
                counts[opened[-1][0]] += 1
            opened.append((len(labels), place))
        elif bracket == ")":
            if not opened:
                raise DataError(f"unbalanced brackets: the ) at position {place} closes nothing")
            if wants_label:
                labels.append("")
                counts.append(0)
                wants_label = False
            opened.pop()
            if not opened:
                trees.append((labels, counts))
                labels, counts = [], []
        else:
            if not opened:
                raise DataError(f"a tree must begin with (, got {_shown(cast(str, word))} at position {place}")
            if not wants_label:
                counts[opened[-1][0]] += 1
            labels.append(_unescaped(cast(str, word)))
            counts.append(0)
            wants_label = False
    if opened:
        raise DataError(f"unbalanced brackets: the ( at position {opened[-1][1]} is never closed")
    return trees


def read_one(text: str) -> tuple[list[str], list[int]]:
    """The single tree in `text`; the empty tree if there is none."""
    trees = read_all(text)
    if len(trees) > 1:
        raise DataError(f"expected one tree, got {len(trees)}; mercer.io.read_brackets reads several")
    return trees[0] if trees else ([], [])


def _shown(word: str) -> str:
    return repr(word if len(word) <= 30 else word[:27] + "...")


def written(labels: Iterable[str], counts: Iterable[int]) -> str:
    """The tree in brackets, which `read_one` reads back."""
    parts, open_nodes = [], []
    for label, count in zip(labels, counts, strict=True):
        name = _SPECIAL.sub(r"\\\1", label)
        blank = " " if open_nodes else ""
        is_bare = count == 0 and bool(open_nodes) and name != ""
        parts.append(f"{blank}{name}" if is_bare else f"{blank}({name}")
        if count:
            open_nodes.append(count)
            continue
        if not is_bare:
            parts.append(")")
        while open_nodes:
            open_nodes[-1] -= 1
            if open_nodes[-1]:
                break
            open_nodes.pop()
            parts.append(")")
    return "".join(parts)
