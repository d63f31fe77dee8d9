"""scikit-learn's own checks of machines that leave rows out."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from mercer import SVC, SVR, KernelRidge

VARIANTS = [
    SVC(conformal="split"),
    SVC(conformal="cross"),
    SVR(conformal="cross"),
    KernelRidge(conformal="leave_one_out"),
]
ONE_TARGET = "check_regressor_multioutput"


def faults_of_checks(estimator):
    """Checks that ask for what is refused, and why."""
    names = {check.func.__name__ for _, check in estimator_checks_generator(estimator)}
    told = {name: "rows of different weight are not exchangeable" for name in names if "sample_weight" in name}
    return {**told, ONE_TARGET: "an interval is of one target"} if ONE_TARGET in names else told


@pytest.mark.filterwarnings("ignore:(OPTIMAL_INACCURATE|STALLED):sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(VARIANTS, expected_failed_checks=faults_of_checks)
def test_sklearn_check(estimator, check):
    check(estimator)
