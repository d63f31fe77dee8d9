"""The laws of the algebra, on kernels and rows that hypothesis chooses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from mercer._errors import DataError
from mercer.kernels import (
    RBF,
    Centered,
    ChiSquared,
    Constant,
    Custom,
    Delta,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Spectrum,
    Sum,
)

SIMPLE = st.sampled_from(
    [Linear(), RBF(0.5), Polynomial(2, 0.5, 1.0), Laplacian(0.3), ChiSquared(0.2), Delta(), Matern(2.5), Constant(0.5)]
)
FACTOR = st.floats(0.0, 4.0)
QUARTERS = st.integers(0, 12).map(lambda i: i / 4)
ROWS = arrays.arrays(np.float64, st.tuples(st.integers(1, 7), st.just(3)), elements=QUARTERS)


def combination(inner):
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(FACTOR, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(1, 2)).map(lambda pair: pair[0] ** pair[1]),
        inner.map(Normalized),
    )


def same(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


@given(SIMPLE, SIMPLE, ROWS, ROWS)
def test_a_sum_is_the_sum(k1, k2, X, Y):
    same((k1 + k2)(X, Y), k1(X, Y) + k2(X, Y))
    same((k1 + k2)(X), k1(X) + k2(X))
    same((k1 + k2).diag(X), k1.diag(X) + k2.diag(X))


@given(SIMPLE, SIMPLE, ROWS, ROWS)
def test_a_product_is_the_product(k1, k2, X, Y):
    same((k1 * k2)(X, Y), k1(X, Y) * k2(X, Y))
    same((k1 * k2)(X), k1(X) * k2(X))
    same((k1 * k2).diag(X), k1.diag(X) * k2.diag(X))


@given(SIMPLE, FACTOR, ROWS, ROWS)
def test_a_multiple_is_the_multiple(k, factor, X, Y):
    same((factor * k)(X, Y), factor * k(X, Y))
    same((k * factor).diag(X), factor * k.diag(X))
    same((k + factor)(X, Y), k(X, Y) + factor)


@given(SIMPLE, st.integers(1, 6), ROWS, ROWS)
def test_a_power_is_the_repeated_product(k, exponent, X, Y):
    same((k**exponent)(X, Y), k(X, Y) ** exponent)
    same((k**exponent).diag(X), k.diag(X) ** exponent)


@given(SIMPLE, SIMPLE, SIMPLE, ROWS)
def test_the_sum_distributes_over_the_product(k1, k2, k3, X):
    same((k1 * (k2 + k3))(X), (k1 * k2 + k1 * k3)(X))


@given(SIMPLE, SIMPLE, ROWS, ROWS)
def test_normalising_divides_by_the_lengths_of_the_features(k1, k2, X, Y):
    kernel = k1 + k2
    lengths = np.sqrt(np.outer(kernel.diag(X), kernel.diag(Y)))
    expected = np.divide(kernel(X, Y), lengths, out=np.zeros_like(lengths), where=lengths > 0)
    same(kernel.normalized()(X, Y), expected)
    diagonal = (kernel.diag(X) > 0).astype(float)
    np.testing.assert_array_equal(kernel.normalized().diag(X), diagonal)


@given(SIMPLE, SIMPLE, ROWS, ROWS)
def test_centring_moves_the_mean_of_the_features_to_the_origin(k1, k2, X, Y):
    kernel = k1 * k2
    centred = kernel.centered().bind(X)
    ones = np.full(len(X), 1.0 / len(X))
    K, G = kernel(Y, X), kernel(X)
    expected = K - (K @ ones)[:, None] - ones @ G + ones @ G @ ones
    scale = np.abs(G).max() + np.abs(K).max() + 1
    np.testing.assert_allclose(centred(Y, X), expected, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(centred(X).sum(axis=0), 0.0, atol=1e-12 * scale * len(X))
    np.testing.assert_allclose(centred.diag(X), np.diag(centred(X)), rtol=0, atol=1e-13 * scale)


@given(st.recursive(SIMPLE, combination, max_leaves=4), ROWS)
def test_a_gram_matrix_is_symmetric_and_positive_semidefinite(kernel, X):
    G = kernel(X)
    np.testing.assert_array_equal(G, G.T)
    assert kernel.is_psd is True
    assert np.linalg.eigvalsh(G)[0] >= -1e-10 * max(1.0, np.abs(G).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "kernel",
    [
        RBF(0.5) + Linear() * Polynomial(2, 0.5, 1.0),
        (RBF(0.5) + Laplacian(0.3)) * 2.0,
        (Linear() + 1.0) ** 3,
        (Linear() + Delta()).normalized() + 1.0,
        (RBF(0.5) * Laplacian(0.3)).centered(),
    ],
    ids=repr,
)
def test_every_layout_and_precision_agrees(kernel, layout, dtype):
    X = np.random.default_rng(2).integers(0, 5, (30, 4)).astype(dtype) / dtype(4)
    kernel = kernel.bind(X.astype(np.float64))
    K = kernel(layout(X[:11]), layout(X[11:]))
    assert K.dtype == dtype
    exact = kernel(X[:11].astype(np.float64), X[11:].astype(np.float64))
    np.testing.assert_allclose(K, exact, rtol=0, atol=200 * np.finfo(dtype).eps * np.abs(exact).max())


def test_dot_product_kernels_share_one_matrix_product(monkeypatch):
    from mercer.kernels.items.rows import Rows

    counted, dots = [], Rows.dots
    monkeypatch.setattr(Rows, "dots", lambda self, right: counted.append(1) or dots(self, right))
    kernel = ((RBF() + Linear()) * Polynomial(2) + 1.0).normalized() ** 2
    assert kernel.is_dot_product_form
    kernel(np.eye(4))
    assert len(counted) == 1


def test_forms_of_combinations():
    assert not (RBF() + Laplacian()).is_dot_product_form
    assert not RBF().centered().is_dot_product_form
    assert (RBF() * Matern()).is_translation_invariant
    assert (RBF() + Laplacian()).normalized().is_translation_invariant
    assert not (RBF() + Linear()).is_translation_invariant


def test_parts_of_prepared_combinations():
    X = np.random.default_rng(0).random((9, 3))
    for kernel in (RBF() + Laplacian(), (Linear() + Delta()).normalized(), RBF().centered().bind(X)):
        rows = kernel.prepare(X)
        out = np.empty((2, 4))
        kernel.tile(rows.take([7, 1]), rows.slice(3, 7), out, 0, 0)
        np.testing.assert_allclose(out, kernel(X[[7, 1]], X[3:7]), atol=1e-14)
        assert (len(rows.take([7, 1])), rows.dtype) == (2, np.float64)


def test_operators_build_flat_values():
    a, b, c = RBF(1.0), Linear(), Laplacian(2.0)
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == a * (b * c) == Product((a, b, c))
    assert 2.0 * (3 * a) == Scaled(6.0, a)
    assert np.float64(2.0) * a == a * np.int32(2) == Scaled(2.0, a)
    assert np.float64(2.0) + a == Sum((Constant(2.0), a))
    assert sum([a, b]) == a + b
    assert a**2 == Power(a, 2)
    assert (a.normalized(), a.centered()) == (Normalized(a), Centered(a))
    assert Sum([a, b]) == Sum((a, b))


@pytest.mark.parametrize("other", ["rbf", None, [1.0], True])
def test_operators_refuse_what_is_not_a_kernel_or_a_number(other):
    for operation in (lambda k: k + other, lambda k: other + k, lambda k: k * other, lambda k: other * k):
        with pytest.raises(TypeError):
            operation(RBF())


def test_what_stays_valid_by_construction():
    a, unknown = RBF(), Sigmoid()
    assert (a + a).is_psd is (a * a).is_psd is (2 * a).is_psd is (a**2).is_psd is True
    assert a.normalized().is_psd is a.centered().is_psd is True
    assert (a**2.0).is_psd is True
    assert (a**1.5).is_psd is None
    for kernel in (a + unknown, a * unknown, 2 * unknown, unknown**2, unknown.normalized(), unknown.centered()):
        assert kernel.is_psd is None
    assert Polynomial(3, 1.0, -1.0).is_psd is None
    assert Custom(max).is_psd is Precomputed().is_psd is None


def test_a_fractional_power_takes_no_negative_values():
    X = np.array([[1.0], [-1.0]])
    np.testing.assert_allclose((RBF(1.0) ** 0.5)(X), RBF(0.5)(X))
    with pytest.raises(DataError, match=r"k \*\* 0.5 needs k >= 0, but k takes the value -1 on these data"):
        (Linear() ** 0.5)(X)


def test_a_negative_self_similarity_cannot_be_normalised():
    kernel = Custom(lambda X, Y: -np.ones((len(X), len(Y)))).normalized()
    with pytest.raises(DataError, match=r"k\(x, x\) must not be negative to normalise a kernel, got -1"):
        kernel(np.eye(2))
    with pytest.raises(DataError, match=r"k\(x, x\) must not be negative"):
        Sigmoid(1.0, -5.0).normalized()(np.eye(2))


def test_centring_is_about_the_training_rows():
    rng = np.random.default_rng(4)
    X, Y = rng.random((8, 2)), rng.random((3, 2))
    centred = RBF("auto").centered().bind(X)
    features = centred(np.vstack([X, Y]))
    np.testing.assert_allclose(features[:8, :8], centred(X), atol=1e-14)
    assert centred == Centered(RBF(0.5), X.copy())
    assert centred != Centered(RBF(0.5), Y)
    assert centred != RBF(0.5).centered()
    assert hash(centred) == hash(Centered(RBF(0.5), X.copy()))


def test_centring_again_elsewhere_forgets_the_old_mean():
    X, Y = np.eye(3), 5.0 * np.eye(3)
    centred = Linear().centered().bind(X)
    centred(X)
    np.testing.assert_array_equal(centred.replace(reference=Y)(Y), Linear().centered()(Y))


def test_to_ask_for_a_diagonal_changes_nothing():
    texts = ["aab", "ba", "abab"]
    for kernel in (Spectrum(2) + Spectrum(1), Spectrum(2) * Spectrum(1)):
        prepared = kernel.prepare(texts, np.float64)
        for _ in range(2):
            np.testing.assert_allclose(kernel.diag_of(prepared), kernel(texts).diagonal())
    rows = np.array([[1.0, 2.0], [0.5, -1.0]])
    np.testing.assert_allclose((Linear() + Linear() + Linear()).diag(rows), 3.0 * (rows**2).sum(axis=1))
