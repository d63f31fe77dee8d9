import warnings

import numpy as np
import pytest
import sklearn.decomposition
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from mercer import DataError, KernelFisherDiscriminant, KernelPCA, KernelSVD, ParameterError, Status
from mercer.kernels import RBF, Polynomial

rng = np.random.default_rng(0)
X = rng.normal(size=(700, 5)) * [3.0, 2.0, 1.5, 1.0, 1.0]
NEW = rng.normal(size=(9, 5))


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "krylov"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
def test_same_as_scikit_learn(solver, kernel):
    mine = KernelPCA(4, kernel=kernel, eigen_solver=solver).fit(X)
    theirs = sklearn.decomposition.KernelPCA(4, kernel=kernel, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(mine.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(mine.transform(NEW)), np.abs(theirs.transform(NEW)), rtol=1e-6, atol=1e-8)
    assert mine.certificate_.is_optimal()


def test_training_coordinates_are_those_of_new_rows():
    model = KernelPCA(3, kernel="rbf", gamma=0.1)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-8)
    np.testing.assert_allclose(model.transform(X).mean(axis=0), 0.0, atol=1e-9)


def test_precomputed_is_centred_by_the_training_rows():
    K, K_new = RBF(gamma=0.1)(X), RBF(gamma=0.1)(NEW, X)
    given = KernelPCA(3, kernel="precomputed").fit(K)
    direct = KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(given.transform(K_new), direct.transform(NEW), atol=1e-8)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_more_components_than_rank_says_how_many_there_are(solver):
    with pytest.warns(UserWarning, match="has rank 5: there are 5 components"):
        model = KernelPCA(8, eigen_solver=solver).fit(X)
    assert model.rank_ == 5
    assert model.transform(NEW).shape == (9, 8)
    assert (model.eigenvalues_[5:] == 0).all()
    assert KernelPCA(eigen_solver=solver).fit(X[:50]).transform(NEW).shape == (9, 5)


def test_pre_images_are_those_of_scikit_learn():
    settings = {"n_components": 4, "kernel": "rbf", "gamma": 0.05, "fit_inverse_transform": True, "alpha": 0.1}
    mine, theirs = (kind(**settings).fit(X[:100]) for kind in (KernelPCA, sklearn.decomposition.KernelPCA))
    np.testing.assert_allclose(
        mine.inverse_transform(mine.transform(NEW)), theirs.inverse_transform(theirs.transform(NEW)), atol=1e-8
    )
    with pytest.raises(ParameterError, match="fit_inverse_transform"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(np.eye(3))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_pre_images_of_equal_rows_say_what_was_added_to_the_penalty(alpha):
    model = KernelPCA(2, kernel="rbf", gamma=0.1, alpha=alpha, fit_inverse_transform=True)
    if alpha:
        assert model.fit(np.r_[X[:60], X[:60]]).jitter_ == 0.0
        return
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE.*jitter_ says what was added to alpha"):
        model.fit(np.r_[X[:60], X[:60]])
    assert model.status_ == Status.OPTIMAL_INACCURATE
    assert model.jitter_ > 0.0


def test_the_time_for_pre_images_is_that_of_the_fit():
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True, time_limit=1e-9).fit(X)
    assert model.inverse_transform(np.zeros((3, 2))).shape == (3, 5)


def test_no_component_has_a_pre_image_all_the_same():
    model = KernelPCA(kernel="rbf", fit_inverse_transform=True, alpha=1e-6).fit(np.ones((5, 3)))
    np.testing.assert_allclose(model.inverse_transform(model.transform(np.ones((2, 3)))), 1.0, atol=1e-5)


def test_a_fit_leaves_nothing_of_the_one_before():
    model = KernelPCA(8, fit_inverse_transform=True)
    with pytest.warns(UserWarning, match="rank 5"):
        model.fit(X[:50])
    fresh = KernelPCA(2).fit(X[:50])
    assert vars(model.set_params(n_components=2, fit_inverse_transform=False).fit(X[:50])).keys() == vars(fresh).keys()
    values = KernelSVD(8)
    with pytest.warns(UserWarning, match="rank 5"):
        values.fit(X[:50])
    assert vars(values.set_params(n_components=2).fit(X[:50])).keys() == vars(KernelSVD(2).fit(X[:50])).keys()


