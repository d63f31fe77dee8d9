import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.kernels.evaluation import row_cache
from mercer.kernels.evaluation.row_cache import RowCache, add_weighted_rows, gather_rows, scatter_symmetric, split


def keep(cache, indices):
    """Reserve places for rows that are full of their own index."""
    kept, places = cache.reserve(np.asarray(indices))
    cache.store[places] = np.asarray(kept)[:, None]


def held(cache):
    return set(np.flatnonzero(cache.slot >= 0).tolist())


def test_capacity_is_what_the_bound_allows():
    cache = RowCache(10, np.float32, max_bytes=3 * 10 * 4 + 39)
    assert cache.capacity == 3
    assert cache.store.nbytes <= 3 * 10 * 4 + 39


def test_no_more_rows_than_there_are():
    assert RowCache(10, np.float64, max_bytes=10**9).capacity == 10


@pytest.mark.parametrize("max_bytes", [0, 39])
def test_a_bound_below_one_row_keeps_nothing(max_bytes):
    cache = RowCache(10, np.float32, max_bytes)
    kept, places = cache.reserve(np.arange(4))
    assert len(kept) == len(places) == cache.nbytes == 0
    assert held(cache) == set()


def test_the_least_recently_used_row_goes_first():
    cache = RowCache(10, np.float32, max_bytes=3 * 40)
    keep(cache, [0])
    keep(cache, [1])
    keep(cache, [2])
    cache.touch(np.array([0]))
    keep(cache, [3])
    assert held(cache) == {0, 2, 3}
    keep(cache, [4, 5])
    assert held(cache) == {3, 4, 5}


def test_more_rows_than_fit_keep_what_they_can():
    cache = RowCache(10, np.float32, max_bytes=3 * 40)
    keep(cache, [9])
    keep(cache, [1, 2, 3, 4, 5])
    assert held(cache) == {1, 2, 3}


def test_a_forgotten_row_is_gone_and_its_place_is_used_again():
    cache = RowCache(10, np.float32, max_bytes=3 * 40)
    keep(cache, [0, 1, 2])
    cache.forget(np.array([1]))
    assert held(cache) == {0, 2}
    keep(cache, [7])
    assert held(cache) == {0, 2, 7}


@given(st.data())
def test_whatever_is_asked_the_bound_holds_and_rows_are_the_right_ones(data):
    n = 12
    cache = RowCache(n, np.float64, max_bytes=data.draw(st.integers(0, 8)) * n * 8)
    for _ in range(data.draw(st.integers(1, 15))):
        wanted = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6, unique=True)))
        known = wanted[cache.slot[wanted] >= 0]
        missing = wanted[cache.slot[wanted] < 0]
        cache.touch(known)
        if data.draw(st.integers(0, 5)) == 0:
            cache.forget(known)
            assert not held(cache) & set(known.tolist())
        elif len(missing):
            keep(cache, missing)
            assert set(missing[: cache.capacity].tolist()) <= held(cache)
        present = np.flatnonzero(cache.slot >= 0)
        places = cache.slot[present]
        assert len(set(places.tolist())) == len(places) <= cache.capacity
        assert cache.nbytes <= cache.store.nbytes
        np.testing.assert_array_equal(cache.store[places, 0], present)


def test_a_store_that_the_system_refuses_is_halved(monkeypatch):
    asked = []

    def empty(shape, dtype):
        asked.append(shape[0])
        if shape[0] > 20:
            raise MemoryError
        return np.zeros(shape, dtype)

    monkeypatch.setattr(row_cache, "lasting_empty", empty)
    assert len(row_cache._allocate(100, 5, np.float32)) == 12
    assert asked == [100, 50, 25, 12]


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("workers", [1, 2])
def test_weighted_rows_are_a_product(n, dtype, workers, rng):
    store = rng.normal(size=(20, 70)).astype(dtype)
    slots, weights = rng.permutation(20)[:n], rng.normal(size=n)
    out = np.ones(70)
    add_weighted_rows(store, slots, weights, out, workers)
    np.testing.assert_allclose(out, 1.0 + weights @ store[slots].astype(np.float64), rtol=1e-12, atol=1e-12)


def test_sums_of_single_precision_rows_are_double():
    store = np.full((10_000, 3), np.float32(0.1))
    out = np.zeros(3)
    add_weighted_rows(store, np.arange(10_000), np.ones(10_000), out, 1)
    np.testing.assert_allclose(out, 10_000 * float(np.float32(0.1)), rtol=1e-12)


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_are_gathered_where_they_belong(workers, rng):
    store = rng.normal(size=(9, 30))
    slots, columns, places = np.array([8, 0, 3]), np.array([29, 4, 4, 7]), np.array([1, 3, 0])
    out = np.full((4, 6), -1.0)
    gather_rows(store, slots, columns, out, places, workers)
    np.testing.assert_array_equal(out[places, :4], store[np.ix_(slots, columns)])
    assert (out[2] == -1.0).all()
    assert (out[:, 4:] == -1.0).all()


def test_a_symmetric_matrix_is_completed_from_its_known_rows(rng):
    K = rng.normal(size=(7, 7))
    K = K + K.T
    known, unknown = np.array([1, 4, 6]), np.array([0, 2, 3, 5])
    out = np.zeros((7, 9))
    out[known, :7] = K[known]
    scatter_symmetric(K[np.ix_(unknown, unknown)].copy(), unknown, known, out, 2)
    np.testing.assert_array_equal(out[:, :7], K)


@given(st.integers(0, 100), st.integers(1, 9))
def test_work_is_split_without_gap_or_overlap(n, parts):
    spans = split(n, parts)
    assert len(spans) == parts
    assert spans[0][0] == 0
    assert spans[-1][1] == n
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(spans))
    sizes = [end - begin for begin, end in spans]
    assert max(sizes) - min(sizes) <= 1
