"""Machines over landmarks: close to the exact one, as close as they say, and otherwise like any machine."""

import re
import tracemalloc
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import (
    SVC,
    SVR,
    DataError,
    Graph,
    KernelLogisticRegression,
    KernelPCA,
    KernelRidge,
    LowRank,
    NotPositiveSemidefiniteError,
    NuSVC,
    OneClassSVM,
    ParameterError,
    RandomFourierFeatures,
    Status,
)
from mercer.estimators.low_rank import over_blocks, restricted
from mercer.kernels import RBF, Linear, Sigmoid, Spectrum, WeisfeilerLehman

N = 900
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
TEACHER = np.tanh(X @ rng.normal(size=(4, 12))) @ rng.normal(size=12)
Y = np.where(TEACHER + 0.5 * rng.normal(size=N) > 0, 1, 0)
Y3 = np.digitize(TEACHER, [-1.5, 1.5])
T = TEACHER + 0.2 * rng.normal(size=N)

MACHINES = {
    "hinge": (SVC(C=2.0), Y),
    "squared hinge": (SVC(C=0.5, loss="squared_hinge", bias="penalized"), Y),
    "no bias": (SVC(bias="none"), Y),
    "pairs": (SVC(class_weight="balanced"), Y3),
    "rest": (SVC(multi_class="ovr"), Y3),
    "together": (SVC(multi_class="crammer_singer"), Y3),
    "tube": (SVR(C=2.0, epsilon=0.2), T),
    "nu": (NuSVC(nu=0.4), Y),
    "nu pairs": (NuSVC(nu=0.3), Y3),
    "one class": (OneClassSVM(nu=0.2), None),
    "logistic": (KernelLogisticRegression(C=2.0), Y),
    "softmax": (KernelLogisticRegression(), Y3),
    "ridge": (KernelRidge(alpha=0.5, kernel="rbf", gamma=0.2), T),
    "ridges": (KernelRidge(alpha=[0.5, 2.0], kernel="rbf", gamma=0.2), np.c_[T, T**2]),
}
# Those that are solved over blocks where there are many rows.
BY_BLOCKS = ("hinge", "squared hinge", "no bias", "pairs", "rest", "tube", "logistic")


def each(found):
    return found if isinstance(found, list) else [found]


def with_landmarks(machine, count=150, **options):
    return clone(machine).set_params(approximation=LowRank(count, **options))


@pytest.fixture
def many_rows(monkeypatch):
    """All rows are many: problems are solved over blocks."""
    monkeypatch.setattr(restricted, "FEW_ROWS", 0)


def require_within(model, exact, factor=None):
    """That gap and distance bound how much better the exact machine is; by how much more than it is."""
    for own, best, distance in zip(
        each(model.certificate_), each(exact.certificate_), each(model.distance_), strict=True
    ):
        excess = own.primal - best.primal
        assert -best.gap - 1e-9 * abs(best.primal) <= excess <= own.gap + distance.value + 1e-9 * abs(best.primal)
        if factor is not None:
            assert own.gap + distance.value <= factor * excess + best.gap


@pytest.mark.parametrize("name", MACHINES)
def test_the_exact_machine_is_better_by_no_more_than_gap_and_distance(name):
    machine, y = MACHINES[name]
    exact = clone(machine).fit(X, y)
    model = with_landmarks(machine).fit(X, y)
    assert model.status_ == Status.OPTIMAL
    require_within(model, exact)


