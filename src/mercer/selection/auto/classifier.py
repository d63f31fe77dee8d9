"""A support vector classifier that finds its own kernel."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer

from mercer._errors import ParameterError
from mercer.selection.auto.auto_kernel import AutoKernel
from mercer.selection.auto.named_scores import CLASS_SCORES, named_score
from mercer.selection.tuning.tuned import TunedClassifier

# Scores to which rare classes matter, so that class weights are worth trying.
_OF_CLASSES = ("balanced", "balanced_accuracy", "f1")


class AutoKernelClassifier(AutoKernel, TunedClassifier):
    """Support vector classifier that chooses its kernel from several families, and C, within a time budget.

    Rows of numbers are tried with Gaussian, Laplacian, Matérn, rational quadratic and linear kernels, column by column,
    column by column and jointly, and with a relevance for each column; texts, trees, graphs and tables with kernels
    of their own. Many are judged on few rows, the better ones on more; if the best width or C is the last one tried,
    the search goes further in that direction. The winner is fitted to all rows, exactly.

    Parameters
    ----------
    time_limit : float, optional
        Seconds for everything, including the last fit. By default the search takes about as long as ten fits to all
        rows (or a few seconds if there are few rows), counted in fits and not in seconds, so that the same rows give
        the same machine.
    families : list of str, optional
        Names of the families to choose from; by default all that suit the data. `families_for` lists them.
    scoring : str, callable, list or dict, optional
        How a kernel is judged: "accuracy" (the default), "balanced", "auc", "log_loss", "f1", or what
        `SVCCV` takes.
    cv : int, splitter or iterable, optional
        How rows are split; five stratified folds by default.
    class_weight : dict or "balanced", optional
        Weights of the classes. If the score is balanced accuracy or F1, "balanced" is tried in any case.
    probability : bool or str, default=False
        Whether `predict_proba` is wanted, as in `SVC`; the score "log_loss" implies it.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    random_state : int, RandomState or None, default=None
        Seed for drawing the smaller samples of rows.
    memory_limit : int or str, optional
        Memory in bytes, or as text such as "2GiB"; by default half of the free memory.
    n_jobs : int, optional
        Number of threads; all cores by default.
    verbose : int, default=0
        If above 0, print the progress of the search to standard error.
    callbacks : list of callables, optional
        Functions called with a `SearchPoint` as the search goes on; a true return value ends it.

    Attributes
    ----------
    best_params_ : dict
        Family, width or length, and C of the winner. A width is in units of the median distance between rows, or of
        the width found with the relevances.
    best_score_ : float
        Its mean score over the folds.
    honest_score_, honest_error_ : float
        The same, corrected for the luck of being chosen (see the guide), and its standard error.
    best_estimator_ : SVC
        The machine fitted to all rows.
    kernel_, C_
        Its kernel and C.
    cv_results_ : dict of ndarrays
        Everything that was tried, in the layout of `GridSearchCV`; ``n_resources`` says on how many rows.
    best_index_, n_splits_, scorer_, multimetric_, refit_time_
        As in `SVCCV`.
    classes_ : ndarray
        The labels.
    ending_ : str
        Why the search ended.
    status_ : Status
        How the search ended, or how the last fit did.
    certificate_, expansion_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, trace_
        Attributes of the fitted machine.
    n_features_in_, feature_names_in_
        Number and names of the features, if the data have them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import AutoKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoKernelClassifier(families=["rbf", "linear"]).fit(X, y)
    >>> bool(model.best_score_ >= model.honest_score_ > 0.93), model.status_.name
    (True, 'OPTIMAL')
    """

    def __init__(
        self,
        time_limit: float | None = None,
        *,
        families: Sequence[str] | None = None,
        scoring: Any = None,
        cv: Any = None,
        class_weight: dict[Any, float] | str | None = None,
        probability: bool | str = False,
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.time_limit = time_limit
        self.families = families
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.random_state = random_state
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    def _template(self) -> Any:
        machine = super()._template()
        return machine.set_params(probability=True) if not self.probability and self._asks_probabilities() else machine

    def _asks_probabilities(self) -> bool:
        if not isinstance(self.scoring, str) or (self.scoring in CLASS_SCORES and self.scoring != "log_loss"):
            return False
        try:
            scorer = get_scorer(named_score(self.scoring, np.arange(2), True))
            return getattr(scorer, "_response_method", None) == "predict_proba"
        except ValueError as error:
            raise ParameterError(
                f"scoring must be one of {', '.join(CLASS_SCORES)}, the name of a scikit-learn scorer, or a function, "
                f"got {self.scoring!r}"
            ) from error

    def _extras(self, unit: float) -> tuple[Mapping[str, Any], ...]:
        found: list[Mapping[str, Any]] = [{"multi_class": "ovr"}] if len(self.classes_) > 2 else []
        is_wanted = isinstance(self.scoring, str) and self.scoring in _OF_CLASSES
        return (*found, {"class_weight": "balanced"}) if is_wanted and self.class_weight is None else tuple(found)
