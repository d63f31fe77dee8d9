import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, DataError, ParameterError, RampSVC, Regularization, Status
from mercer.kernels import RBF, Custom
from mercer.problems.svm.ramp import RampMargin


def tilted():
    """A hundred and twenty rows in two clouds, and twelve far to the right with the wrong label."""
    rng = np.random.default_rng(3)
    good = [rng.normal([side, 0.0], [0.6, 1.3], (60, 2)) for side in (-1.5, 1.5)]
    bad = rng.normal([4.2, 3.2], [0.5, 0.4], (12, 2))
    return np.concatenate([*good, bad]), np.repeat([0, 1, 0], [60, 60, 12])


def test_outliers_lose_their_pull():
    X, y = tilted()
    hinge, ramp = SVC(kernel="linear").fit(X, y), RampSVC(kernel="linear").fit(X, y)
    assert ramp.status_ is Status.OPTIMAL
    assert ramp.score(X[:120], y[:120]) == 1.0 > hinge.score(X[:120], y[:120])
    np.testing.assert_array_equal(ramp.outliers_, np.arange(120, 132))
    assert ramp.support_.max() < 120
    clean = SVC(kernel="linear").fit(X[:120], y[:120])
    np.testing.assert_allclose(ramp.coef_, clean.coef_, atol=1e-6)


def test_where_an_outlier_is_makes_no_difference():
    X, y = tilted()
    moved = X.copy()
    moved[120:] += [0.3, 0.5]
    np.testing.assert_allclose(
        RampSVC(kernel="linear").fit(X, y).coef_, RampSVC(kernel="linear").fit(moved, y).coef_, atol=1e-6
    )


def test_every_step_is_listed_and_the_end_is_certified():
    X, y = tilted()
    model = RampSVC(kernel="linear").fit(X, y)
    objectives = [step.objective for step in model.steps_]
    assert len(objectives) >= 2
    assert objectives == sorted(objectives, reverse=True)
    assert max(step.gap for step in model.steps_) < 1e-6
    certificate = model.certificate_
    assert certificate.is_stationary(1e-6)
    assert certificate.ramp_objective == pytest.approx(objectives[-1])
    assert certificate.n_outliers == len(model.outliers_) == model.steps_[-1].n_outliers
    # The same by hand, from what the model shows.
    losses = np.minimum(1.0, np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X)))
    assert certificate.ramp_objective == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + losses.sum())


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(multi_class):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    names[::17] = "setosa"
    model = RampSVC(multi_class=multi_class, gamma=0.5, C=5.0).fit(X, names)
    assert model.status_ is Status.OPTIMAL
    assert len(model.steps_) == len(model.outliers_) == len(model.certificate_) == 3
    assert all(each.is_stationary(1e-3) for each in model.certificate_)
    wrong = np.flatnonzero((names == "setosa") & (y > 0))
    assert set(np.concatenate(model.outliers_)) >= set(wrong[:3])
    assert (model.predict(X) == np.array(["setosa", "versicolor", "virginica"])[y]).mean() > 0.95
    assert model.decision_function(X).shape == (150, 3)


def test_pairs_name_rows_of_the_training_data():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[120] = 0
    model = RampSVC(gamma=0.5).fit(X, y)
    pair = model.outliers_[1]  # classes 0 and 2
    assert 120 in pair
    assert set(y[pair]) <= {0, 2}


def test_a_low_ramp_is_the_hinge():
    X, y = tilted()
    hinge, ramp = SVC(gamma=0.5).fit(X, y), RampSVC(gamma=0.5, s=-100.0).fit(X, y)
    np.testing.assert_allclose(ramp.decision_function(X), hinge.decision_function(X), atol=1e-9)
    assert len(ramp.outliers_) == 0
    assert len(ramp.steps_) == 1


def test_weights_are_rows_again():
    X, y = tilted()
    weights = np.ones(len(y))
    weights[:10], weights[30:40] = 2.0, 0.0
    repeated = np.concatenate([np.arange(30), np.arange(10), np.arange(40, len(y))])
    weighted = RampSVC(gamma=0.5, tol=1e-8).fit(X, y, weights)
    again = RampSVC(gamma=0.5, tol=1e-8).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.decision_function(X), again.decision_function(X), atol=1e-6)