@pytest.mark.parametrize("name", BY_BLOCKS)
def test_over_blocks_it_is_the_same(name, many_rows):
    machine, y = MACHINES[name]
    model = with_landmarks(machine).fit(X, y)
    assert model.status_ == Status.OPTIMAL
    require_within(model, clone(machine).fit(X, y))
    for certificate in each(model.certificate_):
        assert certificate.relative_gap <= model.tol
        assert certificate.box_violation == 0.0


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_several_classes_of_many_rows_need_no_matrix_of_them(bias, monkeypatch):
    machine = with_landmarks(KernelLogisticRegression(bias=bias, tol=1e-6))
    weights = np.where(np.arange(N) < 20, 0.0, 1.0)
    small = clone(machine).fit(X, Y3, sample_weight=weights)
    monkeypatch.setattr(restricted, "FEW_ROWS", 0)
    large = clone(machine).fit(X, Y3, sample_weight=weights)
    assert large.status_ == Status.OPTIMAL
    assert large.certificate_.primal == pytest.approx(small.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(large.predict_proba(X), small.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", BY_BLOCKS)
def test_blocks_and_coordinates_lead_to_one_machine(name, monkeypatch):
    machine, y = MACHINES[name]
    machine = clone(machine).set_params(gap_tol=1e-7)
    small = with_landmarks(machine).fit(X, y)
    monkeypatch.setattr(restricted, "FEW_ROWS", 0)
    large = with_landmarks(machine).fit(X, y)
    for one, other in zip(each(small.certificate_), each(large.certificate_), strict=True):
        assert one.primal == pytest.approx(other.primal, rel=3e-7)
    np.testing.assert_allclose(small._values(X), large._values(X), atol=0.02)


@pytest.mark.parametrize("machine", [SVC(C=1.0, gamma=0.1), SVR(gamma=0.1), KernelRidge(kernel="rbf", gamma=0.1)])
@pytest.mark.parametrize("count", [500, 1000])
def test_the_distance_is_within_one_and_a_half_of_the_truth(machine, count):
    own = np.random.default_rng(3)
    rows = own.normal(size=(2000, 10))
    signal = np.tanh(rows @ own.normal(size=(10, 20)) / 3.0) @ own.normal(size=20)
    target = signal + 0.3 * own.normal(size=2000)
    y = (target > 0).astype(int) if isinstance(machine, SVC) else target
    require_within(with_landmarks(machine, count).fit(rows, y), clone(machine).fit(rows, y), factor=1.5)


def test_all_rows_as_landmarks_are_the_exact_machine():
    model, exact = with_landmarks(SVC(tol=1e-6), N).fit(X, Y), SVC(tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-4)
    assert model.distance_.relative < 1e-6


def test_the_primal_is_that_of_the_function_that_predicts():
    # |f|^2 from the coefficients at the landmarks, losses from the predictions.
    model = with_landmarks(SVC(C=2.0)).fit(X, Y)
    coefficients = model.dual_coef_[0]
    norm = coefficients @ model.expansion_.kernel(model.support_vectors_) @ coefficients
    losses = np.maximum(0.0, 1.0 - np.where(Y == 1, 1, -1) * model.decision_function(X)).sum()
    assert 0.5 * norm + 2.0 * losses == pytest.approx(model.certificate_.primal, rel=1e-6)


def test_landmarks_stand_in_the_place_of_support_vectors():
    model = with_landmarks(SVC(), 40).fit(X, Y3)
    assert model.support_vectors_.shape == (40, 4)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.n_support_, np.bincount(Y3[model.support_]))
    assert model.dual_coef_.shape == (3, 40)
    assert len(model.distance_) == len(model.certificate_) == 3
    assert (model.approximation_.count, model.approximation_.choice) == (40, "uniform")


def test_rows_of_weight_zero_change_nothing():
    weights = np.where(np.arange(N) < 100, 0.0, 1.0)
    for machine in (SVC(), KernelRidge(kernel="rbf", gamma=0.2)):
        y = Y if isinstance(machine, SVC) else T
        part = with_landmarks(machine).fit(X[100:], y[100:])
        whole = with_landmarks(machine).fit(X, y, sample_weight=weights)
        assert whole.certificate_.primal == pytest.approx(part.certificate_.primal, rel=1e-6)
        if hasattr(whole, "support_"):
            assert whole.support_.min() >= 100


def test_rows_of_weight_two_are_rows_that_occur_twice(many_rows):
    twice = with_landmarks(SVC(gamma=0.2, gap_tol=1e-5), rows=X[:100]).fit(np.r_[X, X[:50]], np.r_[Y, Y[:50]])
    weighted = with_landmarks(SVC(gamma=0.2, gap_tol=1e-5), rows=X[:100]).fit(
        X, Y, sample_weight=np.where(np.arange(N) < 50, 2.0, 1.0)
    )
    assert twice.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=2e-4)


@pytest.mark.parametrize("choice", ["uniform", "rpcholesky", "auto"])
def test_every_choice_of_landmarks_keeps_its_promise(choice):
    model = with_landmarks(SVC(), choice=choice, random_state=3).fit(X, Y)
    require_within(model, SVC().fit(X, Y))
    assert model.approximation_.choice in ("uniform", "rpcholesky")
    again = with_landmarks(SVC(), choice=choice, random_state=3).fit(X, Y)
    np.testing.assert_array_equal(model.support_, again.support_)


