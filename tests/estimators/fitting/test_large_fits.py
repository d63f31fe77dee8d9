"""Certificates of large fits: what is recomputed, what is taken over, and who notices where that is wrong."""

import os
import pickle
import signal
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import SVC, SVDD, SVR, CancelledError, DataError, NuSVC, NuSVR, OneClassSVM, Status
from mercer.estimators.fitting import certifiers
from mercer.estimators.fitting.plan import prepare_fit
from mercer.problems import taken_over
from mercer.problems.certificate import EVERYTHING
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.report.model_words import certificate_totals
from mercer.solvers.dual_qp.state import DualState

N = 3000


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    """Fits of these tests count as large."""
    monkeypatch.setattr(certifiers, "SMALL_WORK", 1e5)


@pytest.fixture(scope="module")
def rows():
    """Two classes that overlap, and a target with noise."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(N, 6))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=N) > 0.8, 1, -1)
    return X, y, np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=N)


def _fit(model, rows, form="dense"):
    X, y, target = rows
    if form == "precomputed":
        X = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(2))
    X = {"sparse": sparse.csr_array, "single": np.float32}.get(form, np.asarray)(X)
    return model.fit(X, target if isinstance(model, SVR | NuSVR) else y)


CASES = {
    "hinge": (SVC(C=5.0), "dense"),
    "single precision": (SVC(C=5.0), "single"),
    "sparse": (SVC(C=5.0), "sparse"),
    "given matrix": (SVC(C=5.0, kernel="precomputed"), "precomputed"),
    "squared hinge": (SVC(loss="squared_hinge"), "dense"),
    "penalised bias": (SVC(bias="penalized"), "dense"),
    "no bias": (SVC(bias="none"), "dense"),
    "gap": (SVC(gap_tol=1e-3), "dense"),
    "weights": (SVC(class_weight={1: 3.0, -1: 0.5}), "dense"),
    "tube": (SVR(epsilon=0.1), "dense"),
    "no tube": (SVR(epsilon=0.0, C=0.3), "dense"),
    "nu": (NuSVC(nu=0.4), "dense"),
    "nu of a regression": (NuSVR(nu=0.4), "dense"),
    "one class": (OneClassSVM(nu=0.2), "dense"),
    "ball": (SVDD(nu=0.2, kernel="poly", degree=2), "dense"),
}


@pytest.mark.parametrize(("model", "form"), CASES.values(), ids=CASES)
def test_what_is_taken_over_bounds_what_is_so(model, form, rows):
    model = _fit(model, rows, form)
    assert model.status_ is Status.OPTIMAL
    told = model._evidence._found[0]  # `fit` has computed it
    so = model.certificate(full=True)
    assert so.basis == EVERYTHING != told.basis
    assert so.is_full
    assert not told.is_full
    assert model.certificate_ is so
    rounding = 1e-9 * max(1.0, abs(so.primal))
    assert so.gap <= told.gap + rounding
    assert so.kkt_violation <= told.kkt_violation + 1e-9
    # What was asked for: a violation, or with `gap_tol` a gap, whatever the violation then is.
    assert told.is_optimal(model.tol, getattr(model, "gap_tol", None))
    assert abs(so.primal - told.primal) <= told.accuracy + told.gap + rounding
    assert abs(so.dual - told.dual) <= told.accuracy + rounding
    assert (so.n_free, so.n_bounded, so.n_zero) == (told.n_free, told.n_bounded, told.n_zero)
    assert (so.box_violation, so.equality_residual) == (told.box_violation, told.equality_residual)
    # The data have gone, and what was found stays.
    assert model._evidence.data is None
    assert model.certificate() is so


def test_full_is_what_small_fits_have(rows, monkeypatch):
    large = _fit(SVC(C=5.0), rows).certificate(full=True)
    monkeypatch.setattr(certifiers, "SMALL_WORK", 1e9)
    small = _fit(SVC(C=5.0), rows)
    assert small._evidence._found is None  # until it is read
    for name, value in small.certificate_.as_dict().items():
        assert getattr(large, name) == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9, abs=1e-9))


def test_it_says_what_was_recomputed(rows):
    words = str(_fit(SVC(C=0.5, gamma=0.05), rows).certificate_)
    assert "of 3000 rows recomputed in double precision: all that decide, and 93 at random" in words
    assert "with 99.9% certainty, fewer than 7.2% of the rows are off by more" in words
    assert EVERYTHING in str(SVC().fit(rows[0][:200], rows[1][:200]).certificate_)


def test_of_several_problems_each_is_taken_over(rows):
    X, _, target = rows
    model = SVC(multi_class="ovr").fit(X, np.digitize(target, [-0.8, 0.8]))
    assert [each.is_full for each in model.certificate_] == [False] * 3
    assert [each.is_full for each in model.certificate(full=True)] == [True] * 3


def _point(rows):
    """A solved problem, its coefficients and gradient, and what recomputes its projections."""
    X, y, _ = rows
    model = SVC(C=5.0, gamma=0.2, tol=1e-6).fit(X, y)
    beta = np.zeros(N)
    beta[model.support_] = model.dual_coef_[0]
    product = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(2)) @ beta
    return SoftMargin(y.astype(float), np.full(N, 5.0)), beta, y - product, model.intercept_[0], product


def _sampled(problem, beta, gradient, intercept, product):
    none = np.zeros(0, np.int64)
    return taken_over.certificate(problem, beta, gradient, intercept, 1e-3, lambda rows: product[rows], none)


def test_a_gradient_that_is_off_is_caught(rows):
    problem, beta, gradient, intercept, product = _point(rows)
    assert _sampled(problem, beta, gradient, intercept, product).is_optimal(1e-3)
    # A share that the certificate says is seen with 99.9 % certainty, off by more than the tolerance.
    wrong = gradient.copy()
    wrong[np.random.default_rng(1).random(N) < 0.08] += 0.01
    found, so = _sampled(problem, beta, wrong, intercept, product), problem.certificate(beta, product, intercept)
    assert "off by at most 1.0e-02" in found.basis
    assert found.gap >= so.gap - 1e-9  # two numbers of some thousand are subtracted
    assert found.kkt_violation >= so.kkt_violation
    assert 1.0 < found.accuracy >= abs(found.dual - so.dual)
    # With larger errors it does not say that it is optimal, and a fit recomputes everything.
    wrong[np.random.default_rng(1).random(N) < 0.08] += 5.0
    worse = _sampled(problem, beta, wrong, intercept, product)
    assert not worse.is_optimal(1e-3)
    assert worse.gap > so.gap


def test_coefficients_that_the_gradient_does_not_fit_are_caught(rows):
    """A solver that forgot to bring its gradient up to date."""
    problem, beta, gradient, intercept, _ = _point(rows)
    X = rows[0]
    beta = np.where(np.arange(N) % 50 == 0, 0.0, beta)
    product = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(2)) @ beta
    found = _sampled(problem, beta, gradient, intercept, product)
    assert not found.is_optimal(1e-3)
    assert found.gap >= problem.certificate(beta, product, intercept).gap


def test_rows_that_decide_beyond_the_room_are_widened(rows):
    """Without a tube nearly every row is free, and only one in sixteen is recomputed."""
    model = _fit(SVR(epsilon=0.0, C=50.0, gamma=2.0), rows)
    assert "all but" in model.certificate_.basis
    assert model.certificate_.kkt_violation >= model.certificate(full=True).kkt_violation


def test_of_many_rows_that_decide_the_worst_are_recomputed(rows):
    """Errors too large for the tolerance, had any row to be counted with them that is nearly the worst."""
    X, y, _ = rows
    model = SVC(loss="squared_hinge", C=1.0, gamma=0.2).fit(X, y)
    beta = np.zeros(N)
    beta[model.support_] = model.dual_coef_[0]
    product = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(2)) @ beta
    problem = SoftMargin(y.astype(float), np.ones(N), "squared_hinge")
    so = problem.certificate(beta, product, model.intercept_[0])
    dual, signs = problem.dual(), np.sign(np.sin(np.arange(N)))
    # So small that the solver's own numbers hold, and that they do not if any row is counted as off by as much.
    e = 0.3 * (1e-3 - so.kkt_violation)
    off = dual.gradient_of(beta, product) + e * signs
    assert dual.violation(beta, off) <= 1e-3 < dual.violation(beta, off) + 2.0 * e
    told = _sampled(problem, beta, off, model.intercept_[0], product)
    assert so.kkt_violation <= told.kkt_violation <= 1e-3
    assert not told.is_full


def test_a_fit_whose_solver_is_off_is_recomputed_in_full(rows, monkeypatch):
    sampled = certifiers.DualCertifier.sampled

    def off(self, stop=None):
        (solution,) = self.solved.solutions
        self.solved.solutions = [replace(solution, gradient=solution.gradient + 0.1 * np.sin(np.arange(N)))]
        return sampled(self, stop)

    monkeypatch.setattr(certifiers.DualCertifier, "sampled", off)
    model = _fit(SVC(C=5.0), rows)
    # The coefficients are right all the same, and the certificate says so of its own knowledge.
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.is_full


def test_optimal_is_taken_back_before_fit_returns(rows, monkeypatch):
    """By a certificate that is computed in full, since one that takes over would not be believed."""
    X, y, _ = rows
    truth = certifiers.DualCertifier._certificate

    def shifted(self, problem, task, beta, intercept):
        return replace(truth(self, problem, task, beta, intercept), kkt_violation=0.1)

    monkeypatch.setattr(certifiers.DualCertifier, "_certificate", shifted)
    monkeypatch.setattr(taken_over, "_widening", lambda *_: (0.1, 0.1, 0.0))
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE"):
        model = SVC().fit(X, y)
    assert model.status_ is Status.OPTIMAL_INACCURATE
    assert model.certificate_.is_full


def test_full_that_finds_more_than_fit_did_says_so_and_changes_no_status(rows, monkeypatch):
    model = _fit(SVC(C=5.0), rows)
    truth = certifiers.DualCertifier._certificate

    def shifted(self, problem, task, beta, intercept):
        return replace(truth(self, problem, task, beta, intercept), kkt_violation=0.1)

    monkeypatch.setattr(certifiers.DualCertifier, "_certificate", shifted)
    for read in (lambda: model.certificate(full=True), lambda: model.certificate_):
        with pytest.warns(ConvergenceWarning, match="the tolerance was not reached. The certificate is right"):
            assert read().kkt_violation == 0.1
    assert model.status_ is Status.OPTIMAL  # what `fit` has said
    assert model.fit_status_ == 0


def test_a_time_limit_ends_it(rows, monkeypatch):
    """A certificate that would go on until it is told to stop is told, and the model is there."""
    product, told = certifiers.ProblemCertifier._product, []

    def endless(self, *operands):
        while self._stop is not None and not self._stop():
            time.sleep(0.01)
        told.append(True)
        return product(self, *operands)

    SVC(C=5.0).fit(*rows[:2])  # whatever there is to compile
    with monkeypatch.context() as patch:
        patch.setattr(certifiers.ProblemCertifier, "_product", endless)
        with pytest.warns(ConvergenceWarning, match="before the tolerance was met, or shown to be met"):
            model = SVC(C=5.0, time_limit=8.0).fit(*rows[:2])
    assert told
    assert model.status_ is Status.TIME_LIMIT  # nobody has had the time to show that it is OPTIMAL
    assert model._evidence._found is None
    assert model.certificate_.is_optimal(model.tol)
    assert model.status_ is Status.TIME_LIMIT


def test_a_model_whose_solution_was_found_elsewhere_is_certified_at_once(rows):
    """It has no gradient to take over, so everything is recomputed."""
    X, y, _ = rows
    solved = SVC(C=5.0).fit(X, y)
    beta = np.zeros(N)
    beta[solved.support_] = solved.dual_coef_[0]
    model = prepare_fit(SVC(C=5.0), X, y).adopt([beta], [solved.intercept_[0]])
    assert model._evidence._found[0].is_full
    assert model.status_ is Status.OPTIMAL
    wrong = prepare_fit(SVC(C=5.0), X, y).adopt([0.9 * beta], [solved.intercept_[0]])
    assert wrong.status_ is Status.OPTIMAL_INACCURATE


@pytest.fixture
def _never_in_full(monkeypatch):
    def refuse(*_):
        raise AssertionError("everything was recomputed")

    monkeypatch.setattr(certifiers.ProblemCertifier, "full", refuse)


@pytest.mark.usefixtures("_never_in_full")
def test_to_copy_save_and_report_recomputes_nothing(rows, tmp_path):
    model = _fit(SVC(C=5.0), rows)
    mercer.save(model, tmp_path / "large.mercer")
    for back in (pickle.loads(pickle.dumps(model)), mercer.load(tmp_path / "large.mercer")):  # noqa: S301 - just written
        assert back.certificate_ == model.certificate_
        with pytest.raises(DataError, match="a model that was copied or loaded"):
            back.certificate(full=True)
    assert certificate_totals(model)["gap"] == model.certificate_.gap
    assert certificate_totals(model)["basis"] == model.certificate_.basis
    assert model._evidence.data is not None  # for who asks for more


def _stopped(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(C=5.0, callbacks=[lambda _: True]).fit(np.tile(rows[0], (3, 1)), np.tile(rows[1], 3))
    return model.set_params(callbacks=None)


@pytest.mark.unwatched
def test_a_large_fit_that_was_stopped_takes_its_certificate_along(rows, tmp_path, monkeypatch):
    """Between two rounds the solver knows the gradient of every row, so that little is to be recomputed."""
    model = _stopped(rows)
    assert model.status_ is Status.INTERRUPTED
    with monkeypatch.context() as patch:
        patch.setattr(certifiers.ProblemCertifier, "full", lambda *_: pytest.fail("everything was recomputed"))
        back = pickle.loads(pickle.dumps(model))  # noqa: S301 - written a moment ago
        mercer.save(model, tmp_path / "stopped.mercer")
        told = model.certificate_
        assert certificate_totals(model)["gap"] == told.gap
    assert not told.is_full
    for copy in (back, mercer.load(tmp_path / "stopped.mercer")):
        assert copy.certificate_ == told
        assert copy.status_ is Status.INTERRUPTED
    so = model.certificate(full=True)
    assert so.is_full
    assert so.gap <= told.gap * (1.0 + 1e-9)
    assert model.tol < so.kkt_violation <= told.kkt_violation + 1e-9


def _stopped_in_a_product(rows, monkeypatch):
    """The time is over while a gradient is brought up to date: rows have an old one, and nobody knows which."""
    moves, move = [], DualState.move

    def too_late(state, *arguments):
        moves.append(state)
        if len(moves) == 3:
            limits = state.stop.__self__
            limits.deadline = limits.begin
        move(state, *arguments)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        patch.setattr(DualState, "move", too_late)
        return SVC(C=5.0).fit(np.tile(rows[0], (3, 1)), np.tile(rows[1], 3))


@pytest.mark.unwatched
def test_a_large_fit_that_was_stopped_is_certified_when_somebody_asks(rows, tmp_path, monkeypatch):
    model = _stopped_in_a_product(rows, monkeypatch)
    assert model.status_ is Status.TIME_LIMIT
    with monkeypatch.context() as patch:
        patch.setattr(certifiers.ProblemCertifier, "full", lambda *_: pytest.fail("everything was recomputed"))
        back = pickle.loads(pickle.dumps(model))  # noqa: S301 - written a moment ago
        mercer.save(model, tmp_path / "stopped.mercer")
        assert certificate_totals(model) is None
    for copy in (back, mercer.load(tmp_path / "stopped.mercer")):
        with pytest.raises(DataError, match="read certificate_ before"):
            _ = copy.certificate_
    assert model.certificate_.is_full


def test_data_changed_after_the_fit_leave_what_was_said(rows):
    X = rows[0].copy()
    model = SVC().fit(X, rows[1])
    before = model.certificate_
    X[3] += 1.0
    assert model.certificate_ == before
    for _ in range(2):
        with pytest.raises(DataError, match="changed after fit"):
            model.certificate(full=True)


def test_a_callback_hears_and_may_end_it(rows, monkeypatch):
    monkeypatch.setattr(certifiers, "BLOCK", 500)
    model, shares = _fit(SVC(C=5.0), rows), []
    before = model.certificate_
    with pytest.raises(CancelledError, match="the model is unchanged"):
        model.certificate(full=True, callback=lambda share: share > 0.4)
    assert model.certificate_ is before
    assert model.certificate(full=True, callback=shares.append).is_full
    assert shares == pytest.approx(np.arange(1, 7) / 6)


def test_ctrl_c_leaves_the_model_as_it_was(rows, monkeypatch):
    monkeypatch.setattr(certifiers, "BLOCK", 500)
    model = _fit(SVC(C=5.0), rows)
    before, shares = model.certificate_, []

    def press(share):
        shares.append(share)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.certificate(full=True, callback=press)
    assert len(shares) < 6
    assert model.certificate_ is before
    assert model.certificate(full=True).is_full
