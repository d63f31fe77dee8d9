"""Reading data: tables of any format, streams that need not fit into memory, trees, graphs, and databases.

``from mercer.io import SvmlightFile, read_xml, read_graphs``; names are loaded when first used.
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Blocks": "mercer.io.blocks.blocks",
    "DuckDBDatabase": "mercer.io.databases.files",
    "Dataset": "mercer.io.dataset",
    "Housing": "mercer.io.housing",
    "GraphSet": "mercer.io.items.graphs",
    "SQLDatabase": "mercer.io.databases.sql_database",
    "SQLiteDatabase": "mercer.io.databases.files",
    "SvmlightFile": "mercer.io.svmlight.file",
    "open_database": "mercer.io.databases.sql_database",
    "read_boston_housing": "mercer.io.housing",
    "read_brackets": "mercer.io.items.trees",
    "read_graphs": "mercer.io.items.graphs",
    "read_html": "mercer.io.items.trees",
    "read_json": "mercer.io.items.trees",
    "read_table": "mercer.io.dataset",
    "read_svmlight": "mercer.io.svmlight.file",
    "read_xml": "mercer.io.items.trees",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.io' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
