"""Logistic regression of several classes, against its formulas written out point by point."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.multinomial import Multinomial, SoftmaxRoot, log_probabilities, softmax

CODES = np.array([0, 2, 1, 1, 0, 2])
C = np.array([1.0, 2.0, 0.5, 1.0, 4.0, 3.0])
BIASES = ("free", "penalized", "none")


def problem_of(bias="none"):
    return Multinomial(CODES, C, 3, bias)


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(6, 2))
    return X @ X.T


@pytest.fixture
def values(rng):
    return rng.normal(size=(6, 3))


def probabilities(f):
    return np.array([[np.exp(v) / sum(np.exp(u) for u in row) for v in row] for row in f])


def plain_risk(f):
    p = probabilities(f)
    return sum(-C[i] * np.log(p[i, CODES[i]]) for i in range(6))


def test_probabilities_of_each_row(values):
    assert softmax(values) == pytest.approx(probabilities(values), rel=1e-14)
    assert np.exp(log_probabilities(values)) == pytest.approx(probabilities(values), rel=1e-14)
    # A single column is the second class against a first of value zero.
    two = np.column_stack([np.zeros(6), values[:, 0]])
    assert np.exp(log_probabilities(values[:, :1])) == pytest.approx(probabilities(two), rel=1e-14)


def test_large_values_are_no_overflow():
    far = np.array([[1000.0, 0.0], [-2000.0, 0.0]])
    assert softmax(far).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert log_probabilities(far).tolist() == [[0.0, -1000.0], [-2000.0, 0.0]]
    assert Multinomial(np.array([1, 0]), np.ones(2), 2).risk(far) == 3000.0


@pytest.mark.parametrize("bias", BIASES)
def test_both_objectives(bias, gram, values):
    problem = problem_of(bias)
    beta = problem.feasible(0.5 * problem.response(values))
    projections = gram @ beta
    b = problem.intercept(beta, np.array([0.5, -1.0, 0.25]))
    expected = {"free": [0.5, -1.0, 0.25], "penalized": beta.sum(axis=0), "none": [0.0, 0.0, 0.0]}[bias]
    assert b == pytest.approx(np.array(expected))
    half = 0.5 * sum(float(beta[:, c] @ gram @ beta[:, c]) for c in range(3))
    half += 0.5 * float(b @ b) if bias == "penalized" else 0.0
    q = np.eye(3)[CODES] - beta / C[:, None]
    entropy = sum(-C[i] * q[i, c] * np.log(q[i, c]) for i in range(6) for c in range(3))
    primal, dual = half + plain_risk(projections + b), entropy - half
    assert problem.primal(beta, projections, b) == pytest.approx(primal)
    assert problem.dual_value(beta, projections) == pytest.approx(dual)
    assert primal >= dual
    assert problem.gap(beta, projections, b) == pytest.approx((primal - dual) / max(1.0, abs(primal)))


def test_coefficients_are_minus_the_slope_of_the_risk(values):
    problem, h = problem_of(), 1e-6
    assert problem.risk(values) == pytest.approx(plain_risk(values))
    for place in np.ndindex(6, 3):
        step = np.zeros((6, 3))
        step[place] = h
        slope = (plain_risk(values + step) - plain_risk(values - step)) / (2 * h)
        assert problem.response(values)[place] == pytest.approx(-slope, abs=1e-6)
    assert problem.stationarity(problem.response(values), values) == 0.0
    moved = problem.response(values)
    moved[3, 1] += 0.25
    assert problem.stationarity(moved, values) == pytest.approx(0.25 / C[3])


def hessian(values, i):
    p = probabilities(values)[i]
    return C[i] * (np.diag(p) - np.outer(p, p))


def test_the_root_times_its_transpose_is_the_hessian(values, rng):
    root, x = problem_of().root(values), rng.normal(size=(6, 3))
    product = root.times(root.transposed_times(x))
    for i in range(6):
        assert product[i] == pytest.approx(hessian(values, i) @ x[i])
    # And the one is the transpose of the other.
    y = rng.normal(size=(6, 3))
    assert np.sum(root.times(x) * y) == pytest.approx(np.sum(x * root.transposed_times(y)))
    assert root.total == pytest.approx(sum(hessian(values, i) for i in range(6)))
    assert root.largest >= max(np.linalg.eigvalsh(hessian(values, i)).max() for i in range(6))
    # Two classes of probability one half attain the bound.
    even = SoftmaxRoot(np.array([[0.5, 0.5]]), np.array([3.0]))
    assert even.largest == pytest.approx(np.linalg.eigvalsh(even.total).max())


def test_blocks_are_the_hessian_in_a_smaller_space(values, rng):
    root, factor = problem_of().root(values), rng.normal(size=(6, 2))
    expected = np.zeros((6, 6))
    for i in range(6):
        expected += np.kron(hessian(values, i), np.outer(factor[i], factor[i]))
    assert root.blocks(factor) == pytest.approx(expected)
    single = root.in_single()
    assert single.times(values.astype(np.float32)).dtype == np.float32
    assert single.transposed_times(values.astype(np.float32)).dtype == np.float32
    assert single.times(values.astype(np.float32)) == pytest.approx(root.times(values), rel=1e-5, abs=1e-5)
    assert single.blocks(factor.astype(np.float32)).dtype == np.float32
    assert root.blocks(factor.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("bias", BIASES)
def test_anything_becomes_feasible(bias, rng):
    problem = problem_of(bias)
    beta = problem.feasible(3.0 * rng.normal(size=(6, 3)))
    q = np.eye(3)[CODES] - beta / C[:, None]
    assert q.min() >= -1e-15
    assert q.sum(axis=1) == pytest.approx(np.ones(6))
    if bias == "free":
        assert beta.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.isfinite(problem.dual_value(beta, np.zeros((6, 3))))
    # What is feasible stays where it is.
    assert problem.feasible(beta) == pytest.approx(beta, abs=1e-9)


def test_a_row_with_nothing_left_begins_with_its_label():
    problem = problem_of("none")
    beta = np.zeros((6, 3))
    beta[1] = [10.0, 10.0, 10.0]
    assert problem.feasible(beta)[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("change", [(0, 0.1), (1, -0.1)])
def test_what_is_no_distribution_has_no_dual_value(change):
    """A share above one in a row, or a share below zero that another makes up for."""
    problem = problem_of()
    beta = np.zeros((6, 3))
    if change[0] == 0:
        beta[0, 0] = -change[1]
    else:
        beta[0, 0], beta[0, 1] = change[1], -change[1]
    assert problem.dual_value(beta, np.zeros((6, 3))) == -np.inf


def test_entries_of_a_certificate(gram, values):
    problem = problem_of("free")
    beta = problem.feasible(problem.response(values))
    beta[0] = 0.0
    beta[1] = C[1] * np.array([-1.25, 0.0, 1.25])
    projections, b = gram @ beta, np.array([0.5, 0.0, -0.5])
    found = problem.certificate(beta, projections, b)
    assert found.primal == pytest.approx(problem.primal(beta, projections, b))
    assert found.dual == -np.inf  # of a share below zero
    assert found.gap == np.inf
    assert found.equality_residual == pytest.approx(np.abs(beta.sum(axis=0)).max())
    assert found.box_violation == pytest.approx(0.25 * 4.0)
    expected = np.abs(beta - problem.response(projections + b)) / C[:, None]
    assert found.kkt_violation == pytest.approx(expected.max())
    assert (found.n_zero, found.n_bounded, found.n_free) == (4, 2, 12)
    assert problem_of("none").certificate(beta, projections, 0.0 * b).equality_residual == 0.0


def test_a_sample_has_every_class_or_is_none():
    codes = np.repeat([0, 1, 2], [10, 10, 10])
    problem = Multinomial(codes, np.arange(1.0, 31.0), 3)
    chosen, part = problem.sample(5)
    assert part.codes.tolist() == codes[chosen].tolist()
    assert np.unique(part.codes).tolist() == [0, 1, 2]
    assert pytest.approx(5.0 * problem.C[chosen]) == part.C
    assert len(chosen) <= 9


@pytest.mark.parametrize(("row", "outside"), [([-0.5, 0.25, 0.25], 0.5), ([0.4, -0.4, 0.0], 0.4)])
def test_what_is_outside_of_the_box(row, outside):
    """A share of the label above one, and shares below zero; in units of the largest weight."""
    beta = np.zeros((6, 3))
    beta[0] = C[0] * np.array(row)
    shares = np.eye(3)[0] - np.array(row)
    expected = max(0.0, -shares.min(), shares.max() - 1.0)
    assert expected == pytest.approx(outside if row[0] < 0 else 0.0)
    assert problem_of().certificate(beta, beta, np.zeros(3)).box_violation == pytest.approx(4.0 * expected)
    beta[1] = C[1] * np.array([0.125, 0.0, -0.125])
    assert problem_of().certificate(beta, beta, np.zeros(3)).box_violation == pytest.approx(4.0 * max(expected, 0.125))


@pytest.mark.parametrize(
    ("beta", "excess"), [([1.3, -1.3, 0.0], 0.3), ([-0.25, 0.25, 0.0], 0.25), ([0.5, -0.5, 0.0], 0.0)]
)
def test_coefficients_outside_their_box_are_told_in_its_units(beta, excess):
    """Of a row of the first class: the first coefficient is from 0 to C, the others from -C to 0."""
    problem = Multinomial(np.array([0, 1]), np.array([1.0, 4.0]), 3)
    found = problem.certificate(np.array([beta, [0.0, 0.0, 0.0]]), np.zeros((2, 3)), np.zeros(3))
    assert found.box_violation == pytest.approx(4.0 * excess)
