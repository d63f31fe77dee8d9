"""What other rooms ask of an estimator besides scikit-learn's contract: `FitPlan`, and functions that ask it.

Selection solves many fits at once, or in another order; it needs a fit up to the point where something is solved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting.training import Budget, TrainingData
from mercer.estimators.fitting.two_class import Solved
from mercer.solvers.result import Solution, Status

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix


class FitPlan(Protocol):
    """The steps of a fit, in the order in which `fit` takes them, as in `KernelClassifier` and `OneFunctionModel`.

    Other packages call them only through the functions below.
    """

    memory_limit: int | str | None
    cache_size: float | None
    n_jobs: int | None

    def _fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, /) -> None:
        """The whole fit, without the warnings at its end."""

    def _check_parameters(self) -> None:
        """Refuse invalid parameters, whatever the data."""

    def _checked(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, /) -> tuple[Rows, Array]:
        """Rows and targets, with "auto" parameters resolved."""

    def _setup(self, y: Array, sample_weight: ArrayLike | None = None, /) -> Any:
        """The problems of checked targets; for a classifier, with the weights of its classes and rows."""

    def _training_data(self, X: Rows, weights: FloatArray | None, budget: Budget, /) -> tuple[Any, TrainingData]:
        """(the items that a kernel function was evaluated on, the rows with their kernel)."""

    def _keep(self, X: Rows, data: TrainingData, setup: Any, solved: Any, /) -> None:
        """Set the fitted attributes from solved problems."""


class ClassifierPlan(FitPlan, Protocol):
    """The additional steps of a classifier."""

    def _labels(self, values: FloatArray, /) -> Array:
        """Labels, from the values of all functions."""

    def _decisions(self, values: FloatArray, /) -> FloatArray:
        """`decision_function` from the same values."""


@dataclass(frozen=True)
class PreparedFit:
    """Checked rows and labels of an unfitted classifier, as its `fit` would see them.

    Attributes
    ----------
    model : SVC
        Its parameters; it is left as it was, but for the features it notes.
    X
        The rows or items.
    setup : TwoClassProblems
    class_weight : ndarray
    budget : Budget
    items
        The items that a kernel function was evaluated on, or None.
    data : TrainingData
    """

    model: Any
    X: Any
    setup: Any
    class_weight: np.ndarray
    budget: Budget
    items: Any
    data: TrainingData

    def matrix(self, tol: float, indices: IndexArray | None = None) -> "KernelMatrix":
        """The kernel matrix of some of the rows, in the precision that a tolerance needs."""
        matrix = self.data.matrix(tol, None, self.budget, self.model.n_jobs)
        return matrix if indices is None or len(indices) == matrix.n else matrix.view(indices)

    def adopt(self, betas: Sequence[FloatArray], biases: Sequence[float]) -> Any:
        """Make the model the fitted one whose solutions were found elsewhere.

        Parameters
        ----------
        betas : list of ndarray
            Signed coefficients of the rows of each two-class problem.
        biases : list of float
            The bias of each, where it is free.
        """
        model = self.model
        solutions = [
            Solution(beta, np.zeros(len(beta)), bias, Status.OPTIMAL, 0, is_gradient_complete=False)
            for beta, bias in zip(betas, biases, strict=True)
        ]
        model.classes_, model.class_weight_, model._items = self.setup.classes, self.class_weight, self.items
        model._calibration = None
        model._keep(self.X, self.data, self.setup, Solved(self.setup, solutions))
        return model


def check_parameters(model: FitPlan) -> None:
    """Refuse parameters that `model.fit` would refuse, whatever the data."""
    model._check_parameters()


def problems_of(model: FitPlan, y: Array, weights: FloatArray | None) -> Any:
    """The two-class problems, or the regression, that `model.fit` solves for these targets and weights of rows."""
    setup = model._setup(y, weights)
    return setup[0] if isinstance(setup, tuple) else setup


def fit_without_report(model: FitPlan, X: Rows, y: Labels, weights: ArrayLike | None) -> None:
    """`model.fit` without its warnings: a caller that fits many models reports on them itself."""
    model._fit(X, y, weights)
    vars(model).pop("_said", None)


def labels_of(model: ClassifierPlan, values: FloatArray) -> Array:
    """A classifier's labels from the values of its functions."""
    return model._labels(values)


def decisions_of(model: ClassifierPlan, values: FloatArray) -> FloatArray:
    """A classifier's `decision_function` from the values of its functions."""
    return model._decisions(values)


def prepare_fit(model: FitPlan, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> PreparedFit:
    """The preparation of `model.fit(X, y, sample_weight)`, before anything is solved."""
    model._check_parameters()
    X, y = model._checked(X, y, sample_weight)
    setup, class_weight, weights = model._setup(y, sample_weight)
    budget = Budget.resolve(model.memory_limit, model.cache_size, X)
    items, data = model._training_data(X, weights, budget)
    return PreparedFit(model, X, setup, class_weight, budget, items, data)
