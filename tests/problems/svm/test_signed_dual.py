"""The quadratic program, against dense linear algebra."""

import dataclasses

import numpy as np
import pytest

from mercer import SVR, ParameterError
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.part_of_dual import narrowed
from mercer.problems.svm.signed_dual import DualProblem
from mercer.problems.svm.soft_margin import SoftMargin


@pytest.fixture
def K(rng):
    X = rng.normal(size=(12, 3))
    return X @ X.T


def program(has_equality=True, ridge=False, shift=0.0):
    rng = np.random.default_rng(4)
    signs = np.where(np.arange(12) % 2, 1.0, -1.0)
    return DualProblem(
        linear=signs,
        lower=np.minimum(2.0 * signs, 0.0),
        upper=np.maximum(2.0 * signs, 0.0),
        has_equality=has_equality,
        ridge=rng.uniform(0.1, 1.0, 12) if ridge else None,
        shift=shift,
    )


def hessian(problem, K):
    return K + problem.shift + (0.0 if problem.ridge is None else np.diag(problem.ridge))


@pytest.mark.parametrize("ridge", [False, True])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_gradient_and_objective(ridge, shift, K, rng):
    problem = program(ridge=ridge, shift=shift)
    Q = hessian(problem, K)
    beta = problem.linear * rng.uniform(0.0, 2.0, 12) * (rng.random(12) < 0.6)
    gradient = problem.gradient(StoredMatrix.of(K), beta)
    np.testing.assert_allclose(gradient, problem.linear - Q @ beta, atol=1e-12)
    expected = problem.linear @ beta - 0.5 * beta @ Q @ beta
    assert problem.objective(beta, gradient) == pytest.approx(expected)


def test_the_gradient_at_zero_needs_no_kernel():
    problem = program()
    gradient = problem.gradient(None, np.zeros(12))
    np.testing.assert_array_equal(gradient, problem.linear)
    gradient[0] = 9.0
    assert problem.linear[0] != 9.0


@pytest.mark.parametrize("rows", [None, np.array([0, 3, 4, 11])])
def test_products_with_some_columns_and_rows(rows, K, rng):
    problem = program(ridge=True, shift=1.0)
    columns, change = np.array([3, 4, 7]), rng.normal(size=3)
    found = problem.quadratic_product(StoredMatrix.of(K), columns, change, rows)
    expected = hessian(problem, K)[:, columns] @ change
    np.testing.assert_allclose(found, expected if rows is None else expected[rows], atol=1e-12)


BOX = DualProblem(
    linear=np.array([1.0, 1.0, -1.0, -1.0]),
    lower=np.array([0.0, 0.0, -2.0, -2.0]),
    upper=np.array([2.0, 2.0, 0.0, 0.0]),
)


def test_what_may_rise_and_fall():
    beta = np.array([0.0, 2.0, -2.0, -1.0])
    np.testing.assert_array_equal(BOX.can_rise(beta), [True, False, True, True])
    np.testing.assert_array_equal(BOX.can_fall(beta), [False, True, False, True])


def test_violation_is_the_distance_of_the_maximal_violating_pair():
    beta = np.array([0.0, 2.0, -2.0, -1.0])
    gradient = np.array([0.3, -0.1, 0.2, 0.1])
    assert BOX.extremes(beta, gradient) == (0.3, -0.1)
    assert BOX.violation(beta, gradient) == pytest.approx(0.4)


def test_no_violation_where_the_order_is_right():
    beta = np.array([0.0, 2.0, -2.0, 0.0])
    assert BOX.violation(beta, np.array([-1.0, 1.0, -1.0, 1.0])) == 0.0


def test_without_an_equality_each_coordinate_stands_for_itself():
    problem = DualProblem(BOX.linear, BOX.lower, BOX.upper, has_equality=False)
    beta = np.array([0.0, 2.0, -2.0, -1.0])
    assert problem.violation(beta, np.array([0.3, 0.5, -1.0, 0.1])) == pytest.approx(0.3)
    assert problem.violation(beta, np.array([-0.3, -0.5, -1.0, 0.1])) == pytest.approx(0.5)
    assert problem.bias(beta, np.ones(4)) == 0.0


def test_the_bias_is_the_mean_over_free_points():
    assert BOX.bias(np.array([1.0, 2.0, -1.0, 0.0]), np.array([0.2, 9.0, 0.4, -9.0])) == pytest.approx(0.3)


def test_without_free_points_the_bias_is_in_the_middle_of_what_is_allowed():
    beta = np.array([0.0, 2.0, -2.0, 0.0])
    assert BOX.bias(beta, np.array([-1.0, 0.5, -0.1, 1.0])) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("upper", "lower", "expected"),
    [
        (np.array([1.0, 1.0]), np.zeros(2), 0.7),  # both at zero: may rise only
        (np.zeros(2), np.array([-1.0, -1.0]), 0.2),  # may fall only
    ],
)
def test_a_bias_bounded_on_one_side_takes_that_bound(upper, lower, expected):
    problem = DualProblem(np.ones(2), lower, upper)
    assert problem.bias(np.zeros(2), np.array([0.7, 0.2])) == pytest.approx(expected)


