"""Certificates of eigenpairs, signs, ranks and centred expansions, against plain matrices."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.problems.kernel_methods import spectrum
from mercer.problems.kernel_methods.spectrum import EigenCertificate

EPS = np.finfo(np.float64).eps


def operator_of(K, **more):
    return SimpleNamespace(
        product=lambda V, stop=None: K @ V, diag=K.diagonal(), size=float(np.abs(K).max(initial=0.0)), n=len(K), **more
    )


@pytest.fixture
def gram(rng):
    X = rng.normal(size=(6, 6))
    return X @ X.T


def test_eigenpairs_are_certified(gram):
    values, vectors = np.linalg.eigh(gram)
    found = spectrum.certificate(operator_of(gram), values[-3:], vectors[:, -3:])
    assert found.is_optimal(1e-12)
    assert found.explained == pytest.approx(values[-3:].sum() / np.trace(gram))
    assert found.as_dict()["residuals"] == found.residuals.tolist()
    assert "3 pairs" in str(found)


def test_what_are_no_eigenpairs_is_seen(gram, rng):
    values, vectors = np.array([2.0, 5.0, 1.0]), rng.normal(size=(6, 3))
    found = spectrum.certificate(operator_of(gram), values, vectors)
    for j in range(3):
        left = gram @ vectors[:, j] - values[j] * vectors[:, j]
        assert found.residuals[j] == pytest.approx(np.sqrt(left @ left) / 5.0)
    assert found.residual == pytest.approx(found.residuals.max())
    inner = [[float(a @ b) for b in vectors.T] for a in vectors.T]
    assert found.orthogonality == pytest.approx(np.abs(np.array(inner) - np.eye(3)).max())


def test_both_must_be_small():
    none = np.zeros(1)
    assert EigenCertificate(none, 1e-8, 1e-8, 1.0).is_optimal()
    assert not EigenCertificate(none, 1e-7, 0.0, 1.0).is_optimal()
    assert not EigenCertificate(none, 0.0, 1e-7, 1.0).is_optimal()


def test_without_a_positive_value_residuals_are_relative_to_the_largest_entry():
    K = -4.0 * np.eye(2)
    found = spectrum.certificate(operator_of(K), np.array([-3.0]), np.array([[1.0], [0.0]]))
    assert found.residual == pytest.approx(1.0 / 4.0)
    nothing = spectrum.certificate(operator_of(np.zeros((2, 2))), np.array([0.0]), np.array([[1.0], [0.0]]))
    assert (nothing.residual, nothing.explained) == (0.0, 0.0)


def test_no_pairs_are_certified_too(gram):
    found = spectrum.certificate(operator_of(gram), np.zeros(0), np.zeros((6, 0)))
    assert (found.residual, found.orthogonality, found.explained) == (0.0, 0.0, 0.0)


def test_a_trace_that_negative_values_have_used_up_explains_nothing():
    found = spectrum.certificate(operator_of(np.diag([1.0, -1.0])), np.array([1.0]), np.array([[1.0], [0.0]]))
    assert found.explained == 0.0


def test_the_entry_of_largest_size_is_positive(rng):
    vectors = rng.normal(size=(5, 4))
    vectors[:, 3] = 0.0
    found = spectrum.with_signs(vectors)
    for before, after in zip(vectors.T, found.T, strict=True):
        assert after[np.argmax(np.abs(after))] >= 0
        assert np.abs(after).tolist() == np.abs(before).tolist()
        assert abs(after @ before) == pytest.approx(before @ before)


def test_ranks_count_what_is_more_than_rounding():
    values = np.array([2.0, 1.0, 30.0 * EPS, 15.0 * EPS])
    assert spectrum.numerical_rank(values, 10) == 3
    assert spectrum.numerical_rank(values, 1) == 4
    assert spectrum.numerical_rank(values, 10, before=4.0) == 2
    assert spectrum.numerical_rank(values[2:], 10, before=4.0) == 0
    # One that is exactly at the limit may be rounding.
    assert spectrum.numerical_rank(np.array([1.0, 8.0 * EPS]), 8) == 1
    assert spectrum.numerical_rank(np.zeros(0), 8) == 0


def test_the_largest_value_before_centring_is_at_least_that_of_equal_weights(gram):
    operator = operator_of(gram, grand_mean=gram.mean())
    ones = np.ones(6) / np.sqrt(6)
    assert spectrum.largest_before(operator) == pytest.approx(ones @ gram @ ones)
    assert spectrum.largest_before(operator_of(gram, grand_mean=-2.0)) == 12.0


def test_rounding_grows_with_each_of_its_causes():
    def of(**changes):
        return spectrum.rounding(SimpleNamespace(**({"n": 10, "eps": 1e-4, "size": 3.0, "noise": 0.0} | changes)))

    assert of() == pytest.approx(10.0 * 10 * 1e-4 * 3.0)
    assert of(eps=1e-16) == pytest.approx(1e-8 * 3.0)
    assert of(noise=0.5) - of() == pytest.approx(4.0 * 0.5)
    assert of(grand_mean=-1e12) - of() == pytest.approx(100 * EPS * 1e12)


@pytest.mark.parametrize("shares", [None, np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.1])])
def test_a_centred_expansion_is_that_of_the_centred_kernel(shares, gram, rng):
    """Means are those of the rows of K; an item that is a training row shows the values."""
    p = np.full(6, 1 / 6) if shares is None else shares
    H = np.eye(6) - np.outer(np.ones(6), p)
    coefficients = rng.normal(size=(6, 2))
    found, intercepts = spectrum.centred_expansion(coefficients, gram @ p, shares)
    assert gram @ found + intercepts == pytest.approx(H @ gram @ H.T @ coefficients)


def test_the_worst_of_several_pairs_counts(gram):
    values, vectors = np.linalg.eigh(gram)
    found = spectrum.certificate(operator_of(gram), values[-2:] * [1.0, 0.9], vectors[:, -2:])
    assert found.residual == found.residuals[1] > found.residuals[0]
