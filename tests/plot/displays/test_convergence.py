import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from mercer import SVC, SVDD, SVR, LinearSVC, OneClassSVM, ParameterError, PegasosSVC, Perceptron
from mercer.plot import ConvergenceDisplay
from mercer.plot.displays.convergence import Run
from tests.plot.pictures import assert_pictured


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return LinearSVC(solver="dual_cd", loss="hinge").fit(X, X[:, 0] + 0.5 * rng.normal(size=120) > 0)


def test_lines_are_the_trace_and_the_gap_is_to_the_certified_primal(machine):
    display = ConvergenceDisplay.from_estimator(machine)
    objective, gap = display.objectives_[0], display.gaps_[0]
    dual = [point.dual for point in machine.trace_]
    np.testing.assert_array_equal(objective.get_ydata(), dual)
    np.testing.assert_array_equal(objective.get_xdata(), [point.seconds for point in machine.trace_])
    primal = machine.certificate_.primal
    expected = (primal - np.array(dual)) / max(1.0, primal)
    np.testing.assert_allclose(gap.get_ydata(), np.maximum(expected, 1e-16))
    assert display.bounds_[0].get_ydata()[0] == primal


@pytest.mark.parametrize(
    "model",
    [SVC(C=2.0), SVC(solver="dual_cd", bias="none"), SVR(), OneClassSVM(nu=0.3), LinearSVC(loss="squared_hinge")],
    ids=["smo", "dual_cd", "svr", "one-class", "linear"],
)
def test_the_dual_of_a_trace_never_passes_the_primal_and_ends_at_it(model, rng):
    X = rng.normal(size=(150, 3))
    model.fit(X, (X[:, 0] > 0).astype(float))
    (run,) = ConvergenceDisplay.from_estimator(model).runs
    assert (run.dual <= run.primal + 1e-7 * abs(run.primal)).all()
    assert run.gap[-1] < 1e-2


def test_models_are_told_apart_by_dashes_and_marks_too(machine):
    display = ConvergenceDisplay.from_estimators({"one": machine, "two": machine})
    first, second = display.gaps_
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in display.axes_[1].get_legend().get_texts()] == ["one", "two"]


def test_several_problems_of_a_model_share_a_style_and_a_name(petals):
    display = ConvergenceDisplay.from_estimator(SVC().fit(*petals), legend=True)
    assert len(display.runs) == 3
    assert len({line.get_color() for line in display.gaps_}) == 1
    assert [text.get_text() for text in display.axes_[1].get_legend().get_texts()] == ["SVC"]


def test_iterations_instead_of_seconds(machine):
    display = ConvergenceDisplay.from_estimator(machine, against="iterations")
    np.testing.assert_array_equal(display.gaps_[0].get_xdata(), [point.iterations for point in machine.trace_])
    assert display.axes_[1].get_xlabel() == "iterations"


def test_it_divides_one_place_or_takes_two(machine):
    _, (left, right) = plt.subplots(1, 2)
    assert ConvergenceDisplay.from_estimator(machine, ax=[left, right]).axes_ == [left, right]
    _, ax = plt.subplots()
    display = ConvergenceDisplay.from_estimator(machine, ax=ax)
    assert display.figure_ is ax.figure


def test_what_has_no_gap_is_refused(toy, machine):
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(SVC())
    with pytest.raises(ParameterError, match="the trace of 'PegasosSVC' keeps no dual objective"):
        ConvergenceDisplay.from_estimator(PegasosSVC(random_state=0).fit(*toy))
    with pytest.raises(ParameterError, match="against must be 'seconds' or 'iterations', got 'epochs'"):
        ConvergenceDisplay.from_estimator(machine, against="epochs")
    with pytest.raises(ParameterError, match="estimators must name at least one model"):
        ConvergenceDisplay.from_estimators({})
    with pytest.raises(ParameterError, match="needs a model with trace_, which LogisticRegression does not have"):
        ConvergenceDisplay.from_estimator(LogisticRegression().fit(*toy))


def test_a_perceptron_has_mistakes_and_no_gap(toy):
    with pytest.raises(ParameterError, match="the trace of 'Perceptron' keeps no dual objective"):
        ConvergenceDisplay.from_estimator(Perceptron().fit(*toy))


def test_a_trace_in_other_units_than_its_certificate_is_refused(toy):
    with pytest.raises(ParameterError, match="the trace of 'SVDD' is in other units than its certificate"):
        ConvergenceDisplay.from_estimator(SVDD(kernel="linear").fit(10.0 * toy[0]))


def test_the_picture():
    at = np.arange(1, 31)
    runs = [Run(name, 0.1 * at, at, 5.0 - 4.0 * rate**at, 5.0) for name, rate in (("slow", 0.8), ("fast", 0.5))]
    assert_pictured(ConvergenceDisplay(runs=runs).plot().figure_, "convergence")


def test_a_fit_of_one_round_is_told_in_a_sentence(machine, rng):
    X = rng.normal(size=(40, 2))
    model = SVC().fit(X, X[:, 0] > 0)
    assert len(model.trace_) == 1
    note = ConvergenceDisplay.from_estimator(model).note_.get_text()
    assert note.startswith(f"Solved in one round: {model.trace_[0].iterations:,} steps, relative gap ")
    assert f"{model.certificate_.dual:.6g}" in note
    several = ConvergenceDisplay.from_estimator(SVC().fit(X, np.arange(40) % 3)).note_.get_text()
    assert several.startswith("3 problems, each solved in one round")
    assert ConvergenceDisplay.from_estimator(machine).note_ is None
    assert ConvergenceDisplay.from_estimators({"small": model, "linear": machine}).note_ is None
