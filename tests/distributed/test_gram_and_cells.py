"""Kernel matrices by blocks, and exact machines that begin with what workers found."""

import numpy as np
import pytest
from distributed import Client

from mercer import SVC, SVR, ParameterError, Status, distributed
from mercer.distributed import cells as cells_of
from mercer.kernels import RBF, Spectrum
from tests.distributed.conftest import local_cluster


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 3)) + 3.0 * rng.integers(0, 2, size=(900, 1))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=900) > 2.0).astype(int)


def test_a_matrix_by_blocks_is_that_of_the_kernel(two_workers, data):
    X, _ = data
    kernel = RBF("scale")
    with distributed.cluster(two_workers):
        K = distributed.gram(kernel, X, block_rows=250)
        between = distributed.gram(kernel, X, X[:100], block_rows=300)
    np.testing.assert_allclose(K, kernel(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(between, kernel.bind(X)(X, X[:100]), rtol=0, atol=1e-12)
    assert (K == K.T).all()
    assert (np.diag(K) == 1.0).all()
    with local_cluster(1) as one, distributed.cluster(one):
        assert (distributed.gram(kernel, X, block_rows=250) == K).all()


def test_items_have_matrices_too(two_workers):
    words = [f"the {a} {b} runs" for a in ("old", "young") for b in ("dog", "cat", "fox")]
    kernel = Spectrum(2)
    with distributed.cluster(two_workers):
        np.testing.assert_allclose(distributed.gram(kernel, words, block_rows=2), kernel(words), atol=1e-12)


@pytest.mark.parametrize("cells", [None, 1, 4])
def test_cells_are_a_start_and_nothing_more(two_workers, data, cells):
    X, y = data
    alone = SVC(C=10.0, tol=1e-6).fit(X, y)
    with distributed.cluster(two_workers):
        model = distributed.fit_by_cells(SVC(C=10.0, tol=1e-6), X, y, cells=cells)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-6)
    assert model.get_params() == SVC(C=10.0, tol=1e-6).get_params()
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-4)


def test_cells_give_a_start_that_is_feasible_and_far_from_nothing(two_workers, data, monkeypatch):
    X, y = data
    seen, finish = [], cells_of.finish

    def look(model, rows, labels, start):
        seen.append(start)
        return finish(model, rows, labels, start)

    monkeypatch.setattr(cells_of, "finish", look)
    with distributed.cluster(two_workers):
        model = distributed.fit_by_cells(SVC(C=10.0), X, y, cells=4)
    (start,) = seen
    assert start.sum() == pytest.approx(0.0, abs=1e-9)
    assert (np.abs(start) <= 10.0).all()
    assert (start * np.where(y == 1, 1, -1) >= 0).all()
    # Most of the coefficients at the upper bound are there already.
    exact = np.zeros(len(X))
    exact[model.support_] = model.dual_coef_[0]
    at_bound = np.abs(exact) == 10.0
    assert np.mean(np.abs(start[at_bound]) == 10.0) > 0.8


def test_a_regression_begins_with_cells_as_well(two_workers, data):
    X, _ = data
    with distributed.cluster(two_workers):
        model = distributed.fit_by_cells(SVR(), X, X[:, 0], cells=3)
    assert model.status_ == Status.OPTIMAL
    assert model.score(X, X[:, 0]) > 0.9


def test_cells_refuse_what_they_cannot_begin(two_workers, data):
    X, y = data
    with distributed.cluster(two_workers):
        for model, labels, why in (
            (SVC(), np.arange(900) % 3, "two classes"),
            (SVC(C="auto"), y, "C must be a number"),
            (SVC(kernel="precomputed"), y, "kernel must be a kernel of rows"),
            (Client, y, "SVC or an SVR"),
        ):
            with pytest.raises(ParameterError, match=why):
                distributed.fit_by_cells(model, X, labels)
        with pytest.raises(ParameterError, match="cells must be"):
            distributed.fit_by_cells(SVC(), X, y, cells=0)
        with pytest.raises(ParameterError, match="block_rows"):
            distributed.gram(RBF(1.0), X, block_rows=0)
