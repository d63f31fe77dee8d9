import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss

from mercer import SVC, LinearSVC, NuSVC, Status
from mercer.estimators.bases import probabilities as module
from mercer.kernels import RBF
from mercer.solvers.calibration.out_of_fold import FOLDS
from mercer.solvers.calibration.platt import fit_sigmoid


def gaussian(A, B):
    return RBF(gamma=0.2)(A, B)


def two_classes(n=200, seed=0):
    return make_classification(n, n_features=5, n_informative=4, n_redundant=0, flip_y=0.1, random_state=seed)


KINDS = [
    {"probability": True},
    {"probability": "isotonic"},
    {"probability": True, "multi_class": "ovr"},
    {"probability": True, "loss": "squared_hinge", "bias": "penalized"},
    {"probability": True, "bias": "none"},
    {"probability": True, "solver": "chunking"},
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_predict_is_the_most_probable(kind, classes):
    X, y = two_classes() if classes == 2 else load_iris(return_X_y=True)
    model = SVC(**kind).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, atol=1e-15)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_two_classes_are_monotone_in_the_decision_value(method):
    X, y = two_classes()
    model = SVC(probability=method).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert (np.diff(model.predict_proba(X)[order, 1]) >= 0).all()


@pytest.mark.parametrize("n", [150, 700])
def test_scores_are_those_of_fits_without_the_fold(n, monkeypatch):
    """Against plain fits to the rows that are left."""
    X, y = two_classes(n)
    seen = {}
    original = module.out_of_fold_scores

    def spy(dual, matrix, solution, folds, solve):
        seen["scores"], status = original(dual, matrix, solution, folds, solve)
        seen["folds"] = folds
        return seen["scores"], status

    monkeypatch.setattr(module, "out_of_fold_scores", spy)
    SVC(gamma=0.2, probability=True).fit(X, y)
    assert set(seen["folds"]) == set(range(FOLDS))
    for fold in range(FOLDS):
        held = seen["folds"] == fold
        alone = SVC(gamma=0.2).fit(X[~held], y[~held]).decision_function(X[held])
        np.testing.assert_allclose(seen["scores"][held], alone, atol=0.05)


def test_pairs_of_small_classes_are_scored_the_same_way():
    """The compiled path for all pairs, against the general one."""
    X, y = load_iris(return_X_y=True)
    fast = SVC(probability=True).fit(X, y)
    plain = SVC(probability=True, callbacks=[lambda point: False]).fit(X, y)
    np.testing.assert_allclose(fast.probA_, plain.probA_, rtol=1e-4)
    np.testing.assert_allclose(fast.predict_proba(X), plain.predict_proba(X), atol=1e-4)


def test_probabilities_are_calibrated():
    X, y = two_classes(1200, seed=3)
    model = SVC(probability=True).fit(X[:600], y[:600])
    p = model.predict_proba(X[600:])[:, 1]
    constant = log_loss(y[600:], np.full(600, y[:600].mean()))
    assert log_loss(y[600:], p) < 0.7 * constant
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.01)):
        inside = (p >= low) & (p < high)
        assert abs(y[600:][inside].mean() - p[inside].mean()) < 0.12


