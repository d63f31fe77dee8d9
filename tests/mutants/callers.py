"""Which plain lines lead to a compiled function: tests that run them are those that may notice its faults."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tests.mutants.in_memory import PACKAGE
from tests.mutants.interpreted import is_compiled
from tests.mutants.operators import functions


class Callers:
    """Who refers to whom in a room: by name alone, so that some are taken for callers which are not."""

    def __init__(self, room: str) -> None:
        self._compiled: dict[str, set[str]] = defaultdict(set)
        self._plain: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for path in sorted((PACKAGE / room).rglob("*.py")):
            for name, node in functions(ast.parse(path.read_text(encoding="utf-8"))):
                for line, each in _names(node):
                    if is_compiled(path, name):
                        self._compiled[each].add(last_name(name))
                    else:
                        self._plain[each][str(path.relative_to(PACKAGE))].add(line)

    def names(self, function: str) -> set[str]:
        """The compiled functions that lead to this one, and itself."""
        found, waiting = set(), [last_name(function)]
        while waiting:
            found.add(waiting[-1])
            waiting += self._compiled[waiting.pop()] - found
        return found

    def lines(self, function: str) -> set[tuple[str, int]]:
        """(file, line) of every plain reference to one of those."""
        places = [self._plain[name].items() for name in self.names(function)]
        return {(file, line) for some in places for file, lines in some for line in lines}


def last_name(function: str) -> str:
    """The name by which others call it."""
    return function.rpartition(".")[2]


def _names(node: ast.AST) -> Iterator[tuple[int, str]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute):
            yield each.lineno, each.id if isinstance(each, ast.Name) else each.attr


@lru_cache
def names_in(path: Path) -> set[str]:
    """The names that a file refers to."""
    return {name for _, name in _names(ast.parse(path.read_text(encoding="utf-8")))}
