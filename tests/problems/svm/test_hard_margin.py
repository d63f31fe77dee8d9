"""The hard margin's conversions, and the proof that can be checked."""

import numpy as np
import pytest

from mercer.problems.svm.hard_margin import HardMargin, NotSeparableProof

SQUARE = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR = np.array([-1.0, -1.0, 1.0, 1.0])


def proof(weights=(0.5, 0.5, 0.5, 0.5), features=SQUARE, bias="free", signs=XOR):
    features = np.asarray(features)
    return NotSeparableProof(
        np.arange(len(signs)), np.asarray(weights), signs, bias, features, features @ features.T, radius=1.0
    )


def test_the_diagonals_of_a_square_meet_in_its_middle():
    assert proof().check()
    assert proof().distance == 0.0
    np.testing.assert_array_equal(proof().point, [0.5, 0.5])
    np.testing.assert_array_equal(proof().positive, [2, 3])
    np.testing.assert_array_equal(proof().negative, [0, 1])
    assert str(proof()) == "0.5 x[2] + 0.5 x[3] = 0.5 x[0] + 0.5 x[1] (to 0.0e+00)"


@pytest.mark.parametrize(
    "weights",
    [
        (0.6, 0.4, 0.5, 0.5),  # another point of the hull
        (1.5, -0.5, 0.5, 0.5),  # outside the hull
        (0.5, 0.4, 0.5, 0.4),  # sums of less than one
        (0.5 + 2e-8, 0.5 - 2e-8, 0.5, 0.5),  # close, but not to 1e-8
    ],
)
def test_a_wrong_proof_does_not_pass(weights):
    assert not proof(weights).check()


def test_kernel_values_tell_the_same_distance():
    by_values = NotSeparableProof(
        np.arange(4), np.array([0.75, 0.25, 0.5, 0.5]), XOR, "free", None, SQUARE @ SQUARE.T, 1.0
    )
    assert by_values.distance == pytest.approx(proof((0.75, 0.25, 0.5, 0.5)).distance)
    assert by_values.distance == pytest.approx(np.hypot(0.25, 0.25))
    assert by_values.point is None
    assert by_values.tolerance > proof().tolerance == 1e-8


@pytest.mark.parametrize("with_features", [True, False])
def test_homogeneous_proofs_are_about_the_origin(with_features):
    features = np.array([[1.0, 0.0], [1.0, 0.0]])
    found = NotSeparableProof(
        np.arange(2),
        np.array([0.5, 0.5]),
        np.array([1.0, -1.0]),
        "none",
        features if with_features else None,
        features @ features.T,
        1.0,
    )
    assert found.check()
    # A further feature of value 1 does not help: the labels cancel it too.
    assert NotSeparableProof(**{**vars(found), "bias": "penalized"}).check()
    alone = NotSeparableProof(**{**vars(found), "weights": np.array([1.0, 0.0])})
    assert not alone.check()
    assert alone.distance == pytest.approx(1.0)
    assert NotSeparableProof(**{**vars(alone), "bias": "penalized"}).distance == pytest.approx(np.sqrt(2.0))


def test_certificate_of_the_toy_set(toy):
    X, y = toy
    beta = np.array([-0.5, -0.5, 1.0, 0.0])
    w = beta @ X
    found = HardMargin(y.astype(float)).certificate(beta, X @ w, -1.0, (w @ w, w @ w))
    assert found.primal == found.dual == 1.0
    assert found.kkt_violation == 0.0
    assert (found.n_free, found.n_zero, found.n_bounded) == (3, 1, 0)
    worse = HardMargin(y.astype(float)).certificate(0.9 * beta, 0.9 * X @ w, -0.9, (0.81 * w @ w, 0.81 * w @ w))
    assert worse.dual < 1.0 == pytest.approx(worse.primal)
    assert worse.kkt_violation == pytest.approx(0.1)
    assert worse.relative_gap == pytest.approx(worse.primal - worse.dual)
    wrong = HardMargin(y.astype(float)).certificate(-beta, -X @ w, 1.0, (w @ w, w @ w))
    assert wrong.primal == np.inf
    assert wrong.box_violation == 1.0


def test_a_support_vector_beyond_the_margin_violates_the_conditions(toy):
    X, y = toy
    beta = 1.1 * np.array([-0.5, -0.5, 1.0, 0.0])
    w = beta @ X
    found = HardMargin(y.astype(float)).certificate(beta, X @ w, -1.1, (w @ w, w @ w))
    assert found.kkt_violation == pytest.approx(0.1)


def test_from_the_nearest_points_to_the_margin():
    """z = (1, 0) between the groups, whose lowest products with their signs are 2 and 1: 3 in all, and 1.5 each."""
    problem = HardMargin(np.array([1.0, -1.0, 1.0]))
    lows = np.array([2.0, 1.0])
    scale = problem.scale(1.0, lows)
    assert scale == pytest.approx(2.0 / 3.0)
    assert problem.margin(1.0, lows) == pytest.approx(1.5)
    assert problem.margin(4.0, lows) == pytest.approx(0.75)
    assert problem.margin(0.0, lows) == 0.0
    assert problem.free_bias(lows, scale) == pytest.approx(1.0 / 3.0)
    np.testing.assert_allclose(problem.beta(np.array([0, 1]), np.array([0.5, 0.25]), 2.0), [1.0, -0.5, 0.0])


def twins(weights=(1.0, 1.0), bias="free"):
    features = np.array([[1.0, 2.0], [1.0, 2.0]])
    gram = features @ features.T
    return NotSeparableProof(np.array([7, 9]), np.array(weights), np.array([1.0, -1.0]), bias, features, gram, 1.0)


