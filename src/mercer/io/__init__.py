"""Reading data: streams that need not fit into memory, and sets of graphs.

``from mercer.io import SvmlightFile, ArrowBatches, read_graphs``; names are loaded when first used.
"""

from importlib import import_module

_HOME = {
    "ArrowBatches": "mercer.io.arrow",
    "GraphSet": "mercer.io.graphs",
    "SvmlightFile": "mercer.io.svmlight",
    "read_graphs": "mercer.io.graphs",
}

__all__ = ["ArrowBatches", "GraphSet", "SvmlightFile", "read_graphs"]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.io' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
