"""What a compiled function is made of, as a hash: the same for the same code, wherever and whenever it is read.

Numba keys compiled code by the path of a file and by what that one file holds. It misses a change in another
file from which code is inlined, and finds nothing in a copy of the same sources elsewhere. So the key here is the
function itself: its byte code, its constants, and, for each global name in it, what the name stands for, down
through every function it calls. A comment may change without recompiling; a constant three calls away may not.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.types import Type

from mercer._jit.cache import PACKAGE, closure_digest

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, Type)


def fingerprint(dispatcher: Dispatcher) -> str:
    """A hash of everything in the sources on which the compiled code of a function depends."""
    digest = hashlib.sha256()
    for part in _value(dispatcher, set()):
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def _function(function: Callable[..., Any], seen: set[int]) -> Iterator[str | bytes]:
    code = function.__code__
    yield f"{function.__module__}.{function.__qualname__}"
    if id(code) in seen:  # it calls itself, or stands here already
        return
    seen.add(id(code))
    yield repr(function.__defaults__)
    yield from _code(code)
    for name in sorted(set(_names(code))):
        if name in function.__globals__:
            yield name
            yield from _value(function.__globals__[name], seen)
    for cell in function.__closure__ or ():
        yield from _value(cell.cell_contents, seen)


def _code(code: CodeType) -> Iterator[str | bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _value(value: Any, seen: set[int]) -> Iterator[str | bytes]:
    """What a global name stands for, as far as compiled code can depend on it."""
    if isinstance(value, Dispatcher):
        for option, chosen in sorted(value.targetoptions.items()):
            yield f"{option}={sorted(chosen) if isinstance(chosen, set) else chosen}"
        yield from _function(value.py_func, seen)
    elif isinstance(value, _PLAIN):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, (tuple, list, frozenset)):
        for item in sorted(value, key=repr) if isinstance(value, frozenset) else value:
            yield from _value(item, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}"
        yield value.tobytes()
    else:
        yield _by_name(value)


def _by_name(value: Any) -> str:
    """Modules, classes, intrinsics, functions with an overload: ours by the files they are made from."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__qualname__
    return f"{module} {name} {_made_from(str(module))}"


@cache
def _made_from(module: str) -> str:
    package, *parts = module.split(".")
    if package != PACKAGE.name or not parts:
        return ""
    file = PACKAGE.joinpath(*parts)
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    return closure_digest(Path(file)) if file.exists() else ""


def argument_layout(types: tuple[Any, ...]) -> str:
    """Fields of named tuples among arguments, in their order: code reads them by number, a pickle names the class."""
    return ";".join(_layout(kind) for kind in types)


def _layout(kind: Any) -> str:
    inner = ",".join(_layout(part) for part in getattr(kind, "types", ())) if hasattr(kind, "fields") else ""
    return f"{','.join(kind.fields)}({inner})" if hasattr(kind, "fields") else ""
