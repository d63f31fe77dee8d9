"""Beyond one machine: a cluster of `dask.distributed` does what can be divided, to the same bits.

``with mercer.distributed.cluster("tcp://…"): LinearSVC().fit(blocks)``. Dask is an extra and is imported only when a
cluster is asked for; names are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same index, for type checkers and editors
    from mercer.distributed.cells import fit_by_cells as fit_by_cells
    from mercer.distributed.connection import cluster as cluster
    from mercer.distributed.matrix_blocks import gram as gram
    from mercer.distributed.sources import blocks as blocks

_HOME = {
    "blocks": "mercer.distributed.sources",
    "cluster": "mercer.distributed.connection",
    "fit_by_cells": "mercer.distributed.cells",
    "gram": "mercer.distributed.matrix_blocks",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mercer.distributed' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
