"""scikit-learn's own checks of what an estimator must do, for perceptrons and hard margins."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from mercer import HardMarginSVC, KernelPerceptron, NotSeparableError, Perceptron
from mercer.kernels import RBF, Linear, Polynomial

# Many of the checks fit data that nothing separates; a perceptron says so and can be used.
pytestmark = pytest.mark.filterwarnings(
    "ignore:(ITERATION_LIMIT|STALLED|OPTIMAL_INACCURATE):sklearn.exceptions.ConvergenceWarning"
)

PERCEPTRONS = [
    Perceptron(),
    Perceptron(method="lp"),
    KernelPerceptron(),
]
MORE_PERCEPTRONS = [
    Perceptron(method="averaged"),
    Perceptron(method="batch"),
    Perceptron(tol=1e-3),
    KernelPerceptron(method="averaged", kernel="poly", coef0=1.0, max_iter=100),
    KernelPerceptron(method="batch", kernel=Linear() + RBF(gamma="scale"), max_iter=100),
    KernelPerceptron(method="averaged", fit_intercept=False, max_iter=100),
]

# Gaussians separate whatever is not contradictory; straight lines do not, and that is an error.
HARD_MARGINS = [
    HardMarginSVC(),
    *(
        pytest.param(model, marks=pytest.mark.slow)
        for model in (
            HardMarginSVC(bias="none"),
            HardMarginSVC(bias="penalized"),
            HardMarginSVC(multi_class="ovr"),
            HardMarginSVC(kernel=RBF(gamma=0.5)),
            HardMarginSVC(kernel=Polynomial(degree=1, gamma=1.0) + RBF(gamma="scale")),
        )
    ),
]

# With a warning in the place of the error, whatever scikit-learn fits.
FORGIVING = [HardMarginSVC(on_not_separable="warn")]
MORE_FORGIVING = [
    HardMarginSVC(kernel="linear", on_not_separable="warn"),
    HardMarginSVC(bias="none", on_not_separable="warn"),
    HardMarginSVC(multi_class="ovr", on_not_separable="warn"),
]

# These fit sparse rows many of which are empty, each with a label drawn at random: an error, as it should be.
CONTRADICTORY = {"check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix"}


@parametrize_with_checks(PERCEPTRONS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE_PERCEPTRONS)
def test_sklearn_check_of_variants(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:no hyperplane:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(FORGIVING)
def test_sklearn_check_of_hard_margin_that_warns(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no hyperplane:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(MORE_FORGIVING)
def test_sklearn_check_of_more_hard_margins_that_warn(estimator, check):
    check(estimator)


NAMES = sorted({check.func.__name__ for _, check in estimator_checks_generator(HardMarginSVC())} - CONTRADICTORY)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", HARD_MARGINS, ids=str)
def test_sklearn_checks_of_hard_margin(model, name):
    for estimator, check in estimator_checks_generator(model):
        if check.func.__name__ == name:
            check(estimator)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_matrix])
def test_what_those_checks_fit_is_contradictory(layout):
    """The same data: if scikit-learn's become separable one day, the exception above must go."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(40, 3))
    X[X < 0.6] = 0
    y = (4 * rng.uniform(size=40)).astype(np.int32)
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(layout(X), y)
    proof = caught.value.proof
    assert proof.check()
    assert proof.distance == 0.0
    assert (X[proof.indices] == X[proof.indices[0]]).all()


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_without_contradictions_are_fitted(layout):
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(40, 3))
    X[X < 0.2] = 0
    y = (4 * rng.uniform(size=40)).astype(np.int32)
    model = HardMarginSVC().fit(layout(X), y)
    assert model.score(layout(X), y) == 1.0
