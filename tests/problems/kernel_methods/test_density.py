"""Densities from kernels: integrals by quadrature, sums by loops, levels and draws by counting."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.spatial.distance import cdist

from mercer import DataError, ParameterError
from mercer.kernels import RBF, Laplacian, Linear, Matern, RationalQuadratic
from mercer.problems.kernel_methods import density


def surface(d, norm=2):
    """Of the unit sphere in the 2-norm; that of the 1-norm is the derivative of its ball's volume, (2 r)^d / d!."""
    return 2.0 * math.pi ** (d / 2) / math.gamma(d / 2) if norm == 2 else 2.0**d / math.gamma(d)


PROFILES = {
    "gaussian": lambda r: math.exp(-0.5 * r * r),
    "exponential": lambda r: math.exp(-r),
    "tophat": lambda r: float(r <= 1),
    "epanechnikov": lambda r: max(0.0, 1 - r * r),
    "linear": lambda r: max(0.0, 1 - r),
    "cosine": lambda r: math.cos(0.5 * math.pi * r) if r <= 1 else 0.0,
}


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("name", density.NAMES)
def test_a_kernel_integrates_to_its_normaliser(name, d):
    kernel = density.kernel_of(name).bind(np.zeros((1, d)))
    profile = PROFILES[name]
    whole = sum(
        integrate.quad(lambda r: profile(r) * r ** (d - 1), *part, limit=200)[0] for part in ((0, 1), (1, 10), (10, 60))
    )
    assert density.log_normalizer(kernel, d) == pytest.approx(math.log(surface(d) * whole), abs=1e-7)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_kernel_of_the_sum_of_differences_has_the_surface_of_that_norm(d):
    kernel = Laplacian(gamma=0.7).bind(np.zeros((1, d)))
    # Its integral is the product of those along the axes.
    assert density.log_normalizer(kernel, d) == pytest.approx(d * math.log(2.0 / 0.7), abs=1e-7)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_tails_are_logarithms_of_the_kernel(nu):
    for kernel in (RBF(gamma=0.3), Matern(nu=nu, length_scale=1.7)):
        bound = kernel.bind(np.zeros((1, 1)))
        tail = density.log_tail(bound)
        r = np.array([0.0, 0.5, 2.0, 9.0])
        assert tail(r**2) == pytest.approx(np.log(bound(np.zeros((1, 1)), r[:, None])[0]), abs=1e-12)
    assert density.log_tail(Matern(nu=0.7).bind(np.zeros((1, 1)))) is None


def test_a_kernel_that_does_not_know_the_distance_has_no_density():
    with pytest.raises(ParameterError, match="depend only on the distance"):
        density.log_normalizer(Linear().bind(np.zeros((1, 2))), 2)


def test_a_kernel_without_a_finite_integral_has_no_density():
    with pytest.raises(ParameterError, match="no finite integral in 4 dimensions"):
        density.log_normalizer(RationalQuadratic(alpha=1.0, length_scale=1.0).bind(np.zeros((1, 4))), 4)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_for_bandwidths_are_those_of_scipy(rule, rng):
    X, weights = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, size=30)
    known = stats.gaussian_kde(X.T, bw_method=rule, weights=weights)
    assert density.bandwidth(rule, weights, 3) == pytest.approx(known.factor)
    assert density.bandwidth(0.25, weights, 2) == 0.25


@pytest.mark.parametrize("leaves_out", [False, True])
def test_sums_too_small_for_a_double_are_worked_out_by_logarithms(leaves_out, rng):
    rows = rng.normal(size=(5, 2))
    points = np.vstack([rows[:1], rows[1:] + 60.0]) if not leaves_out else np.array([0.0, 50.0, 100.0, 150.0, 200.0])
    if leaves_out:
        rows = points = np.column_stack([points, points])
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    kernel = RBF(gamma=0.5).bind(rows)
    own = density.without_one(weights) if leaves_out else None
    factors = np.tile(weights, (5, 1))
    if leaves_out:
        np.fill_diagonal(factors, own)
    sums = (kernel(points, rows) * factors).sum(axis=1)
    found = density.log_sums(sums, kernel, points, rows, weights, own)
    for i in range(5):
        logs = [
            math.log(factors[i, j]) - 0.5 * float(np.sum((points[i] - rows[j]) ** 2))
            for j in range(5)
            if factors[i, j] > 0
        ]
        assert found[i] == pytest.approx(max(logs) + math.log(sum(math.exp(each - max(logs)) for each in logs)))


def test_many_small_sums_are_worked_out_in_parts(rng):
    rows, points = rng.normal(size=(3, 1)), np.linspace(60.0, 90.0, 150)[:, None]
    kernel = RBF(gamma=0.5).bind(rows)
    found = density.log_sums(np.zeros(150), kernel, points, rows, np.ones(3))
    nearest = (points[:, 0] - rows.max()) ** 2
    assert (found >= -0.5 * nearest).all()
    assert (found <= -0.5 * nearest + math.log(3.0)).all()


