"""scikit-learn's own checks for the machines with a ramp loss and for the centres of the version space."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import AnalyticCenterMachine, BayesPointMachine, RampSVC
from mercer.kernels import RBF, Linear

# Cubes of features of size 100, which some checks use, are beyond double precision: the fit says so.
pytestmark = pytest.mark.filterwarnings("ignore:(OPTIMAL_INACCURATE|STALLED):sklearn.exceptions.ConvergenceWarning")

# Short walks: the checks are about conduct, not about accuracy.
SHORT = {"n_draws": 40, "min_ess": 10, "tol": 0.5}
VARIANTS = [
    RampSVC(),
    RampSVC(kernel="linear", s=-1.0, bias="penalized", multi_class="ovr"),
    RampSVC(bias="none", break_ties=True, warm_start=True),
    RampSVC(kernel=Linear() + RBF(gamma="scale")),
    AnalyticCenterMachine(),
    AnalyticCenterMachine(kernel="linear", slack=1.0, bias="none", multi_class="ovr"),
    BayesPointMachine(**SHORT),
    BayesPointMachine(kernel="linear", slack=1.0, bias="none", multi_class="ovr", **SHORT),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
