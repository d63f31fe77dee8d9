"""scikit-learn's own checks of what an estimator must do, for machines over several kernels."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import MKLClassifier, MKLOneClassSVM, MKLRegressor
from mercer.kernels import RBF, Linear, Polynomial

FEW = [Linear(), RBF(gamma=0.1), Polynomial(degree=2, coef0=1.0)]

VARIANTS = [
    MKLClassifier(),
    MKLClassifier(FEW, method="lp-norm", multi_class="ovr"),
    MKLClassifier(FEW, method="easy"),
    MKLClassifier(FEW, method="alignment"),
    MKLClassifier(FEW, method="centered_alignment"),
    MKLClassifier([Linear(), RBF(gamma="scale")], method="cv", cv=3),
    MKLClassifier(FEW, method="average", loss="squared_hinge"),
    MKLRegressor(),
    MKLRegressor(FEW, method="lp-norm", p=1.5),
    MKLRegressor(FEW, method="centered_alignment"),
    MKLRegressor([Linear(), RBF(gamma="scale")], method="cv", cv=3),
    MKLOneClassSVM(),
    MKLOneClassSVM([RBF(gamma=0.1), RBF(gamma=1.0)], method="lp-norm"),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
