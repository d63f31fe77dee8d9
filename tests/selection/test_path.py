"""The path as users have it: any C, any data, and models to take away."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, DataError, ParameterError, Status


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, "benign", "malignant")


@pytest.fixture(scope="module")
def path(cancer):
    return mercer.regularization_path(SVC(gamma=0.03), *cancer)


@pytest.mark.parametrize("C", [0.01, 1.0, 77.0])
def test_it_is_what_svc_finds(cancer, path, C):
    X, y = cancer
    model = SVC(C=C, gamma=0.03, tol=1e-9).fit(X, y)
    assert np.allclose(path.decision_function(X, C), model.decision_function(X), atol=1e-7)
    assert path.gap(C) < 1e-10
    assert path.certificate(C).kkt_violation < 1e-8
    assert (path.predict(X, lam=1 / C) == model.predict(X)).all()
    assert path.intercept(C) == pytest.approx(model.intercept_[0], abs=1e-7)


def test_a_model_can_be_taken_away(cancer, path):
    X, y = cancer
    model = path.as_svc(3.0)
    assert isinstance(model, SVC)
    assert model.C == 3.0
    assert np.allclose(model.decision_function(X[:50]), path.decision_function(X[:50], 3.0), atol=1e-12)
    assert model.certificate_.gap < 1e-8
    assert model.score(X, y) > 0.95
    assert model.status_ == Status.OPTIMAL


def test_several_C_at_once(cancer, path):
    X, _ = cancer
    together = path.decision_function(X[:9], [0.1, 1.0, 10.0])
    assert together.shape == (9, 3)
    assert np.allclose(together[:, 1], path.decision_function(X[:9], 1.0), atol=1e-12)
    assert path.alpha([0.1, 1.0]).shape == (2, len(X))
    assert path.predict(X[:9], [0.1, 1.0]).shape == (9, 2)


def test_alpha_over_C_is_linear_in_lambda(path):
    place = len(path.breakpoints) // 2
    left, right = path.lambdas[place], path.lambdas[place + 1]
    middle = 0.5 * (left + right)
    ends = [path.alpha(lam=lam * (1 + tiny)) * lam for lam, tiny in ((left, -1e-13), (right, 1e-13))]
    assert np.allclose(path.alpha(lam=middle) * middle, 0.5 * (ends[0] + ends[1]), atol=1e-8)


def test_events_name_rows(path):
    C, row, kind = path.events()[10]
    assert 0 < C < 1e3
    assert 0 <= row < 569
    assert kind in ("zero", "free", "bounded")
    assert path.n_events == len(path.events())


@pytest.mark.parametrize("form", ["csr", "float32", "precomputed", "function", "list"])
def test_other_forms_of_the_same_rows(cancer, form):
    X, y = cancer[0][:60], cancer[1][:60]
    expected = mercer.regularization_path(SVC(kernel="linear"), X, y, C_max=10.0).alpha(2.0)
    kernel = {"precomputed": "precomputed", "function": lambda A, B: np.asarray(A) @ np.asarray(B).T}.get(
        form, "linear"
    )
    given = {"csr": sparse.csr_array(X), "float32": X.astype(np.float32), "precomputed": X @ X.T, "list": X.tolist()}
    found = mercer.regularization_path(SVC(kernel=kernel), given.get(form, X), y, C_max=10.0)
    assert np.allclose(found.alpha(2.0), expected, atol=1e-4 if form == "float32" else 1e-7)
    rows = {"csr": sparse.csr_array(X[:3]), "precomputed": X[:3] @ X.T}.get(form, X[:3])
    assert found.decision_function(rows, 2.0).shape == (3,)


def test_weights_of_rows_and_classes(cancer):
    X, y = cancer[0][:80], cancer[1][:80]
    weights = np.random.default_rng(0).uniform(0.0, 2.0, 80)
    weights[:3] = 0.0
    given = {"gamma": 0.1, "class_weight": {"benign": 2.0, "malignant": 1.0}}
    path = mercer.regularization_path(SVC(**given), X, y, sample_weight=weights)
    model = SVC(C=0.7, tol=1e-9, **given).fit(X, y, weights)
    assert np.allclose(path.decision_function(X, 0.7), model.decision_function(X), atol=1e-7)
    assert (path.alpha(0.7)[:3] == 0).all()


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_the_approximate_path_keeps_its_promise(cancer, bias):
    X, y = cancer[0][:150], cancer[1][:150]
    path = mercer.regularization_path(SVC(bias=bias), X, y, method="approximate", C_max=50.0, gap_tol=0.05)
    assert path.gap_bounds.max() <= 0.05
    assert max(path.gap(C) for C in np.geomspace(1e-3, 50.0, 12)) <= 0.05
    with pytest.raises(ParameterError, match="exact"):
        path.events()
    assert path.as_svc(1.0).score(X, y) > 0.9


def test_auto_is_exact_for_few_rows(path):
    assert path.method == "exact"
    assert "569 rows" in repr(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "quick"}, "method must be one of"),
        ({"C_max": -1.0}, "C_max must be a finite number above 0"),
        ({"C_min": 0.0}, "C_min must be a finite number above 0"),
        ({"gap_tol": 0.0}, "gap_tol must be a finite number above 0"),
        ({"method": "approximate", "C_max": np.inf}, "C_max must be finite"),
    ],
)
def test_parameters_are_checked(given, message):
    with pytest.raises(ParameterError, match=message):
        mercer.regularization_path(SVC(), [[0.0], [1.0], [2.0]], [0, 1, 1], **given)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC(bias="some"), "bias must be one of"),
        (SVC(gamma=-1.0), "gamma must be positive"),
        (SVC(kernel="rbv"), "did you mean 'rbf'"),
        (SVC(loss="squared_hinge"), 'needs loss="hinge"'),
        (SVC(multi_class="crammer_singer"), 'needs multi_class="ovo"'),
        (mercer.NuSVC(), "estimator must be an SVC"),
    ],
)
def test_the_estimator_is_checked(estimator, message):
    with pytest.raises(ParameterError, match=message):
        mercer.regularization_path(estimator, [[0.0], [1.0], [2.0]], [0, 1, 1])


def test_the_C_of_the_estimator_has_no_say_and_it_stays_as_it_was(cancer):
    X, y = cancer[0][:60], cancer[1][:60]
    machine = SVC(C=50.0, kernel="linear", probability=True)
    found = mercer.regularization_path(machine, X, y, C_max=10.0)
    expected = mercer.regularization_path(SVC(kernel="linear"), X, y, C_max=10.0)
    np.testing.assert_array_equal(found.alpha(2.0), expected.alpha(2.0))
    assert machine.C == 50.0
    assert machine.probability
    assert found.as_svc(2.0).C == 2.0


def test_data_are_checked(cancer):
    with pytest.raises(DataError, match="two classes"):
        mercer.regularization_path(SVC(), [[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match="number of classes"):
        mercer.regularization_path(SVC(), [[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        mercer.regularization_path(SVC(), [[np.nan], [1.0]], [0, 1])
    with pytest.raises(DataError, match="approximate"):
        mercer.regularization_path(SVC(memory_limit="14MiB"), *cancer, method="exact")


def test_only_C_on_the_path_are_answered(path):
    with pytest.raises(ParameterError, match="between 0 and 1000"):
        path.alpha(2e3)
    with pytest.raises(ParameterError, match="give either C or lam"):
        path.alpha()
    with pytest.raises(ParameterError, match="positive"):
        path.as_svc(0.0)


def test_a_path_that_ends_early_warns(cancer):
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        path = mercer.regularization_path(SVC(gamma=0.03, max_iter=30), *cancer)
    assert path.C_end < 1e3
    assert path.gap(0.9 * path.C_end) < 1e-10
