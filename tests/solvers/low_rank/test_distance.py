"""The distance of a machine over landmarks: exact, and as a bound by rows drawn at random."""

import numpy as np
import pytest

from mercer.kernels import RBF, Laplacian, Polynomial
from mercer.problems.distance import Distance
from mercer.solvers.low_rank import distance
from mercer.solvers.low_rank.basis import Basis
from mercer.solvers.low_rank.distance import (
    ENOUGH,
    PreparedSupport,
    Sample,
    SingleRows,
    by_lengths,
    half_energy,
    left_of_rows,
    log_capital,
    upper_bound,
)

X = np.random.default_rng(0).normal(size=(3000, 4))
KERNEL = RBF(gamma=0.3)
BASIS = Basis(KERNEL, lambda dtype: KERNEL.prepare(X[::30], dtype))
POINTS = KERNEL.prepare(X)


def energy(beta, entries, rng):
    """`half_energy` of the rows that have coefficients."""
    beta = beta.reshape(len(beta), -1)
    some = np.flatnonzero(beta.any(axis=1))
    points = POINTS.take(some)
    support = PreparedSupport(KERNEL, points)
    return half_energy(BASIS, support, beta[some], BASIS.weights(points, beta[some]), entries, rng)


def true_value(beta):
    across = KERNEL(X, X[::30])
    spanned = across @ np.linalg.solve(BASIS.factor @ BASIS.factor.T, across.T)
    return 0.5 * float(np.sum(beta * ((KERNEL(X) - spanned) @ beta)))


def coefficients(signs):
    rng = np.random.default_rng(1)
    return np.where(rng.random(3000) < 0.5, rng.random(3000), 0.0) * (signs(X) if signs else 1.0)


@pytest.mark.parametrize("k", [1, 3])
def test_all_rows_give_the_quadratic_form(k):
    beta = np.random.default_rng(1).normal(size=(3000, k))
    value, method, confidence, rows = energy(beta, 1e9, np.random.default_rng(0))
    assert (method, confidence, rows) == ("exact", 1.0, 3000)
    assert value == pytest.approx(true_value(beta), rel=1e-8)


def test_nothing_has_no_distance():
    assert energy(np.zeros(3000), 1e9, np.random.default_rng(0))[0] == 0.0


def test_landmarks_alone_have_a_distance_of_the_jitter():
    beta = np.zeros(3000)
    beta[::30] = 1.0
    assert energy(beta, 1e9, np.random.default_rng(0))[0] < 1e-9


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_what_is_left_of_a_landmark_is_a_share_of_its_kernel_value(factor):
    kernel = factor * KERNEL
    basis = Basis(kernel, lambda dtype: kernel.prepare(X[::30], dtype))
    left = left_of_rows(basis, kernel.prepare(X[:60]), None)
    np.testing.assert_allclose(left[::30], distance.ROUNDING * factor)
    across = kernel(X[:60], X[::30])
    exact = factor - np.einsum("ij,ji->i", across, np.linalg.solve(basis.factor @ basis.factor.T, across.T))
    np.testing.assert_allclose(left, np.maximum(exact, distance.ROUNDING * factor), rtol=1e-5)


@pytest.mark.parametrize("signs", [None, lambda rows: np.sign(np.sin(3 * rows[:, 0]) - rows[:, 1])])
def test_a_sample_is_a_bound_as_often_as_it_says(signs):
    beta = coefficients(signs)
    true, support = true_value(beta), np.count_nonzero(beta)
    found = [energy(beta, 300 * support, np.random.default_rng(seed)) for seed in range(60)]
    assert {method for _, method, _, _ in found} == {"sampled"}
    assert np.mean([value >= true for value, _, _, _ in found]) >= found[0][2]


def test_lengths_alone_are_a_bound():
    beta = coefficients(None)
    assert by_lengths(KERNEL.diag_of(POINTS), beta) >= true_value(beta)


def test_more_rows_give_a_closer_bound():
    beta = coefficients(None)
    true, support = true_value(beta), np.count_nonzero(beta)

    def bound(rows):
        return np.median([energy(beta, rows * support, np.random.default_rng(s))[0] for s in range(9)])

    few, many = bound(200), bound(700)
    assert true <= many < few


def test_a_bound_of_constants_is_little_more_than_they_are():
    assert 1.0 <= upper_bound([Sample(np.ones(100_000), 100_000)], 2.0) <= 1.01


def test_a_bound_is_near_the_mean_of_many_samples():
    # Two thousand of a deviation three times their mean: the normal approximation says 1.11.
    found = [
        upper_bound([Sample(np.random.default_rng(seed).normal(1.0, 3.0, 2000), 2000)], 30.0) for seed in range(30)
    ]
    assert 1.0 < np.mean(found) < 1.35


