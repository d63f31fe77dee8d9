"""Kernel matrices that the user gives: what is refused, and that one pass over them is enough to see it."""

import numpy as np
import pytest

from mercer import (
    SVC,
    KernelDensity,
    KernelFisherDiscriminant,
    KernelLeastSquares,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    MKLClassifier,
)
from mercer._errors import DataError
from mercer.estimators.fitting.given_matrix import COMPARED, looks_symmetric, require_gram
from mercer.kernels import Constant, Custom


def gram(rng, n=150):
    X = rng.normal(size=(n, 4))
    return X @ X.T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_symmetric_matrices_pass_at_first_sight(rng, dtype, order):
    assert looks_symmetric(np.array(gram(rng), dtype=dtype, order=order))


@pytest.mark.parametrize("difference", [1e-4, 1.0, 1e6])
def test_one_entry_that_differs_is_found_and_named(rng, difference):
    K = gram(rng)
    K[17, 3] += difference * np.abs(K).max()
    assert not looks_symmetric(K)
    with pytest.raises(DataError, match=r"must be symmetric, but K\[3, 17\]"):
        require_gram(K)


def test_differences_that_cancel_in_a_plain_sum_are_found(rng):
    K = gram(rng)
    K[5, 7] += 1.0
    K[5, 8] -= 1.0
    with pytest.raises(DataError, match="symmetric"):
        require_gram(K)


@pytest.mark.parametrize("method", ["easy", "simple"])
def test_which_of_several_is_not_symmetric_is_said(rng, method):
    K = gram(rng, 30)
    K[4, 9] += 1.0
    model = MKLClassifier("precomputed", method=method, normalize=None)
    with pytest.raises(DataError, match=r"X\[2\]: the precomputed matrix must be symmetric, but K\[4, 9\]"):
        model.fit([gram(rng, 30), gram(rng, 30), K], np.arange(30) % 2)


def test_rounding_is_no_asymmetry(rng):
    K = gram(rng)
    K[3, 17] *= 1.0 + 1e-7
    require_gram(K)
    require_gram(np.zeros((5, 5)))
    SVC(kernel="precomputed").fit(K, rng.integers(0, 2, len(K)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(4, 4), (4, 9)])
def test_numbers_that_are_not_finite_are_told_from_asymmetry(rng, value, place):
    K = gram(rng, 30)
    K[place] = K[place[::-1]] = value
    with pytest.raises(DataError, match=r"X\[1\] must be finite"):
        MKLClassifier("precomputed", method="average").fit([gram(rng, 30), K], np.arange(30) % 2)


def one_sided(x, y):
    """A Gaussian that is larger where x comes after y."""
    return float(np.exp(-((x - y) ** 2).sum()) * (1.0 + 0.3 * (x[0] > y[0])))


METHODS = (KernelRidge, KernelLeastSquares, KernelPCA, KernelSVD, KernelFisherDiscriminant, KernelDensity)


@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize(
    "kernel",
    [one_sided, Custom(one_sided, pairwise=True), Custom(one_sided, pairwise=True) + Constant(1.0)],
    ids=["function", "custom", "sum"],
)
def test_a_function_that_minds_the_order_of_two_items_is_refused(rng, kind, kernel):
    X = rng.normal(size=(20, 2))
    with pytest.raises(DataError, match=r"function must be symmetric, but K\[\d+, \d+\] = .* and K\[\d+, \d+\] = "):
        kind(kernel=kernel).fit(X, np.arange(20) % 2)


def test_a_difference_that_is_not_symmetric_is_refused(rng):
    with pytest.raises(DataError, match="function must be symmetric"):
        KernelPCA(2, kernel=lambda a, b: float(a[0] - 2 * b[0])).fit(rng.normal(size=(20, 2)))


def test_one_pair_of_a_small_fit_is_enough(rng):
    X = np.arange(COMPARED, dtype=np.float64)[:, None]
    with pytest.raises(DataError, match=r"K\[3, 7\] = 5 and K\[7, 3\] = 0"):
        KernelRidge(kernel=lambda a, b: 5.0 if (a[0], b[0]) == (3, 7) else float(a[0] == b[0])).fit(X, X[:, 0])


def test_of_many_items_an_even_sample_is_compared():
    X, calls = np.arange(3.0 * COMPARED)[:, None], []

    def noted(a, b):
        calls.append((a[0], b[0]))
        return float(a[0] >= b[0])

    with pytest.raises(DataError, match="function must be symmetric"):
        KernelRidge(kernel=noted).fit(X, X[:, 0])
    assert len(calls) == COMPARED**2
    assert max(calls) == (X[-1, 0], X[-1, 0])