def test_the_better_choice_is_taken():
    # A few clusters far from the rest decide, and a uniform draw misses most of them.
    own = np.random.default_rng(1)
    centres = 30 * own.normal(size=(60, 2))
    few = np.repeat(centres, 3, axis=0) + 0.01 * own.normal(size=(180, 2))
    rows = np.concatenate([0.1 * own.normal(size=(1500, 2)), few])
    y = np.concatenate([np.ones(1500), np.repeat(np.arange(60) % 2, 3)])
    assert with_landmarks(SVC(gamma=0.1), 60, choice="auto").fit(rows, y).approximation_.choice == "rpcholesky"
    assert with_landmarks(KernelPCA(2, kernel="rbf", gamma=0.1), 60, choice="auto").fit(rows).approximation_.choice == (
        "rpcholesky"
    )


@pytest.mark.parametrize("as_blocks", [False, True])
def test_landmarks_of_ones_own(as_blocks, monkeypatch):
    monkeypatch.setattr(restricted, "FEW_ROWS", 0 if as_blocks else N)
    rows = np.random.default_rng(5).normal(size=(80, 4))
    model = SVC(gamma=0.2, approximation=LowRank(rows=rows)).fit(X, Y)
    np.testing.assert_array_equal(model.support_vectors_, rows)
    assert model.approximation_.choice == "given"
    require_within(model, SVC(gamma=0.2).fit(X, Y))


def test_landmarks_may_differ_where_training_rows_do_not():
    wide = np.c_[X, np.zeros((N, 100))]
    rows = np.c_[X[:60], np.ones((60, 100)) * 0.05]
    model = SVC(gamma=0.2, approximation=LowRank(rows=rows)).fit(wide, Y)
    require_within(model, SVC(gamma=0.2).fit(wide, Y))
    values = model.expansion_.kernel(wide, rows) @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(wide), values, atol=1e-9)


def test_some_of_the_landmarks_say_where_to_begin(many_rows, monkeypatch):
    plain = with_landmarks(SVC(gap_tol=1e-6), 200).fit(X, Y3)
    monkeypatch.setattr(over_blocks, "WORTH_COARSE", 0)
    begun = with_landmarks(SVC(gap_tol=1e-6), 200).fit(X, Y3)
    for one, other in zip(plain.certificate_, begun.certificate_, strict=True):
        assert one.primal == pytest.approx(other.primal, rel=2e-6)
    assert begun.n_iter_.sum() < plain.n_iter_.sum()


def test_landmarks_grow_until_the_distance_is_reached():
    model = with_landmarks(SVC(), 20, distance_tol=0.05).fit(X, Y)
    assert model.distance_.relative <= 0.05
    fewer = with_landmarks(SVC(), model.approximation_.count // 2).fit(X, Y)
    assert fewer.distance_.relative > 0.05


@pytest.mark.parametrize("name", ["hinge", "ridge"])
def test_a_distance_that_is_not_reached_is_told(name, many_rows):
    machine, y = MACHINES[name]
    with pytest.warns(UserWarning, match="distance_tol=1e-09 was not reached: with 60 landmarks"):
        model = with_landmarks(machine, 30, distance_tol=1e-9, most_landmarks=60).fit(X, y)
    assert model.approximation_.count == 60


def test_components_over_landmarks_are_close_and_say_how_close():
    exact = KernelPCA(6, kernel="rbf", gamma=0.2).fit(X)
    model = KernelPCA(6, kernel="rbf", gamma=0.2, approximation=LowRank(200)).fit(X)
    missed = (exact.eigenvalues_ - model.eigenvalues_).sum()
    assert 0.0 <= missed <= model.distance_.value
    assert model.certificate_.is_optimal()
    np.testing.assert_allclose(model.transform(X), model.fit_transform(X), atol=1e-10)
    signs = np.sign(np.sum(model.transform(X) * exact.transform(X), axis=0))
    np.testing.assert_allclose(model.transform(X) * signs, exact.transform(X), atol=0.05)


def test_probabilities_are_learnt_over_blocks_too(many_rows):
    model = with_landmarks(SVC(probability=True), 300).fit(X, Y3)
    exact = SVC(probability=True).fit(X, Y3)
    difference = np.abs(model.predict_proba(X) - exact.predict_proba(X))
    assert difference.mean() < 0.03


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, np.asfortranarray])
def test_other_containers_give_the_same_machine(container, many_rows):
    dense = with_landmarks(SVC()).fit(X, Y)
    other = with_landmarks(SVC()).fit(container(X), Y)
    np.testing.assert_allclose(other.decision_function(container(X)), dense.decision_function(X), atol=1e-2)


