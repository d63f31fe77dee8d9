import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    SVC,
    AnalyticCentreMachine,
    BayesPointMachine,
    DataError,
    NotPositiveSemidefiniteError,
    ParameterError,
    Status,
)
from mercer.kernels import RBF, Custom, Sigmoid
from mercer.problems.version_space.spherical_polygon import SphericalPolygon
from tests.oracles import clarabel_centre

MACHINES = [AnalyticCentreMachine, BayesPointMachine]
QUICK = {"n_draws": 100, "min_ess": 30, "tol": 0.3, "random_state": 0}


def quick(kind, **parameters):
    return kind(**(QUICK if kind is BayesPointMachine else {}) | parameters)


def clouds(seed=0, n=40, gap=2.5, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.arange(n) % 2
    X[:, 0] += gap * (2 * y - 1)
    return X, y


def unit(vector):
    return vector / np.linalg.norm(vector)


def point_of(model):
    """The weights of a linear model on the sphere."""
    return unit(np.append(model.coef_[0], model.intercept_))


def walls_of(X, y):
    rows = np.column_stack([X, np.ones(len(X))])
    return np.where(y == 1, 1.0, -1.0)[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]


# --- the analytic centre ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_analytic_centre_is_clarabels(seed):
    X, y = clouds(seed)
    model = AnalyticCentreMachine(kernel="linear", slack=0.0).fit(X, y)
    expected, value = clarabel_centre.solve(walls_of(X, y), np.ones(len(y)))
    np.testing.assert_allclose(point_of(model), unit(expected), atol=1e-5)
    lengths = np.linalg.norm(np.column_stack([X, np.ones(len(X))]), axis=1)
    # Rows of their own length change the barrier by a constant.
    assert model.certificate_.primal == pytest.approx(value - np.log(lengths).sum(), abs=1e-6)


def test_its_certificate_is_recomputed_from_the_data():
    X, y = clouds()
    model = AnalyticCentreMachine(gamma=0.3).fit(X, y)
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
    model = AnalyticCentreMachine().fit(*clouds())
    assert model.trace_[-1].violation <= 1e-5
    assert model.n_iter_[0] == len(model.trace_) - 1


def test_a_weight_of_two_is_a_row_twice_and_of_zero_none():
    X, y = clouds()
    weights = np.ones(len(y))
    weights[:10], weights[30:] = 2.0, 0.0
    rows = np.concatenate([np.arange(30), np.arange(10)])
    for slack in (0.0, 0.5):
        one = AnalyticCentreMachine(gamma=0.3, slack=slack).fit(X, y, sample_weight=weights)
        two = AnalyticCentreMachine(gamma=0.3, slack=slack).fit(X[rows], y[rows])
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-7)


# --- the Bayes point --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_the_bayes_point_is_the_exact_centre_of_mass(seed):
    X, y = clouds(seed)
    model = BayesPointMachine(kernel="linear", slack=0.0, random_state=seed, min_ess=1000).fit(X, y)
    walls = walls_of(X, y)
    inside = point_of(AnalyticCentreMachine(kernel="linear", slack=0.0).fit(X, y))
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
    one, two, other = (quick(BayesPointMachine, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))
    state = quick(BayesPointMachine, random_state=np.random.RandomState(0)).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, state.dual_coef_)
    np.testing.assert_array_equal(one.dual_coef_, quick(BayesPointMachine, n_jobs=1).fit(X, y).dual_coef_)


def test_too_short_chains_warn():
    X, y = clouds(n=80)
    with pytest.warns(ConvergenceWarning, match=r"^ITERATION_LIMIT: .* have not mixed.*diagnostics_ says"):
        model = BayesPointMachine(max_iter=100, random_state=0).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.diagnostics_.steps == 100
    assert not model.diagnostics_.has_converged(0.02, 200)
    assert model.predict(X).shape == y.shape


