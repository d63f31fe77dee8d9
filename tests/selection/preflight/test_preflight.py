"""What is said before a fit: the data's troubles, time, memory, advice."""

import json
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification

from mercer import SVC, SVR, DataError, LinearSVC, NuSVC, OneClassSVM, ParameterError, preflight
from mercer.kernels import RBF, Spectrum
from mercer.selection.preflight import advice as advising
from mercer.selection.preflight import certificate as forecasts
from mercer.selection.preflight.advice import advice
from mercer.selection.preflight.low_rank import LowRankLoss, low_rank_loss
from mercer.selection.preflight.measuring import are_pairs_small, fair_order
from mercer.selection.preflight.timer import CoreTimer


@pytest.fixture(scope="module")
def blobs():
    return make_classification(1500, 10, n_informative=6, flip_y=0.05, random_state=0)


def test_a_small_fit_is_measured_whole():
    X, y = load_iris(return_X_y=True)
    record = preflight(SVC(), X, y)
    assert record.is_measured
    assert record.measured[-1][0] == 150
    assert 0 < record.seconds < 1.0
    assert record.advice == "exact"
    assert not record.problems
    assert record["duplicates"].message.startswith("1 of 150")
    json.dumps(record.as_dict())
    assert "advice: exact" in str(record)


class Sleeper(BaseEstimator):
    """An estimator whose fit takes a known time."""

    def fit(self, X, y=None):
        time.sleep(2e-6 * len(X) ** 1.5)
        return self


def test_growth_is_measured_and_carried_on():
    X = np.zeros((60_000, 1))
    X[:, 0] = np.arange(60_000)
    record = preflight(Sleeper(), X, seconds=0.6)
    assert not record.is_measured
    assert record.exponent == pytest.approx(1.5, abs=0.25)
    assert 0.5 < record.seconds / (2e-6 * 60_000**1.5) < 2.0
    assert record.measured[0][0] == 250


def test_it_stays_within_its_time():
    timer = CoreTimer()
    record = preflight(Sleeper(), np.arange(200_000.0)[:, None], seconds=0.5)
    assert timer.seconds()[0] < 2.5
    assert 2 * sum(seconds for _, seconds in record.measured) < 1.5


def test_scales_that_differ_are_told(blobs):
    X, y = blobs
    X = X[:200].copy()
    X[:, 3] *= 1e6
    X[:, 4] = 1.0
    record = preflight(SVC(), X, y[:200], seconds=0.1)
    assert record["scaling"].is_problem
    assert "StandardScaler" in record["scaling"].message
    assert "1 of 10 columns never vary" in record["constant columns"].message
    assert not preflight(SVC(), sparse.csr_array(X), y[:200], seconds=0.1)["scaling"].is_problem


def test_contradictions_are_told(blobs):
    X, y = np.vstack([blobs[0][:100], blobs[0][:10]]), np.r_[blobs[1][:100], 1 - blobs[1][:10]]
    record = preflight(SVC(), X, y, seconds=0.1)
    assert "10 of 110 rows are copies" in record["duplicates"].message
    assert "20 rows are equal to others" in record["contradictions"].message
    assert record["contradictions"].is_problem
    agreeing = preflight(SVC(), X, np.r_[y[:100], y[:10]], seconds=0.1)
    assert not agreeing["contradictions"].is_problem


def test_balance_and_nu(blobs):
    X = blobs[0][:200]
    y = np.r_[np.ones(6, int), np.zeros(194, int)]
    record = preflight(NuSVC(nu=0.5), X, y, seconds=0.1)
    assert record["balance"].is_problem
    assert record["nu"].is_problem
    assert "at most 0.06" in record["nu"].message
    assert np.isnan(record.seconds)  # such a fit is refused
    assert "nu is infeasible" in record.refusal
    assert "fit refuses a sample of the rows: specified nu" in str(record)
    assert "nan" not in str(record)
    fine = preflight(NuSVC(nu=0.05), X, y, seconds=0.1)
    assert not fine["nu"].is_problem
    assert not preflight(OneClassSVM(nu=0.5), X, seconds=0.1)["nu"].is_problem


def test_what_fit_refuses_is_a_finding(blobs):
    X = blobs[0][:50].copy()
    X[3, 2] = np.nan
    record = preflight(SVC(), X, blobs[1][:50], seconds=0.1)
    assert record["numbers"].is_problem
    assert preflight(SVC(), blobs[0][:50], np.zeros(50), seconds=0.1)["balance"].is_problem


def test_advice_for_planes_and_low_rank(blobs):
    X, y = blobs
    assert preflight(SVC(kernel="linear"), X, y, seconds=0.1).advice == "linear"
    assert preflight(LinearSVC(), X, y, seconds=0.1).advice == "linear"
    wide = sparse.random_array((100, 400), density=0.05, rng=np.random.default_rng(0), format="csr")
    assert preflight(SVC(), wide, np.arange(100) % 2, seconds=0.1).advice == "linear"


def test_rank_of_a_plane_is_its_dimension():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 8))
    record = preflight(SVR(kernel="linear"), X, X[:, 0], seconds=0.1)
    assert record["rank"].message.startswith(("1 ", "2 "))


