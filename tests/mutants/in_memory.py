"""A fault in functions that are already imported: nothing on disk changes, so nothing can be left broken."""

import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

import mercer
from mercer._jit import cache
from tests.mutants.operators import with_fault

PACKAGE = Path(mercer.__file__).parent


class Imported:
    """The functions of every file as they were when this was made, and which file imports which."""

    def __init__(self) -> None:
        self._functions: dict[str, list[FunctionType]] = {}
        self._dispatchers: dict[str, list[Dispatcher]] = {}
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions.setdefault(each.__code__.co_filename, []).append(each)
            elif isinstance(each, Dispatcher):
                self._dispatchers.setdefault(each.py_func.__code__.co_filename, []).append(each)
        texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
        self._imports = {file: set(cache._imported(text, PACKAGE)) for file, text in texts.items()}

    def is_compiled(self, path: Path) -> bool:
        """Whether a function of this file is compiled."""
        return str(path) in self._dispatchers

    def importers(self, path: Path) -> set[Path]:
        """The files that import from this one, and itself."""
        return {file for file, theirs in self._imports.items() if path in theirs} | {path}

    def _may_inline(self, path: Path) -> set[Path]:
        """This file and all that import from it, directly or by way of others."""
        found, waiting = {path}, [path]
        while waiting:
            more = self.importers(waiting.pop()) - found
            found |= more
            waiting.extend(more)
        return found

    def put_in(self, path: Path, number: int) -> bool:
        """Put a fault into the functions of a file, wherever they are referred to; whether any has it now."""
        tree = with_fault(path.read_text(encoding="utf-8"), number)
        altered = dict(_codes(compile(tree, str(path), "exec")))
        is_in = False
        for function in self._functions.get(str(path), []):
            code = function.__code__
            other = altered.get((code.co_qualname, code.co_firstlineno), code)
            if other != code:
                function.__code__ = other
                is_in = True
        # Whatever may have inlined a compiled function is compiled anew, in this process only.
        if self.is_compiled(path):
            for file in self._may_inline(path):
                for dispatcher in self._dispatchers.get(str(file), []):
                    dispatcher._cache = NullCache()
        return is_in


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)
