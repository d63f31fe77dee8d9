"""Values of (15.12), what its certificate proves, and what the theorem promises."""

import numpy as np
import pytest

from mercer.problems.svm.regularised_risk import RegularisedRisk, expected_bound
from tests.oracles import clarabel_qp


@pytest.fixture
def risk(rng):
    signs = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    return RegularisedRisk(signs, 0.2, 0.5 + rng.random(30), rng.integers(1, 4, 30).astype(float), "penalized")


def by_hand(risk, X, w, b):
    losses = risk.loss_weights * np.maximum(0, 1 - risk.signs * (X @ w + b))
    return 0.5 * risk.lam * (w @ w + b * b) + (risk.counts * losses).sum() / risk.counts.sum()


def test_the_primal_is_the_formula(risk, rng):
    X, w, b = rng.normal(size=(30, 3)), rng.normal(size=3), 0.7
    assert risk.primal(w @ w + b * b, X @ w + b) == pytest.approx(by_hand(risk, X, w, b))


def test_the_gap_is_zero_at_the_optimum_and_bounds_what_is_left_elsewhere(risk, rng):
    X = rng.normal(size=(30, 3))
    problem = risk.soft_margin()
    beta, _ = clarabel_qp.solve(X @ X.T, risk.signs, problem.C, "hinge", "penalized")
    w, b = X.T @ beta, beta.sum()
    best = by_hand(risk, X, w, b)
    dual_values = X @ w + b
    assert risk.certificate(w @ w + b * b, dual_values, beta, dual_values).gap == pytest.approx(0.0, abs=1e-7)
    other = w + 0.3 * rng.normal(size=3)
    certificate = risk.certificate(other @ other + b * b, X @ other + b, beta, dual_values)
    assert certificate.gap == pytest.approx(by_hand(risk, X, other, b) - best, abs=1e-7)
    assert certificate.box_violation <= 1e-8
    assert certificate.kkt_violation > 0.01


def test_points_are_counted_by_where_their_coefficients_are(risk):
    reach = risk.signs * risk.soft_margin().C
    beta = np.concatenate([np.zeros(5), 0.5 * reach[5:17], reach[17:]])
    found = risk.certificate(1.0, np.zeros(30), beta, np.zeros(30))
    assert (found.n_zero, found.n_free, found.n_bounded) == (5, 12, 13)
    assert found.box_violation == 0.0
    assert found.equality_residual == 0.0


def test_the_bound_is_that_of_the_theorem():
    bound = expected_bound(lam=0.01, steps=10_000, rho=3.0)
    assert bound.value == pytest.approx(4 * 9 * (1 + np.log(10_000)) / (2 * 0.01 * 10_000))
    assert bound.gradient_bound == 6.0
    assert "Theorem 14.11" in str(bound)


def test_a_projection_makes_it_smaller_where_lambda_is_small():
    plain, projected = (expected_bound(0.01, 1000, 3.0, projected=p).value for p in (False, True))
    assert projected == pytest.approx(3.1**2 * (1 + np.log(1000)) / 20)
    assert projected < plain


def test_where_the_theorem_says_nothing_there_is_a_reason():
    assert expected_bound(0.1, 10, 1.0, reason="because").value is None
    assert "because" in str(expected_bound(0.1, 10, 1.0, reason="because"))
    assert expected_bound(0.1, 0, 1.0).value is None
    assert expected_bound(0.1, 10, 1.0).as_dict()["steps"] == 10


def test_entries_of_a_certificate(risk, rng):
    """Conditions are those of the hinge at the values of w: rows with slack are at their bound, others at zero."""
    C = risk.soft_margin().C
    beta = risk.signs * C * rng.choice([0.0, 0.4, 1.0], size=30)
    values = 2.0 * rng.normal(size=30)
    found = risk.certificate(3.0, values, beta, np.zeros(30))
    expected = 0.0
    for i in range(30):
        slack, share = 1 - risk.signs[i] * values[i], risk.signs[i] * beta[i] / C[i]
        expected = max(expected, slack if share < 1 else 0.0, -slack if share > 0 else 0.0)
    assert found.kkt_violation == pytest.approx(expected)
    assert found.relative_gap == pytest.approx((found.primal - found.dual) / max(1.0, found.primal))
    large = risk.certificate(3000.0, values, beta, np.zeros(30))
    assert large.primal > 100.0
    assert large.relative_gap == pytest.approx((large.primal - large.dual) / large.primal)
    outside = beta.copy()
    outside[3] = risk.signs[3] * (C[3] + 0.25)
    outside[4] = -risk.signs[4] * 0.125
    assert risk.certificate(3.0, values, outside, np.zeros(30)).box_violation == pytest.approx(0.25)
    assert risk.certificate(3.0, values, beta, np.zeros(30)).box_violation == pytest.approx(0.0, abs=1e-15)


def test_a_single_step_has_a_bound():
    assert expected_bound(0.1, 1, 2.0).value == pytest.approx(16.0 / 0.2)


def test_heavier_rows_make_the_ball_of_a_projection_larger():
    """|w| is at most the root of (mean weight) / lambda, and the gradient of its penalty lambda times that."""
    assert expected_bound(0.01, 1000, 3.0, mean_weight=4.0, projected=True).gradient_bound == pytest.approx(3.2)