@pytest.mark.parametrize("solver", ["dense", "krylov", "randomized"])
def test_more_components_than_rows_says_how_many_there_are(solver):
    rows = np.random.default_rng(1).normal(size=(60, 100))
    with pytest.warns(
        UserWarning, match="n_components=100, but the kernel matrix has rank 60: there are 60 components$"
    ):
        model = KernelSVD(100, eigen_solver=solver).fit(rows)
    assert model.rank_ == 60
    assert model.transform(rows).shape == (60, 60)
    assert not hasattr(KernelSVD(60, eigen_solver=solver).fit(rows), "rank_")


def test_randomised_says_how_far_off_it_is():
    rough, fine = (KernelPCA(6, kernel="rbf", eigen_solver="randomized", iterated_power=p).fit(X) for p in (0, 6))
    assert rough.certificate_.residual > 10 * fine.certificate_.residual


def test_limits_leave_a_model():
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = KernelPCA(6, kernel="rbf", eigen_solver="krylov", max_iter=1).fit(X)
    assert model.transform(NEW).shape == (9, 6)
    assert model.certificate_.residual > 1e-10
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        stopped = KernelPCA(2, kernel="rbf", time_limit=1e-9).fit(np.r_[X, X, X])
    assert stopped.status_ == Status.TIME_LIMIT
    assert stopped.transform(NEW).shape == (9, 2)


def test_evaluated_and_stored_agree():
    rows = rng.normal(size=(2200, 40))
    stored = KernelPCA(3, kernel="rbf", gamma=0.01).fit(rows)
    evaluated = KernelPCA(3, kernel="rbf", gamma=0.01, memory_limit="20MB").fit(rows)
    np.testing.assert_allclose(stored.eigenvalues_, evaluated.eigenvalues_, rtol=1e-9)


def test_few_rows_without_room_for_their_matrix_are_left_to_iterations():
    rows = rng.normal(size=(400, 5))
    narrow, roomy = (KernelPCA(2, kernel="rbf", memory_limit=limit).fit(rows) for limit in ("4MiB", None))
    assert (narrow.solver_, roomy.solver_) == ("krylov", "dense")
    np.testing.assert_allclose(narrow.eigenvalues_, roomy.eigenvalues_, rtol=1e-9)


def test_singular_values_and_vectors_of_the_rows():
    U, s, V = np.linalg.svd(X, full_matrices=False)
    model = KernelSVD(5).fit(X)
    np.testing.assert_allclose(model.singular_values_, s)
    np.testing.assert_allclose(np.abs(model.left_singular_vectors_), np.abs(U), atol=1e-8)
    np.testing.assert_allclose(np.abs(model.transform(NEW)), np.abs(NEW @ V.T), atol=1e-8)
    np.testing.assert_allclose(np.abs(model.right_coef_.T @ X), np.abs(V), atol=1e-8)
    assert model.certificate_.is_optimal()


@pytest.mark.parametrize("kind", [KernelPCA, KernelSVD])
@pytest.mark.parametrize("solver", ["dense", "krylov", "randomized"])
@pytest.mark.parametrize("n", [1, 5])
def test_no_component_at_all_is_a_model_of_no_columns(kind, solver, n):
    rows = np.zeros((n, 2))
    model = kind(None, eigen_solver=solver).fit(rows)
    assert model.transform(np.zeros((3, 2))).shape == (3, 0)
    assert model.rank_ == 0
    assert model.certificate_.residual == 0.0
    given = kind(None, kernel="precomputed", eigen_solver=solver).fit(np.zeros((n, n)))
    assert given.transform(np.zeros((3, n))).shape == (3, 0)


SOLVERS = ["dense", "krylov", "randomized"]
INDEFINITE = rng.normal(size=(60, 60))
INDEFINITE = INDEFINITE + INDEFINITE.T


