"""Dual points that are feasible, and near the optimum that Clarabel finds."""

import numpy as np
import pytest
from scipy import sparse

from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.stochastic.feasible_dual import raise_dual
from tests.oracles import clarabel_qp


@pytest.mark.parametrize("bias", ["none", "penalized"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_dual_comes_near_its_maximum_from_below(rng, bias, form):
    X = rng.normal(size=(60, 4))
    X[3] = 0.0
    signs = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    C = rng.random(60) * (rng.random(60) < 0.9)
    problem = SoftMargin(signs, C, "hinge", bias)
    beta = raise_dual(form(X), problem, X @ rng.normal(size=4), primal=C.sum())
    K = X @ X.T + (bias == "penalized")
    value = signs @ beta - 0.5 * beta @ K @ beta
    used = C > 0
    _, best = clarabel_qp.solve((X @ X.T)[np.ix_(used, used)], signs[used], C[used], "hinge", bias)
    assert (signs * beta >= 0).all()
    assert (signs * beta <= C).all()
    assert best - 0.05 * best <= value <= best + 1e-7


def test_passes_go_on_until_the_dual_is_near_or_somebody_asks_to_stop(rng):
    X = rng.normal(size=(60, 4))
    signs = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    problem, asked = SoftMargin(signs, np.ones(60), "hinge", "none"), []

    def value(beta):
        return signs @ beta - 0.5 * beta @ X @ X.T @ beta

    none = np.zeros(60)
    best = value(raise_dual(X, problem, none, 60.0, stop=lambda: asked.append(1)))
    once = value(raise_dual(X, problem, none, 60.0, stop=lambda: True))
    assert len(asked) > 1
    assert once < best
    # With a primal value that the dual has reached there is nothing to go on for.
    assert value(raise_dual(X, problem, none, once)) == once
