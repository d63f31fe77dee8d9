"""Stored or evaluated, with rows kept or not: every way of having a matrix gives the same answers."""

import numpy as np
import pytest
from scipy import sparse

from mercer._jit.threads import Stopped
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from mercer.kernels.gram import evaluated as evaluated_matrix
from mercer.kernels.gram import kernel_matrix
from mercer.kernels.gram.evaluated import EvaluatedMatrix, entry_cost
from mercer.kernels.gram.kernel_matrix import StoredMatrix, padded, padded_square
from tests.kernels.formulas import dots, laplacian, squared

N = 700
KERNELS = {
    "rbf": (RBF(0.1), lambda X: np.exp(-0.1 * squared(X, X))),
    "linear": (Linear(), lambda X: dots(X, X)),
    "laplacian": (Laplacian(0.2), lambda X: laplacian(X, X, 0.2)),
}
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-11}


def rows_of(n=N, d=6, seed=5):
    return np.random.default_rng(seed).normal(size=(n, d))


def evaluated(kernel, X, dtype, cache_rows=0, n_jobs=None):
    def prepare(dtype, indices=None):
        return kernel.prepare(X if indices is None else X[indices], dtype)

    cache_bytes = cache_rows * X.shape[0] * np.dtype(dtype).itemsize
    return EvaluatedMatrix(kernel, prepare, dtype, cache_bytes, n_jobs)


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def dtype(request):
    return request.param


WAYS = ["evaluated", "cache of 20 rows", "cache of all rows", "cache for products only", "stored", "sparse"]


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    if "cache" in request.param:
        monkeypatch.setattr(evaluated_matrix, "WORTH_KEEPING", 0)
    if "rows" in request.param:
        monkeypatch.setattr(evaluated_matrix, "WORTH_FETCHING", 0)
    return request.param


def make(way, kernel, X, dtype):
    if way == "stored":
        return evaluated(kernel, X, dtype).stored()
    if way == "sparse":
        return evaluated(kernel, sparse.csr_array(X), dtype)
    return evaluated(kernel, X, dtype, {"cache of 20 rows": 20, "evaluated": 0}.get(way, N))


@pytest.fixture(params=KERNELS)
def case(request, way, dtype):
    kernel, formula = KERNELS[request.param]
    X = rows_of()
    return make(way, kernel, X, dtype), formula(X.astype(dtype).astype(np.float64)), TOLERANCE[dtype]


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, atol=tolerance * max(1.0, np.abs(expected).max()))


def test_every_question_has_the_right_answer(case, rng):
    K_found, K, tolerance = case
    assert K_found.n == N
    assert_close(K_found.diag, K.diagonal(), tolerance)
    # Asked again and again, so that rows are remembered, evicted and remembered again.
    for _ in range(6):
        columns = np.sort(rng.permutation(N)[:30])
        weights = rng.normal(size=30)
        product = K_found.product(columns, weights)
        assert product.dtype == np.float64
        assert_close(product, K[:, columns] @ weights, 30 * tolerance)
        few = np.sort(rng.permutation(N)[:50])
        assert_close(K_found.product(columns, weights, few), K[np.ix_(few, columns)] @ weights, 30 * tolerance)
        out = np.full((40, padded(40)), 7.0, K_found.dtype)
        chosen = np.sort(rng.permutation(N)[:40])
        K_found.submatrix(chosen, out)
        assert_close(out[:, :40], K[np.ix_(chosen, chosen)], tolerance)
        np.testing.assert_array_equal(out[:, :40], out[:, :40].T)
        assert (out[:, 40:] == 7.0).all()
        assert_close(K_found.rows(chosen), K[chosen], tolerance)


def test_a_view_is_the_matrix_of_a_subset(case, rng):
    K_found, K, tolerance = case
    chosen = np.sort(rng.permutation(N)[:60])
    part = K_found.view(chosen)
    own = K[np.ix_(chosen, chosen)]
    assert part.n == 60
    assert_close(part.product(np.arange(60), np.ones(60)), own.sum(axis=1), 60 * tolerance)
    again = part.view(np.array([3, 50]))
    assert_close(again.rows(np.arange(2)), own[np.ix_([3, 50], [3, 50])], tolerance)


def test_in_double_it_is_the_matrix_in_double(case, rng):
    K_found, _, _ = case
    in_double = K_found.in_double()
    assert in_double.dtype == np.float64
    columns, some = np.arange(30), np.array([0, 7, 699])
    weights = rng.normal(size=30)
    exact = in_double.product(columns, weights)
    assert_close(K_found.product_in_double(columns, weights, some), exact[some], 1e-11)
    if K_found.dtype == np.float64:
        assert in_double is K_found