def test_a_class_that_counts_for_more_is_kept():
    X, y = tilted()
    model = RampSVC(kernel="linear", class_weight={0: 50.0}).fit(X, y)
    assert model.score(X[y == 0], y[y == 0]) >= RampSVC(kernel="linear").fit(X, y).score(X[y == 0], y[y == 0])


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_matrix, np.asfortranarray, lambda X: X.tolist()])
def test_layout_does_not_matter(layout):
    X, y = tilted()
    expected = RampSVC(gamma=0.5, tol=1e-8).fit(X, y).decision_function(X)
    np.testing.assert_allclose(
        RampSVC(gamma=0.5, tol=1e-8).fit(layout(X), y).decision_function(layout(X)), expected, atol=1e-6
    )


def test_single_precision():
    X, y = tilted()
    expected = RampSVC(gamma=0.5).fit(X, y).decision_function(X)
    single = X.astype(np.float32)
    np.testing.assert_allclose(RampSVC(gamma=0.5).fit(single, y).decision_function(single), expected, atol=1e-3)


def test_every_kind_of_kernel():
    X, y = tilted()
    kernel = RBF(gamma=0.5)
    expected = RampSVC(kernel=kernel, tol=1e-8).fit(X, y).decision_function(X)
    given = RampSVC(kernel="precomputed", tol=1e-8).fit(kernel(X), y).decision_function(kernel(X))
    function = RampSVC(kernel=partial(RBF.__call__, kernel), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(given, expected, atol=1e-6)
    np.testing.assert_allclose(function.decision_function(X), expected, atol=1e-6)
    assert function.certificate_.is_stationary(1e-6)


def test_items_that_are_not_vectors():
    words = ["aaa", "aab", "aba", "bbb", "bba", "bab", "aaa"]
    labels = [0, 0, 0, 1, 1, 1, 1]
    kernel = Custom(lambda a, b: float(sum(x == y for x, y in zip(a, b, strict=True))), pairwise=True)
    model = RampSVC(kernel=kernel, C=1.0).fit(words, labels)
    assert list(model.predict(["aaa", "bbb"])) == [0, 1]


def test_a_rough_fit_of_many_rows_in_single_precision_is_stationary_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(3000) < 0.15)
    model = RampSVC(C=5.0).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_stationary(1e-3)
    objectives = np.array([step.objective for step in model.steps_])
    assert (np.diff(objectives) < 0).all()
    assert len(model.support_) < 0.8 * len(SVC(C=5.0).fit(X, y).support_)


def test_c_in_other_words():
    X, y = tilted()
    lam = 1.0 / (2.0 * len(y) * 0.5)
    one = RampSVC(C=Regularization.from_lambda(lam), kernel="linear").fit(X, y)
    np.testing.assert_allclose(one.coef_, RampSVC(C=0.5, kernel="linear").fit(X, y).coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"s": 1.0}, "s must be a finite number below 1, got 1.0"),
        ({"s": np.nan}, "s must be a finite number below 1, got nan"),
        ({"s": -np.inf}, "s must be a finite number below 1, got -inf"),
        ({"s": "0"}, "s must be a finite number below 1, got '0'"),
        ({"max_steps": 0}, "max_steps must be a whole number, 1 or more, got 0"),
        ({"max_steps": 2.5}, "max_steps must be a whole number, 1 or more, got 2.5"),
        ({"C": np.inf}, r"C must be finite for the ramp loss, also after weighting, got inf.*SVC\(C=inf\)"),
        ({"C": 0.0}, "C must be a positive number, got 0.0"),
        ({"C": 1e308, "class_weight": {0: 1e10}}, "C must be finite for the ramp loss, also after weighting"),
        ({"tol": 0.0}, "tol must be a finite number above 0, got 0.0"),
        ({"bias": "fixed"}, "bias must be one of"),
        ({"gap_tol": -1.0}, "gap_tol must be a finite number above 0, got -1.0"),
        ({"kernel": "gaussian"}, "no kernel is called 'gaussian'; there are .*linear"),
        ({"time_limit": 0}, "time_limit must be a finite number above 0, got 0"),
    ],
)
def test_parameters_outside_their_range_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        RampSVC(**parameters).fit(*tilted())


