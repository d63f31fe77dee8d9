"""The compiled functions of a room as plain Python: a fault in one need not be compiled, and its lines can be seen.

To compile what refers to a faulty function takes longer than most tests do. Python takes a hundred times as long for
each of its loops, so only small tests are of use. An index outside its array is an error here, as with
NUMBA_BOUNDSCHECK=1, which compiled code would read over.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path

import numba
import numpy as np

from mercer._jit import compile as jit_compile
from mercer._jit import prefetch, row_steps, row_views, vectors
from tests.mutants.in_memory import PACKAGE
from tests.mutants.operators import functions

_DECORATORS = ("jit", "jit_in_order")


def interpret(room: str) -> None:
    """Import a room whose functions are then not compiled."""
    package = f"mercer.{room}"
    if any(name.startswith(f"{package}.") for name in sys.modules):
        raise RuntimeError(f"{package} has been imported, and what it compiles is compiled")
    before = {name: getattr(jit_compile, name) for name in _DECORATORS}
    for name, jit in before.items():
        setattr(jit_compile, name, _unless_in(package, jit))
    others = _for_python()
    for info in pkgutil.walk_packages([str(PACKAGE / room)], f"{package}."):
        names = vars(importlib.import_module(info.name))
        names.update({name: others[each] for name, each in names.items() if _is_in(each, others)})
    for name, jit in before.items():
        setattr(jit_compile, name, jit)


def _unless_in(package, jit):
    # Compiled code says nothing where numbers overflow or are divided by zero.
    quiet = np.errstate(all="ignore")
    return lambda function: quiet(function) if function.__module__.startswith(f"{package}.") else jit(function)


def _is_in(each, others):
    return callable(each) and isinstance(each, Hashable) and each in others


def _for_python():
    """What stands in for functions that are meant for compiled code."""
    # Hints to the processor and to the compiler, which change no result.
    found = dict.fromkeys([prefetch.prefetch, vectors.vector_loop], lambda *_: None)
    return found | {
        function: _called_from_python(function)
        for module in (row_views, row_steps)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if hasattr(module, f"_{name}")  # its overload; it has no body of its own
    }


def _called_from_python(function):
    """A compiled function that does nothing but call this one."""
    names = ", ".join(inspect.signature(function).parameters)
    scope = {"function": function}
    exec(f"def call({names}):\n    return function({names})\n", scope)  # noqa: S102 - names of our own
    return numba.njit(scope["call"])


@lru_cache
def _compiled(path: Path) -> set[str]:
    """The qualified names of functions of a file that are compiled, or have one within that is."""
    return {
        name
        for name, function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if any(
            isinstance(decorator, ast.Name) and decorator.id in _DECORATORS
            for node in ast.walk(function)
            for decorator in getattr(node, "decorator_list", ())
        )
    }


def is_compiled(path: Path, name: str) -> bool:
    """Whether this function of a file is compiled, or has one within that is."""
    return name in _compiled(path)
