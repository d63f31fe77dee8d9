"""The best bias is found to the last digit, whatever rounding does to the risk."""

import numpy as np
import pytest

from mercer.problems.kernel_methods.kernel_risk import KernelRisk
from mercer.problems.kernel_methods.multinomial import Multinomial
from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS
from mercer.solvers.smooth.optimal_bias import EXACTLY, best_bias


def pull(problem, image, b):
    values = (image + b)[:, 0] if image.shape[1] == 1 else image + b
    return np.abs(problem.response(values).reshape(image.shape).sum(axis=0)).max()


@pytest.mark.parametrize("C", [1e-6, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("n", [3, 30, 1000])
def test_the_equality_holds_where_the_risk_cannot_tell(rng, n, C):
    """Of a b that is off by 1e-9 the risk differs by 1e-18, and only its derivative knows."""
    for _ in range(20):
        signs = np.where(rng.random(n) < 0.7, 1.0, -1.0)
        signs[:2] = 1.0, -1.0
        problem = KernelRisk(signs, np.full(n, C), LOSSES_OF_MARGINS["logistic"], "free")
        image = rng.normal(size=(n, 1))
        b = best_bias(problem, image, np.zeros(1))
        # A sum of n terms of at most C is rounded to no less than this, however it is added up.
        assert pull(problem, image, b) <= max(EXACTLY, 0.5 * np.finfo(float).eps * np.sqrt(n)) * C * n
        near = best_bias(problem, image, b + 1e-9)
        assert near == pytest.approx(b, rel=0, abs=1e-13)


def test_several_functions(rng):
    problem = Multinomial(rng.integers(0, 4, 200), np.full(200, 0.1), 4, "free")
    image = rng.normal(size=(200, 4))
    assert pull(problem, image, best_bias(problem, image, np.zeros(4))) <= EXACTLY * 20.0


def test_a_start_far_away(rng):
    problem = KernelRisk(np.where(rng.random(50) < 0.5, 1.0, -1.0), np.ones(50), LOSSES_OF_MARGINS["logistic"], "free")
    image = rng.normal(size=(50, 1))
    near, far = (best_bias(problem, image, np.array([start])) for start in (0.0, 15.0))
    assert far == pytest.approx(near, abs=1e-12)


def test_none_where_it_is_not_free():
    problem = KernelRisk(np.array([1.0, -1.0]), np.ones(2), LOSSES_OF_MARGINS["logistic"], "none")
    assert not best_bias(problem, np.ones((2, 1)), np.ones(1)).any()
