"""The hard margin: the examples worked by hand, proofs for what has none, and any kernel."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import mercer
from mercer import (
    SVC,
    DataError,
    HardMarginSVC,
    MercerError,
    NotPositiveSemidefiniteError,
    NotSeparableError,
    ParameterError,
    Status,
)
from mercer.kernels import RBF, Custom, Encoded, Linear, Matern, Polynomial, SecondOrder, Sigmoid
from mercer.plot import DecisionBoundaryDisplay
from tests.estimators.datasets import scaled
from tests.faults.own_time import CtrlC

XOR = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
LABELS = np.array([0, 0, 1, 1])
QUADRATIC = Polynomial(degree=2, gamma=1.0, coef0=1.0)


def refusal(X, y, **parameters):
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC(**parameters).fit(X, y)
    return caught.value


# --- worked examples --------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("kernel", ["linear", Linear(), Polynomial(degree=1, gamma=1.0), lambda A, B: A @ B.T])
def test_the_toy_set(toy, kernel, layout):
    """Example 1: alpha = (1/2, 1/2, 1, 0), w = (1, -1), b = -1, margin 1/sqrt(2)."""
    X, y = toy
    model = HardMarginSVC(kernel=kernel).fit(layout(X), y)
    alpha = np.zeros(4)
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    alpha[model.support_] = np.abs(dual[0])
    np.testing.assert_allclose(alpha, [0.5, 0.5, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose((alpha * y) @ X, [1.0, -1.0], atol=1e-12)
    assert model.intercept_ == pytest.approx(-1.0, abs=1e-12)
    assert model.margin_ == pytest.approx(1.0 / np.sqrt(2.0), rel=1e-12)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.gap == pytest.approx(0.0, abs=1e-12)
    assert model.certificate_.primal == pytest.approx(1.0)
    np.testing.assert_allclose(model.decision_function(layout(X)), [-1.0, -1.0, 1.0, 2.0], atol=1e-6)


def test_the_matrix_of_the_toy_set(toy):
    """Example 1: G as printed."""
    X, y = toy
    G = (y[:, None] * Linear()(X)) * y
    np.testing.assert_array_equal(G, [[0, 0, 0, 0], [0, 8, -4, -6], [0, -4, 4, 6], [0, -6, 6, 9]])


def test_on_the_line_a_square_helps():
    """Example 2: not separable by halfspaces, separable under x -> (x, x^2)."""
    x = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    y = np.array([1, -1, -1, -1, 1])
    proof = refusal(x, y, kernel="linear").proof
    assert proof.check()
    model = HardMarginSVC(kernel="linear").fit(np.hstack([x, x**2]), y)
    np.testing.assert_allclose(model.coef_, [[0.0, 2.0 / 3.0]], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [-5.0 / 3.0], atol=1e-12)


def test_xor_needs_the_quadratic_kernel():
    """Example 2."""
    proof = refusal(XOR, LABELS, kernel="linear").proof
    np.testing.assert_allclose(proof.point, [0.5, 0.5])
    model = HardMarginSVC(kernel=QUADRATIC).fit(XOR, LABELS)
    assert model.score(XOR, LABELS) == 1.0
    psi = QUADRATIC.feature_map(XOR)
    w = (model.dual_coef_[0] @ psi[model.support_]).ravel()
    assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(w), rel=1e-12)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_the_margin_of_the_normalised_solution(bias, petals):
    """Example 7: (w0, b0) / |w0| has the margin 1 / |w0|, and twice the data twice the margin."""
    X, species = petals
    y = np.where(species == 0, -1, 1)
    if bias == "none":
        X = X - [2.45, 0.8]
    model = HardMarginSVC(kernel="linear", bias=bias).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(w), rel=1e-12)
    np.testing.assert_allclose(model.normalized_coef_[0], w / np.linalg.norm(w))
    np.testing.assert_allclose(model.normalized_intercept_[0], b / np.linalg.norm(w))
    distances = y * (X @ model.normalized_coef_[0] + model.normalized_intercept_[0])
    assert distances.min() == pytest.approx(model.margin_, rel=1e-12)
    assert HardMarginSVC(kernel="linear", bias=bias).fit(2.0 * X, y).margin_ == pytest.approx(2.0 * model.margin_)


def test_support_vectors_are_on_the_margin_and_span_the_solution(petals):
    """Example 13, homogeneous: w0 is in the span of the points with |<w0, x>| = 1; alpha > 0 only there."""
    X, species = petals
    X, y = X - [2.45, 0.8], np.where(species == 0, -1, 1)
    model = HardMarginSVC(kernel="linear", bias="none").fit(X, y)
    w = model.coef_[0]
    on_margin = np.flatnonzero(np.abs(np.abs(X @ w) - 1.0) < 1e-9)
    assert set(model.support_) <= set(on_margin)
    np.testing.assert_allclose(model.dual_coef_[0] @ X[model.support_], w, rtol=1e-10)
    combination, *_ = np.linalg.lstsq(X[on_margin].T, w, rcond=None)
    np.testing.assert_allclose(combination @ X[on_margin], w, rtol=1e-10)
    assert (np.abs(X @ w)[np.setdiff1d(np.arange(len(X)), on_margin)] > 1.0).all()


def test_no_lambda_makes_soft_the_same_as_hard():
    """Example 9, exercise 3: for every lambda, x = +-s with s small enough; soft has w = s / (2 lambda), not 1 / s."""
    for lam in (1e-3, 1.0, 1e3):
        s = np.sqrt(lam)  # any s with s^2 < 2 lambda
        X, y = np.array([[s], [-s]]), np.array([1, -1])
        hard = HardMarginSVC(kernel="linear", bias="none").fit(X, y)
        C = mercer.Regularization.from_lambda(lam)
        soft = SVC(C=C, kernel="linear", bias="none", tol=1e-10).fit(X, y)
        assert hard.coef_[0, 0] == pytest.approx(1.0 / s)
        assert soft.coef_[0, 0] == pytest.approx(s / (2.0 * lam))
        assert soft.coef_[0, 0] == pytest.approx(hard.coef_[0, 0] / 2.0)


# --- proofs -----------------------------------------------------------------------------------


def test_the_proof_can_be_checked_with_the_data_alone(petals):
    X, species = petals
    X, y = X[species > 0], species[species > 0]
    error = refusal(X, y, kernel="linear")
    proof = error.proof
    positive, negative = proof.weights[proof.signs > 0], proof.weights[proof.signs < 0]
    assert (y[proof.positive] == 2).all()
    assert (y[proof.negative] == 1).all()
    np.testing.assert_allclose(positive @ X[proof.positive], negative @ X[proof.negative], atol=1e-8)
    np.testing.assert_allclose(positive @ X[proof.positive], proof.point, atol=1e-8)
    assert positive.sum() == pytest.approx(1.0)
    assert negative.sum() == pytest.approx(1.0)
    assert min(proof.weights) > 0
    assert proof.check()


def test_the_error_says_what_to_do_and_can_be_caught(petals):
    error = refusal(*petals, kernel="linear")
    assert isinstance(error, (MercerError, ValueError))
    assert "no hyperplane separates the classes 2 and 1" in str(error)
    assert "SVC with a finite C allows violations" in str(error)
    named = refusal(petals[0], np.array(["a", "b", "c"])[petals[1]], kernel="linear", multi_class="ovr")
    assert "the class 'b' and the others" in str(named)


def test_the_homogeneous_proof_is_the_origin(toy):
    proof = refusal(*toy, kernel="linear", bias="none").proof
    np.testing.assert_array_equal(proof.indices, [0])  # (0, 0) is on every hyperplane through the origin
    assert proof.check()
    X, y = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), [1, -1, 1]
    error = refusal(X, y, kernel="linear", bias="none")
    assert "no hyperplane through the origin" in str(error)
    np.testing.assert_allclose((error.proof.weights * error.proof.signs) @ X[error.proof.indices], 0.0, atol=1e-15)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", QUADRATIC, SecondOrder(), lambda A, B: np.exp(A @ B.T)])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_contradictory_rows_are_proof_for_any_kernel(kernel, bias, rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[7], y[7] = X[3], -y[3]
    if kernel == "rbf":
        proof = refusal(X, y, kernel=kernel, bias=bias).proof
        np.testing.assert_array_equal(np.sort(proof.indices), [3, 7])
        assert proof.distance == 0.0
    else:
        assert refusal(X, y, kernel=kernel, bias=bias).proof.check()


def test_a_common_point_in_the_feature_space(rng):
    X = rng.normal(size=(300, 2))
    y = np.where(rng.normal(size=300) > 0, 1, 0)
    proof = refusal(X, y, kernel=QUADRATIC).proof
    assert proof.distance <= 1e-12
    assert len(proof.indices) <= 7  # six coordinates, of which one is constant
    psi = QUADRATIC.feature_map(X)
    np.testing.assert_allclose((proof.weights * proof.signs) @ psi[proof.indices], 0.0, atol=1e-12)


def test_a_precomputed_matrix_has_its_proof_too(rng):
    X = rng.normal(size=(200, 3))
    y = np.where(rng.normal(size=200) > 0, 1, 0)
    proof = refusal(X @ X.T, y, kernel="precomputed").proof
    assert proof.check()
    assert proof.features is None
    np.testing.assert_allclose((proof.weights * proof.signs) @ X[proof.indices], 0.0, atol=1e-7)


def test_an_error_leaves_the_model_as_it_was(toy):
    model = HardMarginSVC(kernel="linear").fit(*toy)
    with pytest.raises(NotSeparableError):
        model.fit(XOR, LABELS)
    np.testing.assert_allclose(model.coef_, [[1.0, -1.0]])
    assert model.predict(toy[0]).tolist() == [-1, -1, 1, 1]


# --- kernels, items, precision ----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", QUADRATIC, RBF(0.3) + Linear()])
def test_certificates_are_recomputed_and_tight(kernel):
    X, y = scaled("iris")
    model = HardMarginSVC(kernel=kernel).fit(
        X[50:] if kernel == "rbf" else X[:100], y[50:] if kernel == "rbf" else y[:100]
    )
    assert model.certificate_.kkt_violation <= 1e-6
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.primal == pytest.approx(0.5 / model.margin_**2, rel=1e-6)


def test_it_is_the_limit_of_the_soft_margin():
    X, y = scaled("cancer")
    hard = HardMarginSVC(kernel=RBF(0.1)).fit(X, y)
    soft = SVC(C=np.inf, kernel=RBF(0.1), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(hard.decision_function(X), soft.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(hard.support_, soft.support_)


def test_unscaled_features_with_a_margin_of_one_part_in_a_hundred_million():
    """Breast cancer as it comes is separable, by 4e-5 beside numbers of 4000."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    model = HardMarginSVC(kernel="linear").fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.score(X, y) == 1.0
    signs = np.where(y == 1, 1.0, -1.0)
    assert (signs * (X @ model.coef_[0] + model.intercept_[0])).min() == pytest.approx(1.0, abs=1e-6)
    assert model.certificate_.kkt_violation <= 1e-6
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_more_features_than_coordinates_are_kept_of(layout, bias, rng):
    """Beyond 512 columns inner products take the place of coordinates; the answer is the same."""
    X = rng.normal(size=(60, 700))
    y = np.where(np.arange(60) % 2, 1, -1)
    model = HardMarginSVC(kernel="linear", bias=bias).fit(layout(X), y)
    w = np.asarray(model.coef_.todense() if sparse.issparse(model.coef_) else model.coef_).ravel()
    values = y * (X @ w + model.intercept_[0])
    np.testing.assert_allclose(values[model.support_], 1.0, atol=1e-9)
    assert values.min() >= 1.0 - 1e-9
    Q = X @ X.T + (1.0 if bias == "penalized" else 0.0)
    few = HardMarginSVC(kernel="precomputed", bias="free" if bias == "free" else "none").fit(Q, y)
    # In the space with the further feature the normal is (w, b); a distance is measured without it.
    lifted = model.intercept_[0] if bias == "penalized" else 0.0
    assert np.hypot(1.0 / model.margin_, lifted) == pytest.approx(1.0 / few.margin_, rel=1e-9)
    assert model.certificate_.kkt_violation <= 1e-8


