"""Two hundred and forty random problems, each solved by Mercer and by an interior-point solver."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from tests.kernels.formulas import dots, laplacian, squared
from tests.oracles import clarabel_qp
from tests.oracles.kkt import judge, parts

KERNELS = {
    "linear": (Linear(), dots),
    "rbf": (RBF(0.5), lambda X, Y: np.exp(-0.5 * squared(X, Y))),
    "narrow rbf": (RBF(5.0), lambda X, Y: np.exp(-5.0 * squared(X, Y))),
    "polynomial": (Polynomial(2, 0.5, 1.0), lambda X, Y: (0.5 * dots(X, Y) + 1.0) ** 2),
    "laplacian": (Laplacian(0.5), lambda X, Y: laplacian(X, Y, 0.5)),
}
SHAPES = list(itertools.product(KERNELS, ["hinge", "squared_hinge"], ["free", "penalized", "none"]))
SEEDS = range(8)
# The finest that the objective's own rounding lets SMO reach on these problems.
TOL = 1e-9


def random_problem(seed):
    """Rows, labels, C and weights of very different sizes; some rows occur twice."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 70)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    X[rng.integers(0, n, n // 5)] = X[0]
    y = np.where(X[:, 0] + rng.uniform(0.0, 2.0) * rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, y, 10.0 ** rng.uniform(-2.0, 2.0), rng.uniform(0.2, 5.0, n)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kernel", "loss", "bias"), SHAPES)
def test_dual_objective_and_decision_values(kernel, loss, bias, seed):
    X, y, C, weight = random_problem(100 * seed + SHAPES.index((kernel, loss, bias)))
    given, formula = KERNELS[kernel]
    K = formula(X, X)
    with warnings.catch_warnings():
        # Where double precision ends before TOL, the objective below is the test.
        warnings.filterwarnings("ignore", ".*OPTIMAL_INACCURATE", ConvergenceWarning)
        model = SVC(C=C, kernel=given, tol=TOL, loss=loss, bias=bias).fit(X, y, weight)
    (part,) = parts(model, y)
    verdict = judge(K, part.signs, C * weight, part.beta, part.intercept, loss, bias)
    beta, optimum = clarabel_qp.solve(K, part.signs, C * weight, loss, bias)
    assert verdict.dual == pytest.approx(optimum, rel=1e-8, abs=1e-8)
    assert verdict.box <= 1e-10 * verdict.largest
    # |w - w*|² <= 2 (W* - W), so the projections on w are as close as the objectives allow.
    reach = np.sqrt(2e-8 * max(1.0, abs(optimum)) * K.diagonal().max())
    np.testing.assert_allclose(K @ part.beta, K @ beta, atol=2.0 * reach)
    np.testing.assert_allclose(model.decision_function(X), K @ part.beta + part.intercept, atol=1e-9 * (1.0 + C))


def test_there_are_two_hundred_problems():
    assert len(SHAPES) * len(SEEDS) >= 200
