"""Pairs of small classes, solved all at once, are those solved one by one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, Status
from mercer.estimators.fitting import all_pairs
from mercer.kernels import RBF
from mercer.solvers.calibration.out_of_fold import FOLDS
from tests.estimators.datasets import scaled


@pytest.fixture
def batches(monkeypatch):
    """How many fits solved their pairs together."""
    made = []

    class Counted(all_pairs.PairsSolved):
        def __init__(self, *arguments):
            made.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(all_pairs, "PairsSolved", Counted)
    return made


def one_by_one(**parameters):
    """A callback wants to see each pair as it is solved."""
    return SVC(callbacks=[lambda point: False], decision_function_shape="ovo", **parameters)


def overlapping(n):
    """Three classes of different sizes, too large for the matrix of all points."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[y], np.array(["a", "b", "c"])[y]


CASES = {
    "rbf": {},
    "linear, C = 100": {"kernel": "linear", "C": 100.0},
    "squared hinge": {"loss": "squared_hinge"},
    "hard margin": {"C": np.inf, "gamma": 1.0},
    "class weights": {"class_weight": {0: 0.3, 2: 5.0}},
    "kernel": {"kernel": RBF(0.2) + 1.0},
    "one thread": {"n_jobs": 1},
}


@pytest.mark.parametrize("parameters", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", ["wine", "digits"])
def test_the_same_machines(name, parameters, batches):
    X, y = (part[:400] for part in scaled(name))
    together = SVC(decision_function_shape="ovo", **parameters).fit(X, y)
    apart = one_by_one(**parameters).fit(X, y)
    assert len(batches) == 1
    scale = max(1.0, np.abs(apart.decision_function(X)).max())
    np.testing.assert_allclose(together.decision_function(X), apart.decision_function(X), atol=1e-7 * scale)
    np.testing.assert_allclose(together.intercept_, apart.intercept_, atol=1e-7 * scale)
    np.testing.assert_array_equal(together.n_support_, apart.n_support_)
    np.testing.assert_array_equal(together.support_, apart.support_)
    np.testing.assert_allclose(together.dual_coef_, apart.dual_coef_, atol=1e-7 * np.abs(apart.dual_coef_).max())
    assert together.status_ is apart.status_ is Status.OPTIMAL
    assert together.n_iter_.dtype == apart.n_iter_.dtype
    assert together.n_iter_.shape == apart.n_iter_.shape


@pytest.mark.parametrize("parameters", [{}, {"loss": "squared_hinge"}, {"C": 1e4}, {"kernel": "linear", "C": 100.0}])
def test_many_rows_are_solved_to_the_tolerance(parameters, batches):
    X, y = scaled("digits")
    model, apart = SVC(decision_function_shape="ovo", **parameters).fit(X, y), one_by_one(**parameters).fit(X, y)
    assert len(batches) == 1
    assert model.status_ is Status.OPTIMAL
    for mine, other in zip(model.certificate_, apart.certificate_, strict=True):
        assert mine.kkt_violation <= model.tol
        assert mine.dual == pytest.approx(other.dual, rel=2e-4)
    np.testing.assert_allclose(model.decision_function(X), apart.decision_function(X), atol=20.0 * model.tol)


BY_BLOCKS = {
    "rbf": {},
    "large C": {"C": 1e3, "gamma": 0.05},
    "linear": {"kernel": "linear"},
    "squared hinge": {"loss": "squared_hinge"},
    "class weights": {"class_weight": {"a": 0.3, "c": 5.0}},
    "one thread": {"n_jobs": 1},
}


@pytest.mark.parametrize("parameters", BY_BLOCKS.values(), ids=BY_BLOCKS)
def test_pairs_of_larger_classes_are_solved_to_the_tolerance(parameters, batches):
    X, y = overlapping(1_500)
    weights = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0)
    model = SVC(decision_function_shape="ovo", **parameters).fit(X, y, sample_weight=weights)
    apart = one_by_one(**parameters).fit(X, y, sample_weight=weights)
    assert len(batches) == 1
    assert model.status_ is apart.status_ is Status.OPTIMAL
    assert {trace[-1].route for trace in model.trace_} == {"class pairs"}
    for mine, other in zip(model.certificate_, apart.certificate_, strict=True):
        assert mine.kkt_violation <= model.tol
        assert mine.dual == pytest.approx(other.dual, rel=2e-4)
    np.testing.assert_allclose(model.decision_function(X), apart.decision_function(X), atol=20.0 * model.tol)
    assert not np.isin(model.support_, np.flatnonzero(weights == 0)).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("parameters", "status"), [({"max_iter": 4}, Status.ITERATION_LIMIT), ({"time_limit": 1e-9}, Status.TIME_LIMIT)]
)
def test_limits_of_larger_classes(parameters, status):
    X, y = overlapping(1_500)
    model = SVC(**parameters).fit(X, y)
    assert model.status_ is status
    assert model.n_iter_.max() <= 4
    assert model.predict(X).shape == y.shape


