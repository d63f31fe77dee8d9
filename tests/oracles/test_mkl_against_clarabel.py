"""Kernel weights and machines together, against a cone program that knows no weights at all."""

import numpy as np
import pytest

from mercer import MKLClassifier, MKLOneClassSVM, MKLRegressor
from mercer.kernels import RBF, Linear, Polynomial
from mercer.problems.svm.epsilon_regression import EpsilonRegression
from mercer.problems.svm.one_class import OneClass
from mercer.problems.svm.soft_margin import SoftMargin
from tests.oracles import clarabel_mkl

FINE = {"gap_tol": 1e-8, "tol": 1e-9, "normalize": None}


def made(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 40))
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.7, 1, -1)
    y[:2] = 1, -1
    return X, y, rng.choice([0.3, 1.0, 10.0])


def kernels(seed):
    gammas = np.random.default_rng(seed).uniform(0.05, 2.0, 2)
    return [Linear(), RBF(gamma=gammas[0]), RBF(gamma=gammas[1]), Polynomial(degree=2, gamma=0.3, coef0=1.0)]


def parameters(p):
    return {**FINE, "method": "simple"} if p == 1 else {**FINE, "method": "lp-norm", "p": p}


@pytest.mark.parametrize("p", [1, 1.25, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_classification(seed, p):
    X, y, C = made(seed)
    chosen = kernels(seed)
    model = MKLClassifier(chosen, C=C, **parameters(p)).fit(X, y)
    problem = SoftMargin(np.where(y > 0, 1.0, -1.0), np.full(len(y), float(C)))
    _, value = clarabel_mkl.solve([k(X) for k in chosen], problem.dual(), p)
    certificate = model.certificate_
    assert model.status_.name == "OPTIMAL"
    assert certificate.primal == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert certificate.dual == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert np.linalg.norm(model.weights_, p) == pytest.approx(1.0)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_regression(seed, p):
    X, _, C = made(seed)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    chosen = kernels(seed)
    model = MKLRegressor(chosen, C=C, epsilon=0.05, **parameters(p)).fit(X, y)
    problem = EpsilonRegression(y, np.full(len(y), float(C)), 0.05)
    _, value = clarabel_mkl.solve([k(X) for k in chosen], problem.dual(), p)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert model.certificate_.dual == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_one_class(seed, p):
    X, _, _ = made(seed)
    chosen = kernels(seed)[1:]
    model = MKLOneClassSVM(chosen, nu=0.3, **parameters(p)).fit(X)
    _, value = clarabel_mkl.solve([k(X) for k in chosen], OneClass(np.ones(len(X)), 0.3).dual(), p)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_kernels_of_rank_one_need_a_mixture_of_solutions():
    """Where no beta is unique, the one at the best weights may not prove them best; a mixture does."""
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, size=(40, 4)).astype(float)
    y = np.where(X.sum(axis=1) + 0.1 * rng.normal(size=40) > 0, 1, -1)
    grams = [np.outer(column, column) for column in X.T]
    model = MKLClassifier("precomputed", C=0.2, **{**FINE, "gap_tol": 1e-6}).fit(grams, y)
    problem = SoftMargin(y.astype(float), np.full(40, 0.2))
    _, value = clarabel_mkl.solve(grams, problem.dual(), 1)
    assert model.status_.name == "OPTIMAL"
    assert model.certificate_.primal == pytest.approx(value, rel=1e-5)
    assert model.certificate_.dual == pytest.approx(value, rel=1e-5)