def test_rare_large_values_are_allowed_for():
    # Once in a thousand times 500: a sample of 400 often meets none, and its mean is then half of the true one.
    rng, total = np.random.default_rng(0), 1000.0
    assert total * np.sqrt(1.0) >= 500.0
    found = [upper_bound([Sample(np.where(rng.random(400) < 0.001, 500.5, 0.5), 400)], total) for _ in range(200)]
    assert np.mean([value >= 1.0 for value in found]) >= 0.95


def test_a_distance_says_how_it_was_found():
    exact = Distance(3.0, 0.03, "exact", 1.0, 100)
    sampled = Distance(3.0, 0.03, "sampled", 0.95, 200)
    assert str(exact) == "distance 3 (relative 3.0e-02), exact"
    assert str(sampled) == "distance at most 3 (relative 3.0e-02), from 200 sampled rows, with confidence 95%"
    assert "lengths alone" in str(Distance(3.0, 0.03, "bounded", 1.0, 0))
    assert float(exact) == 3.0
    assert exact.as_dict()["method"] == "exact"


@pytest.mark.parametrize("factor", [1e-6, 1e4])
def test_a_bound_is_in_the_units_of_its_samples(factor):
    """Samples of a quadratic form that is so many times as large, whose lengths grow as its root."""
    samples = np.random.default_rng(3).exponential(size=1000)
    expected = factor * upper_bound([Sample(samples, 1000)], 30.0)
    assert upper_bound([Sample(factor * samples, 1000)], np.sqrt(factor) * 30.0) == pytest.approx(expected)


def test_a_higher_confidence_is_a_higher_bound():
    samples = np.random.default_rng(3).exponential(size=1000)
    bounds = [upper_bound([Sample(samples, 1000)], 30.0, confidence) for confidence in (0.5, 0.95, 0.999)]
    assert samples.mean() < bounds[0] < bounds[1] < bounds[2] < 30.0**2


def test_lengths_bound_the_norm_of_several_functions_together(rng):
    X, beta = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    K = X @ X.T
    energy = 0.5 * np.sum(beta * (K @ beta))
    bound = by_lengths(K.diagonal(), beta)
    assert bound >= energy
    # One row alone has no other to differ from.
    assert by_lengths(K.diagonal()[:1], beta[:1]) == pytest.approx(0.5 * np.sum(beta[:1] ** 2) * K[0, 0])
    assert by_lengths(K.diagonal(), beta[:, 0]) == pytest.approx(by_lengths(K.diagonal(), beta[:, :1]))
    # A fit that ends before its first step has no row with a coefficient.
    assert by_lengths(K.diagonal()[:0], beta[:0]) == 0.0


def test_the_bound_of_samples_that_are_equal_is_that_of_the_paper():
    """The supposed mean at which the bet multiplies the capital to one over the risk (Waudby-Smith & Ramdas 2023)."""
    total, risk, n = 50.0, 0.05, 300
    q = upper_bound([Sample(np.full(n, 2.0), n)], total, 1.0 - risk)
    assert (1.0 + (q - 2.0) / (total * np.sqrt(q))) ** n == pytest.approx(1.0 / risk)
    assert upper_bound([Sample(np.full(300, 1e9), 300)], 3.0) == 9.0


def test_draws_that_are_not_kept_count_as_zeros():
    values = np.random.default_rng(3).exponential(size=1000)
    kept, all_draws = [Sample(values, 1500)], [Sample(np.append(values, np.zeros(500)), 1500)]
    assert log_capital(kept, 30.0, 2.0) == pytest.approx(log_capital(all_draws, 30.0, 2.0))
    assert upper_bound(kept, 30.0) == pytest.approx(upper_bound(all_draws, 30.0))


def test_a_value_too_large_for_a_mean_refutes_no_larger_one():
    # 30 * sqrt(4) < 70: the mean is at least (70 / 30)^2.
    samples = np.array([0.0, 70.0])
    assert log_capital([Sample(samples, 2000)], 30.0, 4.0) == -np.inf
    assert upper_bound([Sample(samples, 2000)], 30.0) >= (70.0 / 30.0) ** 2


def sample(beta, seed, most, are_read=False, single=None):
    some = np.flatnonzero(beta)
    support = PreparedSupport(KERNEL, POINTS.take(some))
    if single is not None:
        support.single = lambda: single(some)
    support.are_read = are_read
    own = beta[some, None]
    drawn = distance._Draws(BASIS, support, own, BASIS.weights(support.points, own), np.random.default_rng(seed))
    drawn.until_enough(most, None)
    return drawn


def test_the_values_of_draws_have_the_quadratic_form_as_their_mean():
    beta = coefficients(lambda rows: np.sign(np.sin(3 * rows[:, 0]) - rows[:, 1]))
    drawn = [sample(beta, seed, 1000, are_read=True) for seed in range(20)]
    # Where rows are read, one sample is all that is drawn.
    assert all(each.count == 1000 and 0 < len(each.values) < 1000 for each in drawn)
    mean = np.mean([each.values.sum() / each.count for each in drawn])
    assert mean == pytest.approx(2.0 * true_value(beta), rel=0.05)


