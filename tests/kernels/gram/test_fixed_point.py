import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.estimators.fitting.training import TrainingData
from mercer.kernels import RBF, Polynomial, Sigmoid
from mercer.kernels.gram.fixed_point import FixedPointOperator
from mercer.kernels.gram.symmetric_operator import CenteredOperator, EvaluatedOperator
from mercer.solvers.limits import Limits
from mercer.solvers.linalg import lanczos


def evaluated(kernel, n=1300, seed=0):
    data = TrainingData(kernel, np.random.default_rng(seed).normal(size=(n, 4)))
    return EvaluatedOperator(data.kernel, data.prepare)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Polynomial(degree=3, gamma=0.5, coef0=1.0)])
@pytest.mark.parametrize("n", [3, 512, 1300])
def test_products_err_by_the_noise_it_states(kernel, n):
    exact = evaluated(kernel, n)
    columns = np.random.default_rng(1).normal(size=(n, 3))
    stored = FixedPointOperator.of(exact)
    errors = np.linalg.norm(stored.product(columns) - exact.product(columns), axis=0)
    assert (errors <= 3.0 * stored.noise * np.linalg.norm(columns, axis=0)).all()
    assert stored.noise > 0


def test_entries_beyond_the_diagonal_are_not_stored():
    # Below zero everywhere, the hyperbolic tangent is largest in size far from the diagonal.
    assert FixedPointOperator.of(evaluated(Sigmoid(gamma=0.001, coef0=-1.0), 50)) is None


def test_it_stops_when_asked():
    with pytest.raises(Stopped):
        FixedPointOperator.of(evaluated(RBF(gamma=0.3)), stop=lambda: True)


def test_eigenvalues_are_finished_with_the_exact_matrix_where_rounding_shows():
    exact = evaluated(RBF(gamma=30.0), 2500)
    coarse = FixedPointOperator.of(exact)
    coarse.unit *= 1.0 + 1e-6  # as if entries were stored a little wrong
    coarse.__class__ = type("Noisy", (FixedPointOperator,), {"noise": 1e-3})
    found = lanczos.krylov(CenteredOperator(coarse), 4, 0.0, np.random.default_rng(0), Limits())
    wanted = lanczos.krylov(CenteredOperator(exact), 4, 0.0, np.random.default_rng(0), Limits())
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10)