def test_rows_in_single_precision(many_rows):
    single = X.astype(np.float32)
    require_within(with_landmarks(SVC()).fit(single, Y), SVC().fit(single.astype(np.float64), Y))


@pytest.mark.parametrize("gap_tol", [None, 1e-6])
def test_kernel_values_in_single_precision_are_enough(gap_tol, many_rows, monkeypatch):
    monkeypatch.setattr(restricted, "FEW_VALUES", 0)
    model = with_landmarks(SVC(gap_tol=gap_tol)).fit(X, Y)
    assert model.approximation_.jitter > 1e-7
    assert model.certificate_.relative_gap <= (gap_tol or 1e-3)
    require_within(model, SVC().fit(X, Y))


def test_a_matrix_that_is_given():
    K = RBF(gamma=0.2)(X)
    given = SVC(kernel="precomputed", approximation=LowRank(100)).fit(K, Y)
    rows = SVC(gamma=0.2, approximation=LowRank(100)).fit(X, Y)
    np.testing.assert_allclose(given.decision_function(K), rows.decision_function(X), atol=1e-6)


def test_a_function_for_a_kernel():
    def kernel(one, other):
        return np.exp(-0.2 * ((np.asarray(one)[:, None, :] - np.asarray(other)[None, :, :]) ** 2).sum(axis=2))

    own = SVC(kernel=kernel, approximation=LowRank(60)).fit(X, Y)
    named = SVC(gamma=0.2, approximation=LowRank(60)).fit(X, Y)
    np.testing.assert_allclose(own.decision_function(X[:20]), named.decision_function(X[:20]), atol=1e-6)


def texts(n):
    own = np.random.default_rng(2)
    words = [["abra", "cada", "bra"], ["sim", "sala", "bim"]]
    return [" ".join(own.choice(words[i % 2], 6)) + own.choice(list("xyz")) for i in range(n)], np.arange(n) % 2


@pytest.mark.parametrize("as_blocks", [False, True])
def test_texts(as_blocks, monkeypatch):
    monkeypatch.setattr(restricted, "FEW_ROWS", 0 if as_blocks else 200)
    items, labels = texts(120)
    kernel = Spectrum(3).normalized()
    model = SVC(kernel=kernel, approximation=LowRank(30)).fit(items, labels)
    require_within(model, SVC(kernel=kernel).fit(items, labels))
    assert model.score(items, labels) == 1.0
    own = SVC(kernel=kernel, approximation=LowRank(rows=items[:25])).fit(items, labels)
    assert own.support_vectors_ == items[:25]


def test_graphs():
    def ring(n, label):
        return Graph([(i, (i + 1) % n) for i in range(n)], node_labels=[label] * n)

    items = [ring(3 + i % 5, "ab"[i % 2]) for i in range(60)]
    kernel = WeisfeilerLehman(2).normalized()
    model = SVC(kernel=kernel, approximation=LowRank(20)).fit(items, np.arange(60) % 2)
    require_within(model, SVC(kernel=kernel).fit(items, np.arange(60) % 2))
    assert model.score(items, np.arange(60) % 2) == 1.0


# --- like any model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*MACHINES])
def test_saved_and_loaded(name, tmp_path):
    machine, y = MACHINES[name]
    model = with_landmarks(machine, 50).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    ask = "predict"
    np.testing.assert_array_equal(getattr(again, ask)(X), getattr(model, ask)(X))
    assert again.distance_ == model.distance_
    assert again.approximation_ == model.approximation_
    assert repr(again.approximation) == repr(model.approximation)
    assert again.certificate_ == model.certificate_


def test_components_are_saved_and_loaded(tmp_path):
    model = KernelPCA(3, kernel="rbf", approximation=LowRank(50)).fit(X)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert again.distance_ == model.distance_


