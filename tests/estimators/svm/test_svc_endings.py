"""How a fit ends, what it says then, and how it goes on."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, Status
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.kernels import Sigmoid
from mercer.solvers.result import TracePoint
from tests.estimators.datasets import scaled, two_classes

ANY_ENDING = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def overlapping():
    """Two clouds too large for one working set, so that a fit takes several rounds."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 4))
    return X, (X[:, 0] + 0.8 * rng.normal(size=len(X)) > 0).astype(int)


def ending(model, X, y):
    """The one warning of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert [each.category for each in caught] == [ConvergenceWarning]
    return caught[0]


def test_an_optimal_fit_says_nothing(recwarn, capfd):
    X, y = scaled("iris")
    model = SVC().fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.fit_status_ == 0
    assert not recwarn
    assert capfd.readouterr() == ("", "")


def test_max_iter_bounds_the_steps_of_each_pair():
    X, y = scaled("wine")
    model = SVC(max_iter=3)
    said = ending(model, X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.fit_status_ == 1
    np.testing.assert_array_equal(model.n_iter_, [3, 3, 3])
    assert str(said.message) == (
        "ITERATION_LIMIT: stopped after as many steps as were allowed, before the tolerance was met. "
        "Solver terminated early (max_iter=3).  Consider pre-processing your data with StandardScaler or "
        "MinMaxScaler. To continue, raise max_iter, or set warm_start=True and fit again. "
        "The model can be used; certificate_ says how good it is."
    )
    assert all(each.gap > 0 for each in model.certificate_)


@pytest.mark.unwatched
def test_a_warning_points_at_the_line_that_called_fit():
    X, y = scaled("wine")
    assert ending(SVC(max_iter=1), X, y).filename == __file__


@ANY_ENDING
def test_time_limit(overlapping):
    X, y = overlapping
    with pytest.warns(
        ConvergenceWarning, match=r"^TIME_LIMIT: .* To continue, raise time_limit, or set warm_start=True"
    ):
        model = SVC(C=1e4, gamma=5.0, time_limit=1e-3).fit(X, y)
    assert model.status_ is Status.TIME_LIMIT
    assert model.predict(X).shape == y.shape


def test_a_callback_sees_every_round_and_may_end_the_fit(overlapping):
    X, y = overlapping
    seen = []

    def watch(point):
        if point.stage == "solve":  # where the machine is busy, the kernel matrix in the making is told of too
            seen.append(point)
        return len(seen) == 2

    model = SVC(C=1e3, gamma=5.0, callbacks=[watch])
    with pytest.warns(ConvergenceWarning, match=r"^INTERRUPTED: .* To continue, set warm_start=True and fit again\."):
        model.fit(X, y)
    assert model.status_ is Status.INTERRUPTED
    assert len(seen) == 2
    assert all(isinstance(point, TracePoint) for point in seen)
    assert model.trace_ == seen
    assert 0.0 <= model.certificate_.dual <= model.certificate_.primal


def test_the_trace_shows_a_dual_that_grows(overlapping):
    X, y = overlapping
    model = SVC().fit(X, y)
    duals = [point.dual for point in model.trace_]
    assert len(duals) > 1
    assert duals == sorted(duals)
    assert model.trace_[-1].iterations == model.n_iter_[0]
    assert len(SVC().fit(*scaled("iris")).trace_) == 3


def test_verbose_prints_a_line_a_round_on_standard_error(capfd):
    X, y = two_classes("iris")
    SVC(verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    line = r"\[mercer\] +\d+\.\d\d s +\d+ steps  gap \S+  dual \S+  exact: working set 100 of 100, time left unknown\n"
    assert re.fullmatch(line, err)


# --- tolerances -----------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_tol_is_honoured(overlapping, tol):
    X, y = overlapping
    assert SVC(tol=tol).fit(X[:2000], y[:2000]).certificate_.is_optimal(tol * 1.01)


@pytest.mark.parametrize("gap_tol", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("n", [150, 2000])
def test_gap_tol_is_honoured_instead_of_tol(overlapping, n, gap_tol):
    X, y = overlapping
    model = SVC(gap_tol=gap_tol, tol=1.0).fit(X[:n], y[:n])
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.relative_gap <= gap_tol


def test_a_coarse_gap_takes_fewer_steps(overlapping):
    X, y = overlapping
    coarse, fine = (SVC(gap_tol=gap_tol).fit(X, y).n_iter_.sum() for gap_tol in (1e-1, 1e-6))
    assert coarse < fine


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_small_problem_is_solved_to_rounding_error(loss, bias):
    X, y = two_classes("iris")
    certificate = SVC(loss=loss, bias=bias).fit(X, y).certificate_
    assert certificate.kkt_violation < 1e-10
    assert abs(certificate.relative_gap) < 1e-10


# --- going on -------------------------------------------------------------------------------


@ANY_ENDING
def test_warm_start_goes_on_where_the_last_fit_ended(overlapping):
    X, y = overlapping
    cold = SVC(C=10.0).fit(X, y)
    model = SVC(C=10.0, warm_start=True, max_iter=int(cold.n_iter_[0]) // 2).fit(X, y)
    assert model.status_ is Status.ITERATION_LIMIT
    model.set_params(max_iter=-1).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.n_iter_[0] < cold.n_iter_[0]
    np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=2e-2)


def test_warm_start_from_the_solution_takes_hardly_a_step():
    X, y = scaled("wine")
    model = SVC(warm_start=True).fit(X, y)
    first, steps = model.decision_function(X), model.n_iter_
    assert (10 * model.fit(X, y).n_iter_ < steps).all()
    np.testing.assert_allclose(model.decision_function(X), first, atol=1e-9)


def test_warm_start_follows_other_parameters():
    X, y = two_classes("cancer")
    model = SVC(C=1.0, warm_start=True).fit(X, y)
    model.set_params(C=1.2).fit(X, y)
    cold = SVC(C=1.2).fit(X, y)
    assert model.n_iter_[0] < cold.n_iter_[0]
    np.testing.assert_allclose(model.decision_function(X), cold.decision_function(X), atol=5e-3)


def test_warm_start_begins_anew_with_other_rows():
    X, y = scaled("iris")
    model = SVC(warm_start=True).fit(X, y)
    model.fit(X[:-1], y[:-1])
    np.testing.assert_array_equal(model.dual_coef_, SVC().fit(X[:-1], y[:-1]).dual_coef_)


# --- kernels that are no kernels --------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["sigmoid", Sigmoid(gamma=1.0, coef0=-1.0)])
def test_an_indefinite_kernel_trains_with_a_warning(kernel, overlapping):
    X, y = (part[:200] for part in overlapping)
    message = r"^NOT_CONVEX: .* mercer_check\(kernel, X\) shows why; other parameters, or another kernel, give one"
    with pytest.warns(ConvergenceWarning, match=message):
        model = SVC(kernel=kernel, gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.status_ is Status.NOT_CONVEX
    assert model.predict(X).shape == y.shape
    assert np.isfinite(model.certificate_.dual)


def test_a_matrix_that_is_indefinite_trains_with_a_warning():
    X, y = two_classes("iris")
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        SVC(kernel="precomputed").fit(X @ X.T - 3.0 * np.eye(len(X)), y)


def test_a_sigmoid_that_happens_to_be_definite_is_optimal():
    X, y = two_classes("wine")
    assert SVC(kernel="sigmoid", gamma=1e-3).fit(X, y).status_ is Status.OPTIMAL


REMEDIES = {
    Status.OPTIMAL_INACCURATE: "Scale the features, or ask for less with a larger tol.",
    Status.MEMORY_LIMIT: "Raise memory_limit.",
    Status.STALLED: "Scale the features, or lower C.",
}


@pytest.mark.parametrize("status", REMEDIES)
def test_each_ending_has_a_meaning_and_a_remedy(status):
    with pytest.warns(ConvergenceWarning) as caught:
        warn_unless_optimal(status, -1)
    said = str(caught[0].message)
    assert said.startswith(f"{status.name}: {status.meaning}. {REMEDIES[status]} ")


def test_a_memory_limit_without_room_is_said(overlapping):
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match="MEMORY_LIMIT"):
        model = SVC(memory_limit=1000).fit(X, y)
    assert model.status_ is Status.MEMORY_LIMIT
    assert model.predict(X).shape == y.shape