def test_two_rows_that_are_the_proof_by_themselves_are_named():
    assert twins().twins == (7, 9)
    assert twins(weights=(0.5, 1.0)).twins is None
    assert twins(bias="none").twins is None
    assert str(twins()).startswith("1 x[7] = 1 x[9] (")
    assert str(NotSeparableProof(**{**vars(twins()), "is_exact": False})).startswith("1 x[7] ~ 1 x[9] (")


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_entries_of_a_certificate_with_each_bias(bias):
    """w = 3, b and beta that are no solution: rows 1 and -1 on a line, their margins 3 + b and 3 - b."""
    beta, b = np.array([2.5, -0.5]), 0.5
    found = HardMargin(np.array([1.0, -1.0]), bias).certificate(beta, np.array([3.0, -3.0]), b, (9.0, 9.0))
    lifts = (b**2, 4.0) if bias == "penalized" else (0.0, 0.0)
    assert found.primal == pytest.approx(0.5 * (9.0 + lifts[0]) / 2.5**2)
    assert found.dual == pytest.approx(3.0 - 0.5 * (9.0 + lifts[1]))
    assert found.kkt_violation == pytest.approx(2.5)
    assert found.equality_residual == (2.0 if bias == "free" else 0.0)
    assert (found.box_violation, found.n_free, found.n_bounded, found.n_zero) == (0.0, 2, 0, 0)


@pytest.mark.parametrize(
    ("weights", "holds"),
    [
        ([0.5, 0.5, 0.5, 0.5], True),
        ([0.5, 0.5, 0.25, 0.25], False),  # one class has half of its weight
        ([0.25, 0.25, 0.5, 0.5], False),
        ([1.5, -0.5, 0.5, 0.5], False),  # a weight below zero
    ],
)
def test_both_means_must_be_convex_combinations(weights, holds):
    """The corners of a square, the diagonals of which are the classes; distances are not asked for."""
    corners = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    found = NotSeparableProof(
        np.arange(4), np.array(weights), np.array([1.0, 1.0, -1.0, -1.0]), "free", corners, corners @ corners.T, 1.0
    )
    assert found.check(tol=10.0) == holds


def test_twins_are_the_row_of_either_class_that_is_all_of_its_mean():
    rows, signs = np.array([[0.0, 0.0], [1e-9, 0.0], [3.0, 3.0]]), np.array([-1.0, 1.0, 1.0])
    assert proof((1.0, 1.0, 0.0), rows, signs=signs).twins == (1, 0)
    assert proof((1.0, 0.5, 0.5), rows, signs=signs).twins is None
    assert proof((1.0, 1.0, 0.0), rows, "none", signs).twins is None


def test_without_a_free_bias_the_mean_of_signed_rows_is_the_origin():
    rows, signs = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, -1.0])
    at_origin = proof((0.5, 0.5), rows, "none", signs)
    assert at_origin.check()
    np.testing.assert_array_equal(at_origin.point, [0.0, 0.0])
    assert str(at_origin) == "0.5 x[0] - (0.5 x[1]) = 0 (to 0.0e+00)"
    # With a penalised bias each row has one more coordinate, the label.
    lifted = proof((0.75, 0.25), rows, "penalized", signs)
    assert lifted.distance == pytest.approx(np.hypot(0.5, 0.5))
    by_values = NotSeparableProof(np.arange(2), np.array([0.75, 0.25]), signs, "penalized", None, rows @ rows.T, 1.0)
    assert by_values.distance == pytest.approx(np.hypot(0.5, 0.5))


@pytest.mark.parametrize(("bias", "groups"), [("free", [0, 0, 1, 1]), ("penalized", [0] * 4), ("none", [0] * 4)])
def test_only_a_free_bias_makes_two_groups(bias, groups):
    problem = HardMargin(XOR, bias)
    assert problem.groups.tolist() == groups
    lows = np.array([1.0, 3.0])
    assert problem.free_bias(lows, 2.0) == (-2.0 if bias == "free" else 0.0)


def test_the_scale_of_a_direction_makes_its_nearest_point_a_unit_away():
    assert HardMargin(XOR).scale(9.0, np.array([1.0, 3.0])) == 0.5
    # Of one that does not separate, that of the optimum: 2 / |z|^2.
    assert HardMargin(XOR).scale(9.0, np.array([-4.0, 3.0])) == pytest.approx(2.0 / 9.0)
    assert [HardMargin(XOR, bias).shift for bias in ("free", "penalized", "none")] == [0.0, 1.0, 0.0]


def test_the_point_of_both_hulls_is_in_the_units_of_the_rows():
    np.testing.assert_allclose(proof(features=3.0 * SQUARE).point, [1.5, 1.5])


def test_a_penalised_bias_is_one_more_feature_of_one():
    rng = np.random.default_rng(2)
    X, beta = rng.normal(size=(4, 2)), np.array([-0.3, -0.2, 0.4, 0.6])
    lifted = np.column_stack([X, np.ones(4)])
    w, v = X.T @ beta, lifted.T @ beta
    found = HardMargin(XOR, "penalized").certificate(beta, X @ w, v[2], (w @ w, w @ w))
    plain = HardMargin(XOR, "none").certificate(beta, lifted @ v, 0.0, (v @ v, v @ v))
    assert found.dual == pytest.approx(plain.dual)
    assert found.primal == pytest.approx(plain.primal)
    assert found.equality_residual == 0.0


def test_twins_are_a_pair_that_has_all_the_weight():
    rows = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    assert proof((1.0, 0.0, 1.0, 0.0), rows, signs=signs).twins == (0, 2)
    assert proof((0.5, 0.0, 1.0, 0.5), rows, signs=signs).twins is None
    assert proof((1.0, 0.0, 1.0, 0.0), rows, bias="none", signs=signs).twins is None
