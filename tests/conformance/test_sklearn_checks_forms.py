"""scikit-learn's own checks of what an estimator must do, for regression, nu-forms and one-class."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from mercer import SVDD, SVR, NuSVC, NuSVR, OneClassSVM, ParameterError, RankSVM
from mercer.kernels import RBF, Linear

# Cubes of features of size 100, which some checks use, are beyond double precision; labels at random, and rows around
# the origin, leave the nu-forms no margin. The fit says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:(OPTIMAL_INACCURATE|STALLED|(the margin is|there is no half-space)):sklearn.exceptions.ConvergenceWarning"
)

VARIANTS = [
    SVR(),
    SVR(kernel="linear", bias="penalized", warm_start=True),
    SVR(kernel=Linear() + RBF(gamma="scale"), bias="none", epsilon=0.0),
    NuSVR(),
    NuSVR(kernel="linear", nu=0.9),
    OneClassSVM(),
    OneClassSVM(kernel="linear", warm_start=True),
    SVDD(),
    SVDD(kernel="linear", nu=0.3),
    SVDD(kernel="poly", nu=0.5),
    RankSVM(),
    RankSVM(kernel="linear", C=0.1, warm_start=True),
    NuSVC(nu=0.3),
    NuSVC(nu=0.3, kernel="poly", break_ties=True),
    NuSVC(nu=0.2, kernel="linear", break_ties=True),
    NuSVC(nu=0.2, multi_class="ovr"),
    NuSVC(nu=0.2, kernel=RBF(gamma=0.5), warm_start=True),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


# The default nu, scikit-learn's, is infeasible for the random weights of these, and is refused.
INFEASIBLE = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}
PARTLY = [check for _, check in estimator_checks_generator(NuSVC()) if check.func.__name__ not in INFEASIBLE]


@pytest.mark.parametrize("check", PARTLY, ids=lambda check: check.func.__name__)
def test_sklearn_check_of_the_default_share(check):
    check(NuSVC())


@pytest.mark.parametrize("name", sorted(INFEASIBLE))
def test_what_those_checks_fit_is_infeasible(name):
    """If scikit-learn's weights become feasible one day, the exception above must go."""
    for _, check in estimator_checks_generator(NuSVC()):
        if check.func.__name__ == name:
            with pytest.raises(ParameterError, match="specified nu is infeasible"):
                check(NuSVC())
