"""Rows that workers read for themselves: ranges of a file of `np.save`."""

import os
from functools import partial

import numpy as np

from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks.newton import solve
from mercer.solvers.blocks.source import LocalBlocks
from mercer.solvers.limits import Limits

ROWS, BLOCKS, COLUMNS = 600, 12, 8


def write_rows(folder, seed=0):
    """(a file of rows, their labels)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS * BLOCKS, COLUMNS))
    y = np.sign(X @ rng.normal(size=COLUMNS) + 1.5 * rng.normal(size=len(X)))
    np.save(folder / "rows.npy", X)
    return folder / "rows.npy", y


def read_rows(path, block, dtype):
    """The rows of a block."""
    # np.load parses the header, which Python 3.11 cannot do in two threads at once (SystemError, AST constructor).
    shape = ROWS * BLOCKS, COLUMNS
    mapped = np.memmap(path, np.float64, "r", path.stat().st_size - 8 * ROWS * BLOCKS * COLUMNS, shape)
    return np.ascontiguousarray(mapped[block * ROWS : (block + 1) * ROWS], dtype=dtype)


def blocks_of(path, read=read_rows, n_jobs=None):
    return LocalBlocks(partial(read, path), [ROWS] * BLOCKS, COLUMNS, n_jobs)


def fit(path, y, loss="hinge", read=read_rows, limits=None, dtype=np.float64, gap_tol=1e-4):
    machine = BlockMachine(y, 1.0, loss)
    return solve(blocks_of(path, read), machine, gap_tol=gap_tol, limits=limits or Limits(), dtype=dtype)


def bits_of(solution):
    """Everything that is computed, as bytes."""
    certificate = solution.certificate
    numbers = [solution.bias, certificate.primal, certificate.dual, certificate.gap]
    return solution.w.tobytes() + solution.beta.tobytes() + np.array(numbers).tobytes()


def process_of_worker(_features, _own):
    return np.ones(1), os.getpid()