def test_rows_are_drawn_until_the_bound_is_close():
    beta = coefficients(None)
    drawn = sample(beta, 0, 100_000)
    mean = drawn.values.sum() / drawn.count
    assert 1.25 < drawn.bound() / mean <= ENOUGH
    # As many as that takes, not as many as are allowed.
    assert distance.FEWEST < len(drawn.values) < 10_000
    few = sample(beta, 0, distance.FEWEST)
    assert few.bound() / mean > ENOUGH
    assert len(few.values) <= 1.1 * distance.FEWEST


def test_errors_of_single_precision_leave_the_mean_as_it_is():
    """Rows so far from the true ones that their own quadratic form is another."""
    beta = coefficients(None)
    far = X + np.random.default_rng(5).normal(scale=0.03, size=X.shape)
    prepared = KERNEL.prepare(far.astype(np.float32), np.float32)
    change, true = beta @ ((KERNEL(far) - KERNEL(X)) @ beta), 2.0 * true_value(beta)
    assert abs(change) > 0.5 * true
    drawn = [sample(beta, seed, 1500, single=lambda some: SingleRows(prepared.take(some), 4e-5)) for seed in range(30)]
    assert all(0.0 < each.corrected < distance.WORTH_SINGLE for each in drawn)
    mean = np.mean([each.values.sum() / each.count for each in drawn])
    assert mean == pytest.approx(true, rel=0.2)


def test_single_precision_serves_where_its_errors_are_small():
    beta = coefficients(None)
    prepared = KERNEL.prepare(X, np.float32)

    def drawn(error):
        return sample(beta, 0, 1000, single=lambda some: SingleRows(prepared.take(some), error))

    true, fine, coarse = 2.0 * true_value(beta), drawn(1e-6), drawn(1e-2)
    assert fine.rounded is not None
    assert fine.extra <= 1.5 * distance.LITTLE * fine.total * np.sqrt(true)
    # The largest change of a value by a correction, if all errors of a row add up.
    most = fine.total * 1e-6 * np.abs(beta).sum() / fine.least
    assert (1.0 / fine.corrected - 1.0) * most <= fine.extra * (1.0 + 1e-9)
    assert coarse.rounded is None
    assert coarse.extra == 0.0
    assert fine.bound() == pytest.approx(coarse.bound(), rel=0.2)


def test_what_corrections_may_add_makes_a_bound_larger():
    values = np.random.default_rng(3).exponential(size=1000)
    exact, corrected = [Sample(values, 1000)], [Sample(values, 1000, 5.0)]
    assert upper_bound(exact, 30.0) < upper_bound(corrected, 30.0)
    assert log_capital(corrected, 30.0, 4.0) == pytest.approx(log_capital(exact, 32.5, 4.0))


def test_what_a_sample_has_shown_decides_only_about_later_ones():
    """A bet that depends on what it is about would not be fair."""
    drawn = sample(
        coefficients(None), 0, 1000, single=lambda some: SingleRows(KERNEL.prepare(X[some], np.float32), 1e-6)
    )
    first, *later = drawn.samples
    assert (first.draws, first.extra) == (distance.FEWEST, 0.0)
    assert {each.extra for each in later} == {drawn.extra}
    whole = [log_capital([each], drawn.total, 500.0) for each in drawn.samples]
    assert log_capital(drawn.samples, drawn.total, 500.0) == pytest.approx(sum(whole))


def test_rows_are_in_single_precision_where_their_kernel_values_can_be():
    def single(kernel, rows=X):
        return PreparedSupport(kernel, kernel.prepare(rows), 1, lambda dtype: kernel.prepare(rows, dtype)).single()

    found = single(KERNEL)
    norms = np.einsum("ij,ij->i", X, X)
    assert found.points.dtype == np.float32
    assert found.error == pytest.approx(KERNEL.entry_error(norms.max(), np.float32))
    assert single(Laplacian(gamma=0.3)) is None
    assert single(Polynomial(degree=3), 1e6 * X) is None
    assert PreparedSupport(KERNEL, POINTS).single() is None


def test_rows_that_landmarks_describe_are_hardly_ever_looked_at():
    """Rows near landmarks next to some that are far from any."""
    rng = np.random.default_rng(0)
    beta = np.zeros(3000)
    near = np.argsort(np.abs(KERNEL(X, X[::30]).max(axis=1) - 1.0))
    far = near[-100:]
    beta[near[100:700]], beta[far] = 1.0, rng.choice([-1.0, 1.0], 100)
    drawn = sample(beta, 0, 1000, are_read=True)
    assert len(drawn.values) < 500