@pytest.mark.parametrize("y", [Y, Y3])
def test_explained(y):
    model = SVC(kernel=RBF(gamma=0.2) + Linear(), decision_function_shape="ovo", approximation=LowRank(50)).fit(X, y)
    found = mercer.explain(model, X[3])
    decision = np.ravel(model.decision_function(X[3:4]))
    np.testing.assert_allclose(found.by_support_vector.values.sum(axis=1) + found.intercept, decision, atol=1e-9)
    np.testing.assert_allclose(found.by_term.values.sum(axis=1) + found.intercept, decision, atol=1e-9)
    assert len(found.by_support_vector.names) == 50


def test_compressed():
    model = with_landmarks(SVC(gamma=0.2), 150).fit(X, Y3)
    small = mercer.compress(model, n_vectors=40)
    assert len(small.support_) <= 40
    change = np.abs(small._values(X) - model._values(X)).max(axis=0)
    assert (change <= small.compression_.bounds + 1e-9).all()


def test_reported():
    found = mercer.describe(with_landmarks(SVC(), 50).fit(X, Y3))
    assert found["n_support"] == 50
    assert found["distance"]["landmarks"] == 50
    assert found["distance"]["method"] == "exact"
    assert found["certificate"]["problems"] == 3
    assert mercer.describe(SVC().fit(X, Y))["distance"] is None


def test_written_to_libsvm(tmp_path):
    model = with_landmarks(SVC(gamma=0.2), 50).fit(X, Y)
    mercer.write_libsvm_model(model, tmp_path / "model")
    again = mercer.read_libsvm_model(tmp_path / "model")
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-9)


def test_pairs_over_landmarks_have_no_place_in_a_libsvm_model(tmp_path):
    model = with_landmarks(SVC(gamma=0.2), 50).fit(X, Y3)
    with pytest.raises(ParameterError, match="landmarks"):
        mercer.write_libsvm_model(model, tmp_path / "model")


def test_cloned_and_searched():
    machine = with_landmarks(SVC(), 30)
    assert clone(machine).approximation.landmarks == 30
    assert clone(machine).set_params(approximation__landmarks=40).approximation.landmarks == 40
    assert machine.approximation.landmarks == 30
    search = GridSearchCV(machine, {"approximation__landmarks": [10, 100], "C": [1.0]}, cv=2).fit(X, Y)
    assert search.best_params_["approximation__landmarks"] in (10, 100)


def test_the_exact_fit_after_it_has_no_distance():
    model = with_landmarks(SVC(), 30).fit(X, Y)
    model.set_params(approximation=None).fit(X, Y)
    assert not hasattr(model, "distance_")
    assert not hasattr(model, "approximation_")


# --- ends and refusals --------------------------------------------------------------------------------


def test_a_callback_ends_it(many_rows):
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED|interrupted"):
        model = with_landmarks(SVC(callbacks=[lambda point: True])).fit(X, Y)
    assert model.status_ == Status.INTERRUPTED
    losses = np.maximum(0.0, 1.0 - np.where(Y == 1, 1, -1) * model.decision_function(X)).sum()
    coefficients = model.dual_coef_[0]
    norm = coefficients @ model.expansion_.kernel(model.support_vectors_) @ coefficients
    assert model.certificate_.primal == pytest.approx(0.5 * norm + losses, rel=1e-6)
    require_within(model, SVC().fit(X, Y))


@pytest.mark.parametrize("name", ["hinge", "tube", "nu", "softmax", "ridge"])
@pytest.mark.parametrize("after", [2, 4])
def test_whenever_it_ends_what_it_says_is_true(name, after, many_rows):
    machine, y = MACHINES[name]
    seen = []

    def count(point):
        seen.append(point)
        return len(seen) >= after

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = with_landmarks(clone(machine).set_params(callbacks=[count])).fit(X, y)
    require_within(model, clone(machine).fit(X, y))


def test_a_limit_of_iterations_ends_it(many_rows):
    with pytest.warns(ConvergenceWarning):
        model = with_landmarks(SVC(max_iter=1)).fit(X, Y)
    assert model.status_ == Status.ITERATION_LIMIT
    require_within(model, SVC().fit(X, Y))


def test_steps_are_shown(many_rows, capsys):
    model = with_landmarks(SVC(verbose=True)).fit(X, Y)
    assert "[mercer]" in capsys.readouterr().err
    assert len(model.trace_) > 1


