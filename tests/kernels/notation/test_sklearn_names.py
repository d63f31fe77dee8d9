import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from mercer import kernels
from mercer._errors import ParameterError
from mercer.kernels import RBF, Cosine, Custom, Linear, Polynomial, Precomputed, resolve

X = np.random.default_rng(9).random((20, 4))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("linear", {}),
        ("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
        ("polynomial", {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
        ("rbf", {"gamma": 0.5}),
        ("sigmoid", {"gamma": 0.5, "coef0": 0.3}),
        ("laplacian", {"gamma": 0.5}),
        ("cosine", {}),
        ("chi2", {"gamma": 0.5}),
    ],
)
def test_a_name_means_what_it_means_in_scikit_learn(name, parameters):
    expected = pairwise_kernels(X, X[:7] * 0.5, metric=name, **parameters)
    np.testing.assert_allclose(resolve(name, **parameters)(X, X[:7] * 0.5), expected, rtol=1e-10, atol=1e-13)


def test_the_defaults_are_those_of_scikit_learns_estimators():
    assert resolve("rbf") == RBF("scale")
    assert resolve("poly") == Polynomial(3, "scale", 0.0)
    assert resolve("cosine") == Cosine()
    assert resolve("rbf", X=X).gamma == pytest.approx(1 / (4 * X.var()))


def test_an_expression_takes_gamma_degree_and_coef0_where_it_does_not_say():
    assert resolve("rbf + 2*poly(degree=2)", gamma=0.5, coef0=1.0) == RBF(0.5) + 2 * Polynomial(2, 0.5, 1.0)
    assert resolve("RBF", gamma=0.5) == resolve("rbf", gamma=0.5)
    assert resolve("rbf + linear", X=X) == RBF("scale").bind(X) + Linear()


def test_kernels_functions_and_matrices():
    kernel = RBF(3.0)
    assert resolve(kernel, gamma=1.0) is kernel
    assert resolve(RBF("auto"), X=X) == RBF(0.25)
    assert resolve("precomputed", X=np.eye(3)) == Precomputed()
    assert resolve(np.dot) == Custom(np.dot)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("rfb", "kernel expression 'rfb', character 1: no kernel is called 'rfb'; did you mean 'rbf'\\?"),
        ("Gauss-o-matic", "'Gauss-o-matic', character 1: no kernel is called 'Gauss'; there are .*linear.*rbf"),
        ("additive_chi2", 'not positive semidefinite; use "chi2", its exponential'),
        (RBF, r"kernel must be a Kernel, got the class RBF; write RBF\(\)"),
        (3, "kernel must be a name, an expression, a Kernel or a function, got 3; names: linear"),
        (None, "got None"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel, message):
    with pytest.raises(ParameterError, match=message):
        resolve(kernel)


def test_every_public_name_can_be_had():
    for name in kernels.__all__:
        assert getattr(kernels, name).__name__ == name
        assert name in dir(kernels)
    with pytest.raises(AttributeError, match="has no attribute 'Gauss'"):
        kernels.Gauss  # noqa: B018


def test_importing_the_room_costs_nothing():
    script = (
        "import sys, mercer.kernels as kernels\n"
        "assert 'RBF' in dir(kernels) and not {'numba', 'scipy', 'sklearn'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_kernel_is_a_kernel_wherever_it_comes_from():
    assert isinstance(Linear(), kernels.Kernel)
    assert isinstance(Linear(), kernels.DotProductKernel)
    assert isinstance(kernels.Delta(), kernels.PairwiseKernel)
