"""The one way to compile a function: `jit`, cached on disk and free of the interpreter lock.

Arithmetic may be reordered and contracted (sums become vector sums), but NaN and infinity
keep their meaning only where a function does not meet them: every array is checked before
it enters compiled code.
"""

import os
import sys
import time
from collections.abc import Callable, Set
from contextlib import suppress
from functools import partial
from typing import Any

from numba.core.compiler_lock import global_compiler_lock

from mercer._jit.cache import cache_directory, source_digest
from mercer._jit.kept_code import KeptCode, NotFound
from mercer._jit.one_piece import OnePieceDispatcher
from mercer._jit.waiting import is_any_apart, is_apart, run_apart
from mercer._lazy import no_collection

# In the place of infinity, which means nothing in code compiled with these permissions (`ninf`): comparing with it, or
# taking a minimum that holds one, is undefined. A bound beyond this never binds.
UNBOUNDED = 1e300

FAST = frozenset({"contract", "nsz", "arcp", "reassoc", "nnan", "ninf"})

_DIRECTORY = cache_directory()
# What is still to be said; taken out by one operation of a list, so that a child forked meanwhile misses no lock.
_UNSAID = ["compiling"]


# On the machine where both were measured, idle: the compiler's time for a first `SVC`, and the time to count so far.
_SECONDS_OF_A_FIRST_FIT, _SECONDS_TO_COUNT, _COUNTED = 5.0, 0.0062, 200_000

# What this process has had to compile, the times during which a caller waited for it, and who is told of each.
_COMPILED: list[tuple[str, float, float]] = []
_TOLD: list[Callable[[str, float], None]] = []


def tell_compiled(listener: Callable[[str, float], None]) -> None:
    """Have `listener` called with the name of each function that this process compiles from now on, and its seconds."""
    _TOLD.append(listener)


def compiled_here() -> list[str]:
    """The functions that this process has compiled, since no code for them was found."""
    return [name for name, _, _ in _COMPILED]


def seconds_compiling() -> float:
    """For how long this process has waited for the compiler so far: time that is no part of any fit."""
    total, until = 0.0, 0.0
    # Several threads may have waited at once, which counts once.
    for begin, end in sorted((begin, end) for _, begin, end in _COMPILED):
        total, until = total + max(0.0, end - max(begin, until)), max(until, end)
    return total


def where_code_is_kept() -> str:
    """For people: the folder of compiled code, or what to do where there is none."""
    return f"kept in {_DIRECTORY}" if _DIRECTORY else "not kept, for lack of a writable folder: set MERCER_CACHE_DIR"


def _announce_compilation() -> None:
    """Say on standard error why the very first fit takes seconds: once for each version, where code is kept."""
    with suppress(IndexError):
        what = _UNSAID.pop()
        if _is_first():
            about = f"about {_SECONDS_OF_A_FIRST_FIT * slowness():.0f} s the first time"
            print(f"mercer: {what} for this machine, {about}; {where_code_is_kept()}", file=sys.stderr)


def announce_nothing() -> None:
    """Compile without a word, in this process and in those that come after it: it has been said."""
    _UNSAID.clear()
    _is_first()


def slowness() -> float:
    """How much longer things take here and now than where times were measured, from how fast this machine counts."""
    begin = time.perf_counter()
    sum(k & 1 for k in range(_COUNTED))
    return (time.perf_counter() - begin) / _SECONDS_TO_COUNT


def _is_first() -> bool:
    """Whether nothing of this version was ever compiled here before."""
    if _DIRECTORY is None:
        return True
    try:
        (_DIRECTORY / f"begun-{source_digest()}").touch(exist_ok=False)
    except OSError:
        return False
    return True


def _decorate(function: Callable[..., Any], flags: Set[str]) -> Any:
    # A function that calls another has a copy of it, optimised on its own. Which copy runs would
    # depend on what else was compiled or loaded in this process, and with it the last bit of a
    # result: the first run would differ from later ones. Inlined, there is only one.
    options = {"nopython": True, "nogil": True, "forceinline": True, "fastmath": set(flags), "boundscheck": None}
    compiled = OnePieceDispatcher(function, options)
    compiled._cache = KeptCode(compiled, _DIRECTORY)
    _compile_apart(compiled)
    return compiled


def _compile_apart(dispatcher: Any) -> None:
    """Let whoever calls a function for the first time wait for it no longer than the limits of a fit allow.

    What is on disk is loaded where it is needed, unless the compiler is at work and would have to be waited for.
    """
    here = dispatcher.compile

    def compile_apart(signature: Any) -> Any:
        if not is_any_apart():
            with suppress(NotFound):
                return here(signature)
        if is_apart():  # inlined into what is being compiled
            return here(signature)
        _announce_compilation()
        begin = time.monotonic()
        try:
            with no_collection():
                return run_apart(partial(here, signature))
        finally:
            name, end = f"{dispatcher.py_func.__module__}.{dispatcher.__name__}", time.monotonic()
            _COMPILED.append((name, begin, end))
            for listener in _TOLD:
                listener(name, end - begin)

    dispatcher.compile = compile_apart


if hasattr(os, "register_at_fork"):
    # A child has no thread that would ever release what the compiler holds.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_child=global_compiler_lock.release,
        after_in_parent=global_compiler_lock.release,
    )


def jit(function: Callable[..., Any]) -> Any:
    """Compile `function` on first call for each combination of argument types."""
    return _decorate(function, FAST)


def jit_in_order(function: Callable[..., Any]) -> Any:
    """As `jit`, but sums keep the order in which they are written."""
    return _decorate(function, FAST - {"reassoc"})