def test_entries_that_are_too_rough_are_computed_again(monkeypatch):
    X, y = scaled("digits")
    again = []
    monkeypatch.setattr(
        all_pairs.PairsSolved,
        "_solve_rest",
        lambda self, matrix, solve_one, rest=all_pairs.PairsSolved._solve_rest: (
            again.append(np.count_nonzero(self._report[:, 1] == all_pairs.LEFT)),
            rest(self, matrix, solve_one),
        ),
    )
    # With coefficients of this size, errors of 1e-8 in an entry add up to more than the tolerance.
    model = SVC(C=1e7, gamma=1e-4, tol=1e-4).fit(X, y)
    assert again[0] > 0
    assert model.status_ is Status.OPTIMAL
    assert all(certificate.kkt_violation <= 1e-4 for certificate in model.certificate_)


def test_rows_far_out(batches):
    X, y = scaled("digits")
    X = np.where(np.arange(len(X))[:, None] % 600 == 5, 1e4 * X, X)
    model = SVC(gamma=1e-3).fit(X, y)
    assert len(batches) == 1
    assert all(certificate.kkt_violation <= model.tol for certificate in model.certificate_)


@pytest.mark.parametrize("parameters", [{}, {"C": 30.0}, {"loss": "squared_hinge"}, {"class_weight": {0: 0.3, 2: 5.0}}])
@pytest.mark.parametrize(("name", "close"), [("wine", 1e-6), ("digits", 5e-3)])
def test_the_same_probabilities(name, close, parameters, batches):
    X, y = scaled(name)
    together = SVC(probability=True, **parameters).fit(X, y)
    apart = SVC(probability=True, callbacks=[lambda point: False], **parameters).fit(X, y)
    assert len(batches) == 1  # no fold was left to be solved by itself
    np.testing.assert_allclose(together.predict_proba(X), apart.predict_proba(X), atol=close)


def test_folds_of_pairs_that_were_solved_alone(batches):
    X, y = scaled("digits")
    parameters = {"C": 1e7, "gamma": 1e-4, "tol": 1e-4, "probability": True}
    together = SVC(**parameters).fit(X, y)
    assert len(batches) == 1 + FOLDS
    apart = SVC(callbacks=[lambda point: False], **parameters).fit(X, y)
    np.testing.assert_allclose(together.predict_proba(X), apart.predict_proba(X), atol=1e-2)


def test_a_fold_of_all_of_a_class():
    X, y = scaled("wine")
    kept = np.r_[np.flatnonzero(y == 0)[:1], np.flatnonzero(y > 0)]
    model = SVC(probability=True).fit(X[kept], y[kept])
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_certificates_and_traces_are_there_for_each_pair():
    X, y = scaled("wine")
    model, apart = SVC().fit(X, y), one_by_one().fit(X, y)
    for mine, other in zip(model.certificate_, apart.certificate_, strict=True):
        assert mine.dual == pytest.approx(other.dual, rel=1e-9)
        assert mine.kkt_violation < 1e-10
        assert mine.equality_residual < 1e-12
    for k, (point,) in enumerate(model.trace_):
        assert point.dual == pytest.approx(model.certificate_[k].dual, rel=1e-9)
        assert point.iterations == model.n_iter_[k]
        assert point.active == apart.trace_[k][0].active


