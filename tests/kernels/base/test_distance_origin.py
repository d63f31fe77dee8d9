"""One row far away, or a few, and the distances between all the others."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer import SVC, KernelRidge
from mercer.kernels import RBF, Matern, RationalQuadratic
from mercer.kernels.base.distance_origin import origin_of


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize("far", [1e5, 1e7, 1e10, 1e20, 1e45])
@pytest.mark.parametrize("kernel", [RBF(0.3), Matern(nu=1.5), RationalQuadratic()], ids=lambda k: type(k).__name__)
def test_one_row_far_away_leaves_the_others_as_they_are(rows, kernel, far):
    given = rows.copy()
    given[3, 1] = far
    others = np.delete(np.arange(30), 3)
    assert np.allclose(kernel(given)[np.ix_(others, others)], kernel(rows)[np.ix_(others, others)], atol=1e-12)


def test_rows_that_are_near_each_other_are_measured_from_their_mean(rows):
    assert np.allclose(origin_of(RBF(0.3), rows), rows.mean(axis=0))


@pytest.mark.parametrize("far", [1e9, 1e20])
def test_a_machine_does_not_notice_a_row_far_away(rows, far):
    given, labels = rows.copy(), rows[:, 0] > 0
    given[3, 1] = far
    exact = np.exp(-cdist(given, given, "sqeuclidean") / 3)
    model = SVC(gamma=1 / 3, tol=1e-8).fit(given, labels)
    by_matrix = SVC(kernel="precomputed", tol=1e-8).fit(exact, labels)
    assert np.allclose(model.decision_function(given), by_matrix.decision_function(exact), atol=1e-6)
    ridge = KernelRidge(kernel="rbf", gamma=1 / 3).fit(given, rows[:, 0])
    assert np.allclose(ridge.predict(given), exact @ np.linalg.solve(exact + np.eye(30), rows[:, 0]), atol=1e-9)


@pytest.mark.parametrize("far", [1e6, 1e10, 1e14])
def test_near_rows_far_away_from_the_others_keep_their_distance(rows, far):
    rows[[4, 17]] += far
    exact = np.exp(-cdist(rows, rows, "sqeuclidean"))
    assert np.allclose(RBF(1.0)(rows), exact, rtol=1e-13, atol=1e-15)
    model = SVC(gamma=1.0, tol=1e-8).fit(rows, rows[:, 1] > 0)
    by_matrix = SVC(kernel="precomputed", tol=1e-8).fit(exact, rows[:, 1] > 0)
    assert np.allclose(model.decision_function(rows), by_matrix.decision_function(exact), atol=1e-7)


def test_equal_rows_of_large_whole_numbers_are_fine():
    X = np.random.default_rng(1).integers(0, 10, (40, 2)) * 1e5
    model = SVC(gamma=1.0).fit(np.r_[X, X], np.arange(80) % 40 < 20)
    assert model.certificate_.is_optimal(1e-3)
