"""Eigenvalues and eigenvectors of a whole symmetric matrix by LAPACK, in a way that can be interrupted.

Cost: 4 n³ / 3 for values, 4 to 9 n³ with vectors, in one call. If that takes longer than a
person should have to wait, it goes to another process (`other_process`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from scipy.linalg.lapack import dpotrf

from mercer._types import FloatArray
from mercer.solvers import other_process

if TYPE_CHECKING:
    from mercer.kernels._types import Stop
    from mercer.solvers.other_process import Arrays

# Up to this many rows it takes some tenths of a second, no longer than starting a process.
AT_ONCE = 800


def eigenpairs(
    matrix: FloatArray, stop: "Stop | None" = None, *, count: int | None = None, driver: str = "evd"
) -> tuple[FloatArray, FloatArray]:
    """(values, vectors) of a symmetric matrix in double precision, ascending; the `count` largest, or all.

    `matrix` may be overwritten. Raises `Stopped` where `stop` says so.
    """
    options = {"count": len(matrix) if count is None else count, "driver": driver}
    found = _run(find_pairs, stop, matrix, **options)
    return found["values"], found["vectors"]


def eigenvalues(matrix: FloatArray, stop: "Stop | None" = None) -> FloatArray:
    """All eigenvalues, ascending."""
    return _run(find_values, stop, matrix)["values"]


def is_definite(matrix: FloatArray, tolerance: float, stop: "Stop | None" = None) -> bool:
    """Whether a symmetric matrix has no eigenvalue below minus `tolerance`, so that it can be factored."""
    return bool(_run(find_definite, stop, matrix, tolerance=float(tolerance))["is_definite"])


def _run(find: "Callable[..., Arrays]", stop: "Stop | None", matrix: FloatArray, **options: Any) -> "Arrays":
    if stop is None or len(matrix) <= AT_ONCE:
        return find(matrix, **options)
    return other_process.call(find, stop, {"matrix": matrix}, **options)


def find_pairs(matrix: FloatArray, count: int, driver: str) -> "Arrays":
    """The work of `eigenpairs`."""
    n = len(matrix)
    subset = None if count == n else [n - count, n - 1]
    values, vectors = linalg.eigh(matrix, subset_by_index=subset, overwrite_a=True, check_finite=False, driver=driver)
    return {"values": values, "vectors": vectors}


def find_values(matrix: FloatArray) -> "Arrays":
    """The work of `eigenvalues`."""
    return {"values": np.linalg.eigvalsh(matrix)}


def find_definite(matrix: FloatArray, tolerance: float) -> "Arrays":
    """The work of `is_definite`."""
    shifted = np.array(matrix, dtype=np.float64)
    shifted.flat[:: len(matrix) + 1] += tolerance
    # By symmetry its rows serve as the columns that LAPACK expects.
    return {"is_definite": np.array(dpotrf(shifted.T, overwrite_a=True, clean=False)[1] == 0)}
