"""Inner products of explicit features are the kernel; and the worked examples of the sources."""

from itertools import pairwise, product
from math import factorial, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer._errors import ParameterError
from mercer.kernels import (
    RBF,
    ChiSquared,
    Constant,
    Cosine,
    Custom,
    Delta,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    SecondOrder,
    Sigmoid,
)

FINITE = [
    Linear(),
    Polynomial(3, 0.5, 1.0),
    Polynomial(2, 2.0, 0.0),
    Polynomial(0),
    Polynomial(4, 1.0, 0.3),
    Polynomial(2, "auto", 1.0),
    SecondOrder(),
    Constant(2.5),
    Cosine(),
    Linear() + Polynomial(2),
    Linear() * (Linear() + 1.0),
    3.0 * SecondOrder(),
    (Linear() + 1.0) ** 3,
    Polynomial(2, 1.0, 1.0).normalized(),
    SecondOrder().centered(),
]


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(5).normal(size=(7, 3))
    X[3] = 0.0
    return X


@pytest.mark.parametrize("kernel", FINITE, ids=repr)
def test_inner_products_of_features_are_the_kernel(kernel, rows):
    features = kernel.feature_map(rows)
    assert features.dtype == np.float64
    np.testing.assert_allclose(features @ features.T, kernel(rows), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel.feature_map(sparse.csr_array(rows)), features)


@pytest.mark.parametrize(("degree", "coef0"), [(0, 1.0), (1, 1.0), (2, 0.0), (3, 0.7), (4, 1.0)])
def test_sequences_give_the_same_kernel_with_more_features(degree, coef0, rows):
    kernel = Polynomial(degree, 0.5, coef0)
    features = kernel.feature_map(rows, form="sequences")
    assert features.shape == (7, 4**degree)
    assert features.shape[1] >= kernel.feature_map(rows).shape[1]
    np.testing.assert_allclose(features @ features.T, kernel(rows), rtol=1e-12, atol=1e-12)


# ---- the sources' own examples


def test_each_sequence_names_the_product_of_its_coordinates():
    x = np.array([2.0, -3.0])
    extended = np.array([1.0, 2.0, -3.0])
    features = Polynomial(3, 1.0, 1.0).feature_map([x], form="sequences")[0]
    expected = [np.prod(extended[list(J)]) for J in product(range(3), repeat=3)]
    np.testing.assert_allclose(features, expected)


@given(st.integers(1, 4), st.integers(0, 4), st.integers(0, 2**31))
def test_the_explicit_map_gives_one_plus_x_y_to_the_k(n, k, seed):
    x, y = np.random.default_rng(seed).uniform(-1, 1, (2, n))
    for form in ("sequences", "monomials"):
        psi = Polynomial(k, 1.0, 1.0).feature_map([x, y], form=form)
        assert psi[0] @ psi[1] == pytest.approx((1 + x @ y) ** k, rel=1e-10, abs=1e-12)


def test_one_root_two_q_and_q_squared():
    q = np.array([0.5, -2.0, 3.0])
    features = Polynomial(2, 1.0, 1.0).feature_map(q[:, None])
    np.testing.assert_allclose(features, np.column_stack([np.ones(3), sqrt(2) * q, q**2]))
    np.testing.assert_allclose(features @ features.T, (1 + np.outer(q, q)) ** 2, atol=1e-14)


def test_the_second_order_transform_has_five_coordinates():
    X = np.array([[1.0, 2.0], [-3.0, 0.5]])
    x1, x2 = X.T
    expected = np.column_stack([x1, x2, x1**2, sqrt(2) * x1 * x2, x2**2])
    features = SecondOrder().feature_map(X)
    np.testing.assert_allclose(features, expected)
    np.testing.assert_allclose(features @ features.T, (0.5 + X @ X.T) ** 2 - 0.25)
    np.testing.assert_allclose(SecondOrder()(X), (0.5 + X @ X.T) ** 2 - 0.25)


def test_points_on_a_line_become_separable_by_their_squares():
    x = np.array([-10.0, -9.0, -3.0, 0.0, 1.0, 2.0, 8.0, 10.0])
    inside = np.abs(x) < 5
    # No threshold on x splits inside from outside, in either order.
    changes = np.count_nonzero(np.diff(inside.astype(int)))
    assert changes == 2
    lifted = Polynomial(2, 1.0, 1.0).feature_map(x[:, None])
    squares = lifted[:, 2]
    np.testing.assert_array_equal(squares, x**2)
    assert squares[inside].max() < squares[~inside].min()


