import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from mercer import SVC, SVR, OneClassSVM, ParameterError
from mercer.kernels import Precomputed, Spectrum
from mercer.plot.drawing.checks import (
    final_model,
    require_attribute,
    require_classifier,
    require_regressor,
    require_vectors,
)


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError, match="SVC instance is not fitted yet"):
        final_model(SVC())


def test_what_a_search_has_found_is_drawn(toy):
    search = GridSearchCV(SVC(kernel="linear"), {"C": [1.0, 10.0]}, cv=2).fit(*toy)
    assert final_model(search) is search.best_estimator_


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed(), Spectrum(length=2), Spectrum(length=2).normalized()])
def test_a_kernel_without_values_between_the_rows_is_refused(kernel):
    with pytest.raises(ParameterError, match="Some evaluates the model between its rows, which kernel="):
        require_vectors(SVC(kernel=kernel), "Some")


@pytest.mark.parametrize("kernel", ["rbf", lambda X, Y: X @ Y.T])
def test_kernels_of_vectors_are_welcome(kernel):
    require_vectors(SVC(kernel=kernel), "Some")


def test_classifiers_and_detectors_have_boundaries(toy):
    require_classifier(SVC().fit(*toy), "Some")
    require_classifier(OneClassSVM().fit(toy[0]), "Some")
    with pytest.raises(ParameterError, match="Some draws classifiers, got the regressor SVR; see TubeDisplay"):
        require_classifier(SVR().fit(toy[0], np.arange(4.0)), "Some")
    with pytest.raises(ParameterError, match="Some draws classifiers and detectors, got KMeans"):
        require_classifier(KMeans(), "Some")


def test_only_regressors_have_tubes(toy):
    require_regressor(SVR(), "Some")
    with pytest.raises(ParameterError, match="Some draws regressors, got SVC; see DecisionBoundaryDisplay"):
        require_regressor(SVC(), "Some")


def test_a_missing_attribute_is_named_with_a_remedy():
    with pytest.raises(ParameterError, match="Some needs a model with weights_, which SVC does not have; try another"):
        require_attribute(SVC(), "weights_", "Some", "try another")
