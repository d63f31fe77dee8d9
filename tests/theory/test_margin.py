import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer import DataError, ParameterError, theory


def test_the_distance_is_that_to_the_nearest_point_of_the_hyperplane(rng):
    X, w, b = rng.normal(size=(20, 4)), rng.normal(size=4), 0.7
    foot = X - ((X @ w + b) / (w @ w))[:, None] * w
    assert np.abs(foot @ w + b).max() < 1e-12
    assert theory.distance_to_hyperplane(X, w, b) == pytest.approx(np.linalg.norm(X - foot, axis=1))
    # No other point of the hyperplane is nearer.
    other = foot + rng.normal(size=foot.shape) @ (np.eye(4) - np.outer(w, w) / (w @ w))
    assert (np.linalg.norm(X - other, axis=1) >= theory.distance_to_hyperplane(X, w, b) - 1e-12).all()


@given(st.floats(0.01, 100.0))
def test_scaling_w_changes_the_functional_margin_only(factor):
    X, y = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1]
    w, b = factor * np.array([1.0, -1.0]), -factor
    assert theory.functional_margin(X, y, w, b) == pytest.approx(factor)
    assert theory.geometric_margin(X, y, w, b) == pytest.approx(np.sqrt(0.5))


def test_a_row_on_the_wrong_side_makes_both_negative(toy):
    X, y = toy
    assert theory.functional_margin(X, -y, [1.0, -1.0], -1.0) == -2.0
    assert theory.geometric_margin(X, -y, [1.0, -1.0], -1.0) == pytest.approx(-np.sqrt(2.0))


def test_sparse_rows_are_rows(toy):
    X, y = toy
    rows = sparse.csr_matrix(X)
    assert theory.geometric_margin(rows, y, [1.0, -1.0], -1.0) == theory.geometric_margin(X, y, [1.0, -1.0], -1.0)
    assert theory.is_separable_with_margin(rows, y, [1.0, -1.0], -1.0, gamma=0.7, rho=3.0)


def test_the_definition_has_gamma_where_the_slides_print_one(toy):
    """Doubling w must not change whether a sample is separable with a given margin."""
    X, y = toy
    for factor in (0.1, 1.0, 10.0):
        w, b = factor * np.array([1.0, -1.0]), -factor
        assert theory.is_separable_with_margin(X, y, w, b, gamma=np.sqrt(0.5), rho=3.0)
        assert not theory.is_separable_with_margin(X, y, w, b, gamma=1.0, rho=3.0)


def test_the_definition_bounds_the_norm_too(toy):
    X, y = toy
    assert not theory.is_separable_with_margin(X, y, [1.0, -1.0], -1.0, gamma=0.5, rho=2.9)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"w": [0.0, 0.0]}, DataError, "w must be 2 finite numbers, not all zero"),
        ({"w": [1.0]}, DataError, "w must be 2 finite numbers"),
        ({"y": [0, 1, 1, 1]}, DataError, "each \\+1 or -1"),
        ({"y": [1, 1]}, DataError, "y must hold 4 labels"),
        ({"X": [[np.nan, 0.0]] * 4}, DataError, "X must be rows of finite numbers"),
        ({"gamma": 0.0}, ParameterError, "gamma must be a positive, finite number, got 0.0"),
        ({"rho": -1.0}, ParameterError, "rho must be a finite, nonnegative number, got -1.0"),
    ],
)
def test_what_it_needs(toy, change, error, message):
    X, y = toy
    arguments = {"X": X, "y": y, "w": [1.0, -1.0], "b": -1.0, "gamma": 0.5, "rho": 3.0} | change
    with pytest.raises(error, match=message):
        theory.is_separable_with_margin(**arguments)
