"""Reading data that need not fit into memory, and databases whose rows stay where they are.

``from mercer.io import SvmlightFile, ArrowBatches``; names are loaded when first used.
"""

from importlib import import_module

_HOME = {
    "ArrowBatches": "mercer.io.arrow",
    "DuckDBDatabase": "mercer.io.sql",
    "SQLiteDatabase": "mercer.io.sql",
    "SvmlightFile": "mercer.io.svmlight",
}

__all__ = ["ArrowBatches", "DuckDBDatabase", "SQLiteDatabase", "SvmlightFile"]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.io' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