def test_a_sample_has_no_certificate_but_diagnostics():
    model = quick(BayesPointMachine).fit(*clouds())
    assert not hasattr(model, "certificate_")
    assert model.diagnostics_.n_chains == 4
    assert model.trace_[-1].violation == pytest.approx(model.diagnostics_.r_hat - 1.0)


def test_noise_is_softened_by_slack():
    X, y = clouds(gap=0.8, n=100)
    hard = quick(BayesPointMachine, gamma=5.0, slack=0.0).fit(X, y)
    assert hard.score(X, y) == 1.0
    soft = quick(BayesPointMachine, gamma=5.0, slack=5.0).fit(X, y)
    test, truth = clouds(seed=1, gap=0.8, n=1000)
    assert soft.score(test, truth) > hard.score(test, truth)


# --- both -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MACHINES)
def test_without_slack_every_row_is_classified_correctly(kind):
    X, y = clouds(gap=1.0)
    model = quick(kind, gamma=2.0, slack=0.0).fit(X, y)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("kind", MACHINES)
def test_rows_that_cannot_be_separated_are_an_error_without_slack(kind):
    X, y = clouds(gap=0.3)
    with pytest.raises(DataError, match=r"the version space is empty: .*slack=1.0 softens the walls"):
        quick(kind, kernel="linear", slack=0.0).fit(X, y)
    assert quick(kind, kernel="linear", slack=1.0).fit(X, y).status_ is Status.OPTIMAL


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(kind, multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = quick(kind, gamma=0.5, slack=1.0, multi_class=multi_class).fit(X, names)
    assert model.score(X, names) > 0.93
    assert model.decision_function(X).shape == (150, 3)
    evidence = model.diagnostics_ if kind is BayesPointMachine else model.certificate_
    assert len(evidence) == 3


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize("layout", [sparse.csr_array, np.asfortranarray, lambda X: X.tolist()])
def test_layout_does_not_matter(kind, layout):
    X, y = clouds()
    expected = quick(kind, gamma=0.3, slack=0.5).fit(X, y).decision_function(X)
    # Walks part after a while where sums are taken in another order, but not in what they find.
    found = quick(kind, gamma=0.3, slack=0.5).fit(layout(X), y).decision_function(layout(X))
    np.testing.assert_allclose(found, expected, atol=1e-6 if kind is AnalyticCentreMachine else 0.2)


@pytest.mark.parametrize("kind", MACHINES)
def test_every_kind_of_kernel(kind):
    X, y = clouds()
    kernel = RBF(gamma=0.3)
    expected = quick(kind, kernel=kernel).fit(X, y).decision_function(X)
    given = quick(kind, kernel="precomputed").fit(kernel(X), y).decision_function(kernel(X))
    function = quick(kind, kernel=partial(RBF.__call__, kernel)).fit(X, y).decision_function(X)
    np.testing.assert_allclose(given, expected, atol=1e-6)
    np.testing.assert_allclose(function, expected, atol=1e-6)
    single = X.astype(np.float32)
    near = quick(kind, kernel=kernel).fit(single, y).decision_function(single)
    np.testing.assert_allclose(near, expected, atol=1e-3 if kind is AnalyticCentreMachine else 0.2)


@pytest.mark.parametrize("kind", MACHINES)
def test_items_that_are_not_vectors(kind):
    words, labels = ["aaa", "aab", "aba", "bbb", "bba", "bab"], ["a", "a", "a", "b", "b", "b"]
    kernel = Custom(lambda a, b: float(sum(x == y for x, y in zip(a, b, strict=True))), pairwise=True)
    model = quick(kind, kernel=kernel, slack=0.0).fit(words, labels)
    assert list(model.predict(["aaa", "bbb"])) == ["a", "b"]


@pytest.mark.parametrize("kind", MACHINES)
def test_a_kernel_that_is_none_is_refused_with_a_proof(kind):
    X, y = clouds(gap=0.5, n=60)
    kernel = Sigmoid(gamma=2.0, coef0=-1.0)
    with pytest.raises(NotPositiveSemidefiniteError, match="not positive semidefinite on these rows") as caught:
        quick(kind, kernel=kernel, slack=0.05).fit(X, y)
    witness = caught.value.witness
    assert witness @ kernel(X) @ witness < 0


@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"slack": -1.0}, "slack must be a finite number, 0 or more, got -1.0"),
        ({"slack": np.nan}, "slack must be a finite number, 0 or more, got nan"),
        ({"slack": np.inf}, "slack must be a finite number, 0 or more, got inf"),
        ({"bias": "free"}, "bias must be one of 'penalised', 'none', got 'free'"),
        ({"tol": 0}, "tol must be a finite number above 0, got 0"),
        ({"max_iter": 0}, "max_iter must be -1"),
        ({"multi_class": "all"}, "multi_class must be one of 'ovo', 'ovr', got 'all'"),
        ({"gamma": -1.0}, "gamma must be positive, got -1.0"),
        ({"time_limit": -1.0}, "time_limit must be a finite number above 0, got -1.0"),
        ({"memory_limit": "much"}, "memory_limit must be bytes or a text"),
    ],
)
def test_parameters_outside_their_range_are_refused(kind, parameters, message):
    with pytest.raises(ParameterError, match=message):
        kind(**parameters).fit(*clouds())


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


