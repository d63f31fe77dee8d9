"""Perceptrons on rows and on kernel values: the bound, XOR, streams, weights and faults."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer
from mercer import DataError, HardMarginSVC, KernelPerceptron, ParameterError, Perceptron, Status
from mercer.estimators.fitting.equal_rows import row_keys
from mercer.kernels import RBF, Custom, Polynomial
from tests.estimators.datasets import scaled
from tests.faults.own_time import CtrlC

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array([0, 0, 1, 1])
QUADRATIC = Polynomial(degree=2, gamma=1.0, coef0=1.0)
METHODS = ["online", "averaged", "batch"]
NOT_SEPARATED = "ITERATION_LIMIT.*Perhaps no hyperplane separates the data: HardMarginSVC can tell"


def separable(rng, n=200, d=5, gap=0.1):
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(X @ w > 0, 1, -1)
    return X + gap * y[:, None] * w, y


# --- worked examples --------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_updates_are_at_most_the_bound(method, fit_intercept, seed):
    """Example 8: at most (rho/gamma)^2 updates, with gamma from an independent computation."""
    X, y = separable(np.random.default_rng(seed))
    # A batch takes one update an epoch, so it may need as many epochs as the bound has updates.
    model = Perceptron(method=method, fit_intercept=fit_intercept, random_state=seed, max_iter=20_000).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    if method != "averaged":
        assert model.score(X, y) == 1.0
    bound = model.mistake_bound_
    Z = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    gamma = HardMarginSVC(kernel="linear", bias="none").fit(Z, y).margin_
    rho = np.linalg.norm(Z, axis=1).max()
    assert bound.margin == pytest.approx(gamma, rel=1e-9)
    assert bound.radius == pytest.approx(rho, rel=1e-12)
    assert 0 < model.n_updates_[0] == bound.updates <= (rho / gamma) ** 2 == pytest.approx(bound.bound)
    assert bound.holds


@pytest.mark.parametrize("method", METHODS)
def test_xor_defeats_the_linear_perceptron(method):
    """Example 2, with a status that says so."""
    with pytest.warns(ConvergenceWarning, match=NOT_SEPARATED):
        model = Perceptron(method=method).fit(XOR, LABELS)
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.score(XOR, LABELS) < 1.0
    assert model.n_iter_ == 1000
    assert model.mistake_bound_.margin == 0.0
    assert model.mistake_bound_.bound == np.inf


@pytest.mark.parametrize("method", METHODS)
def test_xor_yields_to_the_quadratic_kernel(method):
    model = KernelPerceptron(QUADRATIC, method=method).fit(XOR, LABELS)
    assert model.status_ is Status.OPTIMAL
    assert model.score(XOR, LABELS) == 1.0
    assert 0 < model.n_updates_[0] <= model.mistake_bound_.bound
    assert model.certificate_.primal == model.certificate_.dual == 0.0


def test_xor_as_a_linear_program():
    """The dual variables (1, 1, 1, 1) prove that no hyperplane does better than 4."""
    model = Perceptron(method="lp").fit(XOR, LABELS)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(4.0)
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-9)
    assert model.certificate_.n_bounded == 4
    with pytest.raises(AttributeError, match="by updates"):
        model.mistake_bound_  # noqa: B018 - asking for it is the test


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_the_program_is_certified(layout, petals):
    X, species = petals
    X, y = X[species > 0], species[species > 0]
    model = Perceptron(method="lp").fit(layout(X), y)
    found = model.certificate_
    assert found.primal > 0.5
    assert abs(found.gap) <= 1e-6 * found.primal
    assert found.equality_residual <= 1e-6
    assert found.box_violation == 0.0
    assert model.score(layout(X), y) > 0.9
    separated = Perceptron(method="lp").fit(layout(petals[0]), species == 0)
    assert separated.certificate_.primal == pytest.approx(0.0, abs=1e-9)
    assert separated.score(layout(petals[0]), species == 0) == 1.0


# --- the same model however the data are given ---------------------------------------------------


@pytest.mark.parametrize("method", [*METHODS, "lp"])
def test_order_and_repetition_of_rows_do_not_matter(method, rng):
    X, y = separable(rng, n=60, gap=0.0)
    y[:6] = -y[:6]
    weight = rng.integers(0, 4, 60)
    weight[0], weight[np.flatnonzero(y != y[0])[0]] = 1, 1
    again = rng.permutation(np.repeat(np.arange(60), weight))
    parameters = {"method": method, "max_iter": 30, "random_state": 3}
    if method == "lp":
        weighted, repeated = (
            Perceptron(**parameters).fit(X, y, weight),
            Perceptron(**parameters).fit(X[again], y[again]),
        )
    else:
        with pytest.warns(ConvergenceWarning):
            weighted = Perceptron(**parameters).fit(X, y, weight)
        with pytest.warns(ConvergenceWarning):
            repeated = Perceptron(**parameters).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)
    np.testing.assert_array_equal(weighted.n_updates_, repeated.n_updates_)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_matrix, np.asfortranarray, pd.DataFrame])
def test_layouts_give_the_same_model(layout, rng):
    X, y = separable(rng)
    X[np.abs(X) < 0.5] = 0.0
    y = np.where(X @ np.ones(5) > 0, "yes", "no")
    given = layout(X) if layout is not pd.DataFrame else pd.DataFrame(X, columns=list("abcde"))
    plain, model = Perceptron().fit(X, y), Perceptron().fit(given, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.predict(given).tolist() == y.tolist()


def test_keys_of_rows_depend_on_what_they_hold(rng):
    X = rng.normal(size=(50, 7))
    X[:, 1:6][X[:, 1:6] < 0] = 0.0
    X[10] = X[20]
    keys = row_keys(X)
    assert len(set(keys.tolist())) == 49
    np.testing.assert_array_equal(keys, row_keys(sparse.csr_array(X)))
    np.testing.assert_array_equal(keys, row_keys(np.where(X == 0, -0.0, X)))
    assert not (keys == row_keys(X[:, ::-1].copy())).any()


def test_without_shuffling_it_visits_rows_as_given_as_scikit_learn_does(rng):
    X, y = separable(rng, gap=0.0)
    y[::7] = -y[::7]
    with pytest.warns(ConvergenceWarning):
        ours = Perceptron(shuffle=False, max_iter=5).fit(X, y)
    theirs = sklearn.linear_model.Perceptron(shuffle=False, max_iter=5, tol=None).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-10)


def test_several_classes_are_one_against_the_rest():
    X, y = scaled("wine")
    model = Perceptron(method="averaged").fit(X, y)
    assert model.coef_.shape == (3, 13)
    assert model.decision_function(X).shape == (178, 3)
    assert model.score(X, y) > 0.95
    assert len(model.certificate_) == len(model.mistake_bound_) == len(model.trace_) == 3
    for label in range(3):
        alone = Perceptron(method="averaged").fit(X, y == label)
        np.testing.assert_array_equal(model.coef_[label], alone.coef_[0])


def test_a_linear_kernel_is_the_linear_perceptron():
    X, y = scaled("iris")
    with pytest.warns(ConvergenceWarning):
        rows = Perceptron(max_iter=20).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        items = KernelPerceptron("linear", max_iter=20).fit(X, y)
    np.testing.assert_allclose(items.coef_, rows.coef_, atol=1e-9)
    np.testing.assert_array_equal(items.n_updates_, rows.n_updates_)
    np.testing.assert_allclose(items.decision_function(X), rows.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_same_bits_every_time(jobs):
    X, y = scaled("iris")
    first, second = (KernelPerceptron(RBF(2.0), n_jobs=n).fit(X, y) for n in (1, jobs))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_class_weights_are_copies(rng):
    X, y = separable(rng, n=80, gap=0.0)
    y[:8] = -y[:8]
    with pytest.warns(ConvergenceWarning):
        by_class = Perceptron(class_weight={1: 3, -1: 1}, max_iter=20).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        by_row = Perceptron(max_iter=20).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_fractions_of_copies_widen_the_bound(rng):
    X, y = separable(rng)
    model = Perceptron().fit(X, y, np.where(y == 1, 0.5, 1.0))
    plain = Perceptron().fit(X, y)
    assert model.mistake_bound_.bound == pytest.approx(4.0 * plain.mistake_bound_.bound)
    assert model.mistake_bound_.holds


# --- streams and continued fits -----------------------------------------------------------------


@pytest.mark.parametrize("method", ["online", "averaged"])
def test_a_stream_in_parts_is_the_stream(method, rng):
    X, y = separable(rng, gap=0.0)
    whole, parts = Perceptron(method=method), Perceptron(method=method)
    whole.partial_fit(X, y, classes=[-1, 1])
    for begin in range(0, 200, 30):
        parts.partial_fit(X[begin : begin + 30], y[begin : begin + 30], classes=[-1, 1])
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    assert parts.n_updates_ == whole.n_updates_
    assert parts.t_ == whole.t_ == 200


def test_a_batch_of_one_class_is_part_of_a_stream():
    model = Perceptron().partial_fit([[1.0], [2.0]], ["b", "b"], classes=["a", "b", "c"])
    assert model.predict([[3.0]]) == ["b"]
    model.partial_fit([[-1.0]], ["a"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.status_ is Status.ITERATION_LIMIT
    with pytest.raises(AttributeError, match="not available after partial_fit"):
        model.certificate_  # noqa: B018 - asking for it is the test


STREAMS = {
    "no classes": (
        lambda: Perceptron().partial_fit([[1.0]], [1]),
        ParameterError,
        "classes must be passed on the first",
    ),
    "one class": (
        lambda: Perceptron().partial_fit([[1.0]], [1], classes=[1]),
        ParameterError,
        "classes must hold at least two labels",
    ),
    "unknown label": (
        lambda: Perceptron().partial_fit([[1.0]], [3], classes=[1, 2]),
        DataError,
        r"y must hold labels among classes=array\(\[1, 2\]\), got",
    ),
    "other classes": (
        lambda: Perceptron().partial_fit([[1.0]], [1], classes=[1, 2]).partial_fit([[1.0]], [1], classes=[1, 3]),
        ParameterError,
        "is not the same as on last call",
    ),
    "other features": (
        lambda: Perceptron().partial_fit([[1.0]], [1], classes=[1, 2]).partial_fit([[1.0, 2.0]], [1]),
        ValueError,
        "X has 2 features, but Perceptron is expecting 1",
    ),
    "weights": (
        lambda: Perceptron().partial_fit([[1.0]], [1], classes=[1, 2], sample_weight=[np.nan]),
        DataError,
        "sample_weight contains NaN",
    ),
}


@pytest.mark.parametrize(("attempt", "kind", "message"), STREAMS.values(), ids=STREAMS)
def test_streams_are_refused_by_name(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()


def test_a_program_has_no_stream(toy):
    model = Perceptron(method="lp").fit(*toy)
    assert not hasattr(model, "partial_fit")
    # With another method a stream begins anew.
    model.set_params(method="online").partial_fit(*toy, classes=[-1, 1])
    assert model.n_updates_[0] > 0


def test_a_stream_goes_on_after_a_fit(toy):
    model = Perceptron().fit(*toy)
    before = model.coef_.copy()
    np.testing.assert_array_equal(model.partial_fit(*toy).coef_, before)  # there is nothing left to learn
    assert model.status_ is Status.OPTIMAL


@pytest.mark.parametrize(
    "model", [Perceptron(max_iter=1, warm_start=True), KernelPerceptron("linear", max_iter=1, warm_start=True)]
)
def test_a_warm_start_goes_on(model, rng):
    X, y = separable(rng, gap=0.02)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    begun = model.n_updates_.copy()
    model.set_params(max_iter=1000).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.score(X, y) == 1.0
    with pytest.raises(AttributeError, match="starts from zero"):
        model.mistake_bound_  # noqa: B018 - asking for it is the test
    assert begun > 0


# --- limits and faults ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron])
@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"max_iter": 1}, Status.ITERATION_LIMIT),
        ({"tol": 0.1, "n_iter_no_change": 1}, Status.STALLED),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT),
        ({"callbacks": [lambda point: point.iterations == 2]}, Status.INTERRUPTED),
    ],
)
def test_limits_leave_a_model(kind, parameters, status, rng):
    X = rng.normal(size=(100, 3))
    y = np.where(rng.normal(size=100) > 0, 1, 0)
    with pytest.warns(ConvergenceWarning, match=status.name):
        model = kind(**parameters).fit(X, y)
    assert model.status_ is status
    assert model.predict(X).shape == (100,)


@pytest.mark.parametrize("method", ["online", "batch", "lp"])
def test_ctrl_c_keeps_the_best_so_far(method, rng):
    X = rng.normal(size=(20_000, 60))
    y = np.where(X[:, 0] + 2.0 * rng.normal(size=20_000) > 0, 1, 0)
    model = Perceptron(method=method, max_iter=10**6)
    with pytest.warns(ConvergenceWarning):
        Perceptron(method="online" if method == "lp" else method, max_iter=2).fit(X, y)  # compiled before
    # A large program is solved by another process, while this one waits and takes no time of its own.
    key = CtrlC(None if method == "lp" else 0.5)
    timer = threading.Timer(0.5, key.press)
    if method == "lp":
        timer.start()
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"), key:
        model.fit(X, y)
    timer.cancel()
    assert key.waited < 1.5
    assert model.predict(X[:5]).shape == (5,)


def test_epochs_can_be_watched(capsys, toy):
    Perceptron(verbose=True).fit(*toy)
    assert "epoch      1" in capsys.readouterr().err


REFUSED = {
    "method": ({"method": "offline"}, "method must be one of 'online', 'averaged', 'batch', 'lp', got 'offline'"),
    "max_iter": ({"max_iter": 0}, "max_iter must be -1 \\(no limit\\) or a positive integer, got 0"),
    "eta0": ({"eta0": 0.0}, "eta0 must be a finite number above 0, got 0.0"),
    "eta0 NaN": ({"eta0": np.nan}, "eta0 must be a finite number above 0, got nan"),
    "tol": ({"tol": -1.0}, "tol must be a finite number above 0, got -1.0"),
    "shuffle": ({"shuffle": "yes"}, "shuffle must be True or False, got 'yes'"),
    "patience": ({"n_iter_no_change": 1.5}, "n_iter_no_change must be a whole number, 1 or more, got 1.5"),
    "callbacks": ({"callbacks": [1]}, "callbacks must be None or a list of functions"),
    "class_weight": ({"class_weight": {0: -1.0}}, "class_weight must be positive and finite"),
}


@pytest.mark.parametrize(("parameters", "message"), REFUSED.values(), ids=REFUSED)
def test_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Perceptron(**parameters).fit(XOR, LABELS)


def damaged_csr():
    X = sparse.csr_matrix(np.eye(2))
    X.indices[1] = 10**6
    return X


@pytest.mark.parametrize("kind", [Perceptron, KernelPerceptron])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[np.nan], [1.0]]), [0, 1], "contains NaN"),
        (np.array([[np.inf], [1.0]]), [0, 1], "contains infinity"),
        (np.array([[1e200], [1.0]]), [0, 1], "overflow on X|features of a usable size"),
        (sparse.csr_matrix(([1.0], [7], [0, 1, 1]), shape=(2, 9)), [0, 1], None),
        (damaged_csr(), [0, 1], "X is not a valid CSR matrix"),
        (np.array([[1.0], [1.0]]), [1, 1], "number of classes has to be greater than one"),
        (np.array([[1.0], [1.0]]), [0.5, 1.5], "Unknown label type"),
        (np.empty((0, 1)), [], "0 sample"),
    ],
)
def test_data_are_refused_as_elsewhere(kind, X, y, message):
    if message is None:
        assert kind().fit(X, y).score(X, y) == 1.0
        return
    with pytest.raises(ValueError, match=message):
        kind().fit(X, y)


def test_a_decision_that_overflows_says_so(toy):
    with pytest.raises(DataError, match="overflows"):
        Perceptron().fit(*toy).predict([[1e308, -1e308]])
    with pytest.raises(NotFittedError):
        Perceptron().predict(toy[0])


def test_a_model_travels_without_its_data(rng):
    X, y = separable(rng)
    for model in (Perceptron().fit(X, y), KernelPerceptron().fit(X, y)):
        copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.certificate_.primal == 0.0
        with pytest.raises(DataError, match="fit again"):
            copy.mistake_bound_  # noqa: B018 - asking for it is the test
        assert model.mistake_bound_.holds
        assert pickle.loads(pickle.dumps(model)).mistake_bound_.holds  # noqa: S301 - our own bytes


def test_changed_data_have_no_bound(rng):
    X, y = separable(rng)
    model = Perceptron().fit(X, y)
    X[0, 0] += 1.0
    with pytest.raises(DataError, match="unchanged since fit"):
        model.mistake_bound_  # noqa: B018 - asking for it is the test


def test_items_that_are_not_vectors():
    words = ["cat", "cart", "card", "care", "dog", "dodo", "good", "goods"]

    def shared_letters(s, t):
        return float(len(set(s) & set(t)))

    model = KernelPerceptron(Custom(shared_letters, pairwise=True)).fit(words, [0, 0, 0, 0, 1, 1, 1, 1])
    assert model.predict(["carts", "dogs"]).tolist() == [0, 1]
    assert model.mistake_bound_.holds


# --- the dual vector, and the program with a kernel -------------------------------------------


def dual_value(features, y, weights, with_bias):
    """The dual program of the slides as it is printed, solved here by an interior point method."""
    rows = [(y[:, None] * features).T, *([y[None, :]] if with_bias else [])]
    A = np.vstack(rows)
    found = linprog(
        -np.ones(len(y)), A_eq=A, b_eq=np.zeros(len(A)), bounds=list(zip(np.zeros(len(y)), weights, strict=True)),
        method="highs-ipm",
    )  # fmt: skip
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("kernel", ["linear", QUADRATIC], ids=str)
def test_the_dual_vector_is_a_proof(kernel, with_bias, rng):
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=60)
    features = X if kernel == "linear" else kernel.feature_map(X)
    models = [KernelPerceptron(kernel, method="lp", fit_intercept=with_bias)]
    if kernel == "linear":
        models.append(Perceptron(method="lp", fit_intercept=with_bias))
    for model in models:
        a = model.fit(X, y, weights).multipliers_
        assert a.shape == (60,)
        assert ((a >= 0) & (a <= weights)).all()
        assert np.abs((a * y) @ features).max() < 1e-8
        assert not with_bias or abs(a @ y) < 1e-8
        # Weak duality by hand: no function of these features has less slack than the sum of a.
        for w in rng.normal(size=(50, features.shape[1])):
            b = float(rng.normal()) if with_bias else 0.0
            assert weights @ np.maximum(0.0, 1.0 - y * (features @ w + b)) >= a.sum() - 1e-8
        certificate = model.certificate_
        assert certificate.dual == pytest.approx(a.sum(), abs=1e-9)
        assert certificate.primal == pytest.approx(dual_value(features, y, weights, with_bias), rel=1e-6)
        assert certificate.gap == pytest.approx(0.0, abs=1e-6)
        assert certificate.kkt_violation < 1e-6
        assert certificate.equality_residual < 1e-8
        assert model.status_ is Status.OPTIMAL


def test_xor_has_all_its_corners_for_a_proof():
    for model in (Perceptron(method="lp"), KernelPerceptron("linear", method="lp")):
        assert model.fit(XOR, LABELS).multipliers_ == pytest.approx(np.ones(4))
    quadratic = KernelPerceptron(QUADRATIC, method="lp").fit(XOR, LABELS)
    assert quadratic.score(XOR, LABELS) == 1.0
    assert not quadratic.multipliers_.any()
    assert quadratic.certificate_.primal == quadratic.certificate_.dual == 0.0


def test_equal_rows_share_their_dual_variable(rng):
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    y = np.repeat(rng.choice([-1, 1], size=20), 3)
    for model in (Perceptron(method="lp"), KernelPerceptron("linear", method="lp")):
        a = model.fit(X, y).multipliers_.reshape(20, 3)
        assert a == pytest.approx(np.repeat(a[:, :1], 3, axis=1))
        assert a.sum() == pytest.approx(model.certificate_.primal)


def test_several_classes_have_a_dual_vector_each(petals):
    X, species = petals
    model = KernelPerceptron("linear", method="lp").fit(X, species)
    rows = Perceptron(method="lp").fit(X, species)
    assert model.multipliers_.shape == rows.multipliers_.shape == (3, 150)
    assert model.multipliers_.sum(axis=1) == pytest.approx([each.dual for each in model.certificate_])
    assert model.multipliers_.sum(axis=1) == pytest.approx(rows.multipliers_.sum(axis=1), abs=1e-6)
    # Setosa is separated, so nothing proves the contrary.
    assert model.multipliers_[0].sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "kernel", ["rbf", "precomputed", Custom(lambda X, Y: (1.0 + X @ Y.T) ** 3)], ids=["rbf", "given", "function"]
)
def test_the_program_takes_any_kernel(kernel, rng):
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "in", "out")
    rows = QUADRATIC(X) if kernel == "precomputed" else X
    model = KernelPerceptron(kernel, method="lp").fit(rows, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-6)
    assert model.score(rows, y) == 1.0


def test_the_program_of_a_kernel_keeps_to_its_limits(rng):
    X = rng.normal(size=(400, 3))
    y = rng.choice([-1, 1], size=400)
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = KernelPerceptron("rbf", method="lp", time_limit=1e-3).fit(X, y)
    assert model.multipliers_.shape == (400,)
    with pytest.warns(ConvergenceWarning, match="MEMORY_LIMIT"):
        KernelPerceptron("rbf", method="lp", memory_limit="20MiB").fit(rng.normal(size=(2000, 3)), np.tile(y, 5))


def test_only_programs_have_a_dual_vector(toy, tmp_path):
    for model in (Perceptron(), KernelPerceptron("linear")):
        model.fit(*toy)
        with pytest.raises(
            AttributeError, match="multipliers_ is only available after a fit with method=\"lp\", got 'online'"
        ):
            model.multipliers_  # noqa: B018 - asking for it is the test
    for model in (Perceptron(method="lp"), KernelPerceptron("linear", method="lp")):
        model.fit(*toy)
        mercer.save(model, tmp_path / "model.mercer")
        assert mercer.load(tmp_path / "model.mercer").multipliers_ == pytest.approx(model.multipliers_)
        with pytest.raises(AttributeError, match="mistake_bound_ is only available after a fit that starts from zero"):
            model.mistake_bound_  # noqa: B018
