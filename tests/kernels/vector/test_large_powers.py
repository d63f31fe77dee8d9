"""Powers are taken by squaring, and are bounded: a large degree is neither slow nor silently nonsense."""

import numpy as np
import pytest

from mercer import SVC, HardMarginSVC, ParameterError
from mercer.kernels import RBF, Linear, Polynomial
from mercer.kernels.base.parameters import LARGEST_POWER

REFUSED = r"must be at most 1,000,000, got .*: a power multiplies rounding errors by"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 7, 8, 15, 31, 100, 1000])
def test_squaring_gives_the_power(degree, dtype, rng):
    X = rng.uniform(0.1, 0.5, size=(5, 3)).astype(dtype)
    base = 1.2 * X.astype(float) @ X.T.astype(float) + 0.3
    found, number = Polynomial(degree=degree, gamma=1.2, coef0=0.3)(X), np.finfo(dtype)
    np.testing.assert_allclose(found, base**degree, rtol=(degree + 1) * 4 * number.eps, atol=number.tiny)


@pytest.mark.parametrize("degree", [5000, LARGEST_POWER])
def test_a_large_degree_costs_no_more_than_its_digits(degree, rng):
    """In passes of one factor each this took a second on forty rows, and a minute at 10^8."""
    X = rng.normal(size=(300, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = rng.integers(0, 2, 300)
    assert SVC(kernel="poly", degree=degree, gamma=1.0).fit(X, y).status_.name == "OPTIMAL"
    assert SVC(kernel=RBF(1e-3) ** degree).fit(X, y).status_.name == "OPTIMAL"


@pytest.mark.parametrize("degree", [LARGEST_POWER + 1, 10**8, 10**9, 10**400])
def test_a_degree_that_leaves_no_digits_is_refused(degree):
    with pytest.raises(ParameterError, match="degree " + REFUSED):
        Polynomial(degree=degree)
    with pytest.raises(ParameterError, match="degree " + REFUSED):
        SVC(kernel="poly", degree=degree).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("exponent", [LARGEST_POWER + 1, 1e9, 10**9])
def test_so_is_an_exponent(exponent):
    with pytest.raises(ParameterError, match="exponent " + REFUSED):
        Linear() ** exponent


@pytest.mark.parametrize("kernel", [Polynomial(degree=LARGEST_POWER), Linear() ** LARGEST_POWER])
def test_features_that_cannot_be_written_down_are_not_begun(kernel, rng):
    X = rng.normal(size=(20, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    with pytest.raises(ParameterError, match="use the kernel itself"):
        kernel.feature_map(X)
    assert HardMarginSVC(kernel=kernel).fit(X, np.arange(20) % 2).status_.name == "OPTIMAL"


def test_one_feature_to_any_power_is_one_feature():
    X = np.array([[0.5], [-1.0]])
    np.testing.assert_allclose((Linear() ** 999).feature_map(X), X**999)


def test_sparse_features_that_cannot_be_numbered_are_refused(rng):
    from scipy import sparse

    from mercer.kernels.algebra.feature_maps import row_kronecker

    wide = sparse.csr_array((np.ones(2), ([0, 1], [5, 2**31 - 2])), shape=(2, 2**31 - 1))
    with pytest.raises(ParameterError, match="more than can be numbered"):
        row_kronecker(row_kronecker(wide, wide), wide)
