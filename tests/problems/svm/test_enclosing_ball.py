import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.problems.svm.enclosing_ball import EnclosingBall


@given(st.integers(1, 10), st.integers(0, 2**32 - 1))
def test_any_weights_prove_a_lower_and_an_upper_bound(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    weights, others = (each / each.sum() for each in rng.uniform(0.01, 1.0, size=(2, n)))
    problem = EnclosingBall((X * X).sum(axis=1))
    lower, upper = problem.bounds(weights, X @ (weights @ X))
    centre = weights @ X
    squares = ((X - centre) ** 2).sum(axis=1)
    assert upper == pytest.approx(squares.max())
    assert lower == pytest.approx(weights @ squares)
    # Weak duality: no lower bound exceeds any upper bound.
    assert lower <= problem.bounds(others, X @ (others @ X))[1] + 1e-12


def test_its_dual_is_half_of_the_textbooks():
    diag = np.array([1.0, 4.0])
    dual = EnclosingBall(diag).dual()
    assert dual.linear.tolist() == [0.5, 2.0]
    assert dual.total == 1.0
    assert (dual.lower == 0).all()
    assert (dual.upper == 1).all()
