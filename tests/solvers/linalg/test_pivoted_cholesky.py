"""K = L L' from as few rows as it has dimensions, and (L L' + lambda I)^-1."""

import numpy as np
import pytest

from mercer import NotPositiveSemidefiniteError
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.gram.symmetric_operator import GivenOperator
from mercer.solvers.linalg.low_rank_preconditioner import low_rank
from mercer.solvers.linalg.pivoted_cholesky import partial_factor, pivoted_factor

ROWS = np.random.default_rng(0).normal(size=(12, 3)) * [1.0, 5.0, 0.1]


def test_a_matrix_of_three_dimensions_has_three_coordinates():
    K = ROWS @ ROWS.T
    factor = pivoted_factor(StoredMatrix.of(K), 12)
    assert factor.shape == (12, 3)
    np.testing.assert_allclose(factor @ factor.T, K, atol=1e-12)
    assert pivoted_factor(StoredMatrix.of(K), 3).shape == (12, 3)


def test_more_coordinates_than_allowed_are_none():
    assert pivoted_factor(StoredMatrix.of(ROWS @ ROWS.T), 2) is None
    assert pivoted_factor(StoredMatrix.of(ROWS @ ROWS.T), 12, stop=lambda: True) is None


def test_a_part_describes_what_it_took_in_exactly_and_nothing_too_much():
    K = ROWS @ ROWS.T
    factor, is_partial = partial_factor(StoredMatrix.of(K), 2, 0.0)
    assert is_partial
    assert factor.shape == (12, 2)
    left = K - factor @ factor.T
    assert np.linalg.eigvalsh(left).min() > -1e-12
    largest = int(K.diagonal().argmax())
    np.testing.assert_allclose(left[largest], 0.0, atol=1e-12)


def test_items_that_are_described_well_enough_are_left():
    K = ROWS @ ROWS.T
    factor, is_partial = partial_factor(StoredMatrix.of(K), 12, 1.0)
    assert not is_partial
    assert (K - factor @ factor.T).diagonal().max() <= 1.0
    assert factor.shape[1] < 3


def test_an_indefinite_matrix_is_refused():
    K = ROWS @ ROWS.T - 5.0 * np.eye(12)
    with pytest.raises(NotPositiveSemidefiniteError):
        pivoted_factor(StoredMatrix.of(K), 12)


@pytest.mark.parametrize("rng", [None, np.random.default_rng(1)])
def test_a_preconditioner_of_full_rank_is_the_inverse(rng):
    K = ROWS @ ROWS.T
    right = np.random.default_rng(2).normal(size=(12, 2))
    found = low_rank(GivenOperator(K), 12, 0.5, rng=rng)(right)
    np.testing.assert_allclose(found, np.linalg.solve(K + 0.5 * np.eye(12), right), rtol=1e-5, atol=1e-7)


def test_one_of_low_rank_is_right_for_the_rows_that_it_took():
    """The largest item alone: L has one column, K's own divided by the root of its diagonal."""
    K = ROWS @ ROWS.T
    place = int(K.diagonal().argmax())
    L = K[:, [place]] / np.sqrt(K[place, place])
    right = np.random.default_rng(2).normal(size=(12, 1))
    found = low_rank(GivenOperator(K), 1, 0.5)(right)
    np.testing.assert_allclose(found, np.linalg.solve(L @ L.T + 0.5 * np.eye(12), right), rtol=1e-9)
