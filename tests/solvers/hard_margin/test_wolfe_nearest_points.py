"""Nearest points of hulls: from coordinates and from kernel values, ordinary and degenerate."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer import Status
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.hard_margin import HardMargin
from mercer.solvers.hard_margin.cholesky_corral import KernelCorral
from mercer.solvers.hard_margin.qr_corral import FeatureCorral
from mercer.solvers.hard_margin.solve import Overlap, Separation, separate_features, separate_matrix
from mercer.solvers.hard_margin.wolfe_nearest_points import PATIENCE, _Search, nearest_points
from mercer.solvers.limits import Limits
from mercer.solvers.tolerances import ended_by_rounding

BIASES = ["free", "penalized", "none"]


def two_blobs(rng, n=60, d=3, gap=1.0):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, 0] = y * (gap + np.abs(X[:, 0]))
    return X, y


def corral_of(kind, X, y):
    groups = (y > 0).astype(np.intp)
    if kind == "features":
        return FeatureCorral(y[:, None] * X, groups)
    if kind == "sparse features":
        return FeatureCorral(sparse.csr_array(y[:, None] * X), groups)
    return KernelCorral(StoredMatrix.of(X @ X.T), y, groups)


@pytest.mark.parametrize("kind", ["features", "sparse features", "kernel"])
def test_every_kind_of_corral_finds_the_same_points(kind, rng):
    X, y = two_blobs(rng)
    found = nearest_points(corral_of(kind, X, y), Limits())
    weights = np.zeros(len(y))
    weights[found.members] = found.weights
    assert found.status is Status.OPTIMAL
    assert weights[y > 0].sum() == pytest.approx(1.0, abs=1e-13)
    assert weights[y < 0].sum() == pytest.approx(1.0, abs=1e-13)
    z = (y * weights) @ X
    assert found.square == pytest.approx(z @ z, rel=1e-10)
    # No point of either hull is nearer: the variational inequality, for every vertex.
    for sign in (1.0, -1.0):
        scores = (y * (X @ z))[y == sign]
        assert scores.min() >= scores[weights[y == sign] > 0].max() - 1e-10
    reference = nearest_points(corral_of("features", X, y), Limits())
    assert found.square == pytest.approx(reference.square, rel=1e-10)


def test_each_round_shortens_the_distance(rng):
    X, y = two_blobs(rng, n=400, d=8, gap=0.01)
    found = nearest_points(corral_of("features", X, y), Limits())
    duals = [point.dual for point in found.trace]
    assert len(duals) > 10
    assert all(later > earlier for earlier, later in itertools.pairwise(duals))


def test_the_factor_survives_many_points_that_come_and_go(rng):
    """A kernel corral after hundreds of removals still solves its members' system."""
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1.0, 1.0, -1.0)
    K = RBF(0.3)(X)
    corral = KernelCorral(StoredMatrix.of(K), y, (y > 0).astype(np.intp))
    found = nearest_points(corral, Limits())
    assert found.iterations > len(found.members)  # some have left
    s = len(corral.members)
    gram = (y[:, None] * K * y)[np.ix_(corral.members, corral.members)]
    gram += corral._weight * (corral.groups[corral.members][:, None] == corral.groups[corral.members])
    np.testing.assert_allclose(np.tril(corral._factor[:s, :s]) @ np.tril(corral._factor[:s, :s]).T, gram, atol=1e-12)


def separation(X, y, bias, by):
    problem = HardMargin(y, bias)
    if by == "features":
        return separate_features(problem, X, Limits(), 1e-6)
    return separate_matrix(problem, StoredMatrix.of(X @ X.T), Limits(), 1e-6, 2**30)


@pytest.mark.parametrize("by", ["features", "matrix"])
@pytest.mark.parametrize("bias", BIASES)
def test_every_point_is_at_least_the_margin_away(bias, by, rng):
    X, y = two_blobs(rng, n=200, d=5)
    found = separation(X, y, bias, by)
    assert isinstance(found, Separation)
    w = found.beta @ X
    values = y * (X @ w + found.bias)
    assert values.min() == pytest.approx(1.0, abs=1e-9)
    assert values[found.beta != 0] == pytest.approx(1.0, abs=1e-9)
    length = np.sqrt(w @ w + (found.bias**2 if bias == "penalized" else 0.0))
    assert found.margin == pytest.approx(1.0 / length, rel=1e-10)
    assert (y * found.beta >= 0).all()
    np.testing.assert_allclose(found.gradient, y - X @ w, atol=1e-9)


