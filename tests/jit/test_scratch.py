import ast
import threading
from pathlib import Path

import numpy as np

import mercer
from mercer._jit import scratch as module
from mercer._jit.scratch import Buffers, borrow, give_back, scratch


def test_memory_is_used_again_while_it_is_large_enough():
    buffers = Buffers()
    first = buffers.get("tile", (10, 10), np.float64)
    assert np.shares_memory(first, buffers.get("tile", (5, 4), np.float32))
    assert not np.shares_memory(first, buffers.get("other", (10, 10), np.float64))
    assert not np.shares_memory(first, buffers.get("tile", (11, 10), np.float64))


def test_shape_and_dtype_are_what_was_asked_for():
    array = Buffers().get("tile", (3, 7), np.float32)
    assert (array.shape, array.dtype) == ((3, 7), np.float32)
    assert array.flags.c_contiguous
    assert array.flags.aligned
    assert Buffers().get("tile", (0, 7), np.float32).shape == (0, 7)


def test_each_thread_has_its_own():
    mine = scratch("shared name", (100,), np.float64)
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append(scratch("shared name", (100,), np.float64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(mine, theirs[0])


def test_what_is_borrowed_is_nobody_elses_until_it_is_given_back():
    first = borrow("matrix", (20, 20), np.float64)
    second = borrow("matrix", (20, 20), np.float64)
    assert not np.shares_memory(first, second)
    give_back("matrix", first[:, :5])
    assert np.shares_memory(borrow("matrix", (20, 20), np.float64), first)


def test_what_is_large_is_not_kept(monkeypatch):
    monkeypatch.setattr(module, "KEEP", 1000)
    large = borrow("large", (2000,), np.uint8)
    give_back("large", large)
    assert not np.shares_memory(borrow("large", (2000,), np.uint8), large)
    assert not np.shares_memory(scratch("big", (2000,), np.uint8), scratch("big", (2000,), np.uint8))
    buffers = Buffers()
    assert np.shares_memory(scratch("big", (2000,), np.uint8, buffers), scratch("big", (2000,), np.uint8, buffers))
    assert np.shares_memory(scratch("big", (20,), np.uint8, buffers), scratch("big", (2000,), np.uint8, buffers))
    assert not np.shares_memory(scratch("less", (20,), np.uint8, buffers), scratch("big", (2000,), np.uint8, buffers))


def test_what_grows_finds_its_pages_again(monkeypatch):
    buffers = Buffers(reserve=64 * 2**20)
    first = buffers.get("set", (17 * 2**20,), np.uint8)
    assert np.shares_memory(first, buffers.get("set", (40 * 2**20,), np.uint8))
    assert buffers.get("set", (65 * 2**20,), np.uint8).nbytes == 65 * 2**20

    def at_most(shape, dtype):
        if shape[0] > 32 * 2**20:
            raise MemoryError
        return np.empty(shape, dtype)

    monkeypatch.setattr(module, "lasting_empty", at_most)
    assert Buffers(reserve=64 * 2**20).get("set", (17 * 2**20,), np.uint8).nbytes == 17 * 2**20


def test_no_two_modules_ask_for_memory_by_the_same_name():
    """One may call the other while it holds what it asked for, and would find it written over."""
    names = {}
    for path in Path(mercer.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "scratch":
                names.setdefault(ast.literal_eval(node.args[0]), set()).add(path.name)
    assert len(names) > 5
    assert {name: modules for name, modules in names.items() if len(modules) > 1} == {}


def test_what_is_borrowed_is_not_handed_out_again():
    same = scratch("lent", (3, 4), np.float64)
    assert scratch("lent", (3, 4), np.float64) is same
    mine = borrow("lent", (3, 4), np.float64)
    assert not np.shares_memory(scratch("lent", (3, 4), np.float64), mine)
    give_back("lent", mine)
    assert np.shares_memory(scratch("lent", (3, 4), np.float64), mine)
