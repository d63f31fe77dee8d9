"""Fisher's discriminant, against scatter matrices written out, and Gaussian densities."""

import numpy as np
import pytest
from scipy import stats

from mercer.problems.kernel_methods.fisher import FisherRule, class_counts, indicator_regression, indicators

CODES = np.array([0, 0, 1, 1, 1, 2, 2, 0, 1, 2])
WEIGHTS = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 2.0, 1.0, 1.0, 1.0])
MU = 0.3


@pytest.fixture
def rows(rng):
    return rng.normal(size=(10, 4)) + 2.0 * np.eye(4)[CODES]


def centred(rows, weights):
    return rows - weights @ rows / weights.sum()


def fitted(rows, weights, count=2):
    """The rule, from the ridge regression solved directly, and the rows' coordinates along its directions."""
    X = centred(rows, weights)
    problem = indicator_regression(CODES, weights, 3, MU)
    S = np.sqrt(weights)[:, None]
    gram = (S * X) @ (S * X).T
    U = np.linalg.solve(gram + MU * np.eye(10), problem.right())
    counts = class_counts(CODES, weights, 3)
    rule = FisherRule.of(problem, U, counts, counts / counts.sum(), count)
    return rule, X @ (X.T @ rule.coefficients)


def scatter(coordinates, weights):
    """Between classes, and within them."""
    between, within = np.zeros((2, 2)), np.zeros((2, 2))
    for c in range(3):
        own, w = coordinates[c == CODES], weights[c == CODES]
        mean = w @ own / w.sum()
        between += w.sum() * np.outer(mean, mean)
        within += (own - mean).T @ ((own - mean) * w[:, None])
    return between, within


def test_indicators_are_centred_and_scaled():
    counts = class_counts(CODES, WEIGHTS, 4)
    assert counts.tolist() == [4.0, 6.0, 4.0, 0.0]
    E = indicators(CODES, counts[:3])
    for i, c in np.ndindex(10, 3):
        assert E[i, c] == pytest.approx(((CODES[i] == c) - counts[c] / 14.0) / np.sqrt(counts[c]))
    problem = indicator_regression(CODES, WEIGHTS, 3, 2)
    assert problem.right() == pytest.approx(E * np.sqrt(WEIGHTS)[:, None])
    assert problem.penalties.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("weights", [np.ones(10), WEIGHTS])
def test_directions_maximise_scatter_between_classes_over_the_penalised_one_within(weights, rows):
    rule, coordinates = fitted(rows, weights)
    between, within = scatter(coordinates, weights)
    X = centred(rows, weights)
    norms = rule.coefficients.T @ X @ X.T @ rule.coefficients
    penalised = (within + MU * norms) / (weights.sum() - 3)
    assert penalised == pytest.approx(np.eye(2), abs=1e-8)
    assert between / (weights.sum() - 3) == pytest.approx(np.diag(rule.ratios), abs=1e-8)
    # In the rows' own space they are the generalised eigenvalues of both scatter matrices.
    own_between = sum(
        weights[c == CODES].sum() * np.outer(m, m)
        for c, m in ((c, weights[c == CODES] @ X[c == CODES] / weights[c == CODES].sum()) for c in range(3))
    )
    own_within = X.T @ (X * weights[:, None]) - own_between + MU * np.eye(4)
    ratios = np.sort(np.linalg.eigvals(np.linalg.solve(own_within, own_between)).real)[::-1]
    assert rule.ratios == pytest.approx(ratios[:2])


@pytest.mark.parametrize("weights", [np.ones(10), WEIGHTS])
def test_means_are_those_of_the_coordinates(weights, rows):
    rule, coordinates = fitted(rows, weights)
    for c in range(3):
        own = c == CODES
        assert rule.means[c] == pytest.approx(weights[own] @ coordinates[own] / weights[own].sum())


def test_scores_are_those_of_normal_densities(rows):
    rule, coordinates = fitted(rows, WEIGHTS)
    scores = rule.scores(coordinates)
    priors = np.array([4.0, 6.0, 4.0]) / 14.0
    for i in range(10):
        logs = [stats.multivariate_normal(m).logpdf(coordinates[i]) for m in rule.means] + np.log(priors)
        assert scores[i] - scores[i, 0] == pytest.approx(logs - logs[0])


def test_as_many_directions_as_are_asked_for(rows):
    rule, _ = fitted(rows, WEIGHTS, count=1)
    whole, _ = fitted(rows, WEIGHTS)
    assert rule.coefficients.shape == (10, 1)
    assert rule.ratios == pytest.approx(whole.ratios[:1])
    assert whole.ratios[0] > whole.ratios[1]
