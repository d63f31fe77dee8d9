"""Ctrl-C in a search: the first key keeps what was judged and goes on to the last fit, a key in that fit ends it."""

import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVCCV, SVRCV, Status
from tests.faults.own_time import CtrlC, Stopwatch

# Contradictory labels under a large C: the last fit takes many seconds, the fits of few rows before it do not.
ROWS, WORK = 2500, 0.4


def rows(target):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 5))
    f = X[:, 0] * X[:, 1] + 2.0 * rng.normal(size=ROWS)
    return X, (f > 0).astype(int) if target == "classes" else f


def few_folds(n):
    """Folds of so few rows that the search is over at once."""
    return [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]


def pressed_in_refit(model, key, over):
    """Press the key once the last fit has worked for a while."""
    while not over.wait(0.005):
        if "best_estimator_" in vars(model):
            break
    work = Stopwatch()
    while not over.wait(0.005):
        if work.used >= WORK:
            key.press()
            return


@pytest.mark.parametrize(("kind", "target"), [(SVCCV, "classes"), (SVRCV, "numbers")])
def test_a_key_in_the_last_fit_ends_it_with_the_best_so_far(kind, target):
    X, y = rows(target)
    make = {"gammas": [0.5], "cv": few_folds(ROWS), "tol": 1e-7, "n_jobs": 1}
    kind([1.0], **{**make, "tol": 1e-2}).fit(X[:600], y[:600])  # compiles
    model, key, over = kind([1e5, 1e6], **make), CtrlC(), threading.Event()
    thread = threading.Thread(target=pressed_in_refit, args=(model, key, over))
    thread.start()
    try:
        with pytest.warns(ConvergenceWarning, match="INTERRUPTED"), key:
            model.fit(X, y)
    finally:
        over.set()
        thread.join()
    assert key.waited is not None
    assert key.waited <= 0.5
    assert model.status_ == model.best_estimator_.status_ == Status.INTERRUPTED
    assert np.isfinite(model.best_score_)
    certificate = model.certificate_
    assert not certificate.is_optimal(1e-7)
    assert np.isfinite(certificate.gap)
    assert model.predict(X).shape == y.shape


def test_a_key_in_the_search_goes_on_to_the_last_fit():
    X, y = rows("classes")
    X, y, key = X[:500], y[:500], CtrlC()

    def press_once(point):
        if key._since is None and np.isfinite(point.best_score):
            key.press()

    model = SVCCV(np.logspace(-2, 2, 9), [0.1, 0.5], cv=3, n_jobs=1, callbacks=[press_once])
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED: .* fits were made"), key:
        model.fit(X, y)
    assert model.status_ == Status.INTERRUPTED
    assert model.best_estimator_.status_ == Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-3)
    assert "untried" in model.cv_results_["state"]
