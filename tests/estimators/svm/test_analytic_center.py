import numpy as np
import pytest

from mercer import SVC, AnalyticCenterMachine, Status
from tests.estimators.svm.version_spaces import clouds, point_of, unit, walls_of
from tests.oracles import clarabel_centre


@pytest.mark.parametrize("seed", range(4))
def test_the_analytic_centre_is_clarabels(seed):
    X, y = clouds(seed)
    model = AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y)
    expected, value = clarabel_centre.solve(walls_of(X, y), np.ones(len(y)))
    np.testing.assert_allclose(point_of(model), unit(expected), atol=1e-5)
    lengths = np.linalg.norm(np.column_stack([X, np.ones(len(X))]), axis=1)
    # Rows of their own length change the barrier by a constant.
    assert model.certificate_.primal == pytest.approx(value - np.log(lengths).sum(), abs=1e-6)


def test_its_certificate_is_recomputed_from_the_data():
    X, y = clouds()
    model = AnalyticCenterMachine(gamma=0.3).fit(X, y)
    certificate = model.certificate_
    assert model.status_ is Status.OPTIMAL
    assert 0.0 <= certificate.gap < 1e-9
    assert certificate.newton_decrement < 1e-5
    assert certificate.decrement_bound < 1e-9
    assert certificate.is_optimal(1e-5)
    assert certificate.n_free == len(y) == len(model.support_)
    margins = np.where(y == 1, 1, -1) * (
        model.decision_function(X) + 0.1 * model.dual_coef_[0][np.argsort(model.support_)]
    )
    assert certificate.smallest_margin == pytest.approx(margins.min())


def test_the_trace_ends_with_a_small_decrement():
    model = AnalyticCenterMachine().fit(*clouds())
    assert model.trace_[-1].violation <= 1e-5
    assert model.n_iter_[0] == len(model.trace_) - 1


def test_a_weight_of_two_is_a_row_twice_and_of_zero_none():
    X, y = clouds()
    weights = np.ones(len(y))
    weights[:10], weights[30:] = 2.0, 0.0
    rows = np.concatenate([np.arange(30), np.arange(10)])
    for slack in (0.0, 0.5):
        one = AnalyticCenterMachine(gamma=0.3, slack=slack).fit(X, y, sample_weight=weights)
        two = AnalyticCenterMachine(gamma=0.3, slack=slack).fit(X[rows], y[rows])
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-7)


def test_the_ball_centre_is_another_one():
    X, y = clouds(gap=2.0)
    rows = np.column_stack([X, np.ones(len(X))])
    ball = SVC(C=np.inf, kernel="linear", bias="none", tol=1e-8).fit(unit_rows(rows), y)
    analytic = AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y)
    walls = walls_of(X, y)
    ball_point, analytic_point = unit(ball.coef_[0]), point_of(analytic)
    assert (walls @ ball_point).min() > (walls @ analytic_point).min()
    assert np.log(walls @ ball_point).sum() < np.log(walls @ analytic_point).sum()


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]
