"""Names of a package that are loaded when they are first asked for (PEP 562), by an index of where each lives."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def load(package: dict[str, Any], index: Mapping[str, str], name: str) -> Any:
    """What a package means by a name of its index, which is kept; for its ``__getattr__``.

    Parameters
    ----------
    package : dict
        Its ``globals()``.
    index : mapping of str to str
        The module that each name is in, below the package.
    name : str
    """
    if name not in index:
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
    with no_collection():
        value = getattr(import_module(f"{package['__name__']}.{index[name]}"), name)
    # Kept, also because loading the file of the same name put the module here.
    package[name] = value
    return value


@contextmanager
def no_collection() -> Iterator[None]:
    """Python looks for no garbage meanwhile.

    Modules and what the compiler makes are many objects that stay; looking through them again and again takes a tenth
    of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
