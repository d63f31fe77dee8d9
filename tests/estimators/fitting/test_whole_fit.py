"""A fit is whole or not at all: what an error or Ctrl-C ends leaves an estimator as it was before."""

import time

import numpy as np
import pytest

from mercer import SVC, SVR, KernelDensity, KernelPCA, KernelRidge, OneClassSVM, RankSVM, TimeLimitError

KINDS = [SVC, SVR, OneClassSVM, RankSVM, KernelRidge, KernelPCA]


class Giving:
    """A kernel function that gives up when it is told to."""

    def __init__(self, kind):
        # Of two items, or of two whole sets, as scikit-learn's counterpart has it.
        self.function = np.dot if kind in (KernelRidge, KernelPCA) else lambda A, B: A @ B.T
        self.error = None

    def __call__(self, x, y):
        if self.error is not None:
            raise self.error
        return self.function(x, y)


def slowly(values):
    time.sleep(0.06)
    return values


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 3))
    return X, (X[:, 0] > 0).astype(float)


@pytest.mark.filterwarnings("ignore:(the margin is|there is no half-space):sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_fitted_before_stays(kind, error, rows):
    kernel = Giving(kind)
    model = kind(kernel=kernel).fit(*rows)
    before = dict(vars(model))
    kernel.error = error
    with pytest.raises(error):
        model.fit(rows[0][:20], rows[1][:20])
    assert vars(model) == before or all(vars(model)[name] is value for name, value in before.items())


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_not_fitted_is_not(kind, rows):
    kernel = Giving(kind)
    kernel.error = KeyboardInterrupt
    model = kind(kernel=kernel)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*rows)
    assert vars(model) == before


def test_a_fit_is_timed_without_the_compiler_and_a_copy_was_never_fitted_here(monkeypatch):
    from sklearn.base import clone

    from mercer.estimators.fitting import whole_fit

    spent = iter([0.0, 1e6])
    monkeypatch.setattr(whole_fit, "seconds_compiling", lambda: next(spent))
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    assert whole_fit.fit_seconds(model) == 0.0
    assert whole_fit.fit_seconds(clone(model)) is None


def test_a_density_too(rows):
    model = KernelDensity().fit(rows[0])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((5, 3), np.nan))
    assert all(vars(model)[name] is value for name, value in before.items())


def test_time_is_over_while_a_kernel_function_is_asked(rows):
    X, y = rows
    model = SVC(kernel=lambda A, B: slowly(A @ B.T), time_limit=0.05)
    with pytest.raises(TimeLimitError, match=r"time_limit=0\.05 ran out before the first step"):
        model.fit(X, y)
    assert not hasattr(model, "status_")


def test_a_kernel_function_asked_in_parts_gives_the_same_matrix(rows):
    X, y = rows
    asked = []

    def inner(A, B):
        asked.append(len(A))
        return A @ B.T

    limited = SVC(kernel=inner, time_limit=1e3).fit(X, y)
    assert len(asked) > 1
    assert sum(asked) == len(X)
    np.testing.assert_allclose(limited.dual_coef_, SVC(kernel="linear").fit(X, y).dual_coef_, rtol=1e-6)
