"""PegasosSVC: the book's worked examples, its forms and variants, weights, and what it says of itself."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, DataError, ParameterError, PegasosSVC, Regularization, Status
from mercer.kernels import RBF, Custom, Linear


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def objective(model, X, signs):
    """(15.12), by hand."""
    w, b = model.coef_[0], model.intercept_[0]
    return 0.5 * model.alpha * (w @ w + b * b) + np.maximum(0, 1 - signs * (X @ w + b)).mean()


@pytest.mark.parametrize("bias", ["none", "penalized"])
@pytest.mark.parametrize("projected", [False, True])
def test_the_toy_set_comes_within_the_bound_of_the_soft_svm_optimum(toy, bias, projected):
    X, y = toy
    lam, T = 0.1, 5000
    best = SVC(C=Regularization.from_lambda(lam, half=True), kernel="linear", bias=bias, tol=1e-10).fit(X, y)
    optimum = lam * best.certificate_.primal
    excess = []
    for seed in range(20):
        model = PegasosSVC(alpha=lam, T=T, bias=bias, projected=projected, random_state=seed).fit(X, y)
        excess.append(objective(model, X, y) - optimum)
        certificate = model.certificate_
        assert certificate.primal == pytest.approx(objective(model, X, y))
        assert certificate.dual <= optimum + 1e-9 <= certificate.primal + 2e-9
        assert certificate.gap >= excess[-1] - 1e-9
    assert 0 <= np.mean(excess) <= model.bound_.value
    assert model.bound_.rho == pytest.approx(np.sqrt(9.0 + (bias == "penalized")))
    assert "Theorem 14.11" in model.bound_.theorem


def test_one_seed_makes_one_path_of_which_a_shorter_run_is_the_beginning(cancer):
    X, y = cancer
    seen = []
    PegasosSVC(alpha=0.01, T=30_000, callbacks=[lambda point: seen.append(point.iterations)]).fit(X, y)
    assert seen[-1] == 30_000
    once, again = (PegasosSVC(alpha=0.01, T=1000).fit(X, y) for _ in range(2))
    assert (once.coef_ == again.coef_).all()
    assert (once.coef_ != PegasosSVC(alpha=0.01, T=1000, random_state=1).fit(X, y).coef_).any()


@pytest.mark.parametrize("variant", [{}, {"batch_size": 5}, {"projected": True}, {"average": False}, {"bias": "none"}])
def test_the_kernelised_form_predicts_as_the_linear_one(cancer, variant):
    X, y = cancer
    w = PegasosSVC(alpha=0.01, T=3000, **variant).fit(X, y)
    alpha = PegasosSVC(alpha=0.01, T=3000, form="expansion", **variant).fit(X, y)
    assert alpha.decision_function(X) == pytest.approx(w.decision_function(X), abs=1e-8)
    assert alpha.coef_ == pytest.approx(w.coef_, abs=1e-9)
    assert (alpha.predict(X) == w.predict(X)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_are_one(cancer, dtype):
    X, y = cancer
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(dtype)
    dense = PegasosSVC(alpha=0.01, T=4000).fit(X, y)
    for kind in (sparse.csr_matrix, sparse.csr_array):
        rows = kind(X)
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        found = PegasosSVC(alpha=0.01, T=4000).fit(rows, y)
        assert found.coef_ == pytest.approx(dense.coef_, abs=1e-10)
        assert found.decision_function(rows) == pytest.approx(dense.decision_function(X), abs=1e-5)


def test_the_objective_is_as_good_as_that_of_scikit_learn(cancer):
    X, y = cancer
    signs = np.where(y == 1, 1.0, -1.0)
    ours = PegasosSVC(alpha=0.01, epochs=50, bias="none").fit(X, y)
    theirs = SGDClassifier(alpha=0.01, average=True, max_iter=50, tol=None, fit_intercept=False, random_state=0)
    w = theirs.fit(X, y).coef_[0]
    reached = 0.005 * w @ w + np.maximum(0, 1 - signs * (X @ w)).mean()
    assert objective(ours, X, signs) <= 1.02 * reached


def test_kernels_learn_what_lines_cannot(rng):
    X = rng.normal(size=(200, 2))
    y = np.where((X**2).sum(axis=1) < 1.4, "inside", "outside")
    assert PegasosSVC(alpha=0.01).fit(X, y).score(X, y) < 0.8
    model = PegasosSVC(alpha=0.001, kernel="rbf", gamma=1.0).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.certificate_.gap < 0.01
    assert len(model.support_) == len(model.support_vectors_) == model.dual_coef_.shape[1]
    assert (X[model.support_] == model.support_vectors_).all()
    with pytest.raises(AttributeError, match="linear kernel"):
        model.coef_  # noqa: B018 - asking for it is the test


@pytest.mark.parametrize("strategy", ["merging", "removal"])
def test_a_budget_bounds_support_vectors(rng, strategy):
    X = rng.normal(size=(300, 2))
    y = np.where((X**2).sum(axis=1) < 1.4, 1, 0)
    model = PegasosSVC(alpha=0.003, kernel=RBF(gamma=1.0), budget=25, budget_strategy=strategy).fit(X, y)
    assert len(model.support_vectors_) <= 25
    assert model.score(X, y) > 0.85
    assert model.bound_.value is None
    assert "budget" in model.bound_.reason


def test_a_kernel_function_names_and_a_precomputed_matrix_agree(rng):
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    kernel = RBF(gamma=0.5)
    models = [
        PegasosSVC(alpha=0.01, T=2000, kernel="rbf", gamma=0.5).fit(X, y),
        PegasosSVC(alpha=0.01, T=2000, kernel=kernel.__call__).fit(X, y),
    ]
    values = [model.decision_function(X) for model in models]
    assert values[0] == pytest.approx(values[1])
    given = PegasosSVC(alpha=0.01, T=2000, kernel="precomputed").fit(kernel(X), y)
    assert given.score(kernel(X), y) > 0.9
    assert given.certificate_.gap == pytest.approx(models[0].certificate_.gap, abs=0.02)
    with pytest.raises(ValueError, match=r"59 features.* expecting 60"):
        given.predict(kernel(X)[:, :-1])


def test_items_need_not_be_vectors():
    def shared(s, t):
        return float(len(set(s) & set(t)))

    words = ["cat", "cart", "act", "dog", "god", "good"]
    labels = ["c", "c", "c", "d", "d", "d"]
    kernel = Custom(shared, pairwise=True)
    model = PegasosSVC(alpha=0.1, T=500, kernel=kernel).fit(words, labels)
    assert model.predict(["tac", "doog"]).tolist() == ["c", "d"]
    assert model.certificate_.gap >= 0
    streamed = PegasosSVC(alpha=0.1, kernel=kernel)
    for _ in range(20):
        streamed.partial_fit(words[:3], labels[:3], classes=["c", "d"]).partial_fit(words[3:], labels[3:])
    assert streamed.predict(["tac", "doog"]).tolist() == ["c", "d"]


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = PegasosSVC(alpha=0.01, T=50_000).fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    alone = PegasosSVC(alpha=0.01, T=50_000).fit(X, y == 1)
    assert model.decision_function(X)[:, 1].shape == alone.decision_function(X).shape
    assert len(model.certificate_) == len(model.trace_) == 3
    assert model.score(X, y) > 0.85


def test_a_row_of_weight_two_is_a_row_that_occurs_twice_and_order_does_not_matter(cancer, rng):
    X, y = cancer[0][:100], cancer[1][:100]
    weights = rng.integers(0, 4, 100)
    weighted = PegasosSVC(alpha=0.01, T=5000).fit(X, y, sample_weight=weights)
    repeated = PegasosSVC(alpha=0.01, T=5000).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert (weighted.coef_ == repeated.coef_).all()
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal)
    order = rng.permutation(100)
    assert (PegasosSVC(alpha=0.01, T=5000).fit(X[order], y[order], weights[order]).coef_ == weighted.coef_).all()


@pytest.mark.parametrize("sampling", ["replacement", "permutation"])
def test_class_weights_are_those_of_the_objective(cancer, sampling):
    X, y = cancer
    weights = {0: 3.0, 1: 0.5}
    model = PegasosSVC(alpha=0.05, T=100_000, class_weight=weights, sampling=sampling, bias="none").fit(X, y)
    best = SVC(C=1 / (0.05 * len(y)), kernel="linear", bias="none", class_weight=weights, tol=1e-6).fit(X, y)
    assert model.certificate_.dual <= 0.05 * best.certificate_.primal + 1e-7
    assert model.certificate_.primal == pytest.approx(0.05 * best.certificate_.primal, rel=0.02)
    assert model.certificate_.gap < 0.05 * model.certificate_.primal


def test_labels_swapped_give_the_same_line_with_the_other_sign(cancer):
    X, y = cancer
    a, b = PegasosSVC(alpha=0.1, T=2000).fit(X, y), PegasosSVC(alpha=0.1, T=2000).fit(X, 1 - y)
    # The arrangement of rows knows labels, so the draws differ where rows are few: compare objectives.
    assert a.certificate_.primal == pytest.approx(b.certificate_.primal, rel=0.05)
    assert (a.predict(X) == 1 - b.predict(X)).mean() > 0.97


def test_permutations_and_last_iterates_have_no_bound_and_say_why(cancer):
    X, y = cancer
    assert "independent" in PegasosSVC(T=100, sampling="permutation").fit(X, y).bound_.reason
    assert "average=False" in PegasosSVC(T=100, average=False).fit(X, y).bound_.reason
    assert PegasosSVC(T=100).fit(X, y).bound_.value > 0


def test_a_certificate_is_refused_for_data_that_changed(cancer):
    X, y = cancer[0].copy(), cancer[1]
    model = PegasosSVC(T=100).fit(X, y)
    X[0, 0] += 1.0
    with pytest.raises(DataError, match="changed after fit"):
        model.certificate_  # noqa: B018 - asking for it is the test


def test_a_copy_predicts_the_same_goes_on_and_has_no_training_data(cancer):
    X, y = cancer
    model = PegasosSVC(alpha=0.01, T=1000).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    assert (copy.decision_function(X) == model.decision_function(X)).all()
    assert copy.bound_.value == model.bound_.value
    with pytest.raises(DataError, match="certify"):
        copy.certificate_  # noqa: B018 - asking for it is the test
    again = PegasosSVC(alpha=0.01, T=1000).fit(X, y)
    assert copy.certify(X, y) == again.certificate_
    copy.partial_fit(X[:50], y[:50])
    assert copy.n_iter_ == 1050


def test_a_time_limit_keeps_what_was_learnt(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT.*partial_fit continues"):
        model = PegasosSVC(alpha=0.01, T=10**11, time_limit=0.2).fit(X, y)
    assert model.status_ == Status.TIME_LIMIT
    assert model.score(X, y) > 0.9
    assert 0 < model.n_iter_ < 10**11


def test_a_callback_can_end_a_kernel_fit(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = PegasosSVC(kernel="rbf", T=100_000, callbacks=[lambda point: True]).fit(X, y)
    assert model.n_iter_ < 100_000
    assert model.score(X, y) > 0.8


def test_verbose_prints_a_line_a_point_on_standard_error(cancer, capsys):
    PegasosSVC(T=20_000, verbose=True).fit(*cancer)
    assert "20000 steps" in capsys.readouterr().err


def test_the_expansion_is_the_decision_function(cancer):
    X, y = cancer
    for model in (
        PegasosSVC(T=500),
        PegasosSVC(T=500, kernel="rbf"),
        PegasosSVC(T=500, kernel=Linear(), form="expansion"),
    ):
        fitted = clone(model).fit(X, y)
        assert fitted.expansion_.values(X)[:, 0] == pytest.approx(fitted.decision_function(X))


@pytest.mark.parametrize("weighted", [False, True])
def test_every_form_of_the_weight_is_the_lambda_that_it_stands_for(weighted, rng):
    """The four forms of soft-SVM: the same draws, the same steps, and SVC's objective for the certificate."""
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)
    weights = rng.integers(1, 4, size=60).astype(float) if weighted else None
    m = 60.0 if weights is None else weights.sum()
    plain = PegasosSVC(alpha=0.02, T=5_000, bias="none").fit(X, y, weights)
    for C in (
        Regularization.from_lambda(0.02, half=True),
        Regularization.from_lambda(0.01),
        Regularization.from_box_over_n(50.0),
        50.0 / m,
    ):
        model = PegasosSVC(C=C, T=5_000, bias="none").fit(X, y, weights)
        assert model.alpha_ == pytest.approx(0.02, rel=1e-12)
        assert model.coef_ == pytest.approx(plain.coef_, rel=1e-9)
        best = SVC(C=C, kernel="linear", bias="none", tol=1e-9).fit(X, y, weights)
        lower = best.certificate_.dual * model.alpha_
        assert model.certificate_.dual <= lower + 1e-9
        assert model.certificate_.primal >= lower - 1e-9
        assert model.certificate_.gap == pytest.approx(plain.certificate_.gap, abs=1e-9)


