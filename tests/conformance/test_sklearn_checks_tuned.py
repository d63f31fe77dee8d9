"""scikit-learn's own checks for the machines that choose their parameters."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVCCV, SVRCV, AutoKernelClassifier, AutoKernelRegressor

# Features of size 100, which some checks use, are beyond what a cubic kernel can do: the fit says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:(OPTIMAL_INACCURATE|STALLED|[0-9]+ of):sklearn.exceptions.ConvergenceWarning",
    "ignore:[0-9]+ of:sklearn.exceptions.FitFailedWarning",
    "ignore:The least populated class in y has only:UserWarning",
)

FEW = {"Cs": [1.0, 10.0], "gammas": 2, "cv": 3}
VARIANTS = [
    SVCCV(**FEW),
    SVRCV(**FEW),
    AutoKernelClassifier(families=["rbf", "linear"], cv=3),
    AutoKernelRegressor(families=["rbf", "linear"], cv=3),
]
MORE = [
    SVCCV(Cs=[1.0, 10.0], kernel="linear", cv=3, early_stop=True),
    SVCCV(Cs=[1.0], gammas=[0.1, 1.0], cv=3, scoring="balanced_accuracy", multi_class="ovr", bias="penalized"),
    SVCCV(**FEW, probability=True),
    SVRCV(**FEW, search="halving", epsilons=[0.05, 0.1]),
    SVCCV(**FEW, search="adaptive"),
    AutoKernelClassifier(),
    AutoKernelRegressor(),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


def _cannot_pass(estimator):
    """Checks that ask for what a variant refuses by design, with the reason."""
    if not isinstance(estimator, SVCCV) or estimator.search != "adaptive":
        return {}
    return {"check_class_weight_classifiers": "it sets n_iter, which means nothing to a search that draws nothing"}


@pytest.mark.slow
@parametrize_with_checks(MORE, expected_failed_checks=_cannot_pass)
def test_sklearn_check_of_variants(estimator, check):
    check(estimator)
