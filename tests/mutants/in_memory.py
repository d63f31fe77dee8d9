"""A fault in functions that are already imported: nothing on disk changes, so nothing can be left broken."""

import ast
import gc
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from numba.core.caching import FunctionCache, NullCache
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
        for each in gc.get_objects():  # by type: isinstance asks a weak proxy for its object, which may be gone
            if issubclass(type(each), FunctionType):
                self._functions.setdefault(each.__code__.co_filename, []).append(each)
            elif issubclass(type(each), Dispatcher) and Path(each.py_func.__code__.co_filename).exists():
                self._dispatchers.setdefault(each.py_func.__code__.co_filename, []).append(each)
        every = [each for some in self._dispatchers.values() for each in some]
        self._referred = {each: _referred(each.py_func) for each in every}
        self._call_an_argument = {each for each in every if _calls_an_argument(each.py_func)}
        texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
        self._imports = {file: set(cache._imported(text, PACKAGE)) for file, text in texts.items()}

    def importers(self, path: Path) -> set[Path]:
        """The files that import from this one, and itself."""
        return {file for file, theirs in self._imports.items() if path in theirs} | {path}

    def put_in(self, path: Path, number: int) -> bool:
        """Put a fault into the functions of a file, wherever they are referred to; whether any has it now."""
        source, functions = path.read_text(encoding="utf-8"), self._functions.get(str(path), [])
        codes = _altered(functions, path, with_fault(source, number))
        if any(code.co_freevars != each.__code__.co_freevars for each, code in codes.items()):
            codes = _altered(functions, path, with_fault(source, number, keeps_names=True))
        changed = {each for each, code in codes.items() if code != each.__code__}
        for each in changed:
            each.__code__ = codes[each]
        for dispatcher in self._with_inlined(changed):
            dispatcher._cache = NullCache()
            dispatcher._reset_overloads()
        return bool(changed)

    def load_compiled(self) -> None:
        """Load what is on disk of every function, for all types that it has been compiled for."""
        for dispatcher in self._referred:
            if not isinstance(dispatcher._cache, FunctionCache):
                continue
            for signature, *_ in dispatcher._cache._cache_file._load_index():
                with suppress(Exception):  # of another processor, or cut short
                    dispatcher.compile(signature)

    def compiles_anew(self, path: Path, name: str) -> bool:
        """Whether this function of a file is compiled, or has one within that is."""
        codes = (each.py_func.__code__ for each in self._dispatchers.get(str(path), []))
        return any(f"{code.co_qualname}.".startswith(f"{name}.") for code in codes)

    def _with_inlined(self, changed: set[FunctionType]) -> set[Dispatcher]:
        """What is to be compiled anew, in this process only: the changed functions, and all that may have inlined one.

        Those are what refers to them, and what calls a function that it is given.
        """
        found = {each for each in self._referred if each.py_func in changed}
        found |= self._call_an_argument if found else set()
        size = 0
        while len(found) > size:
            size = len(found)
            found |= {each for each, theirs in self._referred.items() if not found.isdisjoint(theirs)}
        return found


def _altered(functions: list[FunctionType], path: Path, tree: ast.AST) -> dict[FunctionType, CodeType]:
    """The code of functions of a file, as another tree of the file has it."""
    found = dict(_codes(compile(tree, str(path), "exec")))
    codes = ((each, each.__code__) for each in functions)
    return {each: found.get((code.co_qualname, code.co_firstlineno), code) for each, code in codes}


def _referred(function: FunctionType) -> set[Dispatcher]:
    """The compiled functions that the names in a function stand for."""
    names = {name for code in (function.__code__, *(c for _, c in _codes(function.__code__))) for name in code.co_names}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    values = [*(function.__globals__.get(name) for name in names), *cells]
    modules = [each for each in values if isinstance(each, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in names]
    return {each for each in values if isinstance(each, Dispatcher)}


def _calls_an_argument(function: FunctionType) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    arguments = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    calls = (each.func for each in ast.walk(tree) if isinstance(each, ast.Call))
    return any(isinstance(each, ast.Name) and each.id in arguments for each in calls)


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _codes(constant)
