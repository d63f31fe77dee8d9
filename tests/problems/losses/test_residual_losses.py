import numpy as np
import pytest

from mercer import CustomLoss, EpsilonInsensitive, Huber, ParameterError, Pinball
from mercer.problems.losses.margin_losses import Exponential, Hinge, Logistic, Loss, Ramp, SquaredHinge, SquaredMargin
from mercer.problems.losses.residual_losses import CONVEX_LOSSES, Squared, SquaredEpsilonInsensitive, resolve_loss

CUSTOM = CustomLoss(lambda z: np.sqrt(1.0 + z * z) - 1.0, lambda z: z / np.sqrt(1.0 + z * z))
CONVEX = [
    Hinge(),
    SquaredHinge(),
    Logistic(),
    Exponential(),
    SquaredMargin(),
    Squared(),
    Huber(delta=0.7),
    EpsilonInsensitive(epsilon=0.4),
    SquaredEpsilonInsensitive(epsilon=0.4),
    Pinball(quantile=0.3),
    CUSTOM,
]
GRID = np.linspace(-5.0, 5.0, 1001)


def ids(loss):
    return f"{loss.of}-{loss.name}"


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_the_derivative_is_the_slope_of_the_value(loss):
    z, h = GRID + 0.0012345, 1e-6
    slope = (loss.value(z + h) - loss.value(z - h)) / (2.0 * h)
    np.testing.assert_allclose(loss.derivative(z), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", [each for each in CONVEX if hasattr(each, "curvature")], ids=ids)
def test_the_curvature_is_the_slope_of_the_derivative(loss):
    z, h = GRID + 0.0012345, 1e-6
    bend = (loss.derivative(z + h) - loss.derivative(z - h)) / (2.0 * h)
    np.testing.assert_allclose(loss.curvature(z), bend, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_fenchel_and_young(loss):
    """phi(z) + phi*(a) >= a z, with equality where a is the derivative."""
    a = np.linspace(-3.0, 3.0, 61)
    z = GRID[:, None]
    assert (loss.value(z) + loss.conjugate(a) >= a * z - 1e-8).all()
    slopes = loss.derivative(GRID)
    np.testing.assert_allclose(loss.value(GRID) + loss.conjugate(slopes), slopes * GRID, atol=1e-7)


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
def test_the_conjugate_is_a_supremum(loss):
    a = np.array([-0.9, -0.4, -0.1])
    z = np.linspace(-60.0, 60.0, 240_001)
    expected = np.max(a[:, None] * z - loss.value(z), axis=1)
    found = loss.conjugate(a)
    finite = np.isfinite(found)
    np.testing.assert_allclose(found[finite], expected[finite], atol=1e-5)
    # Where it is infinite, the supremum grows with the interval.
    assert (expected[~finite] > 3.0).all()


@pytest.mark.parametrize("loss", CONVEX, ids=ids)
@pytest.mark.parametrize("reach", [0.5, 3.0])
def test_the_lipschitz_constant_is_the_steepest_slope(loss, reach):
    z = np.linspace(-reach, reach, 20_001)
    steepest = np.abs(np.diff(loss.value(z)) / np.diff(z)).max()
    assert steepest == pytest.approx(loss.slope(reach), rel=1e-3, abs=1e-9)


def test_names_and_values_are_losses():
    assert resolve_loss("huber") == Huber()
    assert resolve_loss(CUSTOM) is CUSTOM
    assert {name: each.name for name, each in CONVEX_LOSSES.items()} == {name: name for name in CONVEX_LOSSES}


@pytest.mark.parametrize("loss", ["ramp", "hingee", 3, None, Ramp(), Huber])
def test_other_losses_are_refused(loss):
    with pytest.raises(ParameterError, match="loss must be one of 'hinge'"):
        resolve_loss(loss)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(delta=0.0), "delta must be a positive, finite number, got 0.0"),
        (lambda: Huber(delta=np.nan), "delta must be a positive, finite number, got nan"),
        (lambda: EpsilonInsensitive(epsilon=-0.1), "epsilon must be a finite number, 0 or more, got -0.1"),
        (lambda: Pinball(quantile=1.0), "quantile must be strictly between 0 and 1, got 1.0"),
        (lambda: CustomLoss(np.cos, lambda z: -np.sin(z)), "the loss must be convex, but its derivative falls"),
        (lambda: CustomLoss(np.square, np.copy), "slope_of must be the derivative of function"),
        (lambda: CustomLoss(np.square, 2.0), "slope_of must be a function of an array, got 2.0"),
        (lambda: CustomLoss(np.sum, np.copy), "function must return one number for each z"),
        (lambda: CustomLoss(lambda z: np.nan * z, lambda z: np.nan * z), "function must return numbers, got nan at z"),
        (lambda: CustomLoss(np.square, lambda z: np.nan * z), "slope_of must return numbers, got nan at z = -0"),
        (lambda: CustomLoss(lambda z: z * 0 + np.inf, np.copy), "function must return finite numbers, got none"),
        (lambda: CustomLoss(lambda z: ["a"], np.copy), "function must return one number for each z, got list"),
        (lambda: CustomLoss(np.square, lambda z: 2 * z, second=3), "second must be a function of an array, got 3"),
        (lambda: CustomLoss(np.square, lambda z: 2 * z, second=np.sum), "second must return one number for each z"),
        (lambda: CustomLoss(np.square, lambda z: 2 * z, of="f"), "of must be 'residual' or 'margin', got 'f'"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_tube_of_no_width_is_the_absolute_value():
    np.testing.assert_array_equal(EpsilonInsensitive(epsilon=0.0).value(np.array([-2.0, 0.0, 1.0])), [2.0, 0.0, 1.0])


def test_all_are_losses():
    assert all(isinstance(each, Loss) for each in CONVEX)


def test_a_second_derivative_that_is_given_is_the_curvature_and_never_negative():
    loss = CustomLoss(lambda z: z**2, lambda z: 2.0 * z, second=lambda z: np.where(np.abs(z) < 1.0, 2.0, -1e-9))
    np.testing.assert_array_equal(loss.curvature([0.0, 0.5, 3.0]), [2.0, 2.0, 0.0])


def test_the_slope_at_the_kink_of_a_pinball_is_that_of_too_much():
    assert Pinball(quantile=0.3).derivative(0.0) == 0.7


def test_the_slope_of_any_loss_may_be_anything_unless_it_says_otherwise():
    assert CUSTOM.domain == (-np.inf, np.inf)
    assert CUSTOM.box(np.ones(2)).tolist() == [np.inf, np.inf]


def test_the_curvature_of_any_loss_near_and_far():
    z = np.array([0.0, 1e-9, 1e3])
    np.testing.assert_allclose(CUSTOM.curvature(z), (1.0 + z * z) ** -1.5, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("steepness", [1e-3, 1.0, 1e5])
def test_a_derivative_that_falls_is_seen_in_any_unit(steepness):
    """By more than what rounding of the steepest slope may be, or of 1."""
    CustomLoss(lambda z: steepness * z**2, lambda z: 2.0 * steepness * z)
    with pytest.raises(ParameterError, match="derivative falls near z"):
        CustomLoss(lambda z: steepness * z**2, lambda z: 2.0 * steepness * np.abs(z))
    # A wiggle of a millionth of the steepest slope is rounding.
    CustomLoss(lambda z: steepness * z**2, lambda z: steepness * (2.0 * z + 1e-7 * np.cos(1e4 * z)))


def test_the_slope_of_a_loss_that_is_steeper_on_one_side():
    steep = CustomLoss(lambda z: np.exp(z) - z, lambda z: np.exp(z) - 1.0)
    assert steep.slope(3.0) == pytest.approx(np.exp(3.0) - 1.0)
    turned = CustomLoss(lambda z: np.exp(-z) + z, lambda z: 1.0 - np.exp(-z), of="margin")
    assert turned.slope(3.0) == pytest.approx(np.exp(3.0) - 1.0)