def test_an_entry_in_double_is_not_the_rounded_one():
    X = rows_of()
    single = evaluated(RBF(0.1), X, np.float32).stored()
    K = np.exp(-0.1 * squared(X, X))
    np.testing.assert_allclose(single.in_double().rows(np.arange(5)), K[:5], atol=1e-13)


def test_nothing_asked_is_nothing_answered(case):
    K_found, _, _ = case
    np.testing.assert_array_equal(K_found.product(np.empty(0, np.int64), np.empty(0)), np.zeros(N))


# --- the cache ------------------------------------------------------------------------------


@pytest.fixture
def kept(monkeypatch):
    """A matrix that keeps 8 rows of its 40."""
    monkeypatch.setattr(evaluated_matrix, "WORTH_KEEPING", 0)
    monkeypatch.setattr(evaluated_matrix, "WORTH_FETCHING", 0)
    X = rows_of(40)
    return evaluated(RBF(0.1), X, np.float64, 8), np.exp(-0.1 * squared(X, X))


def test_cheap_entries_are_not_kept():
    assert evaluated(RBF(0.1), rows_of(), np.float32, 100).cache is None
    assert evaluated(RBF(0.1), rows_of(d=evaluated_matrix.WORTH_KEEPING + 1), np.float32, 100).cache is not None
    assert evaluated(Laplacian(0.1), rows_of(), np.float32, 100).cache is not None


def test_rows_asked_for_in_full_are_kept_up_to_the_bound(kept):
    K_found, _ = kept
    for begin in range(0, 40, 5):
        K_found.product(np.arange(begin, begin + 5), np.ones(5))
        assert K_found.cache.nbytes <= 8 * 40 * 8
    assert set(np.flatnonzero(K_found.cache.slot >= 0)) >= set(range(35, 40))


def test_rows_of_which_few_places_are_asked_for_are_not_kept(kept):
    K_found, _ = kept
    K_found.product(np.arange(3), np.ones(3), rows=np.arange(10))
    assert K_found.cache.nbytes == 0


def test_rows_evicted_out_of_order_are_replaced_by_the_right_ones(kept):
    K_found, K = kept

    def ask(*columns):
        columns = np.array(columns)
        np.testing.assert_allclose(K_found.product(columns, np.ones(len(columns))), K[:, columns].sum(axis=1))

    ask(*range(8))
    # The oldest places are now 2, 0 and 4, in this order; their rows go.
    for column in (2, 0, 4, 1, 3, 5, 6, 7):
        ask(column)
    ask(20, 21, 22)
    for column in (20, 21, 22, 1, 3, 5, 6, 7):
        assert K_found.cache.slot[column] >= 0
        np.testing.assert_allclose(K_found.cache.store[K_found.cache.slot[column]], K[column])
        ask(column)


def test_a_row_that_was_interrupted_is_not_kept(kept):
    K_found, K = kept
    with pytest.raises(Stopped):
        K_found.product(np.arange(3), np.ones(3), stop=lambda: True)
    assert (K_found.cache.slot < 0).all()
    np.testing.assert_allclose(K_found.product(np.arange(3), np.ones(3)), K[:, :3].sum(axis=1))


# --- stored ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 63, 64, 65, 960, 1024, 1025])
def test_rows_are_padded_with_zeros_and_never_a_page_apart(n):
    values = padded_square(n, np.float32)
    assert values.shape == (n, padded(n))
    assert padded(n) >= n
    assert padded(n) % 64 == 0
    assert padded(n) % 1024 != 0
    assert (values[:, n:] == 0).all()


@pytest.mark.parametrize("store", ["stored", "stored_in_single"])
def test_memory_is_not_touched_before_somebody_may_stop(store, monkeypatch):
    """Clearing the padding of a large matrix took a second, in which nobody heard of Ctrl-C."""
    given = []

    def sevens(shape, dtype):
        given.append(np.full(shape, 7.0, dtype))
        return given[-1]

    monkeypatch.setattr(kernel_matrix, "borrowed", sevens)
    with pytest.raises(Stopped):
        getattr(evaluated(RBF(0.1), rows_of(), np.float64), store)(lambda *_: True)
    assert (given[0] == 7.0).all()
    values = getattr(evaluated(RBF(0.1), rows_of(), np.float64), store)().values
    assert (values[:, N:] == 0.0).all()