def test_the_boundary_can_be_drawn(toy):
    display = DecisionBoundaryDisplay.from_estimator(HardMarginSVC(kernel="linear").fit(*toy), *toy)
    assert display.free.all()
    plt.close("all")


WORDS = ["cat", "cart", "card", "care", "dog", "dodo", "good", "goods"]
ANIMALS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


def shared_letters(s, t):
    return float(len(set(s) & set(t)))


def test_items_that_are_not_vectors():
    model = HardMarginSVC(kernel=Custom(shared_letters, pairwise=True)).fit(WORDS, ANIMALS)
    assert model.predict(["carts", "dogs"]).tolist() == [0, 1]
    assert model.certificate_.kkt_violation <= 1e-10
    error = refusal([*WORDS, "cat"], [*ANIMALS, 1], kernel=Custom(shared_letters, pairwise=True))
    assert error.proof.check()


def test_strings_for_labels_frames_and_several_classes():
    X, y = scaled("iris")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = HardMarginSVC().fit(pd.DataFrame(X, columns=list("abcd")), names)
    assert model.margin_.shape == (3,)
    assert model.normalized_intercept_.shape == (3,)
    assert model.score(pd.DataFrame(X, columns=list("abcd")), names) == 1.0
    with pytest.raises(AttributeError, match="only available when using a linear kernel"):
        model.normalized_coef_  # noqa: B018 - asking for it is the test


