"""Rows that are copied when they are first needed are those of the whole copy."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.copied_rows import CopiedRows, copy_all, row_of
from mercer.solvers.dual_qp.pair_steps import MASK, pair_steps
from mercer.solvers.dual_qp.working_set import WorkingSet
from mercer.solvers.limits import Limits


def copied(source, places, width, ridge=0.0):
    diag = np.ones(width)
    diag[: len(places)] = source[places, places] + ridge
    return CopiedRows(np.full((len(places), width), np.nan), np.zeros(len(places), bool), source, places, diag)


def test_a_row_is_copied_once_with_its_ridge_and_padding(rng):
    source, places = rng.normal(size=(9, 9)), np.array([1, 4, 5, 8])
    rows = copied(source, places, 6, ridge=0.5)
    expected = np.concatenate([source[5, places] + [0.0, 0.0, 0.5, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(row_of(rows, 2), expected)
    np.testing.assert_array_equal(rows.is_known, [False, False, True, False])
    rows.values[2] = 7.0
    copy_all(*rows)
    assert rows.is_known.all()
    assert (rows.values[2] == 7.0).all()
    np.testing.assert_allclose(
        rows.values[[0, 1, 3], :4], (source[np.ix_(places, places)] + 0.5 * np.eye(4))[[0, 1, 3]]
    )


def test_if_nothing_may_rise_beside_gradients_as_large_as_the_mask_no_row_beyond_the_last_is_read():
    width, beta, bound = 16, np.zeros(3), np.zeros(3)
    # Parts of larger arrays, in which what is written beyond their end can be seen.
    places, is_known, values = np.arange(width) % 5, np.zeros(width, bool), np.zeros((width, width))
    rows = CopiedRows(values[:3], is_known[:3], np.eye(5), places[:3], np.ones(width))
    gradient, rise, fall = np.zeros(width), np.full(width, -MASK), np.full(width, MASK)
    gradient[:3] = -1e25
    steps, highest, lowest, _ = pair_steps(
        rows, gradient, beta, bound, bound, 0.0, rows.diag, rise, fall, 1e-3, 10, np.empty(width)
    )
    assert steps == 0
    assert highest < lowest
    assert not is_known[3:].any()
    assert not beta.any()


def test_a_working_set_may_be_empty():
    matrix, dual = StoredMatrix.of(np.eye(4)), SoftMargin(np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), "hinge").dual()
    assert WorkingSet(dual, matrix, np.arange(0), np.zeros(4), dual.linear).values.shape[0] == 0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_working_set_of_copied_rows_takes_the_steps_of_the_matrix_itself(loss, rng):
    X = rng.normal(size=(120, 3))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, 1.0, -1.0)
    matrix = StoredMatrix.of(np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2)))
    places, beta = np.flatnonzero(np.arange(120) % 3), np.zeros(120)
    dual = SoftMargin(signs, np.full(120, 3.0), loss).dual()
    part = SoftMargin(signs[places], np.full(80, 3.0), loss).dual()
    some = WorkingSet(dual, matrix, places, beta, dual.gradient(matrix, beta))
    alone = WorkingSet(part, matrix.view(places), np.arange(80), beta[places], part.linear.copy())
    assert some.run(1e-6, Limits(), 0) == alone.run(1e-6, Limits(), 0) > 0
    np.testing.assert_array_equal(some.beta, alone.beta)
    ridge = np.zeros(80) if part.ridge is None else part.ridge
    np.testing.assert_array_equal(some.values[:, :80], matrix.values[np.ix_(places, places)] + np.diag(ridge))
