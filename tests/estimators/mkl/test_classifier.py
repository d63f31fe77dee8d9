"""Machines over several kernels: what they learn, from what data, and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from mercer import SVC, SVR, MKLClassifier, MKLOneClassSVM, MKLRegressor, OneClassSVM, load, save
from mercer._errors import DataError, NotPositiveSemidefiniteError, ParameterError
from mercer.kernels import RBF, Custom, Linear, On, Polynomial, Precomputed, Sigmoid, Spectrum
from mercer.problems.mkl.weighted_kernels import WeightedCertificate, WeightSet
from tests.estimators.datasets import scaled, two_classes

METHODS = ("cv", "alignment", "centered_alignment", "average", "simple", "easy", "lp-norm")
KERNELS = [Linear(), RBF(gamma=0.02), RBF(gamma=0.1), RBF(gamma=1.0)]
EXACT = {"gap_tol": 1e-9, "tol": 1e-9}


def kinds():
    X, y = two_classes("wine")
    target = X[:, 0] * 2.0 + X[:, 1] ** 2
    return {
        "classify": (MKLClassifier, SVC, {"C": 2.0}, X, y),
        "regress": (MKLRegressor, SVR, {"C": 2.0, "epsilon": 0.2}, X, target),
        "one class": (MKLOneClassSVM, OneClassSVM, {"nu": 0.2}, X, None),
    }


def values(model, X):
    return model.predict(X) if isinstance(model, MKLRegressor | SVR) else model.decision_function(X)


# --- laws -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("method", ["simple", "lp-norm", "average"])
def test_one_kernel_is_the_machine_itself(kind, method):
    weighted, plain, parameters, X, y = kinds()[kind]
    model = weighted([RBF(gamma=0.1)], method=method, normalize=None, **parameters).fit(X, y)
    machine = plain(kernel=RBF(gamma=0.1), **parameters).fit(X, y)
    np.testing.assert_array_equal(model.weights_, [1.0])
    np.testing.assert_allclose(values(model, X), values(machine, X), atol=1e-6)
    assert model.certificate_.primal == pytest.approx(machine.certificate_.primal)


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("method", ["simple", "lp-norm"])
def test_the_model_is_the_machine_with_the_weighted_kernel(kind, method):
    weighted, plain, parameters, X, y = kinds()[kind]
    model = weighted(KERNELS, method=method, **EXACT, **parameters).fit(X, y)
    machine = plain(kernel=model.kernel_, tol=1e-9, **parameters).fit(X, y)
    np.testing.assert_allclose(values(model, X), values(machine, X), atol=1e-5)
    expected = sum(w / s * k(X) for w, s, k in zip(model.weights_, model.scales_, KERNELS, strict=True))
    np.testing.assert_allclose(model.kernel_(X), expected, atol=1e-9)


@pytest.mark.parametrize("method", ["simple", "lp-norm", "easy", "alignment", "centered_alignment", "average"])
def test_order_of_kernels_and_rows_does_not_matter(method):
    X, y = two_classes("wine")
    first = MKLClassifier(KERNELS, method=method, **EXACT).fit(X, y)
    order, rows = [2, 0, 3, 1], np.random.default_rng(0).permutation(len(y))
    other = MKLClassifier([KERNELS[m] for m in order], method=method, **EXACT).fit(X[rows], y[rows])
    np.testing.assert_allclose(other.weights_, first.weights_[order], atol=1e-5)
    np.testing.assert_allclose(other.decision_function(X), first.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("method", ["simple", "lp-norm", "easy", "centered_alignment"])
def test_a_kernel_given_twice_shares_its_weight(method):
    X, y = two_classes("wine")
    model = MKLClassifier([*KERNELS, KERNELS[1]], method=method, **EXACT).fit(X, y)
    assert model.weights_[1] == pytest.approx(model.weights_[4], abs=1e-4)
    if method in ("simple", "centered_alignment"):
        # There the twin brings nothing: the kernel of the fit is the same.
        alone = MKLClassifier(KERNELS, method=method, **EXACT).fit(X, y)
        assert alone.weights_[1] == pytest.approx(2.0 * model.weights_[1], abs=1e-3)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_two_is_two_rows(method):
    X, y = two_classes("wine")
    counts = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = MKLClassifier(KERNELS, method=method, cv=3, **EXACT).fit(X, y, sample_weight=counts)
    repeated = MKLClassifier(KERNELS, method=method, cv=3, **EXACT).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


def test_scales_of_kernels_do_not_matter_where_they_are_normalised():
    X, y = two_classes("wine")
    first = MKLClassifier(KERNELS, **EXACT).fit(X, y)
    factors = [1e-12, 1e9, 1.0, 1e6]
    other = MKLClassifier([f * k for f, k in zip(factors, KERNELS, strict=True)], **EXACT).fit(X, y)
    np.testing.assert_allclose(other.weights_, first.weights_, atol=1e-6)
    np.testing.assert_allclose(other.scales_, first.scales_ * factors, rtol=1e-9)
    # Without, the largest has it all: its machine costs least.
    loose = MKLClassifier([1e9 * KERNELS[1], KERNELS[2]], normalize=None, C=0.1).fit(X, y)
    assert loose.weights_.argmax() == 0


def test_p_near_one_is_sparse_and_a_large_p_is_even():
    X, y = two_classes("wine")
    simple = MKLClassifier(KERNELS, **EXACT).fit(X, y)
    nearly = MKLClassifier(KERNELS, method="lp-norm", p=1.02, gap_tol=1e-6).fit(X, y)
    np.testing.assert_allclose(nearly.weights_, simple.weights_, atol=0.15)
    even = MKLClassifier(KERNELS, method="lp-norm", p=200.0, gap_tol=1e-6).fit(X, y)
    np.testing.assert_allclose(even.weights_, 1.0, atol=0.05)
    same = MKLClassifier(KERNELS, method="lp-norm", p=1.0, **EXACT).fit(X, y)
    np.testing.assert_array_equal(same.weights_, simple.weights_)


def test_useless_kernels_get_nothing(rng):
    X, y = two_classes("cancer")
    X = np.hstack([X[:200, :3], rng.normal(size=(200, 3))])
    y = y[:200]
    kernels = [On([0, 1, 2], RBF(gamma=0.3)), *(On([k], RBF(gamma=0.3)) for k in (3, 4, 5))]
    for method in ("simple", "centered_alignment", "cv"):
        model = MKLClassifier(kernels, method=method).fit(X, y)
        assert model.weights_[0] > 0.7, method


# --- certificate ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("p", [1.0, 1.7])
def test_the_certificate_is_what_matrices_say(kind, p):
    """Everything once more from whole matrices, with nothing of the solver."""
    weighted, _, parameters, X, y = kinds()[kind]
    model = weighted(KERNELS, method="lp-norm", p=p, gap_tol=1e-4, **parameters).fit(X, y)
    grams = [k(X) / s for k, s in zip(KERNELS, model.scales_, strict=True)]
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    q = np.array([beta @ K @ beta for K in grams])
    w = model.weights_ @ q
    f = sum(mu * K @ beta for mu, K in zip(model.weights_, grams, strict=True)) + model.intercept_[0]
    norm = q.max() if p == 1.0 else np.linalg.norm(q, p / (p - 1.0))
    if kind == "classify":
        signs = np.where(y == model.classes_[1], 1.0, -1.0)
        primal, dual = 0.5 * w + 2.0 * np.maximum(0.0, 1.0 - signs * f).sum(), signs @ beta - 0.5 * norm
    elif kind == "regress":
        primal = 0.5 * w + 2.0 * np.maximum(0.0, np.abs(y - f) - 0.2).sum()
        dual = y @ beta - 0.2 * np.abs(beta).sum() - 0.5 * norm
    else:
        rho = model.offset_[0]
        primal = 0.5 * w - 0.2 * len(X) * rho + np.maximum(0.0, rho - (f + rho)).sum()
        dual = -0.5 * norm
    certificate = model.certificate_
    assert isinstance(certificate, WeightedCertificate)
    assert certificate.primal == pytest.approx(primal)
    assert certificate.dual == pytest.approx(dual)
    assert certificate.relative_gap <= 1e-4
    assert certificate.weights_violation <= 1e-12
    assert certificate.weights_gap == pytest.approx(0.5 * (norm - w), abs=1e-9)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("method", ["simple", "lp-norm"])
def test_classes_share_weights_and_one_certificate(method, multi_class):
    X, y = scaled("iris")
    model = MKLClassifier(KERNELS, method=method, multi_class=multi_class, C=3.0).fit(X, y)
    machine = SVC(kernel=model.kernel_, C=3.0, multi_class=multi_class).fit(X, y)
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(sum(each.primal for each in machine.certificate_), rel=1e-3)
    assert certificate.relative_gap <= 1e-3
    assert model.decision_function(X).shape == (150, 3)
    assert (model.predict(X) == machine.predict(X)).mean() > 0.99
    # No other weights are better by more than the gap.
    allowed = WeightSet(1.0 if method == "simple" else 2.0)
    grams = [k(X) / s for k, s in zip(KERNELS, model.scales_, strict=True)]
    rng = np.random.default_rng(0)
    for _ in range(5):
        mu = allowed.normalised(rng.exponential(size=4))
        K = sum(w * G for w, G in zip(mu, grams, strict=True))
        other = SVC(kernel="precomputed", C=3.0, multi_class=multi_class).fit(K, y)
        assert sum(each.primal for each in other.certificate_) >= certificate.dual - 1e-6


def test_fixed_weights_have_the_gap_of_their_machines():
    X, y = two_classes("wine")
    model = MKLClassifier(KERNELS, method="average").fit(X, y)
    machine = SVC(kernel=model.kernel_).fit(X, y)
    assert model.certificate_.weights_gap == 0.0
    assert model.certificate_.gap == pytest.approx(machine.certificate_.gap, abs=1e-9)


# --- data of all kinds ----------------------------------------------------------------------


def test_dense_sparse_and_single_precision_agree():
    X, y = two_classes("wine")
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = MKLClassifier(KERNELS, **EXACT).fit(X, y)
    for other in (sparse.csr_matrix(X), sparse.csr_array(X)):
        found = MKLClassifier(KERNELS, **EXACT).fit(other, y)
        np.testing.assert_allclose(found.weights_, model.weights_, atol=1e-6)
        np.testing.assert_allclose(found.decision_function(other), model.decision_function(X), atol=1e-6)
    single = MKLClassifier(KERNELS).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.weights_, model.weights_, atol=2e-2)


@pytest.mark.parametrize("kind", kinds())
def test_matrices_given_as_list_or_array(kind):
    weighted, _, parameters, X, y = kinds()[kind]
    model = weighted(KERNELS, **EXACT, **parameters).fit(X[:80], None if y is None else y[:80])
    train, test = [k(X[:80]) for k in KERNELS], [k(X[80:], X[:80]) for k in KERNELS]
    for kernels, pack in (("precomputed", list), ("precomputed", np.array), ([Precomputed()] * 4, list)):
        given = weighted(kernels, **EXACT, **parameters).fit(pack(train), None if y is None else y[:80])
        np.testing.assert_allclose(given.weights_, model.weights_, atol=1e-6)
        np.testing.assert_allclose(values(given, pack(test)), values(model, X[80:]), atol=1e-6)
        assert given.certificate_.primal == pytest.approx(model.certificate_.primal)
    assert given.kernel_names_ == ["X[0]", "X[1]", "X[2]", "X[3]"]
    assert given.kernel_(train).shape == (80, 80)


def test_functions_and_names_among_the_kernels():
    X, y = two_classes("wine")

    def gaussian(A, B):
        return np.exp(-0.1 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    model = MKLClassifier(["linear", gaussian, Custom(gaussian)], **EXACT).fit(X, y)
    other = MKLClassifier([Linear(), RBF(gamma=0.1)], **EXACT).fit(X, y)
    assert model.weights_[1:].sum() == pytest.approx(other.weights_[1], abs=1e-3)


def test_texts():
    words = ["abab", "abba", "aabb", "baba", "abaab"]
    texts = [a + b for a in words for b in words] + [a + "x" + b for a in words for b in words]
    y = ["plain"] * 25 + ["crossed"] * 25
    kernels = [Spectrum(1).normalized(), Spectrum(2).normalized(), Spectrum(3).normalized()]
    model = MKLClassifier(kernels, C=10.0).fit(texts, y)
    assert model.score(texts, y) == 1.0
    assert model.predict(["ababxabab"]).tolist() == ["crossed"]
    assert model.certificate_.relative_gap <= 1e-3


def test_columns_of_a_table():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=120),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 120),
            "noise": rng.normal(size=120),
            "day": pd.date_range("2024-01-01", periods=120),
        }
    )
    table.loc[3, "size"] = np.nan
    y = np.where(np.nan_to_num(table["size"]) + 1.5 * (table["town"] == "Ulm") > 0.5, "yes", "no")
    model = MKLClassifier("columns", C=10.0).fit(table, y)
    weights = dict(zip(model.kernel_names_, model.weights_, strict=True))
    assert list(weights) == ["size", "town", "noise", "day"]
    assert min(weights["size"], weights["town"]) > 2.0 * max(weights["noise"], weights["day"])
    assert model.score(table, y) > 0.9
    assert model.feature_names_in_.tolist() == list(table)
    names = [name for name, _ in model.kernel_.terms()]
    assert {"size", "town"} <= set(names)


def test_rows_beyond_the_memory_are_summed_on_the_fly(monkeypatch):
    """Weighted sums from tiles, without a single whole base matrix, give the same weights."""
    X, y = scaled("digits")
    X, y = X[:420], y[:420] % 2
    whole = MKLClassifier(KERNELS, gap_tol=1e-4, C=1.0).fit(X, y)
    from mercer.kernels.gram.kernel_family import SeveralKernels

    def refuse(self, stop=None):
        raise AssertionError("no matrix may be kept")

    monkeypatch.setattr(SeveralKernels, "keep", refuse)
    for method, atol in (("simple", 2e-3), ("centered_alignment", 1e-6), ("easy", 1e-3), ("lp-norm", 2e-2)):
        kept = whole if method == "simple" else None
        tight = MKLClassifier(KERNELS, method=method, gap_tol=1e-4, memory_limit="20MB").fit(X, y)
        assert tight.status_.name == "OPTIMAL"
        if kept is None:
            monkeypatch.undo()
            kept = MKLClassifier(KERNELS, method=method, gap_tol=1e-4).fit(X, y)
            monkeypatch.setattr(SeveralKernels, "keep", refuse)
        np.testing.assert_allclose(tight.weights_, kept.weights_, atol=atol)


# --- as an estimator ------------------------------------------------------------------------


def test_grid_search_clone_and_pickle():
    X, y = two_classes("wine")
    search = GridSearchCV(MKLClassifier([Linear(), RBF(gamma=0.1)]), {"C": [0.1, 1.0], "method": ["simple", "easy"]})
    search.fit(X, y)
    model = search.best_estimator_
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - of our own
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certificate_.primal == model.certificate_.primal
    assert clone(model).kernels == model.kernels
    assert cross_val_score(MKLClassifier("columns"), X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("is_given", [False, True])
def test_a_model_file_holds_weights_and_certificate(kind, is_given, tmp_path):
    weighted, _, parameters, X, y = kinds()[kind]
    data = [k(X) for k in KERNELS] if is_given else X
    model = weighted("precomputed" if is_given else KERNELS, **parameters).fit(data, y)
    save(model, tmp_path / "weights.mercer")
    again = load(tmp_path / "weights.mercer")
    np.testing.assert_array_equal(values(again, data), values(model, data))
    np.testing.assert_array_equal(again.weights_, model.weights_)
    assert again.certificate_ == model.certificate_
    assert again.trace_[-1].violation == model.trace_[-1].violation


def test_cross_validated_weights_take_any_splitter_and_are_the_best_tried():
    X, y = two_classes("wine")
    for cv in (3, StratifiedKFold(3, shuffle=True, random_state=1)):
        model = MKLClassifier(KERNELS, method="cv", cv=cv).fit(X, y)
        assert model.weights_.sum() == pytest.approx(1.0)
    again = MKLClassifier(KERNELS, method="cv", cv=3, random_state=0).fit(X, y)
    same = MKLClassifier(KERNELS, method="cv", cv=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.weights_, same.weights_)
    target = np.sin(2.0 * X[:, 0])
    kernels = [On([column], RBF(gamma=0.5)) for column in (1, 0, 2)]
    regressor = MKLRegressor(kernels, method="cv", C=10.0).fit(X, target)
    assert regressor.weights_[1] > 0.7


def test_the_same_bits_every_time():
    X, y = scaled("digits")
    first = MKLClassifier(KERNELS).fit(X[:500], y[:500])
    other = MKLClassifier(KERNELS).fit(X[:500], y[:500])
    np.testing.assert_array_equal(first.weights_, other.weights_)
    np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)


# --- bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernels": RBF()}, "kernels must be a list of kernels, 'columns', 'precomputed' or None"),
        ({"kernels": []}, "kernels must be a list"),
        ({"kernels": "rbf"}, "kernels must be a list"),
        ({"kernels": [RBF(), "rbff"]}, r"kernels\[1\]: .*no kernel is called 'rbff'; did you mean 'rbf'"),
        ({"kernels": [RBF(), Precomputed()]}, "must all be precomputed, or none of them"),
        ({"method": "best"}, "method must be one of 'cv', 'alignment'"),
        ({"p": 0.5}, "p must be a finite number, 1 or more, got 0.5"),
        ({"lam": 1.0}, "lam must be a finite number above 0 and below 1, got 1.0"),
        ({"normalize": "unit"}, "normalize must be one of 'variance', 'trace', got 'unit'"),
        ({"gap_tol": 0.0}, "gap_tol must be a finite number above 0, got 0.0"),
        ({"gap_tol": None}, "gap_tol must be a finite number above 0, got None"),
        ({"C": -1.0}, "C must be a positive number, got -1.0"),
        ({"cv": 1}, "cv must be a whole number, 2 or more, got 1"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = two_classes("wine")
    with pytest.raises(ParameterError, match=message):
        MKLClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("model", [MKLRegressor(method="easy"), MKLOneClassSVM(method="alignment")])
def test_methods_that_need_classes_are_refused_elsewhere(model):
    with pytest.raises(ParameterError, match="method must be one of"):
        model.fit(np.eye(3), np.arange(3.0))


def test_kernels_that_do_not_accept_the_data():
    X, y = two_classes("wine")
    with pytest.raises(DataError, match=r"kernels\[1\] = Spectrum.* does not accept X"):
        MKLClassifier([RBF(), Spectrum(2)]).fit(X, y)
    with pytest.raises(DataError, match=r"kernels\[0\] = On\('age'.* does not accept X: X has no column 'age'"):
        MKLClassifier([On("age", RBF()), On(1, RBF())]).fit(X, y)
    with pytest.raises(ValueError, match="which is not a number"):
        MKLClassifier([RBF(), Linear()]).fit([["a"], ["b"]], [0, 1])


@pytest.mark.parametrize("kernels", [[Spectrum(2), Linear()], [Linear(), Spectrum(2), RBF(1.0)]])
def test_texts_for_a_kernel_of_numbers(kernels):
    texts, place = ["ab", "abb", "ba", "bba"] * 5, kernels.index(Linear())
    with pytest.raises(DataError, match=rf"kernels\[{place}\] = Linear\(\) does not accept X"):
        MKLClassifier(kernels).fit(texts, [0, 0, 1, 1] * 5)
    with pytest.raises(DataError, match=r"kernels\[\d\] = Spectrum.* does not accept X"):
        MKLClassifier(kernels).fit(np.arange(20.0)[:, None], [0, 0, 1, 1] * 5)


def test_more_folds_than_rows():
    X, y = two_classes("iris")
    with pytest.raises(DataError, match=r"cv=500 folds need at least as many rows, got n_samples = \d+; lower cv"):
        MKLClassifier(method="cv", cv=500).fit(X[:100], y[:100])


def test_an_indefinite_kernel_is_refused_with_a_proof():
    X, y = two_classes("wine")
    with pytest.raises(NotPositiveSemidefiniteError, match=r"kernels\[1\] must be positive semidefinite") as caught:
        MKLClassifier([RBF(), Sigmoid(gamma=1.0, coef0=-1.0)]).fit(X, y)
    v = caught.value.witness
    assert v @ Sigmoid(gamma=1.0, coef0=-1.0)(X) @ v < 0
    flipped = [RBF()(X), -Linear()(X)]
    with pytest.raises(NotPositiveSemidefiniteError, match=r"kernels\[1\]"):
        MKLClassifier("precomputed").fit(flipped, y)
    # A function that is valid, though nobody knows it, is taken.
    assert MKLClassifier([RBF(), lambda A, B: A @ B.T]).fit(X, y).status_.name == "OPTIMAL"


def test_matrices_that_do_not_fit():
    X, y = two_classes("wine")
    K = RBF()(X)
    skewed = K.copy()
    skewed[2, 7] += 1.0
    for given, message in (
        ([K, skewed], "must be symmetric"),
        ([K[:, :5], K[:, :5]], "must be square"),
        ([K, K[:5, :5]], r"X\[1\] must have the shape"),
        (K, "must be a list of kernel matrices"),
    ):
        with pytest.raises(DataError, match=message):
            MKLClassifier("precomputed").fit(given, y)
    with pytest.raises(DataError, match="names 3 precomputed matrices, but X holds 2"):
        MKLClassifier([Precomputed()] * 3).fit([K, K], y)
    model = MKLClassifier("precomputed").fit([K, K], y)
    with pytest.raises(DataError, match=r"X must hold 2 matrices with 119 columns.*got 1 with 119"):
        model.predict([K])
    with pytest.raises(DataError, match="pass K_m"):
        model.predict([K[:, :7], K[:, :7]])


def test_constant_and_zero_kernels():
    X, y = two_classes("wine")
    model = MKLClassifier([RBF(gamma=0.1), Polynomial(degree=1, gamma=1e-300, coef0=1.0), 0.0 * Linear()]).fit(X, y)
    assert model.status_.name == "OPTIMAL"
    assert model.weights_[0] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(model.scales_[1:], 1.0)
    norm = MKLClassifier([RBF(gamma=0.1), 0.0 * Linear()], method="lp-norm").fit(X, y)
    assert norm.weights_[1] == pytest.approx(0.0, abs=1e-6)


def test_values_that_overflow():
    X, y = two_classes("wine")
    with pytest.raises(DataError, match="overflow"):
        MKLClassifier([RBF(), Polynomial(degree=50, gamma=100.0)]).fit(1e3 * X, y)


@pytest.mark.parametrize("method", ["easy", "average"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_given_matrices_in_single_precision_come_to_the_same_machine(rng, method, n_classes):
    X = rng.normal(size=(900, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=900), [0.0, 1.5][: n_classes - 1] or [0.5])
    grams = [RBF(gamma=gamma)(X) for gamma in (0.1, 0.5, 2.0, 8.0, 0.02)]
    coarse = MKLClassifier("precomputed", method=method, normalize=None, C=2.0).fit(grams, y)
    fine = MKLClassifier("precomputed", method=method, normalize=None, C=2.0, tol=1e-8).fit(grams, y)
    assert coarse.certificate_.relative_gap < 1e-3
    assert coarse.certificate_.kkt_violation < 2e-3
    np.testing.assert_allclose(coarse.weights_, fine.weights_, atol=1e-3)
    np.testing.assert_allclose(coarse.decision_function(grams), fine.decision_function(grams), atol=0.02)