def degenerate(seed):
    """Points on a grid, some moved a little, in columns of very different sizes; labels by a plane."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(4, 40)), int(rng.integers(1, 6)), seed % 4
    X = rng.integers(-3, 4, size=(n, d)).astype(float)
    values = X @ (rng.normal(size=d) if kind else rng.integers(-2, 3, size=d))
    y = np.where(values > (np.median(values) if kind == 3 else 0.0), 1.0, -1.0)
    y[:2] = -1.0, 1.0
    if kind == 1:
        X += rng.choice([1e-4, 1e-8, 1e-12]) * rng.normal(size=X.shape)
    if kind == 2:
        X *= 10.0 ** rng.integers(-6, 6, size=d)
    return X + rng.choice([0.0, 1e3]), y


def assert_decided(X, y, bias, found):
    """Either positive margins for all to see, or a common point for all to see."""
    if isinstance(found, Overlap):
        points = np.hstack([X, np.ones((len(X), 1))]) if bias == "penalized" else X
        if bias == "free":
            points = points - points[found.members[0]]
        meeting = (y[found.members] * found.weights) @ points[found.members]
        assert np.linalg.norm(meeting) <= 1e-8 * found.radius
        assert (found.weights > 0).all()
        sides = [y > 0, y < 0] if bias == "free" else [np.ones(len(y), bool)]
        for side in sides:
            assert found.weights[side[found.members]].sum() == pytest.approx(1.0, abs=1e-13)
    else:
        assert (y * (X @ found.normal + found.bias)).min() > 0.5


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2000), marks=pytest.mark.slow)])
def test_degenerate_data_are_decided_with_something_to_show(bias, seeds):
    outcomes = set()
    for seed in seeds:
        X, y = degenerate(seed)
        found = separate_features(HardMargin(y, bias), X, Limits(), 1e-6)
        assert_decided(X, y, bias, found)
        outcomes.add(type(found))
    assert outcomes == {Overlap, Separation}


@pytest.mark.parametrize("margin", [1e-3, 1e-6, 1e-9, 1e-11])
def test_a_margin_far_below_the_square_root_of_rounding_is_found(margin):
    X = np.array([[1.0, -margin], [-1.0, -margin], [0.3, margin], [-0.8, margin]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    found = separate_features(HardMargin(y), X, Limits(), 1e-6)
    assert found.margin == pytest.approx(margin, rel=1e-4)
    assert (y * (X @ found.normal + found.bias)).min() > 0.99


def test_hulls_that_touch_in_one_point_meet():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    found = separate_features(HardMargin(np.array([-1.0, -1.0, 1.0, 1.0])), X, Limits(), 1e-6)
    assert isinstance(found, Overlap)
    assert dict(zip(found.members.tolist(), found.weights.tolist(), strict=True)) == pytest.approx(
        {0: 0.5, 1: 0.5, 2: 1.0}
    )


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_units_do_not_matter(scale, rng):
    X, y = two_blobs(rng)
    plain, scaled = (separate_features(HardMargin(y), s * X, Limits(), 1e-6) for s in (1.0, scale))
    assert scaled.margin / scale == pytest.approx(plain.margin, rel=1e-12)
    np.testing.assert_allclose(scaled.normal * scale, plain.normal, rtol=1e-9)


def test_a_common_point_has_no_more_rows_than_it_needs(rng):
    """Caratheodory: d + 2 points are enough."""
    X = rng.normal(size=(3000, 6))
    y = np.where(rng.normal(size=3000) > 0, 1.0, -1.0)
    found = separate_features(HardMargin(y), X, Limits(), 1e-6)
    assert isinstance(found, Overlap)
    assert len(found.members) <= 8


@pytest.mark.parametrize("status", [Status.ITERATION_LIMIT, Status.INTERRUPTED, Status.TIME_LIMIT])
def test_limits_end_the_search_with_what_there_is(status, rng):
    X, y = two_blobs(rng, n=500, d=20, gap=0.01)
    limits = {
        Status.ITERATION_LIMIT: Limits(max_iter=3),
        Status.INTERRUPTED: Limits(callbacks=[lambda point: point.iterations >= 3]),
        Status.TIME_LIMIT: Limits(time_limit=1e-9),
    }[status]
    found = separate_features(HardMargin(y), X, limits, 1e-6)
    assert found.status is status
    assert np.isfinite(found.beta).all()
    assert abs(found.beta.sum()) <= 1e-12 * np.abs(found.beta).sum()


def test_memory_for_few_rows_ends_the_search(rng):
    X = rng.normal(size=(600, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1.0, 1.0, -1.0)
    found = separate_matrix(HardMargin(y), StoredMatrix.of(RBF(5.0)(X)), Limits(), 1e-6, memory=8 * 600 * 10)
    assert found.status is Status.MEMORY_LIMIT
    assert np.count_nonzero(found.beta) <= 10


def test_rounds_that_find_nothing_shorter_end_by_rounding(rng):
    search = _Search(corral_of("features", *two_blobs(rng)), Limits(), 1e-12)
    search.corral.start([0, 1])
    assert search._ending(1e-3, 1.0, 0, PATIENCE) is None
    assert search._ending(1e-7, 1.0, 0, PATIENCE + 1) is Status.OPTIMAL_INACCURATE
    assert search._ending(0.5, 1.0, 0, PATIENCE + 1) is Status.STALLED
    assert search._ending(0.0, 1.0, 0, 0) is Status.OPTIMAL


@pytest.mark.parametrize("most", [0, 1, 2])
def test_rounds_are_limited_and_counted(most, rng):
    found = nearest_points(corral_of("features", *two_blobs(rng, n=200, d=8, gap=0.01)), Limits(max_iter=most))
    assert found.status is Status.ITERATION_LIMIT
    assert found.iterations == most
    assert len(found.trace) == most + 1


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_coordinates_of_any_size_are_separated_alike(size, rng):
    """Classes that touch up to rounding overlap, and those that are a little apart do not, in whatever unit."""
    X, y = two_blobs(rng, n=40, gap=1e-3)
    K = size**2 * (X @ X.T)
    found = separate_matrix(HardMargin(y), StoredMatrix.of(K), Limits(), 1e-6, 2**30)
    assert isinstance(found, Separation)
    assert found.margin == pytest.approx(size * separate_features(HardMargin(y), X, Limits(), 1e-6).margin, rel=1e-4)


def test_where_no_point_can_be_added_rounding_is_said_to_have_ended_it(rng):
    X, y = two_blobs(rng)
    for violation, status in ((1e-9, Status.OPTIMAL_INACCURATE), (0.5, Status.STALLED)):
        corral = corral_of("features", X, y)
        search = _Search(corral, Limits(), 1e-12)
        corral.start([int(group[0]) for group in search.groups])
        weights = corral.minimiser()
        scores, _ = corral.scores(weights)
        corral.add = lambda _: False
        found, ended = search._improve(weights, scores, violation)
        assert ended is ended_by_rounding(violation) is status
        np.testing.assert_array_equal(found, weights)