def test_a_point_that_can_do_nothing_fixes_no_bias():
    problem = DualProblem(np.ones(1), np.zeros(1), np.zeros(1))
    assert problem.bias(np.zeros(1), np.array([5.0])) == 0.0


def test_a_start_is_made_feasible(rng):
    for _ in range(50):
        beta = BOX.feasible(rng.normal(size=4) * 3.0)
        assert (beta >= BOX.lower).all()
        assert (beta <= BOX.upper).all()
        assert abs(beta.sum()) <= 1e-15 * np.abs(beta).sum() + 1e-300


def test_a_start_whose_sum_is_off_by_rounding_keeps_its_bounds():
    """Moved alike, coordinates at a bound would leave it, and count as free."""
    off = np.array([2.0, 0.5 + 4e-15, -2.0, -0.5])
    assert off.sum() > 1e-15
    beta = BOX.feasible(off)
    assert abs(beta.sum()) <= 1e-15
    np.testing.assert_array_equal(beta[[0, 2]], [2.0, -2.0])


def test_a_feasible_start_is_left_alone():
    start = np.array([1.0, 0.5, -1.5, 0.0])
    np.testing.assert_array_equal(BOX.feasible(start), start)


def test_without_an_equality_only_the_box_counts():
    problem = DualProblem(BOX.linear, BOX.lower, BOX.upper, has_equality=False)
    np.testing.assert_array_equal(problem.feasible(np.array([5.0, 1.0, -5.0, 1.0])), [2.0, 1.0, -2.0, 0.0])


def test_by_default_the_bias_is_free_and_nothing_is_added():
    assert (BOX.has_equality, BOX.ridge, BOX.shift) == (True, None, 0.0)
    assert len(BOX) == 4


def test_a_program_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BOX.shift = 1.0


@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.7, 0.2, 0.1], [-5.0, 9.0, 0.3]])
def test_a_start_is_moved_to_the_total_that_is_asked_for(start):
    """The nearest point of the box with that sum: all free coordinates moved by the same step."""
    problem = DualProblem(np.zeros(3), np.zeros(3), np.array([1.0, np.inf, 0.4]), total=1.0)
    clipped = np.clip(start, problem.lower, problem.upper)
    beta = problem.feasible(np.array(start))
    assert beta.sum() == pytest.approx(1.0)
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    inside = (beta > problem.lower) & (beta < problem.upper)
    assert np.ptp((beta - clipped)[inside]) < 1e-12


def test_a_total_out_of_reach_is_refused():
    problem = DualProblem(np.zeros(2), np.zeros(2), np.full(2, 0.25), total=1.0)
    with pytest.raises(ParameterError, match="no point of the box has the sum 1"):
        problem.feasible(np.zeros(2))


def soft_margin(loss, bias, K, rng):
    signs = np.where(np.arange(12) % 2, 1.0, -1.0)
    problem = SoftMargin(signs, rng.uniform(0.5, 2.0, 12), loss, bias)
    dual = problem.dual()
    beta = dual.feasible(signs * rng.uniform(0.0, 0.6, 12) * (rng.random(12) < 0.7))
    return problem, dual, beta, dual.gradient(StoredMatrix.of(K), beta)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gap_is_that_of_the_certificate(loss, bias, K, rng):
    problem, dual, beta, gradient = soft_margin(loss, bias, K, rng)
    price = dual.bias(beta, gradient)
    certificate = problem.certificate(beta, K @ beta, problem.intercept(beta, price))
    assert certificate.gap > 0.1
    assert dual.gap(beta, gradient, price) == pytest.approx(certificate.gap)
    assert dual.relative_gap(beta, gradient, price, certificate.dual) == pytest.approx(certificate.relative_gap)
    # Each coordinate has its own share of it.
    parts = np.arange(5), np.arange(5, 12)
    halves = [narrowed(dual, part).gap(beta[part], gradient[part], price) for part in parts]
    assert min(halves) >= 0.0
    assert sum(halves) == pytest.approx(certificate.gap)


