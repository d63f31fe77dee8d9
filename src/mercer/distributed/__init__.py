"""Beyond one machine: a `dask.distributed` cluster does the work that can be divided, to the same bits.

``with mercer.distributed.cluster("tcp://…"): LinearSVC().fit(blocks)``. Dask is an extra and is imported only when a
cluster is requested; names are loaded when first used.
"""

from typing import TYPE_CHECKING, Any

from mercer._lazy import load

if TYPE_CHECKING:  # the same index, for type checkers and editors
    from mercer.distributed.cells import fit_by_cells as fit_by_cells
    from mercer.distributed.connection import cluster as cluster
    from mercer.distributed.matrix_blocks import gram as gram
    from mercer.distributed.sources import blocks as blocks

_INDEX = {
    "blocks": "sources",
    "cluster": "connection",
    "fit_by_cells": "cells",
    "gram": "matrix_blocks",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)
