"""The estimate that chooses the precision must hold, and must not be so loose as to be useless."""

import numpy as np
import pytest

from mercer.kernels import RBF, Custom, Delta, Linear, Matern, Polynomial, Precomputed
from tests.kernels.formulas import FORMULAS

COMBINED = {
    "sum": FORMULAS["rbf"][0] + FORMULAS["polynomial"][0],
    "product": FORMULAS["linear"][0] * FORMULAS["polynomial"][0],
    "scaled": 3.0 * FORMULAS["polynomial"][0],
    "power": FORMULAS["linear"][0] ** 3,
    "root": FORMULAS["rbf"][0] ** 0.5,
    "normalised": FORMULAS["polynomial"][0].normalized(),
    "centred": FORMULAS["rbf"][0].centered(),
}
KERNELS = {name: kernel for name, (kernel, _) in FORMULAS.items() if name != "delta"} | COMBINED


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(3).exponential(size=(60, 20))


@pytest.mark.parametrize("name", KERNELS)
def test_single_precision_errs_less_than_estimated(name, rows):
    kernel = KERNELS[name].bind(rows)
    exact = kernel(rows, rows)
    single = np.empty((60, 60), np.float32)
    # Straight tiles: neither the centring nor the exact diagonal of a call.
    prepared = kernel.prepare(rows, np.float32)
    kernel.tile(prepared, prepared, single, 0, 0)
    error = np.abs(single - exact).max()
    estimate = kernel.entry_error((rows**2).sum(axis=1).max(), np.float32)
    assert error <= estimate
    assert estimate <= 1000 * error + 1e-5


@pytest.mark.parametrize("name", KERNELS)
def test_double_precision_is_as_much_better_as_its_epsilon(name, rows):
    kernel = KERNELS[name].bind(rows)
    estimates = [kernel.entry_error(10.0, dtype) for dtype in (np.float32, np.float64)]
    assert 0 <= estimates[1] <= 1e-3 * estimates[0]
    assert estimates[0] > 0 or name == "polynomial-0"


def test_the_gaussian_estimate_grows_with_gamma_and_norm():
    def estimate(gamma, norm):
        return RBF(gamma).entry_error(norm, np.float32)

    assert estimate(1.0, 100.0) == pytest.approx(np.finfo(np.float32).eps * 402.0)
    assert estimate(2.0, 100.0) > estimate(1.0, 100.0) > estimate(1.0, 50.0)


def test_the_roughest_matern_needs_double_precision_near_zero():
    rough, smooth = (Matern(nu).entry_error(10.0, np.float32) for nu in (0.5, 1.5))
    assert rough > 100 * smooth


def test_delta_needs_the_precision_of_the_rows():
    assert Delta().entry_error(1.0, np.float32) == 1.0
    assert Delta().entry_error(1.0, np.float64) == 0.0


def test_what_is_given_as_values_is_only_rounded():
    for kernel in (Precomputed(), Custom(lambda X, Y: X @ Y.T)):
        assert kernel.entry_error(5.0, np.float32) == pytest.approx(5.0 * np.finfo(np.float32).eps)
        assert kernel.entry_bound(5.0) == 5.0


def test_bounds_of_combinations_follow_their_parts():
    linear, cubic = Linear(), Polynomial(3, 1.0, 1.0)
    assert (linear + cubic).entry_bound(2.0) == 2.0 + 27.0
    assert (linear * cubic).entry_bound(2.0) == 2.0 * 27.0
    assert (3.0 * cubic).entry_bound(2.0) == 81.0
    assert (linear**3).entry_bound(2.0) == 8.0
    assert cubic.normalized().entry_bound(2.0) == 1.0
