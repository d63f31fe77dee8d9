"""Reading data: tables of any format, streams that need not fit into memory, trees, graphs, and databases.

``from mercer.io import SvmlightFile, read_xml, read_graphs``; names are loaded when first used.
"""

from importlib import import_module

_HOME = {
    "ArrowBatches": "mercer.io.arrow",
    "DuckDBDatabase": "mercer.io.sql",
    "Dataset": "mercer.io.tables",
    "Housing": "mercer.io.housing",
    "GraphSet": "mercer.io.graphs",
    "SQLiteDatabase": "mercer.io.sql",
    "SvmlightFile": "mercer.io.svmlight",
    "read_boston_housing": "mercer.io.housing",
    "read_brackets": "mercer.io.trees",
    "read_graphs": "mercer.io.graphs",
    "read_html": "mercer.io.trees",
    "read_json": "mercer.io.trees",
    "read_table": "mercer.io.tables",
    "read_svmlight": "mercer.io.svmlight",
    "read_xml": "mercer.io.trees",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  (the index is the list)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.io' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