@pytest.mark.parametrize("unit", [1e300, 1e200, 1.0, 1e-200, 1e-306])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_unit_of_a_matrix_is_that_of_its_eigenvalues(solver, unit):
    K = np.diag(np.arange(1.0, 41.0))
    plain, other = (KernelPCA(3, kernel="precomputed", eigen_solver=solver).fit(K * u) for u in (1.0, unit))
    np.testing.assert_allclose(other.eigenvalues_ / unit, plain.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(other.transform(K * unit) / np.sqrt(unit), plain.transform(K), atol=1e-8)
    assert other.certificate_.residual == pytest.approx(plain.certificate_.residual, rel=0.1, abs=1e-9)


def test_eigenvalues_that_no_number_can_hold_are_refused():
    with pytest.raises(DataError, match="overflow on X: the largest is 1e"):
        KernelPCA(2, kernel="precomputed").fit(np.full((30, 30), 1e308))


@pytest.mark.parametrize("kind", [KernelPCA, KernelSVD])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_rows_whose_distances_overflow_are_refused(kind, kernel):
    far = X[:60].copy()
    far[3, 2] = 1e200
    for rows in (X[:60] * 1e155, far, sparse.csr_array(far)):
        with pytest.raises(DataError, match="kernel values overflow on X; scale the features"):
            kind(2, kernel=kernel, gamma=1.0).fit(rows)


def test_iterations_that_come_to_nothing_give_way_to_the_whole_matrix():
    B = np.random.default_rng(0).normal(size=(700, 700))
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"), pytest.warns(UserWarning, match="only 0 positive"):
        model = KernelPCA(2, kernel="precomputed").fit(-(B @ B.T))
    assert model.solver_ == "dense"
    # Small enough to be found by iterations, but with no room for anything else.
    close = np.diag(1.0 - (np.arange(900.0) / 900.0) ** 2)
    with pytest.warns(ConvergenceWarning, match="STALLED.*memory_limit"):
        stalled = KernelSVD(2, kernel="precomputed", memory_limit="1MB").fit(close)
    assert stalled.status_ == Status.STALLED
    assert KernelSVD(2, kernel="precomputed").fit(close).certificate_.is_optimal()


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
@pytest.mark.parametrize("kind", [KernelPCA, KernelSVD])
@pytest.mark.parametrize("K", [-np.eye(700), INDEFINITE], ids=["negative", "indefinite"])
def test_a_kernel_with_negative_eigenvalues_says_so(kind, solver, K):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = kind(2, kernel="precomputed", eigen_solver=solver).fit(K)
    assert model.status_ == Status.NOT_CONVEX
    # A second one may say how many components there are.
    assert [one.category for one in told][:1] == [ConvergenceWarning]
    assert all(one.category is UserWarning and "positive eigenvalues" in str(one.message) for one in told[1:])
    assert model.transform(K[:3]).shape == (3, 2)
    assert np.isfinite(model.certificate_.residual)
    assert np.isfinite(model.certificate_.explained)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_components_of_an_indefinite_kernel_are_its_positive_eigenvalues(solver):
    K = INDEFINITE[:8, :8]
    expected = np.linalg.eigvalsh(K)[::-1]
    positive = int((expected > 0).sum())
    with (
        pytest.warns(ConvergenceWarning, match="NOT_CONVEX"),
        pytest.warns(UserWarning, match=f"has only {positive} positive eigenvalues: there are {positive} components"),
    ):
        model = KernelSVD(8, kernel="precomputed", eigen_solver=solver).fit(K)
    np.testing.assert_allclose(model.singular_values_**2, np.maximum(expected, 0.0), atol=1e-10)
    assert not hasattr(model, "rank_")


def test_the_sigmoid_is_not_positive_semidefinite():
    for solver in ("dense", "krylov"):
        with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
            KernelPCA(2, kernel="sigmoid", eigen_solver=solver).fit(X[:60])


def test_negative_squared_distances_have_components():
    # Indefinite, but not on vectors that sum to zero (Schoelkopf 2001).
    squares = ((X[:100, None] - X[None, :100]) ** 2).sum(axis=2)
    for solver in SOLVERS:
        model = KernelPCA(2, kernel="precomputed", eigen_solver=solver).fit(-0.5 * squares)
        assert model.status_ == Status.OPTIMAL
    np.testing.assert_allclose(KernelPCA(2).fit(X[:100]).eigenvalues_, model.eigenvalues_, rtol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("kernel", [RBF(gamma=1e-3), Polynomial(degree=3, gamma=1.0, coef0=1.0)], ids=str)
def test_rounding_to_single_precision_makes_no_kernel_indefinite(kernel, offset, solver):
    K = kernel(np.r_[X[:150], X[:50]] + offset)
    single = K.astype(np.float32)
    for given in (K, single, single.astype(np.float64)):
        for kind in (KernelPCA, KernelSVD):
            assert kind(1, kernel="precomputed", eigen_solver=solver).fit(given).status_ == Status.OPTIMAL


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("rows", "gamma"), [(np.ones((30, 3)), None), (X[:30], 1e-300), (X[:30] * 1e-310, None), (np.ones((600, 3)), None)]
)
def test_rows_that_are_all_alike_have_no_component(rows, gamma, solver):
    with pytest.warns(UserWarning, match="has rank 0: there are 0 components"):
        model = KernelPCA(2, kernel="rbf", gamma=gamma, eigen_solver=solver).fit(rows)
    assert model.rank_ == 0
    assert model.certificate_.residual < 1e-10


def three_classes(seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], 60)
    centres = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    return generator.normal(size=(180, 3)) + np.repeat(centres, 60, axis=0), y


