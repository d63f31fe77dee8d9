"""Tiles on several threads give what one plain formula gives, at every size around a tile."""

import threading

import numpy as np
import pytest
from scipy import sparse

from mercer._jit.threads import Stopped
from mercer.kernels import RBF, Custom, Laplacian, Linear
from mercer.kernels.evaluation import tiles
from tests.kernels.formulas import FORMULAS, squared

SIZES = [(1, 1), (3, 513), (512, 512), (511, 1030), (1300, 7)]


def prepared(kernel, n, dtype=np.float64, seed=0, layout=np.asarray):
    X = np.random.default_rng(seed).random((n, 4))
    return X, kernel.prepare(layout(X), dtype)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("rows", "columns"), SIZES)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_fill_writes_a_rectangular_block(rows, columns, n_jobs, layout):
    kernel = RBF(0.7)
    X, left = prepared(kernel, rows, seed=1, layout=layout)
    Y, right = prepared(kernel, columns, seed=2, layout=layout)
    out = tiles.fill(kernel, left, right, np.empty((rows, columns)), n_jobs)
    np.testing.assert_allclose(out, np.exp(-0.7 * squared(X, Y)), atol=1e-13)


def test_fill_leaves_what_is_outside_its_corner_alone():
    kernel = Linear()
    X, left = prepared(kernel, 600, seed=1)
    Y, right = prepared(kernel, 520, seed=2)
    out = np.full((605, 530), -1.0)
    tiles.fill(kernel, left, right, out, corner=(5, 7))
    np.testing.assert_allclose(out[5:, 7:527], X @ Y.T, atol=1e-14)
    assert (out[:5] == -1).all()
    assert (out[:, :7] == -1).all()
    assert (out[:, 527:] == -1).all()


@pytest.mark.parametrize(("rows", "columns"), [(40, 33), (530, 640)])
def test_a_block_of_a_symmetric_matrix_is_written_to_both_its_places(rows, columns):
    kernel = RBF(0.7)
    X, left = prepared(kernel, rows, seed=1)
    Y, right = prepared(kernel, columns, seed=2)
    out = np.zeros((rows + columns, rows + columns + 3))
    tiles.fill(kernel, left, right, out, corner=(0, rows), mirrored=True)
    np.testing.assert_allclose(out[:rows, rows : rows + columns], np.exp(-0.7 * squared(X, Y)), atol=1e-13)
    np.testing.assert_array_equal(out[rows:, :rows], out[:rows, rows : rows + columns].T)
    assert not out[:rows, :rows].any()
    assert not out[rows:, rows:].any()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 193, 511, 513, 1024, 1100])
def test_gram_is_symmetric_to_the_bit(n, n_jobs):
    kernel = RBF(0.7)
    X, points = prepared(kernel, n, np.float32)
    out = np.full((n, n + 3), -1.0, np.float32)
    tiles.gram(kernel, points, out, n_jobs)
    np.testing.assert_array_equal(out[:, :n], out[:, :n].T)
    np.testing.assert_allclose(out[:, :n], np.exp(-0.7 * squared(X, X)), atol=1e-6)
    assert (out[:, n:] == -1.0).all()


def test_a_block_above_the_diagonal_is_mirrored_below(rng):
    K = rng.normal(size=(1200, 1200))
    K = K + K.T
    out = np.triu(K)
    tiles.mirror(out, (0, 550), (550, 1200))
    np.testing.assert_array_equal(out[550:, :550], K[550:, :550])
    np.testing.assert_array_equal(out[:550, 550:], K[:550, 550:])


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_never_stores_the_block(outputs, dtype, n_jobs, rng):
    kernel = RBF(0.7)
    X, left = prepared(kernel, 1100, dtype, seed=1)
    Y, right = prepared(kernel, 700, dtype, seed=2)
    weights = rng.normal(size=700 if outputs is None else (700, outputs))
    found = tiles.product(kernel, left, right, weights, n_jobs)
    assert found.dtype == np.float64
    assert found.shape == (1100, *weights.shape[1:])
    tolerance = 1e-11 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(found, np.exp(-0.7 * squared(X, Y)) @ weights, atol=tolerance)


def test_large_weights_that_cancel_are_summed_in_double(rng):
    """Single precision sums would lose the 1 beside weights of 1e6."""
    kernel = Linear()
    left = kernel.prepare(np.ones((5, 1)), np.float32)
    right = kernel.prepare(np.ones((400, 1)), np.float32)
    weights = np.repeat(np.array([[1e6, -1e6]]), 200, axis=0).reshape(-1, 1)
    for columns in (weights[:, 0], np.hstack([weights, weights])):
        product = tiles.product(kernel, left, right, columns + 1.0 / 400)
        np.testing.assert_allclose(product, 1.0, rtol=1e-6)


