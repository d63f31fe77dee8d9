"""Every estimator of the kernel family: objects with a kernel of the user's, and kernel matrices, square for
the fit and rectangular for what follows, give what rows of numbers give."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    SVC,
    SVDD,
    SVR,
    KernelFisherDiscriminant,
    KernelLeastSquares,
    KernelLogisticRegression,
    KernelMachine,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RankSVM,
)
from mercer.kernels import RBF, Custom, Spectrum

rng = np.random.default_rng(0)
COUNTS = rng.integers(0, 7, (40, 2)) + np.array([0, 1])
WORDS = ["a" * a + "b" * b for a, b in COUNTS]
LABELS = np.where(COUNTS[:, 0] > COUNTS[:, 1], "many a", "many b")
MANY_LABELS = np.char.add(LABELS, (COUNTS.sum(axis=1) % 2).astype(str))
QUANTITIES = COUNTS[:, 0] - 0.5 * COUNTS[:, 1] + 0.1 * rng.normal(size=40)
NEW = np.array([[3, 3], [0, 5], [6, 1]])
NEW_WORDS = ["a" * a + "b" * b for a, b in NEW]


def alike(s, t):
    """Gaussian in how often letters occur."""
    return float(np.exp(-0.1 * ((s.count("a") - t.count("a")) ** 2 + (s.count("b") - t.count("b")) ** 2)))


FAMILY = [
    (SVC(tol=1e-8), LABELS, "decision_function"),
    (SVC(probability=True, tol=1e-8), LABELS, "decision_function"),
    (SVC(multi_class="crammer_singer", bias="penalized", tol=1e-8), LABELS, "decision_function"),
    (SVC(multi_class="crammer_singer", tol=1e-8), MANY_LABELS, "predict"),
    (NuSVC(nu=0.3, tol=1e-8), LABELS, "decision_function"),
    (SVR(tol=1e-8), QUANTITIES, "predict"),
    (NuSVR(tol=1e-8), QUANTITIES, "predict"),
    (OneClassSVM(nu=0.2, tol=1e-8), None, "score_samples"),
    (SVDD(nu=0.2, tol=1e-8), None, "decision_function"),
    (RankSVM(tol=1e-8), QUANTITIES.round(), "predict"),
    (KernelMachine(tol=1e-8), LABELS, "decision_function"),
    (KernelMachine(loss="huber", tol=1e-8), QUANTITIES, "predict"),
    (KernelLogisticRegression(tol=1e-8), LABELS, "predict_proba"),
    (KernelRidge(), QUANTITIES, "predict"),
    (KernelLeastSquares(), QUANTITIES, "predict"),
    (KernelFisherDiscriminant(), LABELS, "decision_function"),
    (KernelPCA(2), None, "transform"),
    (KernelSVD(2), None, "transform"),
]
names = [f"{type(model).__name__}-{k}" for k, (model, _, _) in enumerate(FAMILY)]


def answers(model, kernel, train, y, new, method):
    model = clone(model).set_params(kernel=kernel)
    return getattr(model.fit(train) if y is None else model.fit(train, y), method)(new)


def same(first, second):
    if first.dtype.kind == "U":
        np.testing.assert_array_equal(first, second)
        return
    if first.ndim == 2 and first.shape[1] == 2:  # the sign of a component is anybody's
        first, second = np.abs(first), np.abs(second)
    np.testing.assert_allclose(first, second, atol=2e-5)


@pytest.mark.parametrize(("model", "y", "method"), FAMILY, ids=names)
def test_objects_and_kernel_matrices(model, y, method):
    kernel = RBF(gamma=0.1)
    train, new = COUNTS.astype(float), NEW.astype(float)
    expected = answers(model, kernel, train, y, new, method)
    same(answers(model, Custom(alike, pairwise=True), WORDS, y, NEW_WORDS, method), expected)
    same(answers(model, "precomputed", kernel(train), y, kernel(new, train), method), expected)


@pytest.mark.parametrize(("model", "y", "method"), FAMILY, ids=names)
def test_texts_with_a_kernel_of_texts(model, y, method):
    kernel = Spectrum(2) + Spectrum(1)
    # A ball takes a matrix only where all texts have the same length.
    kernel = kernel.normalized() if isinstance(model, SVDD) else kernel
    expected = answers(model, "precomputed", kernel(WORDS), y, kernel(NEW_WORDS, WORDS), method)
    same(answers(model, kernel, WORDS, y, NEW_WORDS, method), expected)


@pytest.mark.parametrize(("model", "y", "method"), FAMILY, ids=names)
def test_a_kernel_matrix_of_the_wrong_width_is_refused(model, y, method):
    K = RBF(gamma=0.1)(COUNTS.astype(float))
    model = clone(model).set_params(kernel="precomputed")
    model = model.fit(K) if y is None else model.fit(K, y)
    with pytest.raises(ValueError, match=r"features|number of samples|columns"):
        getattr(model, method)(K[:3, :7])


@pytest.mark.parametrize("weights", [None, np.where(np.arange(40) % 3 == 0, 0.0, 1.0)], ids=["all", "some"])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SVC(), LABELS),
        (SVC(), MANY_LABELS),
        (SVC(multi_class="ovr"), MANY_LABELS),
        (SVC(multi_class="crammer_singer"), MANY_LABELS),
        (NuSVC(nu=0.2), LABELS),
        (NuSVC(nu=0.2), MANY_LABELS),
        (SVR(), QUANTITIES),
        (NuSVR(), QUANTITIES),
        (OneClassSVM(nu=0.2), None),
        (SVDD(nu=0.2), None),
        (RankSVM(), QUANTITIES.round()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_kernel_matrix_is_certified_as_its_rows_are(model, y, weights):
    """Of some of the items, or of items in another order, the certificate needs their rows and their columns."""
    certificates = []
    for kernel, X in ((RBF(0.1), COUNTS), ("precomputed", RBF(0.1)(COUNTS))):
        fitted = clone(model).set_params(kernel=kernel, tol=1e-6).fit(X, y, sample_weight=weights)
        found = fitted.certificate_
        certificates.append(found if isinstance(found, (list, tuple)) else [found])
    for by_rows, by_matrix in zip(*certificates, strict=True):
        assert by_matrix.kkt_violation <= 1e-5
        assert by_matrix.primal == pytest.approx(by_rows.primal, rel=1e-5, abs=1e-5)
        assert by_matrix.gap == pytest.approx(by_rows.gap, abs=1e-4)
