import numpy as np
import pytest
import sklearn.decomposition
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelFisherDiscriminant, KernelPCA, KernelSVD, ParameterError, Status
from mercer.kernels import RBF

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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 3}, r"at most n_classes - 1 = 2, got 3"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"priors": [0.5, 0.5]}, "priors must be 3 positive numbers"),
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