def test_nothing_is_random_without_a_seed():
    X, y = two_classes()
    first, second = (SVC(probability=True).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    seeded = SVC(probability=True, random_state=1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(seeded, SVC(probability=True, random_state=1).fit(X, y).predict_proba(X))
    assert not np.array_equal(first, seeded)


def test_the_order_of_rows_does_not_show():
    X, y = two_classes()
    order = np.random.default_rng(0).permutation(len(y))
    first = SVC(probability=True, tol=1e-6).fit(X, y)
    second = SVC(probability=True, tol=1e-6).fit(X[order], y[order])
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kernel", ["precomputed", RBF(gamma=0.2), gaussian])
def test_every_kind_of_kernel(kernel):
    X, y = two_classes()
    gram = RBF(gamma=0.2)(X) if isinstance(kernel, str) else X
    p = SVC(kernel=kernel, probability=True).fit(gram, y).predict_proba(gram)
    expected = SVC(gamma=0.2, probability=True).fit(X, y).predict_proba(X)
    assert np.abs(p - expected).mean() < 0.08  # other folds


def test_sparse_rows_have_the_same_probabilities():
    X, y = two_classes()
    dense = SVC(gamma=0.2, probability=True).fit(X, y).predict_proba(X)
    thin = sparse.csr_array(X)
    np.testing.assert_allclose(SVC(gamma=0.2, probability=True).fit(thin, y).predict_proba(thin), dense, atol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("machine", [SVC(random_state=0), SVC(class_weight={0: 2.0}), NuSVC(nu=0.2)])
def test_a_function_has_the_probabilities_of_the_kernel_that_it_computes(machine, layout):
    X, y = load_iris(return_X_y=True)
    weights = np.where(np.arange(len(y)) % 7 == 3, 0.0, 1.0)
    machine = clone(machine).set_params(probability=True)
    by_name = clone(machine).set_params(kernel="linear").fit(layout(X), y, sample_weight=weights)
    by_function = clone(machine).set_params(kernel=lambda A, B: A @ B.T).fit(layout(X), y, sample_weight=weights)
    np.testing.assert_allclose(
        by_function.predict_proba(layout(X)), by_name.predict_proba(layout(X)), rtol=1e-7, atol=1e-9
    )


def test_words_and_objects():
    texts = ["aab", "aba", "abb", "bba", "bab", "bbb", "aaa", "aaab", "abbb"]
    y = ["a", "a", "b", "b", "b", "b", "a", "a", "b"]

    def shared(left, right):
        return np.array(
            [[s.count("a") * t.count("a") + s.count("b") * t.count("b") for t in right] for s in left], float
        )

    model = SVC(kernel=shared, probability=True).fit(texts, y)
    assert model.predict_proba(["aaaa"])[0, 0] > 0.5
    assert model.predict(["aaaa"])[0] == "a"


def test_available_only_where_asked_for():
    X, y = two_classes()
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert model.probA_.size == model.probB_.size == 0
    model.probability = True
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(X)


def test_copies_and_pickles_agree():
    X, y = two_classes()
    model = SVC(probability=True).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(copied.predict_proba(X), model.predict_proba(X))
    assert clone(model).probability is True


def test_a_class_of_one_row():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [9.1]])
    y = np.array([0, 0, 0, 1, 2, 2])
    model = SVC(probability=True).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.status_ is Status.OPTIMAL


@pytest.mark.filterwarnings("ignore:TIME_LIMIT:sklearn.exceptions.ConvergenceWarning")
def test_a_time_limit_leaves_probabilities():
    X, y = two_classes(700)
    model = SVC(probability=True, time_limit=1e-6).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


OTHERS = [
    NuSVC(nu=0.3, probability=True),
    NuSVC(nu=0.3, probability="isotonic", multi_class="ovr"),
    NuSVC(nu=0.3, probability=True, class_weight="balanced"),
    LinearSVC(probability=True),
    LinearSVC(probability="isotonic", loss="hinge"),
    LinearSVC(probability=True, penalty="l1"),
    LinearSVC(probability=True, multi_class="crammer_singer"),
]


@pytest.mark.parametrize("model", OTHERS, ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_other_machines_predict_the_most_probable(model, classes):
    X, y = two_classes() if classes == 2 else load_iris(return_X_y=True)
    model = clone(model).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    assert model.score(X, y) > 0.65
    assert log_loss(y, p) < 0.95 * np.log(classes)
    if classes == 2:
        order = np.argsort(model.decision_function(X))
        assert (np.diff(p[order, 1]) >= 0).all()
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), p)


def test_isotonic_scores_of_several_classes_agree_with_the_probabilities():
    X, y = load_iris(return_X_y=True)
    model = SVC(probability="isotonic").fit(X, y)
    values = model.decision_function(X)
    np.testing.assert_array_equal(values.argmax(axis=1), model.predict_proba(X).argmax(axis=1))
    np.testing.assert_allclose(values.sum(axis=1), 0.0, atol=1e-12)
    assert SVC(probability="isotonic", decision_function_shape="ovo").fit(X, y).decision_function(X).min() < -0.5


