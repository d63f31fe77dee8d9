"""Recorded steps are those of the solvers: they end where the solvers end, and duality holds on the way."""

import itertools

import numpy as np
import pytest

from mercer import SVC, HardMarginSVC, KernelPerceptron
from mercer.kernels import RBF, Linear
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.stochastic import pegasos
from mercer.studio.playground.presets import preset
from mercer.studio.playground.recording import record_chunking, record_pegasos, record_perceptron, record_smo
from mercer.studio.server.worker import Job
from mercer.studio.views.solving import record


def points_of(key):
    table = np.array(preset(key)["points"])
    return table[:, :2].copy(), np.where(table[:, 2] == 1, 1.0, -1.0)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("recorder", [record_smo, record_chunking])
def test_dual_methods_end_at_the_optimum_of_the_library(recorder, bias):
    X, y = points_of("moons")
    kernel = RBF(gamma=1.0)
    recording = recorder(SoftMargin(y, np.full(len(y), 2.0), "hinge", bias), kernel(X, X), 2000)
    assert recording.is_finished
    model = SVC(C=2.0, kernel=kernel, bias=bias).fit(X, y)
    assert recording.steps[-1].dual == pytest.approx(model.certificate_.dual, rel=1e-3)
    f = kernel(X, X) @ recording.steps[-1].beta + recording.steps[-1].bias
    np.testing.assert_allclose(f, model.decision_function(X), atol=0.02)


@pytest.mark.parametrize("recorder", [record_smo, record_chunking])
def test_the_dual_rises_and_never_passes_the_primal(recorder):
    X, y = points_of("noisy")
    recording = recorder(SoftMargin(y, np.full(len(y), 1.0)), X @ X.T, 300)
    duals, primals = (np.array([getattr(step, name) for step in recording.steps]) for name in ("dual", "primal"))
    assert (np.diff(duals) >= -1e-9).all()
    assert (primals >= duals - 1e-9).all()


def test_an_smo_step_moves_one_pair():
    X, y = points_of("moons")
    steps = record_smo(SoftMargin(y, np.full(len(y), 10.0)), RBF(gamma=1.0)(X, X), 100).steps
    for before, after in itertools.pairwise(steps):
        assert np.flatnonzero(after.beta != before.beta).tolist() == sorted(after.working)
        assert len(after.working) == 2
        assert abs(after.beta.sum()) < 1e-9


def test_without_a_free_bias_one_coordinate_moves():
    X, y = points_of("moons")
    steps = record_smo(SoftMargin(y, np.full(len(y), 10.0), "hinge", "none"), RBF(gamma=1.0)(X, X), 50).steps
    assert all(len(step.working) == 1 for step in steps[1:])


def test_the_toy_set_is_solved_to_its_known_answer():
    X, y = points_of("toy")
    found = record_smo(SoftMargin(y, np.full(4, 1e6)), X @ X.T, 1000, tol=1e-9).steps[-1]
    np.testing.assert_allclose(found.beta, [-0.5, -0.5, 1.0, 0.0], atol=1e-6)
    assert found.bias == pytest.approx(-1.0, abs=1e-6)


def test_the_perceptron_makes_the_updates_of_the_library():
    X, y = points_of("toy")
    recording = record_perceptron(y, X @ X.T, 500)
    model = KernelPerceptron(kernel=Linear(), shuffle=False).fit(X, y)
    assert recording.is_finished
    np.testing.assert_allclose(X.T @ recording.steps[-1].beta, model.coef_.ravel())
    assert recording.steps[-1].bias == pytest.approx(model.intercept_[0])
    updates = sum(
        not np.array_equal(a.beta, b.beta) for a, b in zip(recording.steps, recording.steps[1:], strict=False)
    )
    assert updates == model.n_updates_.sum()


def test_perceptron_steps_without_an_update_may_be_left_out():
    X, y = points_of("noisy")
    steps = record_perceptron(y, X @ X.T, 50, each_visit=False).steps
    assert len(steps) == 51
    assert all(not np.array_equal(a.beta, b.beta) for a, b in itertools.pairwise(steps))


def test_pegasos_takes_the_steps_of_the_library():
    X, y = points_of("noisy")
    problem = SoftMargin(y, np.full(len(y), 0.5), "hinge", "none")
    lam = 1.0 / problem.C.sum()
    recording = record_pegasos(problem, X @ X.T, 200)
    found = pegasos.solve(X, y, lam, T=200, average=False, seed=0)
    w = X.T @ recording.steps[-1].beta
    np.testing.assert_allclose(w, found.weights, rtol=1e-9)
    hinge = np.maximum(0.0, 1.0 - y * (X @ w)).sum()
    assert recording.steps[-1].primal == pytest.approx(0.5 * w @ w + 0.5 * hinge)


def test_the_bound_under_pegasos_never_passes_the_primal():
    X, y = points_of("moons")
    steps = record_pegasos(SoftMargin(y, np.full(len(y), 1.0), "hinge", "penalized"), RBF(gamma=1.0)(X, X), 300).steps
    assert all(step.primal >= step.dual - 1e-9 for step in steps)
    assert all(b.dual >= a.dual for a, b in itertools.pairwise(steps))


@pytest.mark.parametrize("solver", ["perceptron", "smo", "pegasos", "chunking"])
def test_the_page_gets_a_field_for_every_step(solver):
    header, arrays = next(iter(record({**preset("toy"), "solver": solver}, Job())))
    steps = len(header["notes"])
    assert arrays["fields"].shape == (steps, 48, 64)
    assert arrays["alpha"].shape == arrays["gradient"].shape == (steps, 4)
    assert len(header["working"]) == len(header["updates"]) == steps


def test_the_perceptron_bound_is_kept():
    header, _ = next(iter(record({**preset("toy"), "solver": "perceptron"}, Job())))
    X, y = points_of("toy")
    model = HardMarginSVC(kernel="linear", bias="penalized").fit(X, y)
    w = np.append(model.coef_.ravel(), model.intercept_)
    assert header["bound"] == pytest.approx((np.square(X).sum(axis=1).max() + 1) * (w @ w))
    assert header["updates"][-1] <= header["bound"]


@pytest.mark.parametrize(
    ("points", "words"), [([[0, 0, 0]], "two classes"), ([[k, k, k % 2] for k in range(301)], "at most 300")]
)
def test_what_cannot_be_watched_is_a_sentence(open_tab, points, words):
    with open_tab() as tab:
        assert words in tab.ask("record", points=points)[0]["error"]
