import numpy as np
import pytest
from scipy import sparse

from mercer import SVC, DataError, LinearSVC, ParameterError
from mercer.kernels import RBF, Linear, Spectrum
from mercer.plot import KernelMatrixDisplay
from tests.plot.pictures import assert_pictured

TEXTS = ["abab", "xyxy", "abba", "yxxy"]


def test_rows_stand_in_order_of_class(petals):
    X, y = petals
    mixed = np.random.default_rng(0).permutation(len(y))
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), X[mixed], y[mixed])
    assert (np.diff(display.labels) >= 0).all()
    order = mixed[np.argsort(y[mixed], kind="stable")]
    np.testing.assert_allclose(display.matrix, RBF(gamma=0.5)(X[order]), atol=1e-12)
    np.testing.assert_array_equal(display.image_.get_array(), display.matrix)


def test_lines_stand_between_the_classes(petals):
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), *petals)
    places = sorted({float(line.get_ydata()[0]) for line in display.borders_[::2]})
    assert places == [49.5, 99.5]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0", "1", "2"]


def test_the_spectrum_is_that_of_the_matrix(petals):
    display = KernelMatrixDisplay.from_kernel(Linear(), *petals)
    x, y = display.spectrum_.get_data()
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_allclose(y, np.linalg.svd(petals[0])[1] ** 2, rtol=1e-9)
    assert len(display.negative_.get_xdata()) == 0


def test_effective_dimension_counts_equal_eigenvalues():
    assert KernelMatrixDisplay.from_matrix(np.eye(7)).effective_dimension == pytest.approx(7.0)
    assert KernelMatrixDisplay.from_matrix(np.ones((7, 7))).effective_dimension == pytest.approx(1.0)


def test_negative_eigenvalues_are_crosses():
    display = KernelMatrixDisplay.from_matrix(np.diag([2.0, 1.0, -0.5]))
    assert display.negative_.get_marker() == "x"
    np.testing.assert_allclose(display.negative_.get_ydata(), [0.5])
    words = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert "below zero: 1" in words


def test_of_many_rows_some_are_shown_and_it_is_said(rng):
    X = rng.normal(size=(500, 2))
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=1.0), sparse.csr_array(X), np.arange(500) % 3, max_rows=60)
    assert display.matrix.shape == (60, 60)
    np.testing.assert_array_equal(np.bincount(display.labels), [20, 20, 20])
    assert display.ax_.get_xlabel() == "60 of 500 rows, in order of y"


def test_numbers_are_an_order_without_lines(rng):
    display = KernelMatrixDisplay.from_kernel(RBF(gamma=1.0), rng.normal(size=(50, 2)), rng.normal(size=50))
    assert (np.diff(display.labels) > 0).all()
    assert display.borders_ == []


def test_texts_and_the_kernel_of_a_model(petals):
    display = KernelMatrixDisplay.from_kernel(Spectrum(length=2), TEXTS, ["b", "a", "b", "a"])
    np.testing.assert_array_equal(display.labels, ["a", "a", "b", "b"])
    assert display.matrix[0, 2] == 0.0
    model = SVC().fit(*petals)
    display = KernelMatrixDisplay.from_estimator(model, *petals)
    np.testing.assert_allclose(display.matrix, model.expansion_.kernel(petals[0]), atol=1e-12)


def test_what_is_no_kernel_matrix_is_refused(toy):
    with pytest.raises(ParameterError, match="kernel must be a Kernel, such as RBF"):
        KernelMatrixDisplay.from_kernel("rbf", *toy)
    with pytest.raises(DataError, match=r"K must be a square matrix, got shape \(2, 3\)"):
        KernelMatrixDisplay.from_matrix(np.zeros((2, 3)))
    with pytest.raises(DataError, match="K must be symmetric"):
        KernelMatrixDisplay.from_matrix([[1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(DataError, match="y must have a label for each row of X: 4 rows, 1 labels"):
        KernelMatrixDisplay.from_kernel(Linear(), toy[0], [1])
    with pytest.raises(ParameterError, match="max_rows must be positive, got 0"):
        KernelMatrixDisplay.from_kernel(Linear(), *toy, max_rows=0)
    with pytest.raises(ParameterError, match="needs a model with expansion_, which LinearSVC does not have"):
        KernelMatrixDisplay.from_estimator(LinearSVC().fit(*toy), *toy)


def test_the_picture(petals):
    assert_pictured(KernelMatrixDisplay.from_kernel(RBF(gamma=0.5), *petals).figure_, "kernel_matrix")