def test_what_low_rank_would_lose_is_said_in_a_line(rng):
    """Rows of a plane are spanned by few landmarks; those of 50 independent columns are not."""
    flat = rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 8))
    few = preflight(SVC(gamma=0.01), flat, flat[:, 0] > 0, seconds=0.1)["low rank"].message
    assert 5 < int(few.split()[0]) < 100
    assert few.endswith("all but next to nothing")
    many = rng.normal(size=(3000, 50))
    lost = preflight(SVC(gamma=0.02), many, many[:, 0] > 0, seconds=0.1)["low rank"].message
    assert lost.startswith("1000 random landmarks leave ")
    assert lost.endswith("low rank would lose much")


def test_what_landmarks_leave_is_what_a_projection_leaves(rng):
    X = rng.normal(size=(400, 3))
    found = low_rank_loss(RBF(0.3), X, np.arange(400))
    K = RBF(0.3)(X)
    for m in (1, 20, 100):
        kept = K[200:, :m] @ np.linalg.solve(K[:m, :m] + 1e-10 * np.eye(m), K[:m, 200:])
        assert found.shares[m - 1] == pytest.approx(1.0 - np.trace(kept) / 200, abs=1e-6)
    assert (np.diff(found.shares) <= 1e-12).all()
    assert found.shares[found.enough - 1] <= 0.01 < found.shares[found.enough - 2]


def test_what_landmarks_cost_is_measured_on_the_sample(rng):
    X = rng.normal(size=(400, 3))
    found = low_rank_loss(RBF(0.3), X, np.arange(400))
    assert found.entry > 0.0
    assert found.product > 0.0
    assert found.seconds(2000, 100) == pytest.approx(2.0 * found.seconds(1000, 100))
    assert 2.0 * found.seconds(1000, 100) < found.seconds(1000, 200) < 4.0 * found.seconds(1000, 100)


def test_the_certificate_is_predicted(blobs, monkeypatch):
    X, y = blobs
    small = preflight(SVC(), X, y, seconds=0.1)
    assert small.certificate.is_full
    assert 0 < small.certificate.seconds < 1.0
    assert "when it is read" in str(small)
    monkeypatch.setattr(forecasts, "SMALL_WORK", 1e4)
    large = preflight(SVC(), X, y, seconds=0.1)
    assert not large.certificate.is_full
    assert large.certificate.seconds < 0.5 * small.certificate.seconds
    assert "with values reused from the solver" in str(large)
    assert preflight(LinearSVC(), X, y, seconds=0.1).certificate is None


LEAVING = {"little": np.linspace(0.9, 1e-4, 1000), "much": np.linspace(0.9, 0.4, 1000)}


@pytest.mark.parametrize(
    ("left", "n", "seconds", "said"),
    [
        ("little", 500_000, 50.0, ("exact", "about 50 s")),
        ("little", 500_000, 500.0, ("low-rank", "random landmarks capture all but 1%")),
        ("much", 500_000, 500.0, ("exact", "does not have low rank")),
        ("little", 50_000_000, 1e7, ("cluster", "on one machine")),
        ("little", 2_000_000, 70.0, ("exact", "no longer than with low rank")),
    ],
)
def test_advice_by_rows_time_and_rank(left, n, seconds, said):
    loss = LowRankLoss(LEAVING[left], entry=2e-8, product=5e-12)
    word, reason = advice(SVC(), None, n, [], seconds, advising.Spectrum(loss=loss))
    assert word == said[0]
    assert said[1] in reason


def test_texts_and_matrices(blobs):
    texts = ["man bites dog", "dog bites man", "sun and rain", "rain and sun"] * 5
    record = preflight(SVC(kernel=Spectrum()), texts, [0, 0, 1, 1] * 5, seconds=0.1)
    assert record.n_columns == 0
    assert record.is_measured
    X, y = blobs[0][:80], blobs[1][:80]
    assert preflight(SVC(kernel="precomputed"), X @ X.T, y, seconds=0.1).is_measured


def test_arguments_are_checked(blobs):
    X, y = blobs
    with pytest.raises(DataError, match="same length"):
        preflight(SVC(), X, y[:-1])
    with pytest.raises(ParameterError, match="seconds"):
        preflight(SVC(), X, y, seconds=0)
    with pytest.raises(ParameterError, match="must have a fit method"):
        preflight("SVC", X, y)
    with pytest.raises(DataError, match="at least one row"):
        preflight(SVC(), [], [])


def test_samples_reach_pairs_that_are_solved_like_those_of_all_rows():
    codes = np.arange(13_000) % 26
    assert are_pairs_small(SVC(), codes, 4000, 13_000)
    assert not are_pairs_small(SVC(), codes, 8000, 13_000)
    assert not are_pairs_small(SVC(), codes % 2, 200, 13_000)
    assert not are_pairs_small(SVC(), None, 200, 13_000)


def test_the_smallest_sample_holds_rows_of_every_class():
    codes = np.zeros(2000, np.intp)
    codes[:13] = 1
    order = fair_order(2000, codes)
    assert sorted(order) == list(range(2000))
    assert (codes[order[:60]] == 1).sum() == 2
    assert (codes[order[:1000]] == 1).sum() in (6, 7)
