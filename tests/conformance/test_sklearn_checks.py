"""scikit-learn's own checks of what an estimator must do, for every kind of SVC."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC
from mercer.kernels import RBF, Linear

VARIANTS = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="poly"),
    SVC(loss="squared_hinge"),
    SVC(bias="penalised"),
    SVC(bias="none"),
    SVC(multi_class="ovr"),
    SVC(kernel=RBF(gamma=0.5)),
    SVC(kernel=Linear() + RBF(gamma="scale")),
    SVC(break_ties=True),
    SVC(decision_function_shape="ovo"),
    SVC(warm_start=True),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
