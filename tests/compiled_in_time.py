"""Tests of time limits are about fits, not about the compiler: one that has met code yet to be compiled begins again.

The first run on a machine compiles what it meets. A fit whose limit is over meanwhile raises `TimeLimitError`, as it
should; the test is called again when that function is compiled, as often as there are functions to compile.
"""

import time

import pytest

from mercer import TimeLimitError
from mercer._jit.waiting import is_any_apart

# More functions than any fit calls.
MOST_ATTEMPTS = 100


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except BaseException as error:
        if not _is_of_compiling(error):
            raise
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    for _ in range(MOST_ATTEMPTS):
        while is_any_apart():
            time.sleep(0.01)
        try:
            pyfuncitem.obj(**arguments)
        except BaseException as error:
            if not _is_of_compiling(error):
                raise
        else:
            return True
    raise AssertionError("a function is compiled again and again")


def _is_of_compiling(error):
    """Whether it is the error of a limit, or came of it, as where a warning that was expected did not come."""
    while error is not None:
        if isinstance(error, TimeLimitError):
            return "compiled" in str(error)
        error = error.__cause__ or error.__context__
    return False
