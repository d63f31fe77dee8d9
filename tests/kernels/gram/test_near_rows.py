"""The entries that are not nearly zero: all of them, and none if they are not few."""

import numpy as np
import pytest

from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.gram.near_rows import NEARLY_ZERO, near_rows


def narrow(n, gamma=20.0):
    return RBF(gamma)(np.random.default_rng(0).normal(size=(n, 3)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_make_up_the_matrix_but_for_its_diagonal(dtype):
    K = (narrow(300) * np.where(np.arange(300) % 7 == 0, -1.0, 1.0)).astype(dtype)
    K = np.tril(K, -1) + np.tril(K, -1).T + np.diag(np.full(300, 2.0, dtype))
    rows, found = near_rows(K), np.diag(K.diagonal())
    for i in range(300):
        span = slice(rows.begins[i], rows.begins[i + 1])
        found[i, rows.columns[span]] = rows.entries[span]
    np.testing.assert_array_equal(found, np.where(np.abs(K) > 2.0 * NEARLY_ZERO, K, 0.0))


def test_none_if_they_are_not_few():
    assert near_rows(narrow(300, gamma=0.1)) is None
    K = np.eye(700)
    K[1:300, 1:300] = 1.0  # of the rows looked at first, too few to tell
    K[np.arange(0, 700, 10)] = np.eye(700)[::10]
    assert near_rows(K) is None


def test_a_stored_matrix_finds_them_once_and_without_its_padding():
    matrix = StoredMatrix.of(narrow(200))
    assert matrix.near_rows is matrix.near_rows
    assert matrix.near_rows.columns.max() < 200
    assert StoredMatrix.of(np.zeros((0, 0))).near_rows is None