@pytest.mark.parametrize("C", [1e-300, 1e-20, 1e20, 1e300])
def test_c_of_any_size_is_a_c(C):
    X, y = tilted()
    model = RampSVC(C=C, gamma=5.0).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert np.isfinite(model.decision_function(X)).all()


def test_one_class_and_bad_rows_are_refused():
    X, y = tilted()
    with pytest.raises(DataError, match="The number of classes has to be greater than one"):
        RampSVC().fit(X, np.zeros(len(y)))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        RampSVC().fit(X, y)


def test_limits_leave_a_model_and_say_so():
    X, y = tilted()
    with pytest.warns(ConvergenceWarning, match=r"^ITERATION_LIMIT: .* To continue, raise max_iter or max_steps\."):
        model = RampSVC(kernel="linear", max_steps=1).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert len(model.steps_) == 1
    np.testing.assert_allclose(model.coef_, SVC(kernel="linear").fit(X, y).coef_, atol=1e-9)
    with pytest.warns(ConvergenceWarning, match="^TIME_LIMIT"):
        hurried = RampSVC(kernel="linear", time_limit=1e-9).fit(X, y)
    assert hurried.predict(X).shape == y.shape
    with pytest.warns(ConvergenceWarning, match="^MEMORY_LIMIT"):
        nothing = RampSVC(memory_limit=1).fit(X, y)
    assert nothing.steps_ == []
    assert len(nothing.outliers_) == 0


def test_warm_start_finds_the_same():
    X, y = tilted()
    model = RampSVC(gamma=0.5, warm_start=True, tol=1e-8).fit(X, y)
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.fit(X, y).decision_function(X), expected, atol=1e-6)


def test_the_same_bits_again_and_after_a_journey():
    X, y = tilted()
    one, two = RampSVC().fit(X, y), RampSVC().fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    away = pickle.loads(pickle.dumps(one))  # noqa: S301 - our own
    assert away.certificate_ == two.certificate_
    assert away.steps_[-1].objective == one.steps_[-1].objective


# --- margins exactly at s, and where to begin -----------------------------------------------------

CORNERS, DIAGONALS = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([-1, -1, 1, 1])


def ramp_objective(w, b, X, y, C):
    return 0.5 * w @ w + C * np.minimum(1.0, np.maximum(0.0, 1.0 - y * (X @ w + b))).sum()


def test_a_local_maximum_is_not_the_end():
    """w = 0 is its own tangent's minimum, with all margins at s; every direction leads down from it."""
    model = RampSVC(kernel="linear", C=10.0).fit(CORNERS, DIAGONALS)
    assert model.steps_[0].objective == pytest.approx(40.0)
    assert model.certificate_.ramp_objective == pytest.approx(14.0)
    assert model.certificate_.is_stationary(1e-6)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_the_certificate_looks_at_both_sides_of_a_kink(bias):
    """Of the hinge solution of these corners, which the convex problem alone would call optimal."""
    K, signs = CORNERS @ CORNERS.T, DIAGONALS.astype(float)
    problem, beta = RampMargin(signs, np.full(4, 10.0), 0.0, bias), 10.0 * signs
    found = problem.certificate(beta, K @ beta, 0.0, lambda places: K[np.ix_(places, places)])
    assert found.is_optimal(1e-9)
    assert found.linearization_violation == 0.0
    assert found.n_at_kink == 4
    assert found.kink_slope > 0.5
    assert not found.is_stationary()
    assert "4 margins at the kink" in str(found)
    assert not problem.certificate(beta, K @ beta, 0.0).is_stationary()


@pytest.mark.parametrize("seed", range(60))
def test_nothing_that_is_certified_gets_better_by_a_small_step(seed):
    rng = np.random.default_rng(seed)
    n, d, C = int(rng.integers(4, 12)), int(rng.integers(1, 3)), float(rng.choice([0.1, 1.0, 10.0]))
    X, y = rng.integers(-2, 3, size=(n, d)).astype(float), np.where(np.arange(n) % 2, 1, -1)
    model = RampSVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    assert model.certificate_.is_stationary(1e-6)
    w, b = model.coef_[0], model.intercept_[0]
    here = ramp_objective(w, b, X, y, C)
    assert here == pytest.approx(model.certificate_.ramp_objective, abs=1e-9)
    steps = rng.normal(size=(300, d + 1))
    steps = np.vstack([steps / np.linalg.norm(steps, axis=1)[:, None], np.eye(d + 1), -np.eye(d + 1)])
    around = [ramp_objective(w + h * v[:d], b + h * v[d], X, y, C) for h in (1e-2, 1e-4) for v in steps]
    assert min(around) >= here - 1e-9 * max(1.0, here)


