"""scikit-learn's own checks of what an estimator must do, for the kernel methods."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    KernelDensity,
    KernelFisherDiscriminant,
    KernelLeastSquares,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    LowRank,
    Nystroem,
    RandomFourierFeatures,
)
from mercer.kernels import RBF, Linear

VARIANTS = [
    KernelRidge(),
    KernelRidge(kernel="rbf", solver="cg"),
    KernelRidge(kernel=Linear() + RBF(gamma=0.5), leave_one_out=True),
    KernelPCA(),
    KernelPCA(n_components=2, kernel="rbf", eigen_solver="krylov", fit_inverse_transform=True),
    KernelSVD(n_components=1),
    KernelFisherDiscriminant(),
    KernelFisherDiscriminant(kernel="linear", solver="cg"),
    KernelLeastSquares(),
    KernelLeastSquares(kernel="rbf"),
    KernelDensity(),
    KernelDensity(kernel="epanechnikov", bandwidth="scott", level=0.1),
    KernelDensity(kernel=RBF(gamma="scale")),
    KernelPCA(n_components=1, kernel="rbf", approximation=LowRank(1)),
    Nystroem(n_components=1),
    Nystroem(kernel="poly", degree=2, n_components=3, choice="rpcholesky"),
    Nystroem(kernel=Linear() + RBF(gamma="scale"), n_components=2),
    RandomFourierFeatures(n_components=5),
    RandomFourierFeatures(gamma="scale", n_components=1),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)
