"""A fit of a kernel classifier up to the point where something is solved, for whoever solves it otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.fitting.training import Budget, TrainingData
from mercer.estimators.fitting.two_class import Solved
from mercer.solvers.result import Solution, Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.gram.kernel_matrix import KernelMatrix


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
        What a kernel that is a function was evaluated on, or None.
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


def check_parameters(model: Any) -> None:
    """Refuse parameters that `model.fit` would refuse, whatever the data."""
    model._check_parameters()


def problems_of(model: Any, y: Labels, weights: FloatArray | None) -> Any:
    """The two-class problems, or the regression, that `model.fit` solves for these targets and weights of rows."""
    setup = model._setup(y, weights)
    return setup[0] if isinstance(setup, tuple) else setup


def fit_without_report(model: Any, X: Rows, y: Labels, weights: ArrayLike | None) -> Any:
    """`model.fit` without its warnings: whoever fits many models says what became of them."""
    return model._fit(X, y, weights)


def labels_of(model: Any, values: FloatArray) -> Array:
    """The labels that a classifier reads off the values of its functions."""
    return model._labels(values)


def decisions_of(model: Any, values: FloatArray) -> FloatArray:
    """What `decision_function` makes of the values of the functions."""
    return model._decisions(values)


def prepare_fit(model: "BaseEstimator", X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> PreparedFit:
    """What `model.fit(X, y, sample_weight)` does before it solves anything."""
    model._check_parameters()
    X, y = model._checked(X, y, sample_weight)
    setup, class_weight, weights = model._setup(y, sample_weight)
    budget = Budget.resolve(model.memory_limit, model.cache_size, X)
    items, data = model._training_data(X, weights, budget)
    return PreparedFit(model, X, setup, class_weight, budget, items, data)
