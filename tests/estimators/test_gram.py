"""Kernel matrices that the user gives: what is refused, and that one pass over them is enough to see it."""

import numpy as np
import pytest

from mercer import SVC, MKLClassifier
from mercer._errors import DataError
from mercer.estimators.gram import looks_symmetric, require_gram


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