def test_rows_of_weight_zero_take_no_part(toy):
    X, y = toy
    X, y = np.vstack([X, X[2]]), np.append(y, -1)
    refusal(X, y, kernel="linear")
    model = HardMarginSVC(kernel="linear").fit(X, y, sample_weight=[1.0, 0.2, 3.0, 1.0, 0.0])
    np.testing.assert_allclose(model.coef_, [[1.0, -1.0]])


def test_a_model_travels_without_its_data(toy):
    model = pickle.loads(pickle.dumps(HardMarginSVC(kernel="linear").fit(*toy)))  # noqa: S301 - our own bytes
    assert model.certificate_.primal == pytest.approx(1.0)
    assert model.margin_ == pytest.approx(np.sqrt(0.5))


def test_the_same_bits_every_time():
    X, y = scaled("cancer")
    first, second = (HardMarginSVC(kernel=RBF(0.1), n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


# --- limits and faults ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", RBF(1.0)])
@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"max_iter": 2}, Status.ITERATION_LIMIT),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT),
        ({"callbacks": [lambda point: point.iterations == 2]}, Status.INTERRUPTED),
    ],
)
def test_limits_leave_a_model(kernel, parameters, status, rng):
    X = rng.normal(size=(700, 20))
    y = np.where(X[:, 0] > 0, 1, 0)
    X[:, 0] += 0.01 * np.where(y == 1, 1, -1)
    with pytest.warns(ConvergenceWarning, match=status.name):
        model = HardMarginSVC(kernel=kernel, **parameters).fit(X, y)
    assert model.status_ is status
    assert model.predict(X).shape == (700,)
    assert model.certificate_.gap > 0


