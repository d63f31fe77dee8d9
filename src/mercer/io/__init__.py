"""Reading data: tables of any format, streams that need not fit into memory, trees, graphs, and databases.

``from mercer.io import SvmlightFile, read_xml, read_graphs``; names are loaded when first used.
"""

from typing import Any

from mercer._lazy import load

_INDEX = {
    "Blocks": "blocks.blocks",
    "DuckDBDatabase": "databases.files",
    "Dataset": "dataset",
    "Housing": "housing",
    "GraphSet": "items.graphs",
    "SQLDatabase": "databases.sql_database",
    "SQLiteDatabase": "databases.files",
    "SvmlightFile": "svmlight.file",
    "open_database": "databases.sql_database",
    "read_boston_housing": "housing",
    "read_brackets": "items.trees",
    "read_graphs": "items.graphs",
    "read_html": "items.trees",
    "read_json": "items.trees",
    "read_table": "dataset",
    "read_svmlight": "svmlight.file",
    "read_xml": "items.trees",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)