def test_parts_add_to_the_outputs_that_they_name(rng):
    kernel = RBF(0.7)
    X, left = prepared(kernel, 30, seed=1)
    Y, right = prepared(kernel, 20, seed=2)
    first, second = rng.normal(size=(12, 2)), rng.normal(size=(8, 2))
    out = np.ones((30, 3))
    parts = [(0, 12, first, np.array([0, 2])), (12, 20, second, np.array([1, 2]))]
    tiles.add_products(kernel, left, right, parts, out)
    K = np.exp(-0.7 * squared(X, Y))
    expected = np.ones((30, 3))
    expected[:, [0, 2]] += K[:, :12] @ first
    expected[:, [1, 2]] += K[:, 12:] @ second
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 9, 25, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_any_number_of_functions_start_from_a_row_at_places(count, dtype, rng):
    kernel, n_functions = RBF(0.7), 45
    (X, left), (Y, right) = prepared(kernel, 600, dtype, 1), prepared(kernel, 700, dtype, 2)
    start, places = rng.normal(size=n_functions), rng.permutation(650)[:600]
    parts = [
        (begin, end, rng.normal(size=(end - begin, count)), rng.permutation(n_functions)[:count])
        for begin, end in ((0, 3), (3, 200), (200, 700))
    ]
    out, expected = np.full((650, n_functions), np.inf), np.full((650, n_functions), np.inf)
    tiles.add_products(kernel, left, right, parts, out, start=start, places=places)
    expected[places] = start
    K = np.exp(-0.7 * squared(X, Y))
    for begin, end, weights, outputs in parts:
        expected[np.ix_(places, outputs)] += K[:, begin:end] @ weights
    np.testing.assert_allclose(out, expected, atol=1e-11 if dtype is np.float64 else 1e-4)


@pytest.mark.parametrize("name", FORMULAS)
def test_every_kernel_goes_through_every_question(name):
    kernel, formula = FORMULAS[name]
    X, left = prepared(kernel, 530, seed=1)
    Y, right = prepared(kernel, 515, seed=2)
    expected = formula(X, Y)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(
        tiles.fill(kernel, left, right, np.empty((530, 515))), expected, rtol=1e-9, atol=1e-9 * scale
    )
    np.testing.assert_allclose(
        tiles.product(kernel, left, right, np.ones(515)), expected.sum(axis=1), rtol=1e-9, atol=1e-8 * scale
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("question", ["fill", "gram", "product"])
def test_work_stops_when_it_is_asked_to(question, n_jobs):
    calls = []

    def slow(X, Y):
        calls.append(threading.get_ident())
        return np.ones((len(X), len(Y)))

    kernel = Custom(slow)
    points = kernel.prepare(np.ones((6000, 1)), np.float64)
    ask = {
        "fill": lambda stop: tiles.fill(kernel, points, points, np.empty((6000, 6000)), n_jobs, stop),
        "gram": lambda stop: tiles.gram(kernel, points, np.empty((6000, 6000)), n_jobs, stop),
        "product": lambda stop: tiles.product(kernel, points, points, np.ones(6000), n_jobs, stop),
    }[question]
    with pytest.raises(Stopped):
        ask(lambda _share=None: len(calls) >= 3)
    # A panel that has begun is finished: at most one for each thread.
    panel = -(-6000 // (tiles.GRAM_TILE if question == "gram" else tiles.TILE))
    assert 3 <= len(calls) <= 3 + 2 * panel


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_tile_reaches_the_caller(n_jobs):
    def failing(X, Y):
        raise ZeroDivisionError("in the user's function")

    points = Custom(failing).prepare(np.ones((1500, 1)), np.float64)
    with pytest.raises(ZeroDivisionError, match="in the user's function"):
        tiles.fill(Custom(failing), points, points, np.empty((1500, 1500)), n_jobs)


def test_small_work_stays_in_the_calling_thread():
    threads = set()

    def watched(X, Y):
        threads.add(threading.current_thread())
        return np.ones((len(X), len(Y)))

    kernel = Custom(watched)
    points = kernel.prepare(np.ones((100, 1)), np.float64)
    tiles.fill(kernel, points, points, np.empty((100, 100)), 2)
    assert threads == {threading.current_thread()}


def test_several_callers_at_once_get_their_own_answers():
    kernel = Laplacian(0.5)
    _, points = prepared(kernel, 900)
    expected = tiles.gram(kernel, points, np.empty((900, 900)), 1).copy()
    found = [None] * 6

    def ask(k):
        found[k] = tiles.gram(kernel, points, np.empty((900, 900)), 2)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        np.testing.assert_array_equal(result, expected)


def test_a_product_with_no_columns_has_none():
    kernel = RBF(0.7)
    left, right = prepared(kernel, 3)[1], prepared(kernel, 600)[1]
    assert tiles.product(kernel, left, right, np.empty((600, 0))).shape == (3, 0)
