import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, LinearSVC, ParameterError, Status
from mercer.kernels import RBF
from mercer.solvers.crammer_singer import kernel as kernel_crammer_singer
from mercer.solvers.crammer_singer.linear import project, settle


def together(**parameters):
    return SVC(multi_class="crammer_singer", **{"bias": "penalized", **parameters})


def clouds(n=45, seed=0):
    return make_blobs(n, centers=4, n_features=2, cluster_std=2.5, random_state=seed)


def by_clarabel(K, codes, C, n_classes, free=False):
    """(alpha, dual value) of the dual over all alpha_i^m; with free biases each class has sum zero too."""
    n = len(codes)
    Q = np.kron(np.eye(n_classes), K)  # alpha class by class
    own = np.zeros((n_classes, n))
    own[codes, np.arange(n)] = 1.0
    q = 1.0 - own.ravel()
    bounds = (own * C).ravel()
    sums = sparse.kron(np.ones((1, n_classes)), sparse.eye(n), format="csc")
    if free:
        # The last class follows from the rows.
        sums = sparse.vstack([sums, sparse.kron(np.eye(n_classes)[:-1], np.ones((1, n)))], format="csc")
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.triu(sparse.csc_matrix(Q), format="csc"),
        q,
        sparse.vstack([sums, sparse.eye(n * n_classes)], format="csc"),
        np.concatenate([np.zeros(sums.shape[0]), bounds]),
        [clarabel.ZeroConeT(sums.shape[0]), clarabel.NonnegativeConeT(n * n_classes)],
        options,
    ).solve()
    return np.array(found.x).reshape(n_classes, n).T, -found.obj_val


@pytest.mark.parametrize("bias", ["penalized", "none", "free"])
@pytest.mark.parametrize("least", [1e-4, 1e-6])
def test_rows_of_little_weight_beside_heavy_ones(least, bias):
    """A coefficient that misses its tiny bound by a rounding of its scores is at it."""
    X, y = make_blobs(50, centers=3, cluster_std=20, random_state=0)
    weights = {0: 1000.0, 1: least, 2: least}
    model = together(class_weight=weights, bias=bias, max_iter=1000).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    certificate = model.certificate_
    assert certificate.kkt_violation <= model.tol
    K = RBF(gamma=1.0 / (2 * X.var()))(X) + (1.0 if bias == "penalized" else 0.0)
    _, value = by_clarabel(K, y, np.array([weights[label] for label in y]), 3, bias == "free")
    assert certificate.dual == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("C", [1e-12, 1e-4, 1.0, 1e6])
def test_a_row_sums_to_zero_within_its_bounds_however_small_they_are(C, rng):
    for _ in range(200):
        B, code, alpha = rng.normal(size=5), int(rng.integers(5)), np.empty(5)
        project(B, code, C, 1.0, alpha)
        settle(alpha, code, C)
        assert abs(alpha.sum()) <= 1e-15 * C
        assert alpha[code] <= C
        assert np.delete(alpha, code).max() <= 0.0


@pytest.mark.parametrize("bias", ["penalized", "none", "free"])
@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_clarabel(seed, C, bias):
    X, y = clouds(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    kernel = RBF(gamma=0.2)
    model = together(C=C, kernel=kernel, bias=bias, tol=1e-7).fit(X, y, weights)
    K = kernel(X) + (1.0 if bias == "penalized" else 0.0)
    alpha, value = by_clarabel(K, y, C * weights, 4, bias == "free")
    certificate = model.certificate_
    assert model.status_ is Status.OPTIMAL
    assert certificate.dual == pytest.approx(value, rel=1e-6)
    assert certificate.primal == pytest.approx(value, rel=1e-5)
    assert certificate.kkt_violation <= 1e-6
    assert certificate.equality_residual <= 1e-10
    if bias == "free":
        # Scores of all classes may have a common bias, which no comparison of them shows.
        found, wanted = model.decision_function(X) - model.intercept_, K @ alpha
        assert np.abs(found - wanted).max() <= 1e-3
    else:
        np.testing.assert_allclose(model.decision_function(X), K @ alpha, atol=1e-3)


def test_free_biases_are_the_default_and_follow_a_shift_of_the_kernel():
    # A constant added to a kernel is a bias that costs little: it changes nothing where biases are free.
    X, y = clouds(420)
    K = RBF(gamma=0.2)(X)
    model = SVC(multi_class="crammer_singer", kernel="precomputed", tol=1e-4).fit(K, y)
    moved = SVC(multi_class="crammer_singer", kernel="precomputed", tol=1e-4).fit(K + 3.0, y)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap < 1e-3
    assert model.certificate_.equality_residual <= 1e-10
    assert moved.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-4)
    gap = SVC(multi_class="crammer_singer", kernel="precomputed", gap_tol=1e-5).fit(K, y).certificate_
    assert gap.relative_gap <= 1.1e-5
    # Costing nothing, free biases do better than none.
    assert (
        model.certificate_.primal < together(bias="none", kernel="precomputed", tol=1e-4).fit(K, y).certificate_.primal
    )


