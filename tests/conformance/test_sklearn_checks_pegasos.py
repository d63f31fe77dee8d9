"""scikit-learn's own checks of what an estimator must do, for every kind of PegasosSVC."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import PegasosSVC
from mercer.kernels import RBF, Linear

VARIANTS = [
    PegasosSVC(),
    PegasosSVC(bias="penalised"),
    PegasosSVC(average=False),
    PegasosSVC(projected=True),
    PegasosSVC(batch_size=4),
    PegasosSVC(sampling="permutation"),
    PegasosSVC(kernel=Linear(), form="alpha"),
    PegasosSVC(kernel="rbf"),
    PegasosSVC(kernel=RBF(gamma=0.5), budget=100),
    PegasosSVC(kernel="rbf", bias="penalised", projected=True),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
