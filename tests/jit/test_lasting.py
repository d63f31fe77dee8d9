"""Large arrays find the memory of those before them, and never that of those still in use."""

import gc
import os

import numpy as np
import pytest

from mercer._jit import lasting
from mercer._jit.lasting import SMALLEST, lasting_empty

SIDE = 2560  # float32: more than SMALLEST


@pytest.fixture(autouse=True)
def nothing_waits():
    gc.collect()
    lasting._waiting.clear()
    yield
    lasting._waiting.clear()


def address(array):
    return array.__array_interface__["data"][0]


def test_it_is_an_array_of_that_shape():
    array = lasting_empty((SIDE, SIDE), np.float32)
    array[...] = 3.0
    assert array.shape == (SIDE, SIDE)
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert float(array.sum(dtype=np.float64)) == 3.0 * SIDE * SIDE


def test_small_arrays_are_ordinary():
    assert lasting_empty((3, 4), np.float64).base is None


def test_where_the_system_cannot_keep_memory_arrays_are_ordinary(monkeypatch):
    monkeypatch.setattr(lasting, "_CAN_KEEP", False)
    assert lasting_empty((SIDE, SIDE), np.float32).base is None


def test_a_view_keeps_its_memory():
    corner = lasting_empty((SIDE, SIDE), np.float32)[5:7, 5:7]
    corner[...] = 7.0
    other = lasting_empty((SIDE, SIDE), np.float32)
    other[...] = 1.0
    assert (corner == 7.0).all()
    assert lasting._waiting == []


if lasting._CAN_KEEP:

    def test_memory_is_used_again_once_nobody_refers_to_it():
        first = lasting_empty((SIDE, SIDE), np.float32)
        place = address(first)
        del first
        assert len(lasting._waiting) == 1
        assert address(lasting_empty((SIDE // 2 * SIDE,), np.float64)) == place

    def test_only_a_few_mappings_wait_and_the_largest_stay():
        arrays = [lasting_empty((SMALLEST * k,), np.uint8) for k in range(1, 8)]
        del arrays
        assert len(lasting._waiting) == lasting.MOST_WAITING
        assert min(map(len, lasting._waiting)) >= 4 * SMALLEST

    def test_more_than_there_is_raises_memory_error():
        with pytest.raises(MemoryError, match="no memory for"):
            lasting_empty((2**50,), np.uint8)

    def test_a_forked_child_has_memory_of_its_own():
        array = lasting_empty((SIDE, SIDE), np.float32)
        array[0, 0] = 1.0
        child = os.fork()
        if child == 0:
            array[0, 0] = 2.0
            os._exit(0 if array[0, 0] == 2.0 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert array[0, 0] == 1.0