@pytest.mark.parametrize("labels", [slice(None), slice(0, 120)])
def test_linear_kernel_gives_fishers_own_discriminant(labels):
    rows, y = three_classes()
    rows, y = rows[labels], y[labels]
    mine = KernelFisherDiscriminant(kernel="linear", alpha=1e-5).fit(rows, y)
    theirs = LinearDiscriminantAnalysis().fit(rows, y)
    Z, T = mine.transform(rows), theirs.transform(rows)
    for column in range(Z.shape[1]):
        assert abs(np.corrcoef(Z[:, column], T[:, column])[0, 1]) > 1 - 1e-8
    assert (mine.predict(rows) == theirs.predict(rows)).all()
    np.testing.assert_allclose(mine.decision_function(rows), theirs.decision_function(rows), rtol=0.05, atol=2.0)


def test_directions_are_stationary_points_of_the_quotient():
    rows, y = three_classes()
    model = KernelFisherDiscriminant(gamma=0.3, alpha=0.5).fit(rows, y)
    H = np.eye(180) - 1 / 180
    K = H @ RBF(gamma=0.3)(rows) @ H
    classes = (y[:, None] == np.unique(y)).astype(float)
    between = K @ (classes / classes.sum(axis=0)) @ classes.T @ K
    total = K @ K + 0.5 * K
    for a, ratio in zip(model.dual_coef_.T, model.scalings_, strict=True):
        quotient = (a @ between @ a) / (a @ total @ a)
        np.testing.assert_allclose(between @ a, quotient * (total @ a), atol=1e-6 * np.abs(between @ a).max())
        assert ratio == pytest.approx(quotient / (1 - quotient))
    assert model.certificate_.is_optimal()


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 180)])
def test_far_from_the_origin_fisher_says_what_its_certificate_says(weights):
    # Inner products are known to eps * 3e9, and the normal equations to hundreds of times tol.
    rows, y = three_classes()
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE"):
        model = KernelFisherDiscriminant(kernel="linear", alpha=1e-3).fit(rows + 3e4, y, sample_weight=weights)
    assert not model.certificate_.is_optimal(model.tol)
    assert model.status_ == Status.OPTIMAL_INACCURATE


