"""A support vector regression that finds its own kernel."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mercer.selection.auto.auto_kernel import AutoKernel
from mercer.selection.tuning.search import Task
from mercer.selection.tuning.tuned import TunedRegressor

# Half the width of the tube in standard deviations of the targets: at first, and those tried with the best kernel.
EPSILON = 0.1
EPSILONS = (0.01, 0.3)


class AutoKernelRegressor(AutoKernel, TunedRegressor):
    """Support vector regression that chooses its kernel from several families, C and epsilon, within a time budget.

    It searches as `AutoKernelClassifier` does. C and epsilon are in units of the targets' standard deviation
    during the search, and in units of y in the results.

    Parameters
    ----------
    time_limit : float, optional
        Seconds for everything, including the last fit. By default the search takes about as long as ten fits to all
        rows (or a few seconds if there are few rows), counted in fits and not in seconds, so that the same rows give
        the same machine.
    families : list of str, optional
        Names of the families to choose from; by default all that suit the data. `families_for` lists them.
    scoring : str, callable, list or dict, optional
        How a kernel is judged: "r2" (the default), "mae", or what `SVRCV` takes.
    cv : int, splitter or iterable, optional
        How rows are split; five folds by default.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of y.
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
        Family, width or length, C and epsilon of the winner.
    best_score_, honest_score_, honest_error_, best_index_, cv_results_, n_splits_, scorer_, multimetric_, refit_time_
        As in `AutoKernelClassifier`.
    ending_, status_
        As in `AutoKernelClassifier`.
    best_estimator_ : SVR
        The machine fitted to all rows.
    kernel_, C_
        Its kernel and C.
    certificate_, expansion_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, trace_
        Attributes of the fitted machine.
    n_features_in_, feature_names_in_
        Number and names of the features, if the data have them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mercer import AutoKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoKernelRegressor(families=["rbf", "linear"]).fit(X, y)
    >>> bool(0.45 < model.honest_score_ <= model.best_score_ < 0.55)
    True
    """

    def __init__(
        self,
        time_limit: float | None = None,
        *,
        families: Sequence[str] | None = None,
        scoring: Any = None,
        cv: Any = None,
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
        self.tol = tol
        self.random_state = random_state
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    def _unit(self, task: Task) -> float:
        mean = np.average(task.y, weights=task.weights)
        return float(np.sqrt(np.average((task.y - mean) ** 2, weights=task.weights))) or 1.0

    def _common(self, unit: float) -> dict[str, Any]:
        return {"epsilon": EPSILON * unit}

    def _extras(self, unit: float) -> tuple[Mapping[str, Any], ...]:
        return tuple({"epsilon": each * unit} for each in EPSILONS)
