"""The machine of Crammer and Singer against its formulas, written out for every row and class."""

import numpy as np
import pytest

from mercer.problems.svm.crammer_singer import KernelCrammerSinger

CODES = np.array([0, 1, 2, 1])
C = np.array([1.0, 2.0, 1.0, 0.5])
# Rows sum to zero; what is not a row's own class is not positive.
ALPHA = np.array([[0.75, -0.5, -0.25], [-1.0, 2.0, -1.0], [-0.25, -0.25, 0.5], [0.0, 0.0, 0.0]])


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(4, 2))
    return X @ X.T


def hinges(scores):
    """The sum of C_i max_m (e + f_m - f_own)."""
    total = 0.0
    for i, own in enumerate(CODES):
        total += C[i] * max((m != own) + scores[i, m] - scores[i, own] for m in range(3))
    return total


def owed(alpha):
    return sum(alpha[i, m] for i in range(4) for m in range(3) if m != CODES[i])


@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_both_objectives(gram, scale):
    machine = KernelCrammerSinger(CODES, 3, C, scale)
    biases = machine.intercept(ALPHA, None)
    np.testing.assert_allclose(biases, scale * ALPHA.sum(axis=0))
    certificate = machine.certificate(ALPHA, gram @ ALPHA, biases)
    half = 0.5 * sum(ALPHA[:, m] @ gram @ ALPHA[:, m] + biases[m] ** 2 for m in range(3))
    assert certificate.primal == pytest.approx(half + hinges(gram @ ALPHA + biases))
    assert certificate.dual == pytest.approx(-half - owed(ALPHA))
    assert certificate.gap == pytest.approx(certificate.primal - certificate.dual)
    assert certificate.relative_gap == pytest.approx(certificate.gap / max(1.0, abs(certificate.primal)))


def test_free_biases_cost_nothing_but_what_their_sums_are_short_of_zero(gram):
    machine, biases = KernelCrammerSinger(CODES, 3, C, 0.0, is_free=True), np.array([0.5, -2.0, 1.5])
    assert machine.intercept(ALPHA, biases) is biases
    certificate = machine.certificate(ALPHA, gram @ ALPHA, biases)
    half = 0.5 * sum(ALPHA[:, m] @ gram @ ALPHA[:, m] for m in range(3))
    assert certificate.primal == pytest.approx(half + hinges(gram @ ALPHA + biases))
    short = sum(abs(ALPHA[:, m].sum() * biases[m]) for m in range(3))
    assert certificate.dual == pytest.approx(-half - owed(ALPHA) - short)
    assert certificate.equality_residual == pytest.approx(np.abs(ALPHA.sum(axis=0)).max())


def test_how_rows_stand_to_their_bounds(gram):
    certificate = KernelCrammerSinger(CODES, 3, C, 0.0).certificate(ALPHA, gram @ ALPHA, np.zeros(3))
    assert (certificate.n_free, certificate.n_bounded, certificate.n_zero) == (2, 1, 1)
    assert certificate.box_violation == 0.0
    assert certificate.equality_residual == 0.0
    beyond = ALPHA + np.array([0.5, -0.25, -0.125])
    certificate = KernelCrammerSinger(CODES, 3, C, 0.0).certificate(beyond, gram @ beyond, np.zeros(3))
    assert certificate.box_violation == pytest.approx(0.5)  # of class 0 in the last row
    assert certificate.equality_residual == pytest.approx(0.125)


def test_two_points_of_two_classes():
    """x = 1 and x = -1: w = (1/2, -1/2) has margins of 1, and costs a quarter."""
    machine = KernelCrammerSinger(np.array([0, 1]), 2, np.ones(2), 0.0)
    alpha, gram = np.array([[0.25, -0.25], [-0.25, 0.25]]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    certificate = machine.certificate(alpha, gram @ alpha, np.zeros(2))
    assert (certificate.primal, certificate.dual, certificate.kkt_violation) == (0.25, 0.25, 0.0)
