"""scikit-learn's own checks for kernel machines with any loss, and for machines with probabilities."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, Huber, KernelLogisticRegression, KernelMachine, LinearSVC, NuSVC
from mercer.kernels import RBF, Linear

# Cubes of features of size 100, which some checks use, are beyond double precision, and labels at random leave NuSVC no
# margin: the fit says so.
pytestmark = pytest.mark.filterwarnings(
    "ignore:(OPTIMAL_INACCURATE|STALLED|the margin is zero):sklearn.exceptions.ConvergenceWarning"
)

VARIANTS = [
    SVC(probability=True),
    SVC(probability="isotonic"),
    NuSVC(nu=0.3, probability=True),
    LinearSVC(probability=True),
    KernelLogisticRegression(),
    KernelMachine(),
    KernelMachine(loss="logistic"),
    KernelMachine(loss="epsilon_insensitive"),
]
MORE = [
    SVC(probability="isotonic", multi_class="ovr"),
    NuSVC(nu=0.2, probability="isotonic"),
    LinearSVC(probability="isotonic", multi_class="crammer_singer"),
    # Weights are compared with copies to 1e-7, and two fits are no nearer to each other than each is to its optimum.
    KernelLogisticRegression(bias="penalized", C=10.0, tol=1e-9),
    KernelLogisticRegression(kernel=Linear() + RBF(gamma="scale"), bias="none", warm_start=True, tol=1e-9),
    KernelMachine(loss="squared_hinge", multi_class="ovr", bias="none"),
    KernelMachine(loss="squared", task="classification"),
    KernelMachine(loss=Huber(delta=0.5), bias="penalized"),
    KernelMachine(loss="pinball"),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE)
def test_sklearn_check_of_variants(estimator, check):
    check(estimator)
