import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import AnalyticCenterMachine, BayesPointMachine, Status
from mercer.problems.version_space.spherical_polygon import SphericalPolygon
from tests.estimators.svm.version_spaces import clouds, point_of, walls_of

QUICK = {"n_draws": 100, "min_ess": 30, "tol": 0.3, "random_state": 0}


def quick(**parameters):
    return BayesPointMachine(**QUICK | parameters)


@pytest.mark.parametrize("seed", range(3))
def test_the_bayes_point_is_the_exact_centre_of_mass(seed):
    X, y = clouds(seed)
    model = BayesPointMachine(kernel="linear", slack=0.0, random_state=seed, min_ess=1000).fit(X, y)
    walls = walls_of(X, y)
    inside = point_of(AnalyticCenterMachine(kernel="linear", slack=0.0).fit(X, y))
    exact = SphericalPolygon.of_walls(walls, inside).centre_of_mass
    found = point_of(model)
    assert model.status_ is Status.OPTIMAL
    assert np.arccos(min(1.0, found @ exact)) < 4 * model.diagnostics_.angle_error
    assert model.diagnostics_.angle_error < 0.05


def test_in_the_plane_without_a_bias_it_halves_the_arc():
    X, y = clouds(gap=3.0)
    model = BayesPointMachine(kernel="linear", bias="none", slack=0.0, random_state=0).fit(X, y)
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * X
    angles = np.arctan2(signed[:, 1], signed[:, 0])  # all within a half circle around 0
    middle = 0.5 * (angles.max() - np.pi / 2 + angles.min() + np.pi / 2)
    found = np.arctan2(model.coef_[0, 1], model.coef_[0, 0])
    assert abs(found - middle) < 4 * model.diagnostics_.angle_error
    assert model.intercept_[0] == 0.0


def test_the_seed_decides():
    X, y = clouds()
    one, two, other = (quick(random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))
    state = quick(random_state=np.random.RandomState(0)).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, state.dual_coef_)
    np.testing.assert_array_equal(one.dual_coef_, quick(n_jobs=1).fit(X, y).dual_coef_)


def test_too_short_chains_warn():
    X, y = clouds(n=80)
    with pytest.warns(ConvergenceWarning, match=r"^ITERATION_LIMIT: .* have not mixed.*diagnostics_ says"):
        model = BayesPointMachine(max_iter=100, random_state=0).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.diagnostics_.steps == 100
    assert not model.diagnostics_.has_converged(0.02, 200)
    assert model.predict(X).shape == y.shape


def test_a_sample_has_no_certificate_but_diagnostics():
    model = quick().fit(*clouds())
    assert not hasattr(model, "certificate_")
    assert model.diagnostics_.n_chains == 4
    assert model.trace_[-1].violation == pytest.approx(model.diagnostics_.r_hat - 1.0)


def test_noise_is_softened_by_slack():
    X, y = clouds(gap=0.8, n=100)
    hard = quick(gamma=5.0, slack=0.0).fit(X, y)
    assert hard.score(X, y) == 1.0
    soft = quick(gamma=5.0, slack=5.0).fit(X, y)
    test, truth = clouds(seed=1, gap=0.8, n=1000)
    assert soft.score(test, truth) > hard.score(test, truth)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_chains": 1}, "n_chains must be a whole number, 2 or more, got 1"),
        ({"n_draws": 8}, "n_draws must be a whole number, 16 or more, got 8"),
        ({"min_ess": 0}, "min_ess must be a finite number above 0, got 0"),
        ({"random_state": "seed"}, "cannot be used to seed"),
    ],
)
def test_parameters_of_the_walks_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        BayesPointMachine(**parameters).fit(*clouds())