def test_the_gap_of_regression_is_that_of_its_certificate(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    with pytest.warns(match="ITERATION_LIMIT"):
        model = SVR(max_iter=25, epsilon=0.2).fit(X, y)
    K = RBF(gamma=1.0 / (3 * X.var()))(X)
    beta = np.zeros(40)
    beta[model.support_] = model.dual_coef_[0]
    dual = DualProblem(y, np.full(40, -1.0), np.full(40, 1.0), kink=0.2)
    gap = dual.gap(beta, dual.gradient(StoredMatrix.of(K), beta), model.intercept_[0])
    assert gap == pytest.approx(model.certificate_.gap)


def test_the_gap_of_an_endless_box_is_infinite_off_the_margin(K):
    problem = dataclasses.replace(program(), upper=np.full(12, np.inf), lower=np.full(12, -np.inf))
    assert problem.gap(np.zeros(12), problem.linear, 0.0) == np.inf
    assert problem.relative_gap(np.zeros(12), problem.linear, 0.0, 0.0) == np.inf


@pytest.mark.parametrize(("labels", "expected"), [([1, 1, -1], 1.0), ([1, -1, -1], -1.0), ([1, -1], 0.0)])
def test_with_nothing_learnt_the_bias_is_the_more_frequent_class(labels, expected):
    targets = np.array(labels, float)
    problem = DualProblem(targets, np.minimum(0.0, targets), np.maximum(0.0, targets))
    assert problem.best_constant(targets) == expected


def test_with_nothing_learnt_the_bias_is_the_median_by_weight():
    targets, weights = np.array([0.0, 1.0, 2.0, 100.0]), np.array([1.0, 1.0, 3.0, 1.0])
    bounded = DualProblem(targets, -weights, weights, kink=0.1)
    assert bounded.best_constant(targets) == 2.0
    with_ridge = DualProblem(targets, np.full(4, -np.inf), np.full(4, np.inf), ridge=1.0 / weights)
    assert with_ridge.best_constant(targets) == 2.0
    # All within the tube of one value: the bias is that value, and not the median.
    assert DualProblem(targets[:3], -weights[:3], weights[:3], kink=1.0).best_constant(targets[:3]) == 1.0


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"kink": 0.1}, "kink"),
        ({"groups": np.arange(12) % 2}, "groups"),
        ({"total": 1.0}, "total"),
        ({"groups": np.arange(12) % 2, "total": np.array([0.0, 1.0])}, "groups and total"),
    ],
)
def test_a_solver_of_one_zero_sum_refuses_more(more, name):
    problem = program()
    problem.require_one_zero_sum("chunking")
    with pytest.raises(ParameterError, match=rf"solver='chunking' solves .* also has {name} \(see"):
        dataclasses.replace(problem, **more).require_one_zero_sum("chunking")


def test_a_coefficient_that_only_rounding_keeps_from_the_kink_says_nothing_of_the_bias():
    box = np.full(3, 2.0)
    problem = DualProblem(linear=np.zeros(3), lower=-box, upper=box, kink=0.5)
    assert problem.bias(np.array([1e-15, 1.0, -1.0]), np.array([100.0, 3.5, 2.5])) == pytest.approx(3.0)


def test_two_sums_of_which_one_is_zero_have_a_beginning():
    ones = np.ones(4)
    problem = DualProblem(
        linear=np.array([3.0, 1.0, 2.0, 0.0]), lower=0.0 * ones, upper=ones,
        groups=np.array([0, 0, 1, 1]), total=np.array([0.0, 1.5]),
    )  # fmt: skip
    assert problem.beginning().tolist() == [0.0, 0.0, 1.0, 0.5]


def test_huge_numbers_of_a_dual_without_bound_are_no_warning():
    problem = SoftMargin(np.array([1.0, -1.0]), np.full(2, np.inf))
    beta = np.array([1e200, -1e200])
    with np.errstate(over="raise", invalid="raise"):
        found = problem.certificate(beta, beta, 0.0)
    assert not found.is_optimal(1e-3)


def test_groups_are_nothing_plain():
    assert program().is_plain
    assert not dataclasses.replace(program(), groups=np.arange(12) % 2, total=np.zeros(2)).is_plain


@pytest.mark.parametrize(
    ("highest", "lowest", "middle"), [(1.0, 3.0, 2.0), (np.inf, 3.0, 3.0), (-1.0, np.inf, -1.0), (-np.inf, np.inf, 0.0)]
)
def test_the_middle_of_two_ends_is_that_of_those_that_there_are(highest, lowest, middle):
    assert program().middle(highest, lowest) == middle
    assert program(has_equality=False).middle(highest, lowest) == 0.0
    both = dataclasses.replace(program(), groups=np.arange(12) % 2)
    assert both.middle(np.array([highest, 5.0]), np.array([lowest, 7.0])).tolist() == [middle, 6.0]


def test_a_group_without_free_points_has_the_middle_and_the_other_their_mean():
    problem = DualProblem(
        linear=np.zeros(5), lower=np.zeros(5), upper=np.ones(5), groups=np.array([0, 0, 0, 1, 1]), total=np.ones(2)
    )
    beta = np.array([0.5, 0.5, 0.0, 1.0, 0.0])
    # Of the second group one may only fall, from 4, and the other only rise, from 1.
    np.testing.assert_allclose(problem.bias(beta, np.array([2.0, 3.0, 0.0, 4.0, 1.0])), [2.5, 2.5])


def test_a_start_is_moved_to_two_sums_of_which_one_is_zero():
    problem = DualProblem(
        linear=np.zeros(4),
        lower=-np.ones(4),
        upper=np.ones(4),
        groups=np.array([0, 0, 1, 1]),
        total=np.array([0.0, 1.0]),
    )
    found = problem.feasible(np.array([0.5, 0.1, 0.9, 0.3]))
    np.testing.assert_allclose([found[:2].sum(), found[2:].sum()], [0.0, 1.0], atol=1e-12)
    # All members of a group are moved alike.
    np.testing.assert_allclose(found, [0.2, -0.2, 0.8, 0.2], atol=1e-9)
