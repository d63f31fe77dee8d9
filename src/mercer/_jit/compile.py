"""The one way to compile a function: `jit`, cached on disk and free of the interpreter lock.

Arithmetic may be reordered and contracted (sums become vector sums), but NaN and infinity
keep their meaning only where a function does not meet them: every array is checked before
it enters compiled code.
"""

import sys
import threading

import numba
from numba.core import config as numba_config

from mercer._jit.cache import cache_directory

FAST = frozenset({"contract", "nsz", "arcp", "reassoc", "nnan", "ninf"})

_DIRECTORY = cache_directory()
_FIRST_TIME = _DIRECTORY is None or not any(_DIRECTORY.iterdir())
_announce_lock = threading.Lock()


def announce_compilation():
    """Say once, on standard error, why the very first fit takes seconds."""
    global _FIRST_TIME
    with _announce_lock:
        if _FIRST_TIME:
            _FIRST_TIME = False
            where = f"; kept in {_DIRECTORY}" if _DIRECTORY else " (no writable cache directory: MERCER_CACHE_DIR chooses one)"
            print(f"mercer: compiling for this machine, a few seconds, only once{where}", file=sys.stderr)


def _decorate(function, flags):
    options = {"nogil": True, "fastmath": set(flags), "cache": _DIRECTORY is not None}
    before = numba_config.CACHE_DIR
    # Numba reads the directory when it decorates; the user's own setting is put back at once.
    numba_config.CACHE_DIR = str(_DIRECTORY or "")
    try:
        return numba.njit(**options)(function)
    finally:
        numba_config.CACHE_DIR = before


def jit(function):
    """Compile `function` on first call for each combination of argument types."""
    return _decorate(function, FAST)


def jit_in_order(function):
    """As `jit`, but sums keep the order in which they are written."""
    return _decorate(function, FAST - {"reassoc"})
