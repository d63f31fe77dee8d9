"""Products of bytes are exact, for any number of rows and on any processor, and asked for only where they are fast."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config as numba_config

from mercer._jit import byte_products as room
from mercer._jit.byte_products import HEIGHT, QUAD, WIDTH, byte_products, has_byte_products, pack


def products(left, right, scale=1.0, left_terms=None, right_terms=None, dtype=np.float64, compiled=byte_products):
    """All products of rows of numbers between 0 and 255."""
    codes, others = ((rows.astype(np.int16) - 128).astype(np.int8) for rows in (left, right))
    panels = -(-len(right) // WIDTH)
    packed = np.zeros((panels, right.shape[1] // QUAD, WIDTH, QUAD), np.uint8)
    sums = np.zeros((panels, WIDTH), np.int32)
    pack(others, packed, sums)
    out = np.full((len(left), len(right)), np.nan, dtype)
    terms = [np.zeros(len(rows)) if t is None else t for rows, t in ((left, left_terms), (right, right_terms))]
    compiled(codes, packed, sums, scale, *terms, np.empty((HEIGHT, WIDTH), np.int32), out)
    return out


def bytes_of(rng, n, d):
    return rng.integers(0, 256, (n, d))


def test_without_the_instruction_there_is_none(monkeypatch):
    monkeypatch.setattr(room.binding, "get_host_cpu_features", lambda: {"avx512vnni": False})
    monkeypatch.setattr(numba_config, "CPU_NAME", None)
    monkeypatch.setattr(numba_config, "CPU_FEATURES", None)
    assert not has_byte_products()
    monkeypatch.setattr(room.binding, "get_host_cpu_features", lambda: {"avx512vnni": True})
    assert has_byte_products()


def test_numba_may_be_told_to_do_without(monkeypatch):
    monkeypatch.setattr(room.binding, "get_host_cpu_features", lambda: {"avx512vnni": True})
    monkeypatch.setattr(numba_config, "CPU_NAME", "generic")
    monkeypatch.setattr(numba_config, "CPU_FEATURES", None)
    assert not has_byte_products()
    monkeypatch.setattr(numba_config, "CPU_FEATURES", "+avx512f,+avx512vnni")
    assert has_byte_products()


@pytest.mark.parametrize("n", [1, 5, HEIGHT, HEIGHT + 1, 3 * HEIGHT - 1])
@pytest.mark.parametrize("m", [1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH + 5])
@pytest.mark.parametrize("d", [QUAD, 96, 784])
def test_every_shape(rng, n, m, d):
    left, right = bytes_of(rng, n, d), bytes_of(rng, m, d)
    np.testing.assert_array_equal(products(left, right), left @ right.T)


def test_processors_without_the_instruction_have_the_same_sums(rng, monkeypatch):
    monkeypatch.setattr(room, "has_byte_products", lambda: False)
    anywhere = numba.njit(byte_products.py_func)
    for n, m, d in ((1, 1, QUAD), (HEIGHT + 1, WIDTH + 1, 96), (5, 2 * WIDTH + 5, 784)):
        left, right = bytes_of(rng, n, d), bytes_of(rng, m, d)
        found = products(left, right, compiled=anywhere)
        np.testing.assert_array_equal(found, left @ right.T)
        np.testing.assert_array_equal(found, products(left, right))


def test_the_largest_sums_that_fit(rng):
    d = (2**31 - 1) // 255**2 // QUAD * QUAD
    full = np.full((2, d), 255)
    np.testing.assert_array_equal(products(full, full), full @ full.T)


def test_terms_and_scale(rng):
    left, right = bytes_of(rng, 13, 100), bytes_of(rng, 40, 100)
    a, b = rng.normal(size=13), rng.normal(size=40)
    found = products(left, right, 0.25, a, b, np.float32)
    np.testing.assert_allclose(found, 0.25 * (left @ right.T) + a[:, None] + b, rtol=2e-7)


@given(st.data())
@settings(max_examples=30)
def test_products_do_not_depend_on_the_rows_beside_them(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    left, right = bytes_of(rng, 30, 8), bytes_of(rng, 70, 8)
    i, j = data.draw(st.integers(0, 29)), data.draw(st.integers(0, 69))
    assert products(left[i : i + 1], right[j : j + 1])[0, 0] == products(left, right)[i, j]