def test_isotonic_scores_are_those_of_the_fit_whatever_is_asked_for_next():
    X, y = load_iris(return_X_y=True)
    model = SVC(probability="isotonic").fit(X, y)
    values = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(probability=False).decision_function(X), values)


def test_scores_of_the_nu_form_are_those_of_fits_without_the_fold(monkeypatch):
    X, y = two_classes(500)
    # The second class first: in the order in which the sides of the problem stand.
    order = np.argsort(y != np.unique(y)[1], kind="stable")
    X, y = X[order], y[order]
    seen = {}
    original = module.out_of_fold_scores

    def spy(problem, matrix, solution, folds, solve):
        seen["scores"], status = original(problem, matrix, solution, folds, solve)
        seen["folds"] = folds
        return seen["scores"], status

    monkeypatch.setattr(module, "out_of_fold_scores", spy)
    NuSVC(nu=0.3, gamma=0.2, probability=True).fit(X, y)
    for fold in range(FOLDS):
        held = seen["folds"] == fold
        alone = NuSVC(nu=0.3, gamma=0.2).fit(X[~held], y[~held]).decision_function(X[held])
        np.testing.assert_allclose(seen["scores"][held], alone, atol=0.1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_scores_of_linear_machines_are_those_of_fits_without_the_fold(loss):
    X, y = two_classes(300)
    model = LinearSVC(loss=loss, probability=True, tol=1e-8).fit(X, y)
    folds = module.folds_of_rows(X, y, np.ones(300), None)
    scores = np.empty(300)
    for fold in range(FOLDS):
        held = folds == fold
        scores[held] = LinearSVC(loss=loss, tol=1e-8).fit(X[~held], y[~held]).decision_function(X[held])
    A, B = fit_sigmoid(scores, y == 1, np.ones(300))
    np.testing.assert_allclose([model.probA_[0], model.probB_[0]], [A, B], rtol=0.05, atol=0.02)


@pytest.mark.parametrize("model", [NuSVC(nu=0.3, probability=True), LinearSVC(probability=True)], ids=str)
def test_weights_are_copies(model):
    X, y = two_classes(120)
    twice = np.concatenate([X, X[:60]]), np.concatenate([y, y[:60]])
    weighted = clone(model).fit(X, y, np.where(np.arange(120) < 60, 2.0, 1.0)).predict_proba(X)
    np.testing.assert_allclose(weighted, clone(model).fit(*twice).predict_proba(X), atol=0.02)


@pytest.mark.parametrize("weight", [1e160, 1e300])
@pytest.mark.parametrize("method", [True, "isotonic"])
def test_weights_beyond_all_bounds_have_probabilities(method, weight):
    X, y = two_classes(60)
    p = SVC(probability=method, gamma=5.0).fit(X, y, np.full(60, weight)).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p, SVC(probability=method, gamma=5.0).fit(X, y, np.full(60, 1e100)).predict_proba(X))


@pytest.mark.parametrize("machine", [SVC, NuSVC, LinearSVC])
def test_rows_too_small_for_an_inverse_have_probabilities_and_no_warning_but_that_of_a_margin_of_zero(machine):
    X, y = two_classes(60)
    told = pytest.warns(ConvergenceWarning, match="the margin is zero") if machine is NuSVC else nullcontext()
    with told:
        model = machine(probability=True).fit(1e-310 * X, y)
    assert np.isfinite(model.predict_proba(1e-310 * X)).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_the_order_of_weighted_rows_does_not_show_in_the_machine_of_crammer_and_singer(method, rng):
    X = rng.normal(size=(150, 4))
    y, weights = np.argmax(X[:, :3] + rng.normal(size=(150, 3)), axis=1), rng.uniform(0.2, 3.0, 150)
    order = rng.permutation(150)
    model = LinearSVC(multi_class="crammer_singer", probability=method)
    expected = clone(model).fit(X, y, weights).predict_proba(X)
    found = model.fit(X[order], y[order], weights[order]).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-6)
