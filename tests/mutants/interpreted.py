"""The compiled functions of a room as plain Python: a fault in one need not be compiled, and its lines can be seen.

To compile what refers to a faulty function takes longer than most tests do. Python takes a hundred times as long for
each of its loops, so only small tests are of use. An index outside its array is an error here, as with
NUMBA_BOUNDSCHECK=1, which compiled code would read over.
"""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path

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
    """What stands in for functions that are meant for compiled code, and have no body of their own."""
    # Hints to the processor and to the compiler, which change no result.
    hints = [prefetch.prefetch, vectors.vector_loop, row_views.row_announce, row_views.row_prefetch, row_steps.row_ask]
    found = dict.fromkeys(hints, lambda *_: None)
    return found | {getattr(module, each.__name__): each for module, each in _ON_ROWS}


def _row(rows, i):
    """(features, values in double precision) of a row."""
    if isinstance(rows, row_views.DenseRows):
        return slice(rows.values.shape[1]), rows.values[i].astype(np.float64)
    place = slice(int(rows.indptr[int(i)]), int(rows.indptr[int(i) + 1]))
    return rows.indices[place], rows.data[place].astype(np.float64)


def row_dot(rows, i, w):
    features, x = _row(rows, i)
    return float(x @ w[features])


def row_dot_fresh(rows, i, w):
    return row_dot(rows, i, w)


def row_add(rows, i, step, w):
    features, x = _row(rows, i)
    w[features] += step * x


def row_square(rows, i):
    _, x = _row(rows, i)
    return float(x @ x)


def row_square_add(rows, i, step, w):
    features, x = _row(rows, i)
    w[features] += step * x * x


def row_outer(rows, i, step, H):
    features, x = _row(rows, i)
    whole = np.zeros(H.shape[1])
    whole[features] = x
    H[: len(whole)] += step * np.tril(np.outer(whole, whole))


def row_weighted_square(rows, i, weights):
    features, x = _row(rows, i)
    return float(weights[features] @ (x * x))


def row_weighted_add(rows, i, step, weights, w):
    features, x = _row(rows, i)
    w[features] += step * weights[features] * x


def row_dots(rows, i, W, out):
    features, x = _row(rows, i)
    out += x @ W[features]


def row_adds(rows, i, steps, W):
    features, x = _row(rows, i)
    W[features] += np.outer(x, steps)


def row_add_both(rows, i, step, w, other_step, v):
    row_add(rows, i, step, w)
    row_add(rows, i, other_step, v)


# To compile the compiled ones for every test anew would take longer than the test does.
_ON_ROWS = [
    *(
        (row_views, each)
        for each in (
            row_dot,
            row_dot_fresh,
            row_add,
            row_square,
            row_square_add,
            row_outer,
            row_weighted_square,
            row_weighted_add,
            row_dots,
            row_adds,
        )
    ),
    (row_steps, row_add_both),
]


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