def test_xor_becomes_separable_by_the_product_of_coordinates():
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    y = np.array([1, 1, -1, -1])
    lifted = SecondOrder().feature_map(X)
    assert (np.sign(lifted[:, 3]) == y).all()


def test_the_first_printed_gaussian_map_is_the_truncated_one():
    """exp(-x^2 / 2) x^n / sqrt(n!), for exp(-(x - x')^2 / 2): sigma = 1 in 1 / (2 sigma)."""
    x = np.array([0.7, -1.2])
    expected = np.array([[np.exp(-(v**2) / 2) * v**n / sqrt(factorial(n)) for n in range(7)] for v in x])
    np.testing.assert_allclose(RBF.from_two_sigma(1.0).truncated_feature_map(x[:, None], 6), expected)


def test_the_second_printed_gaussian_map_is_the_truncated_one():
    """exp(-x^2) sqrt(2^i / i!) x^i, for exp(-(x - x')^2)."""
    x = np.array([0.7, -1.2])
    expected = np.array([[np.exp(-(v**2)) * sqrt(2**i / factorial(i)) * v**i for i in range(7)] for v in x])
    np.testing.assert_allclose(RBF(1.0).truncated_feature_map(x[:, None], 6), expected)


@pytest.mark.parametrize("kernel", [RBF.from_two_sigma(1.0), RBF(1.0), RBF.from_sigma_squared(2.0), RBF("auto")])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_truncations_converge_to_the_gaussian(kernel, d):
    X = np.random.default_rng(d).uniform(-1, 1, (6, d))
    errors = []
    for order in (0, 2, 5, 10, 20):
        psi = kernel.truncated_feature_map(X, order)
        errors.append(np.abs(psi @ psi.T - kernel(X)).max())
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert errors[-1] < 1e-8
    assert errors[0] > 0.1


def test_delta_has_an_indicator_of_each_row_that_occurs():
    X = [[1.0, 2.0], [0.5, 2.0], [1.0, 2.0]]
    features = Delta().feature_map(X)
    np.testing.assert_array_equal((features @ features.T).toarray(), Delta()(X))
    assert Delta().feature_names(X) == ["0.5, 2", "1, 2"]
    both = Delta() * Linear()
    features = both.feature_map(X)
    np.testing.assert_array_equal((features @ features.T).toarray(), both(X))
    names = both.feature_names(X, ["a", "b"])
    assert names == ["0.5, 2 & a", "0.5, 2 & b", "1, 2 & a", "1, 2 & b"]
    assert features.toarray()[1].tolist() == [0.5, 2.0, 0.0, 0.0]
    assert (Linear() ** 2).feature_names(X) == ["x0 & x0", "x0 & x1", "x1 & x0", "x1 & x1"]


# ---- what has no map, and what is too large


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        (RBF(), r"truncated_feature_map\(X, order\)"),
        (Precomputed(), "only its values are given"),
        (Custom(max), "only its values are given"),
        (Laplacian(), "use the kernel itself"),
        (ChiSquared(), "use the kernel itself"),
        (Matern(), "use the kernel itself"),
        (RationalQuadratic(), "use the kernel itself"),
        (Sigmoid(), "use the kernel itself"),
        (Linear() + RBF(), r"RBF has no finite feature map; truncated_feature_map"),
    ],
)
def test_a_kernel_without_finite_features_says_so(kernel, remedy):
    with pytest.raises(ParameterError, match=f"has no finite feature map.*{remedy}|{remedy}"):
        kernel.feature_map([[1.0, 2.0]])


@pytest.mark.parametrize(
    "make",
    [
        Polynomial(4, 1.0, 1.0).feature_map,
        lambda X: Polynomial(4, 1.0, 1.0).feature_map(X, form="sequences"),
        (Linear() ** 4).feature_map,
        lambda X: RBF().truncated_feature_map(X, 4),
    ],
)
def test_a_map_too_large_to_write_is_refused_before_it_is_made(make):
    with pytest.raises(ParameterError, match=r"has [\d,]+ coordinates for each row, more than 10,000,000"):
        make(np.ones((1, 300)))


def test_what_a_polynomial_map_needs():
    with pytest.raises(ParameterError, match='form must be "monomials" or "sequences", got \'dense\''):
        Polynomial().feature_map([[1.0]], form="dense")
    with pytest.raises(ParameterError, match=r"coef0 must not be negative for a feature map, got -1\.0"):
        Polynomial(coef0=-1.0).feature_map([[1.0]])
    with pytest.raises(ParameterError, match=r"a feature map needs a whole exponent, got 1\.5"):
        (Linear() ** 1.5).feature_map([[1.0]])