@pytest.mark.parametrize("kind", MACHINES)
def test_bad_rows_are_refused(kind):
    X, y = clouds()
    with pytest.raises(DataError, match="The number of classes has to be greater than one"):
        kind().fit(X, np.zeros(len(y)))
    with pytest.raises(DataError, match="k\\(x, x\\) must be positive, got 0 for row 2"):
        kind(kernel="linear", bias="none", slack=0.0).fit(np.where(np.arange(40)[:, None] == 2, 0.0, X), y)
    with pytest.raises(DataError, match="kernel values overflow on X"):
        kind(kernel="linear").fit(1e200 * X, y)
    contradiction = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    with pytest.raises(DataError, match="the version space is empty"):
        kind(slack=0.0).fit(*contradiction)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", MACHINES)
def test_limits_leave_a_model_and_say_so(kind):
    X, y = clouds(n=100)
    with pytest.warns(ConvergenceWarning, match="^TIME_LIMIT"):
        hurried = kind(time_limit=1e-9).fit(X, y)
    assert hurried.predict(X).shape == y.shape
    with pytest.warns(ConvergenceWarning, match="^MEMORY_LIMIT"):
        kind(memory_limit="13MiB").fit(*clouds(n=600))
    with pytest.warns(ConvergenceWarning, match="^INTERRUPTED"):
        kind(callbacks=[lambda point: True]).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="^ITERATION_LIMIT"):
        kind(max_iter=1).fit(X, y)


@pytest.mark.parametrize("kind", MACHINES)
def test_slack_of_any_size_is_a_slack(kind):
    X, y = clouds()
    for slack in (1e-6, 1e6, 1e12):
        model = quick(kind, slack=slack).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", MACHINES)
def test_a_model_survives_a_journey(kind):
    X, y = clouds()
    model = quick(kind).fit(X, y)
    away = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(away.decision_function(X), model.decision_function(X))


def test_the_ball_centre_is_another_one():
    X, y = clouds(gap=2.0)
    rows = np.column_stack([X, np.ones(len(X))])
    ball = SVC(C=np.inf, kernel="linear", bias="none", tol=1e-8).fit(unit_rows(rows), y)
    analytic = AnalyticCentreMachine(kernel="linear", slack=0.0).fit(X, y)
    walls = walls_of(X, y)
    ball_point, analytic_point = unit(ball.coef_[0]), point_of(analytic)
    assert (walls @ ball_point).min() > (walls @ analytic_point).min()
    assert np.log(walls @ ball_point).sum() < np.log(walls @ analytic_point).sum()


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]