def test_a_warm_start_begins_where_the_last_fit_has_led():
    model = with_landmarks(SVC(warm_start=True)).fit(X, Y)
    first = model.certificate_.primal
    model.fit(X, Y)
    assert model.certificate_.primal == pytest.approx(first, rel=1e-4)


def test_more_landmarks_than_rows_are_refused():
    with pytest.raises(
        DataError, match=r"at most the number of training rows, n_samples=900, got 1000; .*approximation=None"
    ):
        SVC(approximation=LowRank()).fit(X, Y)


def test_an_indefinite_kernel_is_refused():
    with pytest.raises(NotPositiveSemidefiniteError, match="landmarks"):
        SVC(kernel=Sigmoid(gamma=1.0, coef0=-1.0), approximation=LowRank(100)).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: LowRank(0), "landmarks must be"),
        (lambda: LowRank(choice="best"), "choice must be one of 'uniform', 'rpcholesky', 'auto', got 'best'"),
        (lambda: LowRank(distance_tol=0.0), "distance_tol must be"),
        (lambda: LowRank(rows=X, distance_tol=0.1), "distance_tol lets the number of landmarks grow"),
        (lambda: SVC(approximation="nystroem").fit(X, Y), "approximation must be None or a LowRank, got 'nystroem'"),
        (lambda: SVC(approximation=LowRank).fit(X, Y), "write LowRank()"),
        (lambda: SVC(approximation=RandomFourierFeatures()).fit(X, Y), "no distance to the exact one"),
        (lambda: SVC(C=np.inf, approximation=LowRank(50)).fit(X, Y), "C must be finite with an approximation"),
        (lambda: KernelRidge(alpha=0.0, approximation=LowRank(50)).fit(X, T), "alpha must be positive"),
        (lambda: KernelRidge(alphas=[1.0], approximation=LowRank(50)).fit(X, T), "alphas is not available"),
        (
            lambda: KernelPCA(fit_inverse_transform=True, approximation=LowRank(50)).fit(X),
            "fit_inverse_transform is not",
        ),
        (
            lambda: SVC(kernel="precomputed", approximation=LowRank(rows=X[:5])).fit(np.eye(N), Y),
            "rows cannot be given with a precomputed kernel",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(make, told):
    with pytest.raises(ParameterError, match=re.escape(told)):
        make()


def test_landmarks_of_another_width_are_refused():
    with pytest.raises(ValueError, match="features"):
        SVC(approximation=LowRank(rows=X[:20, :3])).fit(X, Y)


def test_a_fit_that_fails_leaves_the_last_one():
    model = with_landmarks(SVC(), 30).fit(X, Y)
    before = model.decision_function(X)
    with warnings.catch_warnings(), pytest.raises(DataError):
        model.set_params(approximation__landmarks=5000).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_no_room_for_coordinates_is_told():
    with pytest.raises(DataError, match="memory_limit"):
        NuSVC(memory_limit="13MiB", approximation=LowRank(800)).fit(X, Y)


def test_it_prints_what_differs_from_the_defaults():
    assert repr(LowRank()) == "LowRank()"
    assert repr(LowRank(50, choice="auto")) == "LowRank(landmarks=50, choice='auto')"
    assert repr(LowRank(rows=X[:5])) == "LowRank(rows=<5 items>)"


def setup_of(*indices):
    return SimpleNamespace(tasks=[SimpleNamespace(indices=np.asarray(each)) for each in indices])


@pytest.mark.parametrize(
    "indices", [[[0, 2, 5]], [[5, 0, 2]], [[0, 1, 4], [0, 3], [4, 3, 1]], [[2], [2]], [list(range(9))]]
)
def test_rows_used_are_those_of_any_problem_in_order(indices):
    expected = sorted({row for each in indices for row in each})
    assert restricted.rows_used(setup_of(*indices)).tolist() == expected


def test_rows_used_take_a_few_bytes_for_each():
    """10^7 rows take part in fits over landmarks: no table of them is made to find out which."""
    n = 200_000
    every, half = np.arange(n), np.arange(0, n, 2)
    tracemalloc.start()
    try:
        for setup, bytes_of_a_row in ((setup_of(every), 4), (setup_of(every[::-1], half), 14)):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            restricted.rows_used(setup)
            assert tracemalloc.get_traced_memory()[1] - before <= bytes_of_a_row * n
    finally:
        tracemalloc.stop()
