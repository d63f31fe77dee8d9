import numpy as np
import pytest
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer.kernels import RBF, Custom, Linear, Precomputed
from mercer.kernels.evaluation import tiles
from mercer.kernels.evaluation.tiles import TILE

X = np.random.default_rng(8).normal(size=(10, 3))
G = Linear()(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_returns_its_matrix(dtype):
    K = Precomputed()(G.astype(dtype))
    assert K.dtype == dtype
    np.testing.assert_array_equal(K, G.astype(dtype))
    np.testing.assert_array_equal(Precomputed()(sparse.csr_array(G)), G)
    np.testing.assert_array_equal(Precomputed().diag(G), np.diag(G))


def test_precomputed_copies_its_matrix():
    assert not np.shares_memory(Precomputed()(G), G)


def test_precomputed_training_items_are_rows_on_the_left_and_columns_on_the_right():
    kernel = Precomputed()
    train = kernel.prepare(G)
    left, right = train.take([7, 2]), train.slice(3, 6)
    out = np.empty((2, 3))
    kernel.tile(left, right, out, 0, 0)
    np.testing.assert_array_equal(out, G[[7, 2], 3:6])
    np.testing.assert_array_equal(kernel.diag_of(left), G[[7, 2], [7, 2]])


def test_precomputed_test_rows_meet_the_columns_of_support_vectors():
    kernel = Precomputed()
    test = kernel.prepare(Linear()(X[:4] * 2.0, X))
    support = kernel.prepare(G).take([1, 5, 8]).columns_only()
    assert support.matrix is None
    coefficients = np.array([1.0, -2.0, 0.5])
    expected = Linear()(X[:4] * 2.0, X[[1, 5, 8]]) @ coefficients
    np.testing.assert_allclose(tiles.product(kernel, test, support, coefficients), expected)


def test_precomputed_refuses_rows_that_are_not_kernel_rows():
    kernel = Precomputed()
    train = kernel.prepare(G)
    with pytest.raises(DataError, match="must have a column for each training item, got 3 columns"):
        kernel.tile(kernel.prepare(G[:2, :3]), train, np.empty((2, 10)), 0, 0)
    with pytest.raises(DataError, match=r"only for a square precomputed matrix, got shape \(2, 10\)"):
        kernel.diag(G[:2])
    with pytest.raises(ParameterError, match="Precomputed takes the matrix itself and no Y"):
        kernel(G, G)
    with pytest.raises(DataError, match="NaN"):
        kernel([[np.nan]])


def test_precomputed_takes_part_in_the_algebra():
    np.testing.assert_allclose((2.0 * Precomputed()).normalized()(G), Linear().normalized()(X), atol=1e-14)
    centred = Precomputed().centered().bind(G)
    np.testing.assert_allclose(centred(G), Linear().centered()(X), atol=1e-13)


def gaussian(X, Y):
    return np.exp(-((np.asarray(X)[:, None] - np.asarray(Y)[None]) ** 2).sum(axis=2))


def test_a_function_of_two_sets_of_rows():
    kernel = Custom(gaussian)
    np.testing.assert_allclose(kernel(X), RBF(1.0)(X), atol=1e-14)
    np.testing.assert_allclose(kernel(X[:4], X[4:]), RBF(1.0)(X[:4], X[4:]), atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.ones(10))
    assert kernel(X.astype(np.float32)).dtype == np.float32


def test_a_function_is_called_on_parts_of_many_rows():
    rows = np.linspace(0, 1, TILE + 9)[:, None]
    sizes = []

    def noted(left, right):
        sizes.append((len(left), len(right)))
        return left @ right.T

    np.testing.assert_allclose(Custom(noted)(rows), rows @ rows.T)
    assert max(max(pair) for pair in sizes) <= TILE


def test_a_function_of_sparse_rows_gets_sparse_rows():
    kernel = Custom(lambda left, right: (left @ right.T).toarray())
    np.testing.assert_allclose(kernel(sparse.csc_array(X)), G)


def test_a_function_of_two_things_takes_anything():
    words = ["kernel", "colonel", "kennel", "corn"]
    kernel = Custom(lambda s, t: len(set(s) & set(t)), pairwise=True)
    expected = [[len(set(s) & set(t)) for t in words] for s in words]
    np.testing.assert_array_equal(kernel(words), expected)
    np.testing.assert_array_equal(kernel(words[:1], words), expected[:1])
    np.testing.assert_array_equal(kernel.diag(words), np.diag(expected))
    assert kernel.prepare(words).take([2, 0]).values == ["kennel", "kernel"]


def test_a_function_of_sets_may_take_lists_of_anything():
    kernel = Custom(lambda left, right: [[float(s == t) for t in right] for s in left])
    np.testing.assert_array_equal(kernel(["a", "b", "a"]), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda left, right: np.ones((2, 2)), r"must return shape \(10, 10\) for these rows, got \(2, 2\)"),
        (
            lambda left, right: 1.0,
            r"must return shape \(10, 10\) for these rows, got \(\); Custom\(function, pairwise=True\)",
        ),
        (lambda left, right: np.full((len(left), len(right)), np.nan), "must return finite numbers"),
    ],
)
def test_a_function_that_returns_something_else_is_refused(function, message):
    with pytest.raises(DataError, match=message):
        Custom(function)(X)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.ones(3), r"got ndarray of shape \(3,\); return a float"),
        ([1.0, 2.0], r"got \[1.0, 2.0\]"),
        ("much", "got 'much'"),
        (1j, "got 1j"),
    ],
)
def test_a_function_of_two_items_returns_one_number(value, told):
    with pytest.raises(DataError, match="must return one number for two items, " + told):
        Custom(lambda x, y: value if x is y else 1.0, pairwise=True)(["a", "b"])


def test_one_number_may_be_in_an_array():
    kernel = Custom(lambda x, y: np.array([[2.0]]) if x == y else 1.0, pairwise=True)
    np.testing.assert_array_equal(kernel(["a", "b"]), [[2.0, 1.0], [1.0, 2.0]])