def test_sums_without_a_known_tail_are_logarithms_as_they_are():
    kernel = density.kernel_of("tophat").bind(np.zeros((1, 1)))
    found = density.log_sums(np.array([0.0, 2.0, -1e-20]), kernel, np.zeros((3, 1)), np.zeros((2, 1)), np.ones(2))
    assert found.tolist() == [-np.inf, math.log(2.0), -np.inf]


@pytest.mark.parametrize("far", [1.0, 1e6])
def test_squared_distances(far, rng):
    points, rows = far * rng.normal(size=(4, 3)), far * rng.normal(size=(6, 3))
    assert density._squared_distances(points, rows) == pytest.approx(cdist(points, rows, "sqeuclidean"), rel=1e-9)
    # Far from the origin, and near each other.
    assert density._squared_distances(points + 1e8, points + 1e8).diagonal() == pytest.approx(np.zeros(4))


def test_distances_of_large_numbers_are_differences():
    points, rows = np.array([[3e4, 0.0], [-3e4, 0.0]]), np.array([[3e4, 1e-3], [-3e4, 0.0]])
    assert density._squared_distances(points, rows)[0, 0] == pytest.approx(1e-6, rel=1e-12)


def test_items_share_a_diagonal_or_are_refused():
    assert density.common_diagonal(np.array([2.0, 2.0 + 1e-7]), "") == 2.0
    for diag in ([2.0, 2.001], [0.0, 0.0], [-1.0, -1.0], [1e-9, -1e-16]):
        with pytest.raises(ParameterError, match="normalise it"):
            density.common_diagonal(np.array(diag), "normalise it")


def test_sums_of_items_may_be_negative_by_rounding_alone():
    assert density.log_of_items(np.array([1.0, -1e-12])).tolist() == [0.0, -np.inf]
    assert density.log_of_items(np.array([math.e, 1.0])) == pytest.approx([1.0, 0.0])
    with pytest.raises(DataError, match="without negative values"):
        density.log_of_items(np.array([1.0, -1e-3]))


def test_one_copy_of_a_row_is_taken_away():
    weights = np.array([3.0, 1.0, 0.5])
    assert density.without_one(weights).tolist() == [2.0, 0.0, 0.0]
    assert np.exp(density.log_mass_without_one(weights)) == pytest.approx([3.5, 3.5, 4.0])
    # Nothing is left of a single row: no density is no density, whatever it is divided by.
    assert density.log_mass_without_one(np.array([1.0])).tolist() == [np.inf]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.99])
def test_at_most_a_share_of_the_weight_lies_below_its_level(share, rng):
    logs, weights = rng.normal(size=40), rng.integers(1, 4, size=40).astype(float)
    level = density.level_of(logs, weights, share, -50.0)
    assert level in logs
    assert weights[logs < level].sum() <= share * weights.sum()
    # The next level up would be too high.
    assert weights[logs <= level].sum() > share * weights.sum()


def test_a_level_where_nobody_is_near_is_just_above_standing_alone():
    logs = np.array([-np.inf, -np.inf, 0.0, 1.0])
    assert density.level_of(logs, np.ones(4), 0.25, -7.0) == pytest.approx(-7.0, abs=1e-6)
    assert density.level_of(logs, np.ones(4), 0.25, -7.0) > -7.0
    assert density.level_of(logs, np.ones(4), 0.5, -7.0) == 0.0
    assert density.level_of(logs, np.ones(4), 1.0, -7.0) == 1.0
    assert density.level_of(logs[:1], np.ones(1), 0.5, -7.0) == -np.inf


def test_draws_have_the_kernels_own_density(rng):
    """Means and second moments: 1 / (2 gamma) an axis for the Gaussian, d / (d + 2) for the ball."""
    gaussian = density.draws(RBF(gamma=2.0).bind(np.zeros((1, 3))), (20_000, 3), rng)
    assert gaussian.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.02)
    assert np.cov(gaussian.T) == pytest.approx(np.eye(3) / 4.0, abs=0.02)
    ball = density.draws(density.kernel_of("tophat").bind(np.zeros((1, 3))), (20_000, 3), rng)
    sizes = np.linalg.norm(ball, axis=1)
    assert sizes.max() <= 1.0
    # A share r^d of the ball is within r.
    assert stats.kstest(sizes**3, "uniform").pvalue > 1e-3
    assert ball.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.02)
    with pytest.raises(ParameterError, match="only"):
        density.draws(density.kernel_of("linear").bind(np.zeros((1, 3))), (2, 3), rng)


def test_a_level_above_all_is_that_of_the_densest():
    assert density.level_of(np.array([1.0, 2.0, 3.0]), np.ones(3), 1.0, 0.0) == 3.0
    assert density.level_of(np.array([-np.inf, -np.inf]), np.ones(2), 0.5, -7.0) > -7.0


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_sums_below_zero_are_refused_in_any_unit(unit):
    with pytest.raises(DataError, match="without negative values"):
        density.log_of_items(unit * np.array([-1e-6, 0.5, 1.0]))
    # What rounding leaves of zero is zero.
    assert density.log_of_items(unit * np.array([-1e-12, 1.0])).tolist() == [-np.inf, np.log(unit)]