def test_the_reach_of_each_pair_is_the_sum_of_its_coefficients(rng, batches):
    X, y = scaled("wine")
    SVC(C=3.0).fit(X, y, sample_weight=rng.integers(0, 3, len(y)).astype(float))
    (solved,) = batches
    np.testing.assert_allclose(solved.reaches(), [np.abs(beta).sum() for beta in solved.betas()], rtol=1e-12)


@pytest.mark.parametrize("rows", [sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_other_rows(rows, batches):
    X, y = scaled("wine")
    model = SVC().fit(rows(X), y)
    assert len(batches) == 1
    np.testing.assert_allclose(model.decision_function(rows(X)), SVC().fit(X, y).decision_function(X), atol=1e-4)


def test_a_precomputed_matrix(batches):
    X, y = scaled("wine")
    K = RBF(0.1)(X)
    model = SVC(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.decision_function(K), SVC(gamma=0.1).fit(X, y).decision_function(X), atol=1e-8)
    assert len(batches) == 2


def test_rows_of_no_weight(rng, batches):
    X, y = scaled("wine")
    weights = rng.integers(0, 3, len(y)).astype(float)
    together = SVC().fit(X, y, sample_weight=weights)
    apart = one_by_one().fit(X, y, sample_weight=weights).set_params(decision_function_shape="ovr")
    assert len(batches) == 1
    np.testing.assert_allclose(together.decision_function(X), apart.decision_function(X), atol=1e-8)
    assert not np.isin(together.support_, np.flatnonzero(weights == 0)).any()


NOT_TOGETHER = {
    "large classes": (lambda: (np.random.default_rng(0).normal(size=(6_300, 2)), np.arange(6_300) % 3), {"C": 0.01}),
    "large classes in double precision": (lambda: overlapping(900), {"tol": 1e-7}),
    "no free bias": (lambda: scaled("wine"), {"bias": "none"}),
    "one against the rest": (lambda: scaled("wine"), {"multi_class": "ovr"}),
    "a gap to reach": (lambda: scaled("wine"), {"gap_tol": 1e-6}),
    "somebody watches": (lambda: scaled("wine"), {"verbose": True}),
    "little memory": (lambda: scaled("wine"), {"memory_limit": 12 * 2**20 + 400_000}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("data", "parameters"), NOT_TOGETHER.values(), ids=NOT_TOGETHER)
def test_what_is_not_solved_together(data, parameters, batches):
    SVC(**parameters).fit(*data())
    assert not batches


def test_max_iter():
    X, y = scaled("digits")
    with pytest.warns(ConvergenceWarning, match=r"max_iter=4"):
        model = SVC(max_iter=4).fit(X[:200], y[:200])
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.n_iter_.max() == 4


def test_time_that_is_up_before_the_first_pair():
    X, y = scaled("digits")
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = SVC(time_limit=1e-9).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    assert model.predict(X).shape == y.shape


@pytest.mark.filterwarnings("ignore:(OPTIMAL_INACCURATE|STALLED):sklearn.exceptions.ConvergenceWarning")
def test_a_pair_that_is_not_finished_is_solved_alone():
    X, y = scaled("wine")
    parameters = {"kernel": "linear", "C": 1e100}
    y = np.where(np.arange(len(y)) % 10 == 0, (y + 1) % 3, y)
    together = SVC(**parameters).fit(X[:, :3], y)
    apart = one_by_one(**parameters).fit(X[:, :3], y)
    assert together.status_ is apart.status_ is Status.STALLED


def test_an_indefinite_kernel():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 3)), np.arange(120) % 3
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)


def test_hundreds_of_classes(rng):
    y = np.repeat(np.arange(150), 2)
    X = rng.normal(size=(300, 5)) * 0.05 + rng.normal(size=(150, 5))[y]
    model = SVC(C=10.0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.dual_coef_.shape[0] == 149
