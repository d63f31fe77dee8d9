import numpy as np
import pytest

from mercer import ParameterError
from mercer.problems.losses.margin_losses import MARGIN_LOSSES, Hinge, PerceptronLoss, Ramp, SquaredHinge, ZeroOne

MARGINS = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])


def test_hinge_is_what_is_missing_to_the_margin():
    np.testing.assert_array_equal(Hinge.value(MARGINS), [2.0, 1.0, 0.5, 0.0, 0.0])


def test_squared_hinge_is_its_square():
    np.testing.assert_array_equal(SquaredHinge.value(MARGINS), [4.0, 1.0, 0.25, 0.0, 0.0])


def test_names_lead_to_losses():
    assert {name: loss.name for name, loss in MARGIN_LOSSES.items()} == {name: name for name in MARGIN_LOSSES}


@pytest.mark.parametrize("loss", MARGIN_LOSSES.values())
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.0])
def test_box_and_ridge_are_those_of_the_conjugate(loss, alpha):
    """The dual pays max over slack s of α s - C loss: α² r / 2 inside the box, no bound outside."""
    C = np.array([1.5])
    slack = np.linspace(-5.0, 50.0, 550_001)
    best = np.max(alpha * slack - C[0] * loss.value(1.0 - slack))
    ridge = loss.ridge(C)
    if alpha <= loss.box(C)[0]:
        assert best == pytest.approx(0.0 if ridge is None else 0.5 * ridge[0] * alpha**2, abs=1e-6)
    else:
        assert best > 10.0


def test_an_infinite_weight_leaves_no_ridge():
    np.testing.assert_array_equal(SquaredHinge().ridge(np.array([np.inf, 2.0])), [0.0, 0.25])


def test_the_error_itself():
    np.testing.assert_array_equal(ZeroOne.value(MARGINS), [1.0, 1.0, 0.0, 0.0, 0.0])


def test_the_loss_of_the_perceptron_is_how_far_a_point_is_on_the_wrong_side():
    np.testing.assert_array_equal(PerceptronLoss.value(MARGINS), [1.0, 0.0, 0.0, 0.0, 0.0])
    # On the boundary the rule makes a step.
    np.testing.assert_array_equal(PerceptronLoss.derivative(MARGINS), [-1.0, -1.0, 0.0, 0.0, 0.0])


def test_lipschitz_constants_over_a_ball():
    """rho times the steepest slope over margins of size rho B at most."""
    assert ZeroOne().lipschitz() == np.inf
    assert (Hinge().lipschitz(), Hinge().lipschitz(rho=3.0), Hinge().lipschitz(rho=0.5, B=2.0)) == (1.0, 3.0, 0.5)
    # The slope of (1 - z)^2 at z = -6 is 14.
    assert SquaredHinge().lipschitz(rho=3.0, B=2.0) == 3.0 * 14.0
    assert SquaredHinge().lipschitz(rho=2.0, B=0.0) == 4.0
    # Without features there is no slope, even of a loss that is as steep as one likes.
    assert SquaredHinge().lipschitz(rho=0.0) == 0.0


@pytest.mark.parametrize("arguments", [{"rho": -0.1}, {"rho": np.inf}, {"rho": True}, {"rho": "1"}, {"B": -1.0}])
def test_balls_that_are_none(arguments):
    with pytest.raises(ParameterError, match="negative"):
        Hinge().lipschitz(**arguments)


def test_the_ramp_of_all_margins_is_a_hinge_that_stops_at_one():
    np.testing.assert_array_equal(Ramp.value(MARGINS), [1.0, 1.0, 0.5, 0.0, 0.0])
