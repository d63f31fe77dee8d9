"""The one way to compile a function: `jit`, cached on disk and free of the interpreter lock.

Arithmetic may be reordered and contracted (sums become vector sums), but NaN and infinity
keep their meaning only where a function does not meet them: every array is checked before
it enters compiled code.
"""

import os
import sys
from collections.abc import Callable, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import config as numba_config
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock

from mercer._jit.cache import cache_directory, one_writer
from mercer._jit.waiting import is_any_apart, is_apart, run_apart

# In the place of infinity, which means nothing in code compiled with these permissions (`ninf`): comparing with it, or
# taking a minimum that holds one, is undefined. A bound beyond this never binds.
UNBOUNDED = 1e300

FAST = frozenset({"contract", "nsz", "arcp", "reassoc", "nnan", "ninf"})

_DIRECTORY = cache_directory()
# What is still to be said; taken out by one operation of a list, so that a child forked meanwhile misses no lock.
_UNSAID = ["compiling"] if _DIRECTORY is None or not any(_DIRECTORY.iterdir()) else []


def where_code_is_kept() -> str:
    """For people: the folder of compiled code, or what to do where there is none."""
    return (
        f"kept in {_DIRECTORY}" if _DIRECTORY else "not kept, for want of a writable folder: MERCER_CACHE_DIR names one"
    )


def _announce_compilation() -> None:
    """Say once, on standard error, why the very first fit takes seconds."""
    with suppress(IndexError):
        print(f"mercer: {_UNSAID.pop()} for this machine, a few seconds; {where_code_is_kept()}", file=sys.stderr)


class _NotFound(Exception):
    """There is no code on disk, and this thread is not the one to compile it."""


class _ForgivingCache(FunctionCache):
    """Compiled code on disk, of which nothing is expected.

    Whatever is wrong with it (no space, a folder that went away, a file cut short by a power
    failure), the function is compiled again. Numba numbers its files by reading an index and
    writing it back, so two processes could give one number to code for different types; hence
    one writer at a time, and what was loaded must be for the types that were asked for.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._loaded(sig, target_context)
        if found is None and not is_apart():
            raise _NotFound
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - a damaged file may raise anything
            self._forget()
            return None
        return found if found is not None and tuple(found.signature.args) == tuple(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with one_writer(cast(Path, _DIRECTORY)):
                super().save_overload(sig, data)
        except Exception:  # noqa: BLE001 - the same
            self._forget()

    def _forget(self) -> None:
        """Empty the index, so that a damaged one does not stay for ever."""
        try:
            self.flush()
        except OSError:
            self.disable()


def _decorate(function: Callable[..., Any], flags: Set[str]) -> Any:
    # A function that calls another has a copy of it, optimised on its own. Which copy runs would
    # depend on what else was compiled or loaded in this process, and with it the last bit of a
    # result: the first run would differ from later ones. Inlined, there is only one.
    compiled = numba.njit(nogil=True, forceinline=True, fastmath=set(flags))(function)
    if _DIRECTORY is not None:
        before = numba_config.CACHE_DIR
        # Numba reads the directory when a cache is made; the user's own setting is put back at once.
        numba_config.CACHE_DIR = str(_DIRECTORY)
        try:
            compiled._cache = _ForgivingCache(function)
        finally:
            numba_config.CACHE_DIR = before
    _compile_apart(compiled)
    return compiled


def _compile_apart(dispatcher: Any) -> None:
    """Let whoever calls a function for the first time wait for it no longer than the limits of a fit allow.

    What is on disk is loaded where it is needed, unless the compiler is at work and would have to be waited for.
    """
    here = dispatcher.compile

    def compile_apart(signature: Any) -> Any:
        if isinstance(dispatcher._cache, _ForgivingCache) and not is_any_apart():
            with suppress(_NotFound):
                return here(signature)
        if not is_apart():
            _announce_compilation()
        return run_apart(partial(here, signature))

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
