"""Machines over blocks of kernel values: the same whether values are kept or computed again."""

import gc
import time
import weakref

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.problems.linear.block_machine import BlockMachine
from mercer.solvers.blocks import passes
from mercer.solvers.blocks.newton import solve
from mercer.solvers.low_rank.basis import Basis
from mercer.solvers.low_rank.kernel_blocks import KernelBlocks, RowsInMemory

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 3))
Y = np.where(np.sin(2.0 * X[:, 0]) + 0.3 * RNG.normal(size=6000) > X[:, 1], 1.0, -1.0)
KERNEL = RBF(gamma=0.5)


def blocks_of(memory, dtype):
    basis = Basis(KERNEL, lambda kind: KERNEL.prepare(X[:60], kind), dtype)
    return KernelBlocks(basis, RowsInMemory(lambda kind: KERNEL.prepare(X, kind), len(X)), memory)


def machine_with(loss):
    return BlockMachine(Y, np.ones(len(Y)), loss, 0.1, "free")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "epsilon_insensitive"])
def test_curvature_formed_later_leads_to_the_same_bits(loss, dtype):
    found = []
    for memory in (0, 2**30):
        blocks = blocks_of(memory, dtype)
        assert blocks.keeps(dtype) == (memory > 0)
        found.append(
            solve(blocks, machine_with(loss), gap_tol=1e-5, factor=blocks.basis.factor, dtype=dtype)
        )  # fmt: skip
    assert found[0].certificate.relative_gap <= 1e-5
    assert found[0].iterations == found[1].iterations
    np.testing.assert_array_equal(found[0].w, found[1].w)
    np.testing.assert_array_equal(found[0].beta, found[1].beta)


def test_kept_values_form_a_hessian_only_for_a_step(monkeypatch):
    formed, form = [], passes.gram
    monkeypatch.setattr(passes, "gram", lambda *args: formed.append(1) or form(*args))
    blocks = blocks_of(2**30, np.float64)
    found = solve(blocks, machine_with("hinge"), gap_tol=1e-5, factor=blocks.basis.factor)
    assert 0 < len(formed) <= found.iterations * len(blocks.sizes)


def test_only_one_precision_is_kept():
    blocks = blocks_of(2**30, np.float32)
    assert blocks.keeps(np.float32)
    list(blocks.map(lambda features: features.shape, (), [()] * len(blocks.sizes), np.float32))
    assert blocks.keeps(np.float32)
    assert not blocks.keeps(np.float64)


def test_values_are_given_back_as_soon_as_nobody_needs_them():
    blocks = blocks_of(2**30, np.float32)
    solve(blocks, machine_with("hinge"), gap_tol=1e-3, factor=blocks.basis.factor, dtype=np.float32)
    gone = weakref.ref(blocks)
    gc.disable()  # a cycle would keep 400 MB until somebody looks for it
    try:
        del blocks
        # A thread of the pool lets go of its last job some moments after its result is there.
        for _ in range(1000):
            if gone() is None:
                break
            time.sleep(0.01)
        assert gone() is None
    finally:
        gc.enable()
