"""A linear machine over blocks has the numbers of the same machine in memory, and of formulas written out."""

import numpy as np
import pytest

from mercer import ParameterError
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import view_rows
from mercer.problems.linear.block_machine import BlockMachine
from mercer.problems.linear.machine import LinearMargin, LinearTube

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 4))
SIGNS = np.where(X[:, 0] + RNG.normal(size=30) > 0, 1.0, -1.0)
NUMBERS = X[:, 1] + 0.3 * RNG.normal(size=30)
C = RNG.uniform(0.5, 2.0, size=30)
W, BIAS = RNG.normal(size=4), 0.7
SCALES = {"free": 1.0, "penalized": 2.0, "none": 1.0}


def inside(dual):
    """Coefficients within a box, whatever it is."""
    share = np.random.default_rng(6).uniform(0.1, 0.9, size=len(dual))
    lower, upper = np.maximum(dual.lower, -3.0), np.minimum(dual.upper, 3.0)
    beta = lower + share * (upper - lower)
    return beta - beta.mean() if dual.has_equality and np.isinf(dual.upper).all() else beta


def assert_same_certificate(machine, problem):
    dual = machine.rows(slice(None)).dual(machine.constant, machine.is_free)
    beta = inside(dual)
    bias = 0.0 if machine.bias == "none" else BIAS
    found = machine.certificate(W, bias, X @ W + bias, beta, X.T @ beta)
    expected = problem.certificate(RowProducts(view_rows(X), X.shape[1]), W, bias, beta)
    for name, value in expected.as_dict().items():
        if name != "basis":
            assert found.as_dict()[name] == pytest.approx(value, rel=1e-10, abs=1e-10), name


@pytest.mark.parametrize("bias", SCALES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margins_have_the_certificate_of_the_machine_in_memory(loss, bias):
    machine = BlockMachine(SIGNS, C, loss, bias=bias, scale=SCALES[bias])
    assert_same_certificate(machine, LinearMargin(SIGNS, C, loss, bias, SCALES[bias]))


@pytest.mark.parametrize("bias", SCALES)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_tubes_have_the_certificate_of_the_machine_in_memory(loss, bias):
    machine = BlockMachine(NUMBERS, C, loss, 0.2, bias, SCALES[bias])
    assert_same_certificate(machine, LinearTube(NUMBERS, C, loss, bias, SCALES[bias], epsilon=0.2))


@pytest.mark.parametrize("bias", SCALES)
def test_logistic_regression_written_out(bias):
    machine = BlockMachine(SIGNS, C, "logistic", bias=bias, scale=SCALES[bias])
    b = 0.0 if bias == "none" else BIAS
    share = np.random.default_rng(7).uniform(0.1, 0.9, size=30)
    beta, values = SIGNS * C * share, X @ W + b
    found = machine.certificate(W, b, values, beta, X.T @ beta)
    penalty = 0.5 * (W @ W + ((b / 2.0) ** 2 if bias == "penalized" else 0.0))
    primal = penalty + C @ np.log1p(np.exp(-SIGNS * values))
    entropy = -C @ (share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    square = 0.0 if bias == "free" else (machine.constant * beta.sum()) ** 2
    dual = entropy - 0.5 * (np.sum((X.T @ beta) ** 2) + square)
    assert (found.primal, found.dual) == pytest.approx((primal, dual), rel=1e-12)
    asked = SIGNS * C / (1.0 + np.exp(SIGNS * values))
    assert found.kkt_violation == pytest.approx(np.abs((beta - asked) / C).max(), rel=1e-12)
    response, slope = machine.rows(slice(None)).smooth_response(values)
    np.testing.assert_allclose(response, asked, rtol=1e-12)
    p = 1.0 / (1.0 + np.exp(-values))
    np.testing.assert_allclose(slope, C * p * (1.0 - p), rtol=1e-10)


def test_least_squares_have_no_box():
    dual = BlockMachine(NUMBERS, C, "squared", bias="none").rows(slice(None)).dual(0.0, False)
    rows = BlockMachine(NUMBERS, C, "squared", bias="none").rows(slice(3, 9))
    np.testing.assert_array_equal(rows.targets, NUMBERS[3:9])
    np.testing.assert_array_equal(rows.weights, C[3:9])
    assert (dual.upper > 1e10).all()
    assert (dual.lower < -1e10).all()
    np.testing.assert_array_equal(dual.linear, NUMBERS)
    assert rows.risk(NUMBERS[3:9]) == 0.0
    assert rows.risk(NUMBERS[3:9] + 2.0) == pytest.approx(C[3:9] @ rows.loss.value(np.full(6, 2.0)))


@pytest.mark.parametrize(("bias", "constant"), [("free", 1.0), ("penalized", 3.0), ("none", 0.0)])
def test_the_constant_feature(bias, constant):
    machine = BlockMachine(SIGNS, 1.0, "hinge", bias=bias, scale=3.0)
    assert machine.constant == constant
    assert machine.is_free == (bias == "free")
    with pytest.raises(ParameterError, match="bias must be 'free', 'penalized' or 'none', got 'fixed'"):
        BlockMachine(SIGNS, 1.0, "hinge", bias="fixed")


def test_rows_of_a_sample_stand_for_all():
    places = np.array([1, 4, 7])
    for weights in (2.0, C):
        found = BlockMachine(SIGNS, weights, "hinge").sample(places)
        np.testing.assert_array_equal(found.targets, SIGNS[places])
        expected = np.broadcast_to(weights, 30)[places] * 30 / 3
        np.testing.assert_allclose(found.rows(slice(None)).weights, expected)
    none = BlockMachine(SIGNS, 1.0, "hinge").sample(places[:0])
    assert len(none.targets) == 0


def test_rows_without_weight_have_no_room_to_move_in():
    weights = np.where(np.arange(30) < 3, 0.0, C)
    for loss in ("hinge", "squared_hinge", "logistic"):
        rows = BlockMachine(SIGNS, weights, loss).rows(slice(None))
        dual = rows.dual(1.0, False)
        assert (dual.lower[:3] == 0.0).all()
        assert (dual.upper[:3] == 0.0).all()
        assert (np.maximum(dual.upper, -dual.lower)[3:] > 0.0).all()
        assert np.isfinite(dual.ridge).all()
    beta = np.where(np.arange(30) < 3, 0.0, 0.5 * SIGNS * C)
    assert np.isfinite(BlockMachine(SIGNS, weights, "logistic").rows(slice(None)).separable(beta)).all()
