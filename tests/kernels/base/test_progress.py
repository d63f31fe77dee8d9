"""A long evaluation says how far it is, and ends when it is asked to."""

import time

import numpy as np
import pytest

from mercer import SVC, CancelledError, Graph, Status
from mercer.kernels import Custom, Linear, Mismatch, Precomputed, Spectrum, SubsetTree, WeisfeilerLehman
from mercer.kernels.base import progress
from mercer.solvers import limits


@pytest.fixture
def talkative(monkeypatch):
    """As if every tile took long."""
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(limits, "SILENCE_SECONDS", 0.0)


def test_shares_rise_to_the_whole(talkative):
    shares = []
    X = np.ones((700, 3))
    assert Linear()(X, callback=shares.append).shape == (700, 700)
    assert len(shares) > 4
    assert shares == sorted(shares)
    assert shares[0] < 0.5
    assert shares[-1] == 1.0


def test_between_two_sets_too(talkative):
    shares = []
    np.testing.assert_array_equal(
        Linear()(np.ones((1500, 2)), np.ones((1200, 2)), callback=shares.append), np.full((1500, 1200), 2.0)
    )
    assert len(shares) > 4
    assert shares[-1] == 1.0


def test_a_true_answer_ends_it(talkative):
    asked = []

    def enough(share):
        asked.append(share)
        return share > 0.3

    with pytest.raises(CancelledError, match=r"the callback stopped the work with \d+% of the matrix done"):
        Linear()(np.ones((2000, 3)), callback=enough)
    assert max(asked) < 0.9


def test_an_error_of_the_callback_is_seen(talkative):
    def failing(share):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Linear()(np.ones((700, 3)), callback=failing)


def test_the_result_is_that_without(talkative):
    X = np.random.default_rng(0).normal(size=(600, 4))
    np.testing.assert_array_equal(Linear()(X, callback=lambda share: None), Linear()(X))


def test_a_given_matrix_has_nothing_to_report():
    assert Precomputed()(np.eye(3), callback=lambda share: 1 / 0).shape == (3, 3)


def test_a_short_evaluation_says_only_that_it_is_done():
    shares = []
    Linear()(np.ones((5, 2)), callback=shares.append)
    assert shares == [1.0]


def texts(count):
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(list("abcd"), 12)) for _ in range(count)], rng.integers(0, 2, count)


def test_a_fit_tells_its_callbacks_of_the_matrix(talkative):
    X, y = texts(400)
    points = []
    SVC(kernel=Spectrum(length=2), n_jobs=1, callbacks=[points.append]).fit(X, y)
    shown = [point for point in points if point.stage == "kernel"]
    assert shown
    assert all(point.iterations == 0 and 0 <= point.working_set <= point.active == 100 for point in shown)


def test_a_fit_can_be_ended_while_the_matrix_is_computed(talkative):
    def slow(x, y):
        time.sleep(1e-5)
        return float(x == y)

    X, y = texts(400)
    with pytest.warns(match="INTERRUPTED"):
        model = SVC(
            kernel=Custom(slow, pairwise=True), n_jobs=1, callbacks=[lambda point: point.stage == "kernel"]
        ).fit(X, y)
    assert model.status_ is Status.INTERRUPTED


def test_verbose_prints_it(talkative, capsys):
    X, y = texts(400)
    SVC(kernel=Spectrum(length=2), n_jobs=1, verbose=True).fit(X, y)
    assert "kernel matrix" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kernel", "item"),
    [
        (Spectrum(2), "some text"),
        (Mismatch(2, alphabet="ab"), "abab"),
        (SubsetTree(), "(S (A a))"),
        (WeisfeilerLehman(), Graph([(0, 1)], node_labels="ab")),
    ],
)
def test_reading_items_can_be_ended_too(talkative, kernel, item):
    heard = []

    def enough(share):
        heard.append(share)
        return len(heard) == 3

    with pytest.raises(CancelledError, match="with 0% of the matrix done"):
        kernel([item] * 50, callback=enough)
    assert heard == [0.0] * 3
    # Nobody listens after that.
    assert kernel([item] * 2).shape == (2, 2)
