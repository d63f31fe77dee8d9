"""scikit-learn's own checks of what an estimator must do, for regression, nu-forms and one-class."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.kernels import RBF, Linear

# Cubes of features of size 100, which some checks use, are beyond double precision: the fit says so.
pytestmark = pytest.mark.filterwarnings("ignore:(OPTIMAL_INACCURATE|STALLED):sklearn.exceptions.ConvergenceWarning")

VARIANTS = [
    SVR(),
    SVR(kernel="linear", bias="penalised", warm_start=True),
    SVR(kernel=Linear() + RBF(gamma="scale"), bias="none", epsilon=0.0),
    NuSVR(),
    NuSVR(kernel="linear", nu=0.9),
    OneClassSVM(),
    OneClassSVM(kernel="linear", warm_start=True),
    SVDD(),
    SVDD(kernel="linear", nu=0.3),
    SVDD(kernel="poly", nu=0.5),
    NuSVC(nu=0.1),
    NuSVC(nu=0.1, multi_class="ovr", break_ties=True),
    NuSVC(kernel="linear", nu=0.1),
    NuSVC(nu=0.2, kernel=RBF(gamma=0.5), warm_start=True),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
