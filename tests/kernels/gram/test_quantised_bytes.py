import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.estimators.fitting.training import TrainingData
from mercer.kernels import RBF, Linear
from mercer.kernels.gram import quantised_bytes
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.gram.quantised import RoundedMatrix
from mercer.kernels.gram.quantised_bytes import ByteMatrix


def rounded(kernel, n):
    data = TrainingData(kernel, np.random.default_rng(0).normal(size=(n, 4)))
    return RoundedMatrix.of(EvaluatedMatrix(data.kernel, data.prepare, np.float64))


@pytest.fixture
def bytes_anywhere(monkeypatch):
    """Not only on processors that are fast at it."""
    monkeypatch.setattr(quantised_bytes, "has_byte_products", lambda: True)


@pytest.mark.usefixtures("bytes_anywhere")
@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Linear()])
@pytest.mark.parametrize("n", [1, 30, 513, 1301])
def test_products_err_by_the_noise_of_entries_and_of_coefficients(kernel, n):
    matrix = rounded(kernel, n)
    found = ByteMatrix.of(matrix)
    columns = np.random.default_rng(1).normal(size=(n, 40))
    K = matrix.rows(np.arange(n)).astype(np.float64)
    errors = np.linalg.norm(found.products(columns) - K @ columns, axis=0)
    coarseness = np.ptp(columns, axis=0) / 255.0
    allowed = found.noise * np.linalg.norm(columns, axis=0) + np.linalg.norm(K, 2) * coarseness * np.sqrt(n)
    assert (errors <= 3.0 * allowed).all()
    assert np.abs(found.codes[:, :n] - found.codes[:, :n].T).max(initial=0) == 0


@pytest.mark.usefixtures("bytes_anywhere")
def test_entries_near_zero_do_not_add_up():
    matrix = rounded(RBF(gamma=2.0), 1301)
    sums = ByteMatrix.of(matrix).products(np.ones((1301, 1)))[:, 0]
    exact = matrix.rows(np.arange(1301)).sum(axis=1)
    assert abs((sums - exact).mean()) < 0.02 * np.abs(exact).mean()


@pytest.mark.usefixtures("bytes_anywhere")
def test_it_stops_when_asked():
    with pytest.raises(Stopped):
        ByteMatrix.of(rounded(RBF(gamma=0.3), 1301)).products(np.ones((1301, 2)), stop=lambda: True)


def test_none_where_the_processor_is_slow_at_it(monkeypatch):
    monkeypatch.setattr(quantised_bytes, "has_byte_products", lambda: False)
    assert ByteMatrix.of(rounded(RBF(gamma=0.3), 50)) is None