def test_a_matrix_that_is_given_is_copied():
    given = np.eye(5)
    stored = StoredMatrix.of(given)
    given[0, 0] = 9.0
    assert stored.diag[0] == 1.0


@pytest.mark.parametrize("groups", [(slice(0, 300), slice(300, 700)), (slice(0, 1), slice(1, 700))])
def test_a_pair_of_groups_is_the_matrix_of_both(groups, dtype):
    X = rows_of()
    K = np.exp(-0.1 * squared(X, X))
    order = np.random.default_rng(1).permutation(N)
    first, second = (order[group] for group in groups)
    both = np.concatenate([first, second])
    found = evaluated(RBF(0.1), X, dtype).stored_pair(first, second)
    assert_close(found.rows(np.arange(N)), K[np.ix_(both, both)], TOLERANCE[dtype])
    assert_close(found.in_double().diag, np.ones(N), 1e-12)


def test_the_blocks_of_three_groups_are_shared_by_their_pairs():
    X = rows_of()
    K = np.exp(-0.1 * squared(X, X))
    whole = evaluated(RBF(0.1), X, np.float64)
    groups = [np.arange(0, 200), np.arange(200, 250), np.arange(250, 700)]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        both = np.concatenate([groups[a], groups[b]])
        found = whole.stored_pair(groups[a], groups[b])
        np.testing.assert_allclose(found.rows(np.arange(len(both))), K[np.ix_(both, both)], atol=1e-12)


# --- large ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.1, 1.0)])
def test_indices_past_two_to_the_31_are_reached(kernel, monkeypatch):
    """n² is past what 32 bits hold; a row in the last place of the cache is at such an offset."""
    monkeypatch.setattr(evaluated_matrix, "WORTH_KEEPING", 0)
    n = 50_000
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    K = evaluated(kernel, X, np.float32, cache_rows=n)
    last = np.array([0, n // 2, n - 2, n - 1])
    expected = kernel(X, X[last])
    np.testing.assert_allclose(K.product(last, np.ones(4)), expected.sum(axis=1), rtol=1e-4, atol=1e-4)
    assert K.cache.capacity == n
    # The store is virtual memory: only rows that are written take any.
    far = K.cache.store[n - 1]
    far[:] = expected[:, 3]
    K.cache.slot[n - 1] = n - 1
    out = np.zeros((4, 64), np.float32)
    K.submatrix(last, out)
    np.testing.assert_allclose(out[:, :4], expected[last], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(K.product(last[3:], np.ones(1)), expected[:, 3], rtol=1e-4, atol=1e-4)


def test_what_an_entry_costs(rng):
    X = rng.normal(size=(10, 40)) * (rng.random((10, 40)) < 0.25)
    assert entry_cost(RBF(1.0), RBF(1.0).prepare(X, np.float32)) == 40
    sparse_rows = sparse.csr_array(X)
    # A multiplication of sparse rows takes as long as two of dense ones.
    assert entry_cost(RBF(1.0), RBF(1.0).prepare(sparse_rows, np.float32)) == 2 * sparse_rows.nnz / 10
    assert entry_cost(Laplacian(1.0), Laplacian(1.0).prepare(X, np.float32)) == np.inf


def test_groups_that_begin_alike_and_are_as_long_are_told_apart(rng):
    X, kernel = rng.normal(size=(8, 2)), RBF(0.5)
    matrix = evaluated(kernel, X, np.float64)
    for first, second in [([0, 1, 2], [6, 7]), ([0, 3, 4], [6, 7]), ([0, 3, 4], [6, 5])]:
        found, places = matrix.stored_pair(np.array(first), np.array(second)), [*first, *second]
        np.testing.assert_allclose(found.values[:, : len(places)], kernel(X[places]), atol=1e-12)


def test_a_product_in_double_prepares_a_few_columns_at_a_time(case, rng, monkeypatch):
    K_found, _, _ = case
    columns, some = np.sort(rng.permutation(N)[:100]), np.array([0, 7, 699])
    weights = rng.normal(size=100)
    whole = K_found.product_in_double(columns, weights, some)
    prepared = []
    in_double = EvaluatedMatrix._in_double
    monkeypatch.setattr(
        EvaluatedMatrix, "_in_double", lambda self, chosen: prepared.append(len(chosen)) or in_double(self, chosen)
    )
    monkeypatch.setattr(evaluated_matrix, "FEW_AT_ONCE", 30)
    assert_close(K_found.product_in_double(columns, weights, some), whole, 1e-12)
    assert max(prepared, default=0) <= 30
