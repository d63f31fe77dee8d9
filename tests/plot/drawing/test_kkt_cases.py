import numpy as np
import pytest
from sklearn import svm

from mercer import SVC
from mercer.plot.drawing.kkt_cases import free_support


@pytest.fixture
def overlapping(petals):
    X, y = petals
    return X[y > 0], y[y > 0]


def test_as_many_are_bounded_as_the_certificate_says(overlapping):
    model = SVC(C=10.0, gamma=0.5).fit(*overlapping)
    free = free_support(model)
    assert np.sum(~free) == model.certificate_.n_bounded > 0
    assert np.sum(free) == model.certificate_.n_free > 0


def test_bounded_ones_are_those_whose_coefficient_is_at_the_box(overlapping):
    model = SVC(C=10.0, gamma=0.5, tol=1e-6).fit(*overlapping)
    at_the_box = np.abs(model.dual_coef_.ravel()) > 10.0 * (1 - 1e-9)
    np.testing.assert_array_equal(free_support(model), ~at_the_box)


def test_weights_are_taken_into_account(overlapping):
    X, y = overlapping
    model = SVC(C=10.0, gamma=0.5, tol=1e-6).fit(X, y, sample_weight=np.linspace(0.5, 2.0, len(y)))
    assert np.sum(~free_support(model)) == model.certificate_.n_bounded


def test_separable_data_have_free_support_vectors_only(toy):
    assert free_support(SVC(kernel="linear", C=1e3).fit(*toy)).all()


def test_several_classes_have_no_single_case(petals):
    assert free_support(SVC().fit(*petals)) is None


def test_a_model_without_certificate_does_not_tell(toy):
    assert free_support(svm.SVC().fit(*toy)) is None
