"""The base of all kernel classifiers: check, fit as two-class problems, store, predict."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.fitting import tasks
from mercer.estimators.fitting.auto_strength import choose_kernel
from mercer.estimators.fitting.inputs import classes_and_codes, require_fitted, training_input
from mercer.estimators.fitting.parameters import require_choice, require_flag, require_optional_number
from mercer.estimators.fitting.training import Budget
from mercer.estimators.fitting.weights import sample_weights, weights_of_classes
from mercer.estimators.out_of_core.given import are_blocks, no_sum_of_losses
from mercer.estimators.out_of_core.predicting import ClassifiesBlocks
from mercer.solvers.limits import Limits


class KernelClassifier(ClassifierMixin, KernelModel):
    """Base of classifiers that are expansions in a kernel.

    A subclass defines the two-class problems (`_two_class_problems`) and how they are solved (`_solve`, which returns a
    `Solved`); the rest is here.
    """

    if TYPE_CHECKING:
        class_weight: dict[Any, float] | str | None
        cache_size: float | None

    # Defaults for machines without these parameters.
    class_weight = None
    cache_size = None
    warm_start = False
    # Values that `multi_class` may take.
    _multi_classes: tuple[str, ...] = ("ovo", "ovr")
    # Whether the kernel may be "auto".
    _chooses_kernel = True

    def fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _learn(self, limits: Limits, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        if are_blocks(X):
            setup, class_weight, weights = self._setup_of_blocks(X, y, sample_weight, limits)
        else:
            X, y = self._checked(X, y, sample_weight)
            setup, class_weight, weights = self._setup(y, sample_weight)
        budget = Budget.resolve(self.memory_limit, self.cache_size, X)
        n_machines = tasks.problem_count(setup.n_classes, setup.multi_class)
        items, data = self._bound(X, weights, budget, n_machines, limits)
        solved = self._solved(data, setup, budget, limits)
        self.classes_, self.class_weight_, self._items = setup.classes, class_weight, items
        self._keep(X, data, setup, solved)

    def _checked(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> tuple[Rows, Array]:
        """Rows and labels, with "auto" parameters resolved."""
        choose_kernel(self, X, y, sample_weight)
        X, y = training_input(self, X, y)
        self._choose_C(X, sample_weight, y)
        return X, y

    def _choose_C(self, X: Rows, sample_weight: ArrayLike | None, y: Array) -> None:
        """Nothing to do for a C that cannot be "auto"."""

    def _setup(self, y: Array, sample_weight: ArrayLike | None = None) -> tuple[Any, FloatArray, FloatArray | None]:
        """(the two-class problems of checked labels, weights of the classes, weights of the rows or None)."""
        return self._setup_of(*classes_and_codes(y), sample_weight)

    def _setup_of(
        self, classes: Array, codes: IndexArray, sample_weight: ArrayLike | None
    ) -> tuple[Any, FloatArray, FloatArray | None]:
        """The same for labels that are known as positions among the classes."""
        class_weight = weights_of_classes(self.class_weight, classes, codes)
        weights = None if sample_weight is None else self._sample_weights(sample_weight, codes, classes)
        setup = self._two_class_problems(codes, class_weight, weights)
        setup.classes = classes
        return setup, class_weight, weights

    def _setup_of_blocks(
        self, X: Any, y: Any, sample_weight: Any, limits: Limits
    ) -> tuple[Any, FloatArray, FloatArray | None]:
        """The same for the labels of `Blocks`, for a machine that can learn from them."""
        raise no_sum_of_losses(self)

    def _check_parameters(self) -> None:
        """The parameters common to all kernel classifiers."""
        super()._check_parameters()
        require_optional_number("cache_size", self.cache_size, above=0.0)
        for name in ("break_ties", "warm_start"):
            require_flag(name, getattr(self, name))
        require_choice("multi_class", self.multi_class, self._multi_classes)
        require_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))

    def _sample_weights(self, given: ArrayLike, codes: IndexArray, classes: Array) -> FloatArray:
        return sample_weights(given, codes, classes)

    @property
    def _has_pairs(self) -> bool:
        return len(self.classes_) > 2 and tasks.strategy_of(self) == "ovo"

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 for the second of two classes, else a column for each class or pair.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,), (n, n_classes) or (n, n_pairs)
        """
        return self._decisions(self._values(X))

    def _decisions(self, values: FloatArray) -> FloatArray:
        """`decision_function` from the values of all two-class problems."""
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._has_pairs and self.decision_function_shape == "ovr":
            return tasks.ovr_from_ovo(values, len(self.classes_))
        return values

    def predict(self, X: Rows) -> Array:
        """The label of each row of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        require_fitted(self)
        return self._labels(self._values(X))

    def _labels(self, values: Array) -> Array:
        """`predict` from the values of all two-class problems."""
        if len(self.classes_) == 2:
            return self.classes_[(values[:, 0] > 0).astype(np.intp)]
        if self._has_pairs:
            count = tasks.ovr_from_ovo if self.break_ties else tasks.votes
            values = count(values, len(self.classes_))
        return self.classes_[values.argmax(axis=1)]


class BlockKernelClassifier(ClassifiesBlocks, KernelClassifier):
    """Base of classifiers that can also learn from `Blocks`, with an approximation."""

    def fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the rows of X and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) if precomputed
            With an approximation, also `mercer.io.Blocks`, which need not fit in memory.
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own targets and weights.
        sample_weight : array-like of shape (n,), optional
            Multiplies the loss of each row; rows of weight zero or less take no part.

        Returns
        -------
        self
        """
        return self._fit_and_tell(X, y, sample_weight)

    def _setup_of_blocks(
        self, X: Any, y: Any, sample_weight: Any, limits: Limits
    ) -> tuple[Any, FloatArray, FloatArray | None]:
        # Imported here: it brings all file readers, and few fits need them.
        from mercer.estimators.low_rank.from_blocks import labels_to_learn

        return self._setup_of(*labels_to_learn(self, X, y, sample_weight, limits))


def refuse_ties_of_pairs(estimator: Any) -> None:
    """As in scikit-learn, whose `decision_function` then has no column to break a tie by."""
    if getattr(estimator, "break_ties", False) and estimator.decision_function_shape == "ovo":
        require_fitted(estimator)
        raise ParameterError("break_ties must be False when decision_function_shape is 'ovo'")
