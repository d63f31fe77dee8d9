import numpy as np
import pytest

from mercer import ParameterError, Perceptron, theory

MARGINS = np.linspace(-6.0, 6.0, 24_001)
LOSSES = theory.LOSSES.values()


def name(loss):
    return loss.name


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_the_formula_is_the_value(loss):
    z = np.linspace(-3.0, 3.0, 13)
    scope = {"max": np.maximum, "min": np.minimum, "exp": np.exp, "log": np.log}
    formula = loss.formula.replace("^", "**").replace("1 if z <= 0 else 0", "(z <= 0) * 1.0")
    expected = eval(formula, scope, {"z": z})  # noqa: S307 - our own table is what is tested
    assert loss.value(z) == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("reach", [0.5, 2.0, 6.0])
def test_the_lipschitz_constant_is_the_steepest_slope(loss, reach):
    z = MARGINS[np.abs(MARGINS) <= reach]
    slopes = np.abs(np.diff(loss.value(z)) / np.diff(z))
    constant = loss.slope(reach)
    if np.isinf(constant):
        assert slopes.max() > 100.0
    else:
        assert constant * 0.995 <= slopes.max() <= constant * (1 + 1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_claim_15_6_in_w(loss, rng):
    rho, B = 2.0, 1.5
    constant = loss.lipschitz(rho, B)
    if np.isinf(constant):
        return
    x = rng.normal(size=(2000, 3))
    x *= rho * rng.uniform(size=(2000, 1)) ** 0.2 / np.linalg.norm(x, axis=1, keepdims=True)
    w, v = (rng.normal(size=(2000, 3)) for _ in range(2))
    w, v = (B * u / np.maximum(B, np.linalg.norm(u, axis=1, keepdims=True)) for u in (w, v))
    change = np.abs(loss.value((w * x).sum(axis=1)) - loss.value((v * x).sum(axis=1)))
    assert (change <= constant * np.linalg.norm(w - v, axis=1) * (1 + 1e-9)).all()


@pytest.mark.parametrize("loss", LOSSES, ids=name)
def test_what_is_said_of_each_is_true(loss):
    values, error = loss.value(MARGINS), theory.LOSSES["zero_one"].value(MARGINS)
    curvature = values[2:] - 2 * values[1:-1] + values[:-2]
    assert loss.is_convex == bool((curvature >= -1e-9).all())
    assert loss.bounds_error == bool((values >= error).all())


def test_the_logistic_loss_in_bits_bounds_the_error():
    bits = theory.LOSSES["logistic"].value(MARGINS) / np.log(2.0)
    assert (bits >= theory.LOSSES["zero_one"].value(MARGINS) - 1e-12).all()


def test_the_ramp_lies_between_error_and_hinge():
    ramp, hinge, error = (theory.LOSSES[key].value(MARGINS) for key in ("ramp", "hinge", "zero_one"))
    assert (error <= ramp).all()
    assert (ramp <= hinge).all()
    assert (ramp <= 1.0).all()


def test_the_perceptrons_loss_is_the_hinge_moved_to_zero():
    """[z]_- of the sources: its gradient is that of the rule, -y x on a mistake, z <= 0, and 0 elsewhere."""
    perceptron, hinge = theory.LOSSES["perceptron"], theory.LOSSES["hinge"]
    assert perceptron.value(MARGINS) == pytest.approx(hinge.value(MARGINS + 1.0))
    assert perceptron.derivative([-2.0, 0.0, 1e-9]).tolist() == [-1.0, -1.0, 0.0]
    # sup_z a z - max(0, -z) is 0 between -1 and 0, and has no bound elsewhere.
    assert perceptron.conjugate(np.array([-1.0, -0.3, 0.0])).tolist() == [0.0, 0.0, 0.0]
    assert np.isinf(perceptron.conjugate(np.array([-1.1, 0.1]))).all()


def test_the_rule_of_the_perceptron_goes_down_its_loss():
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -2.0]]), np.array([1, -1, -1])
    model = Perceptron(shuffle=False, fit_intercept=False, max_iter=100, eta0=0.1).fit(X, y)
    w, steps = np.zeros(2), 0
    while True:
        before = steps
        for x, s in zip(X, y, strict=True):
            slope = theory.LOSSES["perceptron"].derivative(s * (x @ w)) * s * x
            w, steps = w - 0.1 * slope, steps + bool(slope.any())
        if steps == before:
            break
    assert model.coef_[0] == pytest.approx(w)
    assert model.n_updates_[0] == steps


def test_no_norm_is_negative():
    with pytest.raises(ParameterError, match="rho must be a finite, nonnegative number"):
        theory.LOSSES["hinge"].lipschitz(rho=-1.0)
    with pytest.raises(ParameterError, match="B must not be negative, got nan"):
        theory.LOSSES["hinge"].lipschitz(rho=1.0, B=float("nan"))
    assert theory.LOSSES["zero_one"].lipschitz(rho=0.0) == 0.0
