import itertools
import warnings

import clarabel
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import DataError, ParameterError, RankSVM, Regularization, Status
from mercer.kernels import RBF, Custom
from mercer.problems.svm.rank import NARROWEST
from tests.problems.svm.test_rank import listed


def judged(n=60, seed=0, n_queries=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n), [-0.5, 0.5, 1.5]).astype(float)
    return X, y, rng.integers(0, n_queries, n)


def all_pairs_qp(K, pairs, weights):
    """(beta, value) of the dual over a list of all pairs, by Clarabel; weights are C u_i u_j."""
    m = len(pairs)
    signs = sparse.csr_matrix(
        (np.tile([1.0, -1.0], m), (np.repeat(np.arange(m), 2), pairs.ravel())), shape=(m, len(K))
    ).toarray()
    Q = signs @ K @ signs.T + np.diag(0.5 / weights)
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    found = clarabel.DefaultSolver(
        sparse.triu(sparse.csc_matrix(Q), format="csc"),
        -np.ones(m),
        sparse.csc_matrix(-np.eye(m)),
        np.zeros(m),
        [clarabel.NonnegativeConeT(m)],
        options,
    ).solve()
    return signs.T @ np.array(found.x), -found.obj_val


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_agrees_with_clarabel_over_all_pairs(C, seed):
    X, y, qid = judged(seed=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    kernel, pairs = RBF(gamma=0.4), listed(y, qid)
    model = RankSVM(C=C, kernel=kernel, tol=1e-9).fit(X, y, qid, sample_weight=weights)
    beta, value = all_pairs_qp(kernel(X), pairs, C * weights[pairs[:, 0]] * weights[pairs[:, 1]])
    assert model.status_ is Status.OPTIMAL
    certificate = model.certificate_
    assert certificate.primal == pytest.approx(value, rel=1e-7)
    assert certificate.dual == pytest.approx(value, rel=1e-7)
    assert certificate.dual <= value * (1 + 1e-9)
    assert -1e-9 <= certificate.relative_gap <= 1e-8
    np.testing.assert_allclose(model.predict(X), kernel(X) @ beta, atol=1e-5)


def hinge_qp(K, pairs, weights):
    """(beta, value) of the dual of the hinge over a list of all pairs, by Clarabel."""
    m = len(pairs)
    signs = np.zeros((m, len(K)))
    signs[np.arange(m), pairs[:, 0]], signs[np.arange(m), pairs[:, 1]] = 1.0, -1.0
    options = clarabel.DefaultSettings()
    options.verbose = False
    found = clarabel.DefaultSolver(
        sparse.triu(sparse.csc_matrix(signs @ K @ signs.T + 1e-12 * np.eye(m)), format="csc"),
        -np.ones(m),
        sparse.csc_matrix(np.vstack([-np.eye(m), np.eye(m)])),
        np.concatenate([np.zeros(m), weights]),
        [clarabel.NonnegativeConeT(2 * m)],
        options,
    ).solve()
    return signs.T @ np.array(found.x), -found.obj_val


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_hinge_agrees_with_clarabel_over_all_pairs(C):
    X, y, qid = judged(n=40)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    kernel, pairs = RBF(gamma=0.4), listed(y, qid)
    model = RankSVM(C=C, kernel=kernel, loss="hinge", tol=1e-6).fit(X, y, qid, sample_weight=weights)
    beta, value = hinge_qp(kernel(X), pairs, C * weights[pairs[:, 0]] * weights[pairs[:, 1]])
    certificate = model.certificate_
    assert model.status_ is Status.OPTIMAL
    assert certificate.primal == pytest.approx(value, rel=2e-6)
    assert certificate.dual <= value * (1 + 1e-7)
    assert -1e-9 <= certificate.relative_gap <= 2e-6
    np.testing.assert_allclose(model.predict(X), kernel(X) @ beta, atol=1e-2)


def test_the_hinge_of_listed_pairs_and_of_grades_is_one_problem():
    X, y, qid = judged()
    graded = RankSVM(loss="hinge", tol=1e-5).fit(X, y, qid)
    given = RankSVM(loss="hinge", tol=1e-5).fit(X, pairs=listed(y, qid))
    assert graded.certificate_.primal == pytest.approx(given.certificate_.primal, rel=1e-5)


def test_a_pair_that_is_very_wrong_changes_the_hinge_less():
    X = np.linspace(0, 1, 30)[:, None]
    y = np.arange(30.0)
    spoilt = y.copy()
    spoilt[-1] = -1.0
    slopes = {}
    for loss in ("hinge", "squared_hinge"):
        clean, other = (RankSVM(kernel="linear", loss=loss).fit(X, grades).coef_[0, 0] for grades in (y, spoilt))
        slopes[loss] = other / clean
    assert slopes["hinge"] > slopes["squared_hinge"]


def test_the_loss_is_one_of_two():
    with pytest.raises(ParameterError, match="loss must be one of 'squared_hinge', 'hinge', got 'square'"):
        RankSVM(loss="square").fit(*judged())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_early_end_of_the_hinge_is_told():
    model = RankSVM(loss="hinge", max_iter=2, tol=1e-8).fit(*judged())
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.n_iter_ <= 2


def test_pairs_that_are_listed_are_the_same_problem():
    X, y, qid = judged()
    graded = RankSVM(tol=1e-8).fit(X, y, qid)
    given = RankSVM(tol=1e-8).fit(X, pairs=listed(y, qid))
    np.testing.assert_allclose(graded.predict(X), given.predict(X), atol=1e-6)
    assert graded.n_pairs_ == given.n_pairs_ == len(listed(y, qid))


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_certificate_holds_and_the_order_generalises(tol):
    X, y, qid = judged(1200, n_queries=20)
    model = RankSVM(C=0.05, tol=tol).fit(X[:800], y[:800], qid[:800])
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap <= 2 * tol
    assert model.certificate_.kkt_violation <= 2 * tol
    assert model.score(X[800:], y[800:], qid[800:]) > 0.85


def test_memory_and_time_do_not_grow_with_the_pairs():
    """Two grades of a thousand rows each in one query: a million pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)).astype(np.float32)
    y = (X[:, 0] > 0).astype(float)
    model = RankSVM(C=1e-4).fit(X, y)
    assert model.n_pairs_ > 990_000
    assert model.score(X, y) > 0.97


def test_forms_of_input_make_no_difference():
    X, y, qid = judged()
    expected = RankSVM(gamma=0.4, tol=1e-8).fit(X, y, qid).predict(X)
    K = RBF(gamma=0.4)(X)
    np.testing.assert_allclose(RankSVM(kernel="precomputed", tol=1e-8).fit(K, y, qid).predict(K), expected, atol=1e-6)
    thin = sparse.csr_array(X)
    np.testing.assert_allclose(RankSVM(gamma=0.4, tol=1e-8).fit(thin, y, qid).predict(thin), expected, atol=1e-6)
    words = ["a" * int(k + 1) for k in range(8)]
    kernel = Custom(lambda s, t: float(len(s) * len(t)), pairwise=True)
    model = RankSVM(kernel=kernel).fit(words, np.arange(8))
    assert model.score(words, np.arange(8)) == 1.0


def test_queries_are_of_any_type_and_rows_in_any_order():
    X, y, qid = judged()
    names = np.array(["one", "two", "three", "four"])[qid]
    order = np.random.default_rng(1).permutation(len(y))
    first = RankSVM(tol=1e-9).fit(X, y, qid)
    second = RankSVM(tol=1e-9).fit(X[order], y[order], names[order])
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-6)
    np.testing.assert_array_equal(first.predict(X), RankSVM(tol=1e-9).fit(X, y, qid).predict(X))


def test_a_weight_of_two_is_a_row_twice():
    X, y, qid = judged()
    twice = [np.concatenate([part, part[:10]]) for part in (X, y, qid)]
    weights = np.where(np.arange(len(y)) < 10, 2.0, 1.0)
    kernel = RBF(gamma=0.3)
    first = RankSVM(kernel=kernel, tol=1e-9).fit(X, y, qid, sample_weight=weights)
    second = RankSVM(kernel=kernel, tol=1e-9).fit(*twice)
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-6)


def test_limits_leave_a_model():
    X, y, qid = judged(300)
    for limit, status in (({"max_iter": 1}, Status.ITERATION_LIMIT), ({"time_limit": 1e-9}, Status.TIME_LIMIT)):
        with pytest.warns(ConvergenceWarning, match=status.name):
            model = RankSVM(tol=1e-9, **limit).fit(X, y, qid)
        assert model.status_ is status
        assert np.isfinite(model.predict(X)).all()


def test_a_kernel_that_is_not_one_is_noticed():
    X, y, qid = judged(80)
    K = -RBF(gamma=0.4)(X)
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX|STALLED"):
        RankSVM(kernel="precomputed").fit(K, y, qid)


REFUSED = {
    "no pair": (lambda m, X, y: m.fit(X, np.ones(len(y))), DataError, "a pair of rows to put in order"),
    "qid": (lambda m, X, y: m.fit(X, y, [1, 2]), DataError, "qid must have one entry for each of the 60 rows, got 2"),
    "both": (lambda m, X, y: m.fit(X, y, pairs=[[0, 1]]), ParameterError, "y and qid must be None when pairs"),
    "shape": (lambda m, X, y: m.fit(X, pairs=[0, 1]), DataError, "pairs must be whole numbers of shape"),
    "range": (lambda m, X, y: m.fit(X, pairs=[[0, 60]]), DataError, "pairs must be positions of rows, 0 to 59"),
    "same": (lambda m, X, y: m.fit(X, pairs=[[3, 3]]), DataError, "each pair must be of two different rows"),
    "inf": (lambda m, X, y: m.set_params(C=np.inf).fit(X, y), ParameterError, "C must be finite, got inf"),
    "C": (lambda m, X, y: m.set_params(C=-1.0).fit(X, y), ParameterError, "C must be"),
    "nan": (lambda m, X, y: m.fit(X, np.where(y > 0, np.nan, y)), ValueError, "NaN"),
    "qid nan": (lambda m, X, y: m.fit(X, y, [np.nan, *range(59)]), DataError, "every row, but row 0 has nan; drop"),
    "qid float32": (
        lambda m, X, y: m.fit(X, y, np.float32([np.nan, *range(59)])),
        DataError,
        "but row 0 has nan; drop",
    ),
    "qid None": (lambda m, X, y: m.fit(X, y, 59 * ["a"] + [None]), DataError, "qid must name .* row 59 has None"),
    "qid NaT": (lambda m, X, y: m.fit(X, y, np.array(60 * ["NaT"], "M8[s]")), DataError, "row 0 has NaT"),
    "no pairs": (lambda m, X, y: m.fit(X, pairs=np.empty((0, 2), int)), DataError, "in order; got no pairs"),
    "pairs without weight": (
        lambda m, X, y: m.fit(X, pairs=[[0, 1], [2, 0]], sample_weight=np.r_[0.0, np.ones(59)]),
        DataError,
        "in each of the 2 pairs a row has weight 0",
    ),
    "tiny weights": (
        lambda m, X, y: m.fit(X, y, sample_weight=np.full(60, 1e-300)),
        DataError,
        "rounded to 0; got sample_weight up to 1e-300; divide it by that",
    ),
    "tiny weights of pairs": (
        lambda m, X, y: m.fit(X, pairs=[[0, 1]], sample_weight=np.full(60, 1e-300)),
        DataError,
        "rounded to 0; got sample_weight",
    ),
    "grades without weight": (
        lambda m, X, y: m.fit(X, y, sample_weight=(y == y[0]) * 1.0),
        DataError,
        "all grades of rows with a weight are equal",
    ),
}


@pytest.mark.parametrize(("attempt", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input(attempt, kind, message):
    X, y, _ = judged()
    with pytest.raises(kind, match=message):
        attempt(RankSVM(), X, y)


def test_queries_of_mixed_types_are_told_apart():
    X, y, qid = judged()
    names = np.array(["one", 2, (3,), 4.5], dtype=object)[qid]
    assert RankSVM().fit(X, y, names).n_pairs_ == RankSVM().fit(X, y, qid).n_pairs_


def test_a_mean_in_place_of_a_sum():
    X, y, qid = judged()
    assert RankSVM(C=Regularization.from_box_over_n(1.0)).fit(X, y, qid).status_ is Status.OPTIMAL


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(("C", "weight"), [(1e300, 1.0), (1.0, 1e300)])
def test_what_overflows_has_a_status_and_no_other_warning(C, weight, loss):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = RankSVM(C=C, loss=loss)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, np.digitize(X[:, 0], [-0.5, 0.5]), sample_weight=np.full(60, weight))
    assert not model.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize(("C", "kernel"), [(1.0, "linear"), (1.0, "rbf"), (10.0, "rbf")])
def test_a_tighter_tolerance_of_the_hinge_is_never_worse(C, kernel):
    """Rounding that ends the steps at one width is no reason to give up all that was found: a gap of 0.07 was."""
    X, y, qid = judged(n=40)
    gaps = []
    for tol in (1e-4, 1e-6, 1e-9, 1e-12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RankSVM(C=C, kernel=kernel, loss="hinge", tol=tol).fit(X, y, qid)
        gaps.append(model.certificate_.relative_gap)
    assert gaps[1] <= 1e-6
    # Coefficients are differences of values divided by the width: rounding is divided by the narrowest one.
    rounding = np.finfo(float).eps / NARROWEST
    assert all(later <= 1.01 * earlier + rounding for earlier, later in itertools.pairwise(gaps))


@pytest.mark.parametrize("C", [10.0, 1000.0])
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_the_hinge_is_solved_where_rows_outnumber_the_dimensions_of_the_feature_space(C, seed):
    """Values then leave coefficients open, and those of the steps need not be the responses of the losses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 12))
    y = X[:, 0] + 0.5 * rng.normal(size=40)
    assert RankSVM(loss="hinge", C=C, kernel="linear").fit(X, y).status_ is Status.OPTIMAL
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        finest = RankSVM(loss="hinge", C=C, kernel="linear", tol=1e-6).fit(X, y)
    assert finest.certificate_.relative_gap < 1e-5