def test_a_stream_takes_forms_of_the_mean_only():
    X, y = [[0.0, 1.0], [1.0, 0.0]], [1, 0]
    model = PegasosSVC(C=Regularization.from_lambda(0.01)).partial_fit(X, y, classes=[0, 1])
    assert model.alpha_ == pytest.approx(0.02)
    assert model.coef_ == pytest.approx(PegasosSVC(alpha=0.02).partial_fit(X, y, classes=[0, 1]).coef_)
    for C in (1.0, Regularization.from_alpha(1.0)):
        with pytest.raises(ParameterError, match="needs the number of rows, which is unknown for a stream; pass alpha"):
            PegasosSVC(C=C).partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize(
    ("C", "message"),
    [
        (-1.0, "C must be a positive number, got -1.0"),
        ("auto", "C must be a positive number, got 'auto'"),
        (np.inf, "C must give a positive, finite lambda = 1/\\(C m\\), got inf, which gives 0"),
    ],
)
def test_a_weight_that_is_none_is_refused(C, message):
    with pytest.raises(ParameterError, match=message):
        PegasosSVC(C=C).fit([[0.0], [1.0]], [0, 1])


def test_a_saved_model_knows_its_lambda(tmp_path, rng):
    X = rng.normal(size=(30, 2))
    y = X[:, 0] > 0
    model = PegasosSVC(C=Regularization.from_lambda(0.05), T=500).fit(X, y)
    path = tmp_path / "model.mercer"
    mercer.save(model, path)
    loaded = mercer.load(path)
    assert loaded.alpha_ == model.alpha_
    assert loaded.get_params()["C"] == model.C