def lost():
    """So many wrong labels, so far away, that the hinge solution takes the good rows for the outliers."""
    rng = np.random.default_rng(5)
    good = [rng.normal([side, 0.0], 0.4, (40, 2)) for side in (-1.0, 1.0)]
    bad = rng.normal([14.0, 0.0], 0.4, (20, 2))
    return np.concatenate([*good, bad]), np.repeat([0, 1, 0], [40, 40, 20])


def test_a_start_of_ones_own():
    X, y = lost()
    plain = RampSVC(kernel="linear", C=0.5).fit(X, y)
    bad = np.arange(len(y)) >= 80
    by_mask = RampSVC(kernel="linear", C=0.5, start=bad).fit(X, y)
    clean = SVC(kernel="linear", C=0.5).fit(X[:80], y[:80])
    by_values = RampSVC(kernel="linear", C=0.5, start=clean.decision_function(X)).fit(X, y)
    assert by_mask.score(X[:80], y[:80]) > 0.95
    assert by_mask.certificate_.ramp_objective < plain.certificate_.ramp_objective
    np.testing.assert_allclose(by_values.coef_, by_mask.coef_, atol=1e-5)
    np.testing.assert_array_equal(by_mask.outliers_, np.flatnonzero(bad))


def test_several_starts_keep_the_best():
    X, y = lost()
    model = RampSVC(kernel="linear", C=0.5, n_starts=12).fit(X, y)
    assert len(model.start_objectives_) == 12
    assert model.certificate_.ramp_objective == pytest.approx(model.start_objectives_.min())
    assert model.certificate_.is_stationary()
    one = RampSVC(kernel="linear", C=0.5).fit(X, y)
    assert model.start_objectives_[0] == pytest.approx(one.certificate_.ramp_objective)
    again = RampSVC(kernel="linear", C=0.5, n_starts=12).fit(X, y)
    np.testing.assert_array_equal(model.start_objectives_, again.start_objectives_)


def test_a_warm_start_stays_at_a_better_point():
    X, y = lost()
    model = RampSVC(kernel="linear", C=0.5, start=np.arange(len(y)) >= 80, warm_start=True).fit(X, y)
    better = model.certificate_.ramp_objective
    model.set_params(start=None).fit(X, y)
    assert model.certificate_.ramp_objective == pytest.approx(better)
    assert RampSVC(kernel="linear", C=0.5).fit(X, y).certificate_.ramp_objective > better


def test_starts_of_several_classes():
    X, y = load_iris(return_X_y=True)
    mask = np.arange(150) % 50 == 0
    model = RampSVC(start=mask, n_starts=2).fit(X, y)
    assert len(model.start_objectives_) == 3
    values = SVC(decision_function_shape="ovo").fit(X, y).decision_function(X)
    assert RampSVC(start=values).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("wrong", [[True], np.zeros(5), np.full(4, np.nan), np.zeros((4, 2)), ["a"] * 4])
def test_a_start_that_is_none_is_refused(wrong):
    with pytest.raises(DataError, match="start must be a mask of 4 Booleans"):
        RampSVC(start=wrong).fit(CORNERS, DIAGONALS)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True])
def test_there_is_at_least_one_start(wrong):
    with pytest.raises(ParameterError, match="n_starts"):
        RampSVC(n_starts=wrong).fit(CORNERS, DIAGONALS)


def test_time_that_is_over_between_starts_is_told():
    X, y = lost()
    points = []
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = RampSVC(kernel="linear", n_starts=50, callbacks=[lambda p: points.append(p) or len(points) > 4]).fit(
            X, y
        )
    assert len(model.start_objectives_) < 50
    assert np.isfinite(model.certificate_.ramp_objective)