def test_ctrl_c_keeps_the_best_so_far(rng):
    X = rng.normal(size=(3000, 3))
    y = np.where(X[:, 0] + np.sin(3 * X[:, 1]) > 0, 1, 0)
    HardMarginSVC(kernel=RBF(0.5)).fit(X[:200], y[:200])  # compiled before
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"), CtrlC(0.3) as key:
        model = HardMarginSVC(kernel=RBF(0.05)).fit(X, y)
    assert key.waited < 1.2
    assert model.status_ is Status.INTERRUPTED
    assert model.score(X, y) > 0.5


REFUSED = {
    "kernel": ({"kernel": "rbff"}, ParameterError, "did you mean 'rbf'"),
    "bias": ({"bias": "some"}, ParameterError, "bias must be one of 'free', 'penalized', 'none', got 'some'"),
    "tol": ({"tol": 0.0}, ParameterError, "tol must be a finite number above 0, got 0.0"),
    "max_iter": ({"max_iter": 0}, ParameterError, "max_iter must be -1"),
    "time_limit": ({"time_limit": -1.0}, ParameterError, "time_limit must be a finite number above 0"),
    "gamma": ({"gamma": -1.0}, ParameterError, "gamma must be positive, got -1.0"),
}


@pytest.mark.parametrize(("parameters", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_parameters_are_refused_by_name(parameters, kind, message, toy):
    with pytest.raises(kind, match=message):
        HardMarginSVC(**parameters).fit(*toy)


BAD_ROWS = {
    "NaN": (np.array([[np.nan], [1.0]]), ValueError, "contains NaN"),
    "infinity": (np.array([[np.inf], [1.0]]), ValueError, "contains infinity"),
    "1e200, linear": (np.array([[1e200], [1.0]]), DataError, "kernel values overflow on X"),
    "complex": (np.array([[1j], [1.0]]), ValueError, "Complex data not supported"),
    "no rows": (np.empty((0, 2)), ValueError, "0 sample"),
    "no features": (np.empty((2, 0)), ValueError, "0 feature"),
}


@pytest.mark.parametrize(("X", "kind", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_cannot_be_used(X, kind, message):
    with pytest.raises(kind, match=message):
        HardMarginSVC(kernel="linear").fit(X, np.arange(len(X)))


def test_one_class_is_an_error(toy):
    with pytest.raises(DataError, match="number of classes has to be greater than one"):
        HardMarginSVC().fit(toy[0], np.ones(4))
    with pytest.raises(NotFittedError):
        HardMarginSVC().margin_  # noqa: B018 - asking for it is the test


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_rows_that_say_nothing_meet(kernel):
    assert refusal(np.zeros((6, 3)), np.arange(6) % 2, kernel=kernel, gamma=1.0).proof.check()


def test_margins_too_small_for_numbers_say_so():
    with pytest.raises((DataError, NotSeparableError)):
        HardMarginSVC(kernel="linear").fit([[1e-310], [0.0]], [0, 1])


@pytest.mark.parametrize("coef0", [-1.0, 1.0])
@pytest.mark.parametrize("n", [40, 700])
def test_an_indefinite_kernel_is_refused_with_a_witness(n, coef0, rng):
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, 1, 0)
    kernel = Sigmoid(gamma=1.0, coef0=coef0)
    with pytest.raises(NotPositiveSemidefiniteError, match="no feature space") as caught:
        HardMarginSVC(kernel=kernel).fit(X, y)
    witness = caught.value.witness
    assert witness @ kernel(X) @ witness < -1e-6


def test_two_points_are_enough():
    model = HardMarginSVC(kernel="linear").fit([[0.0], [1.0]], ["no", "yes"])
    assert model.coef_ == pytest.approx(2.0)
    assert model.intercept_ == pytest.approx(-1.0)
    assert model.margin_ == pytest.approx(0.5)


def test_where_nothing_separates_a_warning_can_take_the_place_of_the_error():
    """The proof is kept, what can be separated is, and the rest is the soft margin of a large C."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.2, 0.1], [5.0, 5.0], [6.0, 5.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    with pytest.raises(NotSeparableError):
        HardMarginSVC(kernel="linear").fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match=r"no hyperplane separates the classes 'b' and 'a'.*see proofs_; a soft"
    ):
        model = HardMarginSVC(kernel="linear", on_not_separable="warn").fit(X, y)
    assert model.status_ is Status.STALLED
    overlap, *others = model.proofs_
    assert overlap.check()
    assert overlap.distance <= 1e-8
    assert others == [None, None]
    assert model.margin_[0] == 0.0
    assert (model.margin_[1:] > 0.0).all()
    assert [each.is_optimal(1e-6) for each in model.certificate_] == [False, True, True]
    pair = y != "c"
    C = 1000.0 / np.mean(np.sum(X[pair] ** 2, axis=1))
    soft = SVC(kernel="linear", C=C, tol=1e-6).fit(X[pair], y[pair])
    np.testing.assert_allclose(model.coef_[0], -soft.coef_[0], atol=1e-3)


def test_what_can_be_separated_is_the_same_with_and_without_the_warning(rng):
    X = rng.normal(size=(30, 2))
    y = X[:, 0] > 0
    strict, forgiving = (HardMarginSVC(on_not_separable=each).fit(X, y) for each in ("raise", "warn"))
    np.testing.assert_array_equal(strict.decision_function(X), forgiving.decision_function(X))
    assert forgiving.proofs_ == [None]
    assert forgiving.status_ is Status.OPTIMAL


def test_what_to_do_where_nothing_separates_must_be_known():
    with pytest.raises(ParameterError, match="on_not_separable must be one of 'raise', 'warn', got 'ignore'"):
        HardMarginSVC(on_not_separable="ignore").fit([[0.0], [1.0]], [0, 1])


def test_a_model_file_holds_the_proof(tmp_path):
    with pytest.warns(ConvergenceWarning, match="no hyperplane"):
        model = HardMarginSVC(kernel="linear", on_not_separable="warn").fit([[0.0], [1.0], [0.5]], [0, 0, 1])
    mercer.save(model, tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert again.proofs_[0].check()
    np.testing.assert_array_equal(again.proofs_[0].weights, model.proofs_[0].weights)


# --- a penalised bias is no part of a distance --------------------------------------------------


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("kernel", ["linear", QUADRATIC, "rbf"])
def test_the_margin_is_the_distance_of_the_nearest_point(kernel, bias, layout, rng):
    X = rng.normal(size=(30, 2)) + 3.0
    y = np.where(X[:, 0] > 3.0, 1, -1)
    X[:, 0] += 0.5 * y
    if bias == "none" and kernel == "linear":
        X = X - [3.0, 0.0]
    model = HardMarginSVC(kernel=kernel, gamma=0.5, bias=bias).fit(layout(X), y)
    beta = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    norm = float(np.sqrt(beta[0] @ model.expansion_.kernel(X[model.support_]) @ beta[0]))
    nearest = (y * model.decision_function(layout(X))).min() / norm
    assert model.margin_ == pytest.approx(nearest, rel=1e-5)
    assert model.normalized_intercept_ == pytest.approx(model.intercept_ / norm, rel=1e-5, abs=1e-9)
    if kernel == "linear":
        assert np.linalg.norm(model.normalized_coef_) == pytest.approx(1.0, rel=1e-9)


# --- what double precision cannot tell ----------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", Matern(nu=2.5)])
def test_rows_that_double_precision_cannot_tell_apart_are_no_proof(kernel):
    """Every Gaussian separates rows that differ; 1e-8 apart they have the same kernel values."""
    X = np.array([[0.0, 0.0], [1e-8, 0.0], [3.0, 0.0], [5.0, 1.0]])
    error = refusal(X, [0, 1, 0, 1], kernel=kernel, gamma=1.0)
    assert "rows 1 and 0 have different labels and cannot be told apart" in str(error)
    assert "in double precision" in str(error)
    assert "point in common" not in str(error)
    assert not error.proof.is_exact
    assert " ~ " in str(error.proof)


def test_neighbouring_numbers_are_told_apart_by_exact_arithmetic_only():
    error = refusal([[1.0], [np.nextafter(1.0, 2.0)], [0.0], [3.0]], [0, 1, 0, 1], kernel="linear")
    assert "rows 1 and 0 have different labels and cannot be told apart" in str(error)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_equal_rows_with_different_labels_are_a_proof(kernel):
    error = refusal([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0], [5.0, 1.0]], [0, 1, 0, 1], kernel=kernel, gamma=1.0)
    assert "point in common" in str(error)
    assert error.proof.is_exact


def test_hulls_that_kernel_values_show_to_meet_meet_as_far_as_those_can_tell(rng):
    X = rng.normal(size=(300, 40))
    error = refusal(X, rng.integers(0, 2, 300), kernel=lambda A, B: A @ B.T)
    assert "as far as double precision can tell: their convex hulls are" in str(error)
    assert not error.proof.is_exact


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_equal_rows_of_a_given_matrix_with_different_labels_are_a_proof(bias):
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[4] = X[1]
    with pytest.raises(NotSeparableError) as told:
        HardMarginSVC(kernel="precomputed", bias=bias).fit(np.exp(-cdist(X, X)), [0, 0, 0, 1, 1, 1])
    assert sorted(told.value.proof.indices) == [1, 4]
    assert told.value.proof.is_exact


@pytest.mark.parametrize("kernel", [Linear(), RBF(1.0)])
def test_rows_of_a_table_that_contradict_each_other_are_the_proof(kernel):
    table = pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm", "Ulm", "Bonn"], "size": [1.0, 2.0, 3.0, 3.0, None]})
    with pytest.raises(NotSeparableError) as told:
        HardMarginSVC(kernel=Encoded({"town": "category", "size": "number"}, kernel)).fit(table, [0, 0, 0, 1, 1])
    assert told.value.proof.twins == (3, 2)
    assert told.value.proof.is_exact
    assert told.value.proof.check()
