"""Limits and interruptions leave the best weights so far, with their gap."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import MKLClassifier, MKLRegressor, Status
from mercer.kernels import RBF, Linear
from mercer.solvers.mkl.search import WeightPoint
from tests.estimators.datasets import scaled, two_classes

KERNELS = [Linear(), *(RBF(gamma=gamma) for gamma in (0.01, 0.03, 0.1, 0.3, 1.0))]


def test_the_trace_says_how_it_went():
    X, y = two_classes("wine")
    told = []
    model = MKLClassifier(KERNELS, gap_tol=1e-6, callbacks=[told.append]).fit(X, y)
    assert [type(point) for point in model.trace_] == [WeightPoint] * len(told)
    assert told == model.trace_
    assert model.trace_[-1].violation <= 1e-6
    assert model.trace_[0].working_set == 6
    assert min(point.primal for point in told) == pytest.approx(model.certificate_.primal, rel=1e-5)
    assert model.n_iter_[0] == len(told)


@pytest.mark.parametrize("method", ["simple", "lp-norm"])
def test_a_bound_on_the_number_of_machines(method):
    X, y = two_classes("wine")
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = MKLClassifier(KERNELS, method=method, gap_tol=1e-9, max_iter=2).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert len(model.trace_) == 2
    assert 1e-9 < model.certificate_.relative_gap < 1.0
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("method", ["simple", "lp-norm", "easy", "centered_alignment", "cv", "average"])
def test_time_is_up_before_anything_begins(method):
    X, y = scaled("digits")
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        model = MKLClassifier(KERNELS, method=method, time_limit=1e-9).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    assert model.predict(X[:5]).shape == (5,)
    assert (model.weights_ > 0).all()
    assert model.certificate_.gap >= 0.0


@pytest.mark.parametrize("n", [1, 2])
def test_a_callback_ends_the_search(n):
    X, y = two_classes("cancer")
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = MKLClassifier(KERNELS, gap_tol=1e-9, callbacks=[lambda point: point.iterations >= n]).fit(X, y)
    assert model.status_ is Status.INTERRUPTED
    assert len(model.trace_) == n
    assert np.isfinite(model.certificate_.relative_gap)


def test_control_c_keeps_the_best_weights():
    X, y = scaled("digits")
    began = threading.Event()

    def press():
        began.wait(60)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        model = MKLClassifier(
            KERNELS, gap_tol=1e-15, tol=1e-12, callbacks=[lambda point: began.set() or time.sleep(0.2)]
        ).fit(X, y)
    presser.join()
    assert model.status_ is Status.INTERRUPTED
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("method", ["simple", "lp-norm"])
def test_kernels_in_other_units_have_the_same_weights(method):
    """1e6 times the kernels, and C a millionth: the same machine, and an objective that is a millionth."""
    X, y = two_classes("wine")
    small, large = (
        MKLClassifier([unit * kernel for kernel in KERNELS], method=method, C=2.0 / unit, normalize=None).fit(X, y)
        for unit in (1.0, 1e6)
    )
    np.testing.assert_allclose(large.weights_, small.weights_, atol=1e-3)
    assert large.certificate_.primal == pytest.approx(1e-6 * small.certificate_.primal, rel=1e-3)
    assert large.certificate_.gap <= 1e-3 * large.certificate_.primal


@pytest.mark.parametrize("method", ["simple", "lp-norm"])
def test_targets_in_other_units_have_the_same_weights(method):
    X, _ = two_classes("wine")
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    large, small = (
        MKLRegressor(KERNELS, method=method, C=2.0 * unit, epsilon=0.1 * unit).fit(X, unit * y) for unit in (1.0, 1e-5)
    )
    np.testing.assert_allclose(small.weights_, large.weights_, atol=5e-3)
    assert small.certificate_.gap <= 1e-3 * small.certificate_.primal
    assert small.trace_[-1].violation == pytest.approx(small.certificate_.gap / small.certificate_.primal, abs=1e-6)


def test_a_large_kernel_takes_the_weight_whatever_the_objective():
    X, y = two_classes("cancer")
    kernels = [1e6 * RBF(gamma=0.1), 1e-6 * Linear(), RBF(gamma=1.0)]
    model = MKLClassifier(kernels, normalize=None).fit(X[:200], y[:200])
    np.testing.assert_allclose(model.weights_, [1.0, 0.0, 0.0], atol=1e-3)
    assert model.certificate_.gap <= 1e-3 * model.certificate_.primal < 1e-6


@pytest.mark.parametrize("targets", [np.zeros(60), np.full(60, 3.0), np.linspace(-0.09, 0.09, 60)])
def test_an_objective_of_zero_ends_at_once(targets):
    X = two_classes("wine")[0][:60]
    model = MKLRegressor(KERNELS, epsilon=0.1).fit(X, targets)
    assert model.status_ is Status.OPTIMAL
    assert len(model.trace_) == 1
    assert model.certificate_.primal == 0.0


def test_what_cannot_be_told_from_rounding_is_no_optimum():
    X, y = two_classes("cancer")
    with pytest.warns(ConvergenceWarning, match='normalize="variance"'):
        model = MKLClassifier([1e15 * RBF(gamma=0.1), 1e15 * RBF(gamma=0.3)], normalize=None).fit(X[:200], y[:200])
    assert model.status_ in (Status.STALLED, Status.OPTIMAL_INACCURATE)


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"max_iter": 1}, Status.ITERATION_LIMIT),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT),
        ({"callbacks": [lambda _: True]}, Status.INTERRUPTED),
    ],
)
def test_warnings_advise_what_there_is(parameters, status):
    X, y = two_classes("wine")
    with pytest.warns(ConvergenceWarning, match=status.name) as told:
        MKLClassifier(KERNELS, gap_tol=1e-12, **parameters).fit(X, y)
    assert "warm_start" not in str(told[0].message)


def test_a_memory_limit_without_room_for_anything():
    X, y = scaled("digits")
    with pytest.warns(ConvergenceWarning, match="MEMORY_LIMIT"):
        model = MKLClassifier(KERNELS, memory_limit=1000).fit(X, y % 2)
    assert model.status_ is Status.MEMORY_LIMIT
    assert model.predict(X[:3]).shape == (3,)


def test_verbose_prints_a_line_for_each_point(capsys):
    X, _ = two_classes("wine")
    model = MKLRegressor(KERNELS, verbose=True).fit(X, X[:, 0])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(model.trace_)
    assert "gap" in lines[0]
    assert "kernels 6 of 6" in lines[0]