def test_agrees_with_the_linear_machine():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    linear = LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=100_000).fit(X, y)
    model = together(kernel="linear", tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), linear.decision_function(X), atol=0.01)
    np.testing.assert_array_equal(model.predict(X), linear.predict(X))


def test_of_a_single_feature_the_best_weights_are_kept():
    """They were those of the last pass, which had gone on in the same memory: a gap of 3e-8 where 5e-16 was found."""
    X = np.array([-2.75, 0.0, 3.0, -2.25, 0.5, 0.0, 0.0, -0.25, -1.0, -0.25, -3.0, 0.0])[:, None]
    weight = np.array([3.0, 0.5, 0.5, 3.0, 0.5, 0.5, 0.5, 0.5, 3.0, 0.5, 3.0, 0.5])
    y = [0, 1, 2, 1, 2, 0, 1, 2, 2, 1, 1, 0]
    model = LinearSVC(loss="hinge", multi_class="crammer_singer", bias="none", tol=1e-8).fit(X, y, weight)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.relative_gap <= 1e-8


def test_two_classes():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    linear = LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(
        together(kernel="linear", tol=1e-6).fit(X, y).decision_function(X), linear.decision_function(X), atol=1e-2
    )


def test_working_sets_find_the_same(monkeypatch):
    X, y = clouds(300)
    whole = together(tol=1e-5).fit(X, y)
    monkeypatch.setattr(kernel_crammer_singer, "LARGEST_SET", 80)
    parts = together(tol=1e-5).fit(X, y)
    assert len(parts.trace_) > len(whole.trace_)
    assert parts.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-6)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=1e-3)


def test_working_sets_are_no_larger_than_memory_allows():
    X, y = clouds(900)
    whole, parts = (together(tol=1e-4, memory_limit=limit).fit(X, y) for limit in (None, "4MiB"))
    assert max(point.working_set for point in whole.trace_) == 900
    assert max(point.working_set for point in parts.trace_) <= kernel_crammer_singer.SMALL
    assert parts.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-4)


def test_forms_of_input_and_labels():
    X, y = clouds()
    names = np.array(["a", "b", "c", "d"])[y]
    expected = together(gamma=0.2, tol=1e-6).fit(X, names)
    assert set(expected.predict(X)) <= set(names)
    thin = sparse.csr_array(X)
    np.testing.assert_allclose(
        together(gamma=0.2, tol=1e-6).fit(thin, names).decision_function(thin), expected.decision_function(X), atol=1e-4
    )
    K = RBF(gamma=0.2)(X)
    given = together(kernel="precomputed", tol=1e-6).fit(K, names)
    np.testing.assert_allclose(given.decision_function(K[:5]), expected.decision_function(X[:5]), atol=1e-4)


def test_limits_and_warm_starts():
    X, y = clouds(200)
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = together(max_iter=1, tol=1e-6, warm_start=True).fit(X, y)
    before = model.certificate_.dual
    assert model.set_params(max_iter=-1).fit(X, y).certificate_.dual > before
    assert together(gap_tol=1e-5).fit(X, y).certificate_.relative_gap <= 1.1e-5
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        together(time_limit=1e-9).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared_hinge"}, "loss must be 'hinge' with multi_class='crammer_singer'"),
        ({"probability": True}, "probability=True is not available with multi_class='crammer_singer'"),
        ({"solver": "chunking"}, "solver must be 'auto' with multi_class='crammer_singer'"),
        ({"C": np.inf}, "C must be finite with multi_class='crammer_singer'"),
    ],
)
def test_what_it_does_not_have(parameters, message):
    X, y = clouds()
    with pytest.raises(ParameterError, match=message):
        together(**parameters).fit(X, y)