def test_fisher_with_items_precomputed_and_priors():
    rows, y = three_classes()
    K = RBF(gamma=0.3)(rows)
    given = KernelFisherDiscriminant(kernel="precomputed").fit(K, y)
    direct = KernelFisherDiscriminant(kernel=RBF(gamma=0.3)).fit(rows, y)
    np.testing.assert_allclose(np.abs(given.transform(K[:5])), np.abs(direct.transform(rows[:5])), atol=1e-6)
    leaning = KernelFisherDiscriminant(kernel=RBF(gamma=0.3), priors=[0.98, 0.01, 0.01]).fit(rows, y)
    assert (leaning.predict(rows) == "a").sum() >= (direct.predict(rows) == "a").sum()
    words = ["cat", "car", "cut", "dog", "log", "dig"]
    model = KernelFisherDiscriminant(kernel=lambda s, t: len(set(s) & set(t))).fit(words, [0, 0, 0, 1, 1, 1])
    assert model.predict(["cart", "gold"]).tolist() == [0, 1]


@pytest.mark.parametrize("kernel", ["linear", "rbf", RBF(gamma=0.3)], ids=str)
@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_a_weight_of_fisher_is_a_number_of_copies(kernel, solver):
    rows, y = three_classes()
    copies = np.random.default_rng(1).integers(0, 4, size=len(y))
    repeated = KernelFisherDiscriminant(kernel=kernel, solver=solver, tol=1e-10).fit(
        np.repeat(rows, copies, axis=0), np.repeat(y, copies)
    )
    weighted = KernelFisherDiscriminant(kernel=kernel, solver=solver, tol=1e-10).fit(rows, y, copies)
    np.testing.assert_allclose(weighted.decision_function(rows), repeated.decision_function(rows), atol=1e-6)
    np.testing.assert_allclose(weighted.scalings_, repeated.scalings_, rtol=1e-8)
    np.testing.assert_allclose(weighted.priors_, repeated.priors_)
    assert weighted.dual_coef_.shape == (180, 2)
    assert not weighted.dual_coef_[copies == 0].any()
    assert weighted.certificate_.is_optimal()
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal)


def test_directions_of_weighted_rows_are_stationary_points_of_the_weighted_quotient():
    """From the definition: weighted means and scatters of the features, written out with the matrix."""
    rows, y = three_classes()
    w = np.random.default_rng(2).uniform(0.1, 3.0, size=180)
    model = KernelFisherDiscriminant(gamma=0.3, alpha=0.5, tol=1e-10).fit(rows, y, w)
    H = np.eye(180) - np.outer(np.ones(180), w / w.sum())
    K = H @ RBF(gamma=0.3)(rows) @ H.T
    classes = (y[:, None] == np.unique(y)).astype(float) * w[:, None]
    between = K @ (classes / classes.sum(axis=0)) @ classes.T @ K
    total = K @ np.diag(w) @ K + 0.5 * K
    for a, ratio in zip(model.dual_coef_.T, model.scalings_, strict=True):
        quotient = (a @ between @ a) / (a @ total @ a)
        np.testing.assert_allclose(between @ a, quotient * (total @ a), atol=1e-6 * np.abs(between @ a).max())
        assert ratio == pytest.approx(quotient / (1 - quotient))
    # The weighted mean of the coordinates is the origin, and classes have the means that are told.
    Z = model.transform(rows)
    np.testing.assert_allclose(w @ Z, 0.0, atol=1e-6)
    for label, mean in zip(model.classes_, model.means_, strict=True):
        chosen = y == label
        np.testing.assert_allclose(np.average(Z[chosen], axis=0, weights=w[chosen]), mean, atol=1e-7)


def test_fisher_refuses_weights_that_leave_a_class_out():
    rows, y = three_classes()
    with pytest.raises(DataError, match="class 'b' has no sample of positive weight"):
        KernelFisherDiscriminant().fit(rows, y, np.where(y == "b", 0.0, 1.0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 3}, r"at most n_classes - 1 = 2, got 3"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"priors": [0.5, 0.5]}, "priors must be 3 positive numbers"),
        ({"priors": ["a", "b", "c"]}, "priors must be numbers"),
    ],
)
def test_bad_parameters_of_fisher(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelFisherDiscriminant(**parameters).fit(*three_classes())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be"),
        ({"eigen_solver": "qr"}, "eigen_solver must be one of"),
        ({"tol": -1.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"iterated_power": -1}, "iterated_power must be"),
        ({"alpha": -1.0}, "alpha must be"),
    ],
)
def test_bad_parameters_of_pca(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelPCA(**parameters).fit(X)
