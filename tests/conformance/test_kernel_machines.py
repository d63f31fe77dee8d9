"""scikit-learn's own checks for kernel machines with any loss, and for machines with probabilities."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_train, estimator_checks_generator, parametrize_with_checks

from mercer import SVC, Huber, KernelLogisticRegression, KernelMachine
from mercer.kernels import RBF, Linear

# Cubes of features of size 100, which some checks use, are beyond double precision: the fit says so.
pytestmark = pytest.mark.filterwarnings("ignore:(OPTIMAL_INACCURATE|STALLED):sklearn.exceptions.ConvergenceWarning")

VARIANTS = [
    SVC(probability=True),
    KernelLogisticRegression(),
    KernelMachine(),
    KernelMachine(loss="logistic"),
    KernelMachine(loss="epsilon_insensitive"),
]
MORE = [
    KernelLogisticRegression(bias="penalised", C=10.0),
    KernelLogisticRegression(kernel=Linear() + RBF(gamma="scale"), bias="none", warm_start=True),
    KernelMachine(loss="squared_hinge", multi_class="ovr", bias="none"),
    KernelMachine(loss="squared", task="classification"),
    KernelMachine(loss=Huber(delta=0.5), bias="penalised"),
    KernelMachine(loss="pinball"),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE)
def test_sklearn_check_of_variants(estimator, check):
    check(estimator)


STEPS = SVC(probability="isotonic")


def checks_of_steps():
    """Every check but the one that wants the largest decision value to be the answer, too.

    Among several classes, probabilities may rank a few rows otherwise than decision values do; `predict`
    follows the probabilities.
    """
    return [
        pytest.param(check, id=check.func.__name__)
        for _, check in estimator_checks_generator(STEPS)
        if check.func is not check_classifiers_train
    ]


@pytest.mark.parametrize("check", checks_of_steps())
def test_sklearn_check_of_isotonic_probabilities(check):
    check(STEPS)
