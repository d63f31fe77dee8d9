"""The template of every fit: whole or not at all, and what is said of it is said at the line that called `fit`."""

import warnings

import numpy as np
import pytest

import mercer
from mercer.estimators.bases.fits import Fits
from mercer.estimators.fitting.plan import fit_without_report

pytestmark = pytest.mark.unwatched  # which lines warnings name

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
LABELS = np.where(X[:, 0] + RNG.normal(size=60) > 0, 1, 0)

# Fits that are ended early, each in another room.
ENDED = {
    "classifier": (mercer.SVC(max_iter=1), LABELS),
    "regressor": (mercer.SVR(max_iter=1, C=100.0), X[:, 1]),
    "detector": (mercer.SVDD(max_iter=1), None),
    "ranking": (mercer.RankSVM(max_iter=1, C=1e3, tol=1e-12), LABELS),
    "kernel method": (mercer.KernelRidge(solver="cg", rank=2, max_iter=1, alpha=1e-6), X[:, 1]),
    "linear": (mercer.LinearSVC(max_iter=1, tol=1e-12, C=100.0), LABELS),
    "perceptron": (mercer.Perceptron(max_iter=1), LABELS),
    "gradient steps": (mercer.PegasosSVC(kernel="rbf", T=100_000, callbacks=[lambda point: True]), LABELS),
    "weights of kernels": (mercer.MKLClassifier(max_iter=1, C=100.0), LABELS),
    "intervals": (mercer.SVR(max_iter=1, C=100.0, conformal="split"), X[:, 1]),
}


@pytest.mark.parametrize(("model", "y"), ENDED.values(), ids=ENDED)
def test_a_fit_that_ends_early_says_so_once_at_the_line_that_called_it(model, y):
    with pytest.warns(UserWarning, match=r"certificate_ says how good it is") as told:
        model.fit(X, y)
    assert [warning.filename for warning in told] == [__file__]


def test_what_a_machine_adds_is_said_at_the_same_line():
    with pytest.warns(UserWarning, match="there is no half-space") as told:
        mercer.OneClassSVM(kernel="linear", nu=0.9).fit(np.concatenate([X, -X]))
    assert {warning.filename for warning in told} == {__file__}


def test_it_may_take_the_place_of_the_status():
    with pytest.warns(UserWarning, match="separat") as told:
        mercer.HardMarginSVC(kernel="linear", on_not_separable="warn").fit(X, LABELS)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_who_fits_many_models_hears_nothing_and_nothing_is_left_to_be_said():
    model = mercer.OneClassSVM(kernel="linear", nu=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_without_report(model, np.concatenate([X, -X]), None, None)
    assert "_said" not in vars(model)


class Learner(mercer.SVC):
    """Says something, and fails."""

    def _learn(self, limits, *data):
        self._say("never mind")
        raise ZeroDivisionError


def test_a_fit_that_fails_leaves_nothing_behind():
    model = Learner()
    with pytest.raises(ZeroDivisionError):
        model.fit(X, LABELS)
    assert vars(model) == mercer.SVC().get_params()


def test_every_estimator_that_has_limits_has_the_template():
    classes = {name: getattr(mercer, name) for name in mercer.__all__}
    limited = {
        name: cls
        for name, cls in classes.items()
        if isinstance(cls, type) and hasattr(cls, "fit") and "time_limit" in cls.__init__.__code__.co_varnames
    }
    assert len(limited) > 20
    searches = {name for name, cls in limited.items() if cls.__module__.startswith("mercer.selection")}
    assert {name for name, cls in limited.items() if not issubclass(cls, Fits)} == searches
