import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.problems.svm.rank import NARROWER, Ranking
from mercer.problems.svm.rank_pairs import GivenPairs, GradedPairs


def listed(y, queries):
    """All pairs, one by one."""
    n = len(y)
    found = [(i, j) for i in range(n) for j in range(n) if queries[i] == queries[j] and y[i] > y[j]]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@st.composite
def rankings(draw):
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y, queries = rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n)
    # Halves, so that ties and pairs exactly at the margin occur.
    return y, queries, rng.integers(-6, 7, n) / 4.0, rng.uniform(0.5, 2.0, n)


@settings(max_examples=500, deadline=None)
@given(rankings(), st.sampled_from([1.0, 0.0, np.inf]))
def test_sums_are_those_over_a_list_of_pairs(ranking, margin):
    y, queries, f, u = ranking
    pairs = listed(y, queries)
    values = np.column_stack([u, f])
    for ours, theirs in zip(
        GradedPairs(y, queries).active(f, margin).sums(values),
        GivenPairs(pairs[:, 0], pairs[:, 1]).active(f, margin).sums(values),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(rankings())
def test_losses_and_derivatives_are_those_of_the_pairs(ranking):
    y, queries, f, u = ranking
    f = f + np.random.default_rng(0).normal(scale=0.01, size=len(f))  # away from the kinks
    pairs = listed(y, queries)
    problem = Ranking(GradedPairs(y, queries), 1.5, u)
    short = np.maximum(0.0, 1.0 - (f[pairs[:, 0]] - f[pairs[:, 1]]))
    both = u[pairs[:, 0]] * u[pairs[:, 1]]
    point = problem.at(f)
    np.testing.assert_allclose(point.risk, 1.5 * float(both @ short**2), atol=1e-9)
    np.testing.assert_allclose(point.total, 3.0 * float(both @ short), atol=1e-9)
    response = np.zeros(len(f))
    np.add.at(response, pairs[:, 0], 3.0 * both * short)
    np.add.at(response, pairs[:, 1], -3.0 * both * short)
    np.testing.assert_allclose(point.response, response, atol=1e-9)
    v = np.random.default_rng(1).normal(size=len(f))
    differences = (problem.at(f + 1e-7 * v).response - problem.at(f - 1e-7 * v).response) / 2e-7
    np.testing.assert_allclose(point.curved(v), -differences, atol=1e-4)


@pytest.mark.parametrize("heavy", [1.0, 1e6])
def test_squares_of_pairs_that_fall_short_by_little_keep_their_digits(heavy, rng):
    """Sums of weights and of values cancel to nothing there; a list of the pairs does not need them."""
    y = np.repeat(np.arange(40.0), 3)
    f = y * (1.0 - 1e-7) + 1e-9 * rng.normal(size=120) + 300.0
    u = np.where(rng.random(120) < 0.5, heavy, 1e-6)
    queries = np.arange(120) % 2
    pairs = listed(y, queries)
    graded = Ranking(GradedPairs(y, queries), 10.0, u).at(f)
    one_by_one = Ranking(GivenPairs(pairs[:, 0], pairs[:, 1]), 10.0, u).at(f)
    exact = f.astype(np.longdouble)
    exact -= f.mean()
    short = np.maximum(0, 1 - (exact[pairs[:, 0]] - exact[pairs[:, 1]]))
    wanted = float((10.0 * u[pairs[:, 0]] * u[pairs[:, 1]] * short**2).sum())
    for point in (graded, one_by_one):
        assert point.risk == pytest.approx(wanted, rel=1e-5)  # values are known to 3e-14, and fall short by 1e-7


def test_concordance():
    y, queries = np.array([2.0, 1.0, 0.0, 5.0]), np.array([0, 0, 0, 1])
    problem = Ranking(GradedPairs(y, queries), 1.0, np.ones(4))
    assert problem.n_pairs == 3
    assert problem.concordance(np.array([3.0, 2.0, 1.0, 0.0])) == 1.0
    assert problem.concordance(np.array([1.0, 1.0, 0.0, 0.0])) == pytest.approx(5 / 6)
    assert problem.concordance(np.array([0.0, 1.0, 2.0, 0.0])) == 0.0


def test_entries_of_a_certificate(rng):
    X = rng.normal(size=(6, 2))
    y, weights = np.array([2.0, 0.0, 1.0, 1.0, 0.0, 3.0]), np.ones(6)
    problem = Ranking(GradedPairs(y, np.zeros(6, dtype=np.int64)), 1.5, weights)
    beta = np.array([0.5, -0.25, 0.0, 0.0, -0.5, 0.5])
    K = X @ X.T
    found = problem.certificate(beta, K @ beta, 0.0, lambda values: K @ values)
    assert (found.n_free, found.n_bounded, found.n_zero) == (4, 0, 2)
    assert (found.equality_residual, found.box_violation) == (0.25, 0.0)
    pairs = listed(y, np.zeros(6))
    f = K @ beta
    short = np.maximum(0.0, 1.0 - (f[pairs[:, 0]] - f[pairs[:, 1]]))
    assert found.primal >= found.dual
    assert found.primal == pytest.approx(0.5 * beta @ f + 1.5 * np.sum(short**2))
    assert found.gap == pytest.approx(found.primal - found.dual)


@pytest.mark.parametrize("width", [0.5, 0.01])
def test_a_rounded_hinge_is_a_square_near_its_corner_and_a_line_beyond(width, rng):
    y, queries, u = rng.integers(0, 4, 20).astype(float), rng.integers(0, 2, 20), rng.uniform(0.5, 2.0, 20)
    f, pairs, C = rng.normal(size=20), listed(y, queries), 1.5
    point = Ranking(GradedPairs(y, queries), C, u, "hinge", width).at(f)
    short = np.maximum(0.0, 1.0 - (f[pairs[:, 0]] - f[pairs[:, 1]]))
    both = C * u[pairs[:, 0]] * u[pairs[:, 1]]
    is_near = short < width
    assert is_near.any() or width < 0.1
    assert (~is_near).any()
    losses = np.where(is_near, short**2 / (2.0 * width), short - 0.5 * width)
    multipliers = both * np.minimum(short / width, 1.0)
    assert point.risk == pytest.approx(float(both @ losses))
    assert point.hinges == pytest.approx(float(both @ short))
    assert point.total == pytest.approx(float(multipliers.sum()))
    response = np.zeros(20)
    np.add.at(response, pairs[:, 0], multipliers)
    np.add.at(response, pairs[:, 1], -multipliers)
    np.testing.assert_allclose(point.response, response, atol=1e-9)
    # The conjugate of the rounded hinge is half of the width times the square of a multiplier's share.
    image = rng.normal(size=20)
    squares = 0.5 * width * float((multipliers**2 / both).sum())
    assert point.dual(image) == pytest.approx(multipliers.sum() - squares - 0.5 * float(response @ image))
    assert point.dual_of_hinge(image) == pytest.approx(multipliers.sum() - 0.5 * float(response @ image))
    v = rng.normal(size=20)
    curvature = np.zeros(20)
    steps = np.where(is_near & (short > 0), both / width, 0.0) * (v[pairs[:, 0]] - v[pairs[:, 1]])
    np.add.at(curvature, pairs[:, 0], steps)
    np.add.at(curvature, pairs[:, 1], -steps)
    np.testing.assert_allclose(point.curved(v), curvature, atol=1e-8)


def test_a_violation_is_the_largest_difference_as_a_share_of_the_largest_coefficient(rng):
    y = np.arange(5.0)
    point = Ranking(GradedPairs(y, np.zeros(5, dtype=np.int64)), 1.0, np.ones(5)).at(0.1 * rng.normal(size=5))
    beta = point.response.copy()
    assert point.violation(beta) == 0.0
    beta[2] += 0.5
    assert point.violation(beta) == pytest.approx(0.5 / max(np.abs(beta).max(), np.abs(point.response).max()))


def test_a_hinge_is_judged_by_the_width_that_its_coefficients_fit(rng):
    X = rng.normal(size=(8, 2))
    K, y = X @ X.T, np.arange(8.0) % 3
    problem = Ranking(GradedPairs(y, np.zeros(8, dtype=np.int64)), 0.7, np.ones(8), "hinge")
    f = 0.3 * rng.normal(size=8)
    narrow = problem.narrowed(NARROWER**3).at(f)
    found = problem.certificate(narrow.response, f, 0.0, lambda values: K @ values)
    assert found.kkt_violation <= 1e-12


def test_a_violation_is_a_share_of_the_largest_coefficient_of_either_side():
    problem = Ranking(GradedPairs(np.array([0.0, 1.0]), np.zeros(2)), 1.0, np.ones(2))
    point = problem.at(np.zeros(2))
    assert point.response.tolist() == [-2.0, 2.0]
    assert point.violation(np.zeros(2)) == 1.0
    assert point.violation(np.array([-8.0, 8.0])) == pytest.approx(0.75)
    assert point.violation(point.response) == 0.0


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_only_differences_matter(loss):
    rng = np.random.default_rng(1)
    y, f = rng.integers(0, 4, 30).astype(float), rng.normal(size=30)
    problem = Ranking(GradedPairs(y, np.zeros(30)), 1.5, np.ones(30), loss)
    near, far = problem.at(f), problem.at((f + 2.0**24) - 0.0)
    assert far.risk == pytest.approx(near.risk, rel=1e-7)
    np.testing.assert_allclose(far.response, near.response, atol=1e-6)
