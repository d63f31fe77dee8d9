"""What a machine that chooses its own parameters does, whatever it learns."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError, ParameterError
from mercer._jit.threads import Stopped
from mercer._types import Array, ArrayLike, Labels, Rows
from mercer.estimators.bases.holds_kernels import HoldsKernels
from mercer.estimators.fitting.auto_strength import choose_kernel, is_auto
from mercer.estimators.fitting.inputs import is_precomputed, takes_items, tell_input
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_choice,
    require_count,
    require_flag,
    require_n_jobs,
    require_optional_number,
)
from mercer.estimators.fitting.plan import check_parameters, fit_without_report
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.training import Budget
from mercer.estimators.fitting.whole_fit import unchanged_by_errors
from mercer.selection.auto.climb import Climb
from mercer.selection.auto.lattice import Line, Space
from mercer.selection.auto.nested import nested_score
from mercer.selection.tuning import telling
from mercer.selection.tuning.fold_jobs import with_learnt_kernel
from mercer.selection.tuning.folds import folds_of
from mercer.selection.tuning.halving import halve
from mercer.selection.tuning.optimism import honest_score
from mercer.selection.tuning.progress import Progress, print_search
from mercer.selection.tuning.racing import race
from mercer.selection.tuning.results import DONE, Table
from mercer.selection.tuning.scores import SINGLE, Scores
from mercer.selection.tuning.search import Search, Task
from mercer.selection.tuning.settings import settings_of, space_of
from mercer.selection.tuning.winner import is_judged, score_of, scores_of_rivals, winner_of
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.utils import Tags


SEARCHES = ("all", "halving", "adaptive")
# Seconds that the last fit has in any case, so that there is a machine to predict with: on two cores, with what
# winding up takes, no more than the half second by which a limit may be passed.
LEAST_REFIT = 0.15


def is_refitted(search: "TunedModel") -> bool:
    """Whether a search leaves a machine to predict with."""
    return bool(search.refit)


def _delegated(name: str, what: str) -> property:
    def get(self: "TunedModel") -> Any:
        return getattr(self._best(), name)

    return property(get, doc=what)


class TunedModel(HoldsKernels):
    """Base: a subclass says which machine it tunes (`_machine`) and how its input is checked (`_input`)."""

    _machine: type
    _default_score: str
    _classifies: bool
    # Whether a search also judges on halves of the folds, so that its score owes nothing to choosing.
    _nests = False

    support_ = _delegated("support_", "Numbers of the support vectors.")
    support_vectors_ = _delegated("support_vectors_", "The support vectors.")
    n_support_ = _delegated("n_support_", "How many support vectors there are, by class.")
    dual_coef_ = _delegated("dual_coef_", "Their coefficients.")
    intercept_ = _delegated("intercept_", "The bias of each function.")
    coef_ = _delegated("coef_", "Weights of the features; only for a linear kernel.")
    n_iter_ = _delegated("n_iter_", "Steps of the refitted machine's solver.")
    fit_status_ = _delegated("fit_status_", "0 if the refitted machine was solved to its tolerance, otherwise 1.")
    trace_ = _delegated("trace_", "The rounds of the refitted machine's solver.")
    certificate_ = _delegated("certificate_", "Certificates of the refitted machine.")
    certificate = _delegated("certificate", "The same, as a method; ``certificate(full=True)`` recomputes everything.")
    expansion_ = _delegated("expansion_", "The refitted machine as sums of kernels.")

    def _best(self) -> Any:
        if not self.refit or "best_estimator_" not in vars(cast(Any, self)):
            raise AttributeError(f"{type(self).__name__} has no refitted machine; fit it with refit=True")
        return self.best_estimator_

    def __sklearn_tags__(self) -> "Tags":
        return tell_input(super().__sklearn_tags__(), self._input_kernel())

    def _input_kernel(self) -> Any:
        """The kernel that says what the data may be: of several, one that reads items, if there is one."""
        several = self.kernels if isinstance(self.kernels, (list, tuple)) and len(self.kernels) else [self.kernel]
        return next((kernel for kernel in several if takes_items(kernel) or is_auto(kernel)), several[0])

    # --- fitting ----------------------------------------------------------------------------

    def fit(
        self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Judge every setting by cross-validation, and fit the best one to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n) if precomputed, or n items
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Weighs rows in the fits, and in the scores that can weigh them.
        groups : array-like of shape (n,), optional
            For a `cv` that keeps groups together.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = Limits(time_limit=self.time_limit, callbacks=self._watchers())
        with unchanged_by_errors(self):
            with limits.in_force():
                task = self._task(X, y, sample_weight, groups)
                scores = Scores(self._scoring(task.y), self._default_score, self.refit)
                template = self._template()
                check_parameters(template)
                self.n_splits_ = len(task.folds)
                table = self._search(template, task, scores, limits)
            self._keep(table, scores, limits)
            telling.warn_failed(self, table)
            telling.warn_without_score(table, scores.judge)
            if self.refit:
                self._refit(template, task, X, y, sample_weight, limits)
            else:
                vars(cast(Any, self)).pop("best_estimator_", None)
        telling.warn_unless_done(self, table, limits.reached())
        return self

    def _check_parameters(self) -> None:
        require_choice("search", self.search, SEARCHES)
        require_flag("early_stop", self.early_stop)
        require_flag("return_train_score", self.return_train_score)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        require_count("factor", self.factor, 2)
        drawn = getattr(self, "n_iter", None)
        if drawn is not None:
            require_count("n_iter", drawn)
        is_number = isinstance(self.error_score, Real) and not isinstance(self.error_score, bool)
        if not is_number and not (isinstance(self.error_score, str) and self.error_score == "raise"):
            raise ParameterError(f"error_score must be a number or 'raise', got {self.error_score!r}")
        if self.early_stop and self.search != "all":
            raise ParameterError(
                "early_stop=True needs search='all'; other searches leave settings out in their own way"
            )
        if drawn is not None and self.search == "adaptive":
            raise ParameterError("n_iter needs search='all' or 'halving'; an adaptive search draws nothing")

    def _watchers(self) -> list[Callable[[Any], Any]]:
        return [*([print_search] if self.verbose else []), *(self.callbacks or [])]

    def _task(self, X: Rows, y: Any, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Task:
        probe = self._template().set_params(kernel=self._input_kernel())
        choose_kernel(probe, X, y, sample_weight)
        rows, y = self._input(probe, X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            vars(cast(Any, self)).pop(name, None)
            if hasattr(probe, name):
                setattr(self, name, getattr(probe, name))
        weights = None if sample_weight is None else self._weights(sample_weight, y)
        # A splitter may look at the rows as the user has them; an iterator has been used up.
        given = X if hasattr(X, "__len__") or hasattr(X, "shape") else rows
        return Task(rows, y, weights, folds_of(self.cv, given, y, groups, self._classifies))

    def _template(self) -> Any:
        """The machine with the parameters that are not searched."""
        own = self.get_params(deep=False)
        names = self._machine().get_params(deep=False)
        shared = {name: own[name] for name in names if name in own}
        return self._machine(**{**shared, "time_limit": None, "callbacks": None, "verbose": False})

    def _scoring(self, y: Any) -> Any:
        """What settings are scored by, for targets that are known, or for their classes."""
        return self.scoring

    def _model(self, template: BaseEstimator, setting: Mapping[str, Any], task: Task) -> Any:
        """A machine for a setting, with a kernel of its own: that of the grid is not changed."""
        own = {name: clone(value) if hasattr(value, "get_params") else value for name, value in setting.items()}
        return clone(template).set_params(**own)

    def _search(self, template: BaseEstimator, task: Task, scores: Scores, limits: Limits) -> Table:
        """The `Table` of what was tried."""
        budget = Budget.resolve(self.memory_limit, getattr(self, "cache_size", None), task.X)
        error_score = np.nan if isinstance(self.error_score, str) else self.error_score

        def run(
            settings: Sequence[dict[str, Any]],
            part: Task,
            progress: Progress,
            how: Callable[[Search], None] = Search.run_all,
        ) -> Table:
            table = Table(settings, len(part.folds), scores.names, error_score)
            search = Search(
                [self._model_or_error(template, setting, task, scores) for setting in settings],
                part,
                scores,
                table,
                limits=limits,
                budget=budget,
                n_jobs=self.n_jobs,
                error_score=self.error_score,
                with_train=self.return_train_score,
                classifies=self._classifies,
                progress=progress,
            )
            with suppress(Stopped):  # a limit: what has been judged is kept
                how(search)
            return table

        if self.search == "adaptive":
            return self._climbed(template, task, run, scores, limits)
        settings = self._settings(template, task, scores)
        if self.search == "halving":
            return halve(
                task,
                settings,
                run,
                factor=self.factor,
                random_state=self.random_state,
                classifies=self._classifies,
                is_gram=is_precomputed(self._input_kernel()),
                judge=scores.judge,
                limits=limits,
            )
        progress = Progress([(len(settings) * len(task.folds), task.n)])
        return run(settings, task, progress, self._race(scores) if self.early_stop else Search.run_all)

    def _settings(self, template: BaseEstimator, task: Task, scores: Scores) -> list[dict[str, Any]]:
        """The settings of a grid, of which one at least can be tried."""
        found = settings_of(self, task.X, task.weights, frozenset(template.get_params(deep=False)))
        models = (self._model_or_error(template, setting, task, scores) for setting in found)
        error = next(models)
        if isinstance(error, Exception) and all(isinstance(model, Exception) for model in models):
            raise error
        return found

    def _model_or_error(self, template: BaseEstimator, setting: Mapping[str, Any], task: Task, scores: Scores) -> Any:
        """The machine of a setting, or the error that prevents it: the others go on."""
        try:
            model = self._model(template, setting, task)
            scores.require_answers(model)
        except Exception as error:  # noqa: BLE001 - told when the setting's turn comes
            return error
        return model

    def _climbed(
        self, template: BaseEstimator, task: Task, run: Callable[..., Table], scores: Scores, limits: Limits
    ) -> Table:
        climb = Climb(
            self._space(template, task),
            task,
            run,
            scores.judge,
            limits,
            self._blend,
            scores.best_possible(scores.judge),
            bool(self.refit),
            self._nests,
        )
        table = climb.search(self.random_state, self._classifies, is_precomputed(self._input_kernel()))
        self.ending_ = climb.ending
        return table

    def _space(self, template: BaseEstimator, task: Task) -> Space:
        """Where an adaptive search begins."""
        return space_of(self, task.X, task.weights, frozenset(template.get_params(deep=False)))

    def _blend(self, settings: Sequence[Mapping[str, Any]]) -> Line | None:
        """Kernels of several lines combined, if they can be."""
        return None

    def _race(self, scores: Scores) -> Callable[[Search], None]:
        """How a search leaves out what cannot win."""
        best_possible, word = scores.best_possible(scores.judge), scores.words.get(scores.judge)
        if best_possible is None:
            raise ParameterError(
                f"early_stop=True needs a score whose best value is known, such as 'accuracy', got {self.scoring!r}"
            )
        return lambda search: race(search, best_possible, word)

    # --- what was found ---------------------------------------------------------------------

    def _keep(self, table: Table, scores: Scores, limits: Limits) -> None:
        tried = table.state == DONE
        if not tried.any() and (table.errors or limits.reached() is None):
            reasons = "; ".join(dict.fromkeys(table.errors.values()))
            raise DataError(f"all {tried.size} fits failed: {reasons}")
        if self.refit and limits.reached() is None and not is_judged(table, scores.judge).any():
            raise DataError(
                f"scoring={self.scoring!r} is NaN on every fold for every setting, so none of them is best; "
                "choose another score, or folds on which it is defined"
            )
        self.best_index_ = self._winner(table, scores.judge)
        self.best_params_ = table.settings[self.best_index_]
        self.best_score_ = score_of(table, scores.judge, self.best_index_)
        self.honest_score_, self.honest_error_ = self._honest(table, scores.judge)
        self.cv_results_ = table.as_results(self.return_train_score, scores.kept_names(table))
        self.multimetric_ = not scores.is_single
        self.scorer_ = scores.scorers.get(SINGLE, scores.scorers)

    def _honest(self, table: Table, judge: str) -> tuple[float, float]:
        """(the score minus what choosing has added to it, its standard error)."""
        if table.halves is not None:
            return nested_score(table.test[judge], table.halves)
        rivals = scores_of_rivals(table, judge, self.best_index_)
        own = table.test[judge][self.best_index_]
        own = own[~np.isnan(own)]
        error = float(np.std(own, ddof=1) / np.sqrt(len(own))) if len(own) > 1 else np.nan
        return honest_score(rivals), error

    def _winner(self, table: Table, judge: str) -> int:
        """The number of the setting that is taken."""
        return winner_of(table, judge)

    def _refit(
        self,
        template: BaseEstimator,
        task: Task,
        X: Rows,
        y: Labels,
        sample_weight: ArrayLike | None,
        limits: Limits,
    ) -> None:
        left = None if self.time_limit is None else max(LEAST_REFIT, self.time_limit - limits.seconds)
        with limits.in_force():
            machine = with_learnt_kernel(self._model(template, self.best_params_, task), task, np.arange(task.n))
        self.best_estimator_ = machine.set_params(time_limit=left)
        begin = time.perf_counter()
        fit_without_report(self.best_estimator_, X, y, sample_weight)
        if self.best_estimator_.status_ != Status.TIME_LIMIT:  # which is reported with the end of the search
            warn_unless_optimal(self.best_estimator_.status_, self.best_estimator_.max_iter)
        # The time that was left for this fit is no limit for another.
        self.best_estimator_.set_params(time_limit=None)
        self.refit_time_ = time.perf_counter() - begin
        # The value that "auto" found, if that was the best.
        self.C_ = getattr(self.best_estimator_, "C_", self.best_estimator_.C)
        self.kernel_ = self.best_estimator_.expansion_.kernel

    # --- predicting -------------------------------------------------------------------------

    def _fitted(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(is_refitted)
    def predict(self, X: Rows) -> Array:
        """Predict each row with the refitted machine.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), (n, n_train) if precomputed, or n items

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._fitted().predict(X)


def scoring_of(model: Any) -> Any:
    """The scoring of a fitted search, in the form that `Scores` takes."""
    return model._scoring(model.classes_ if model._classifies else None)


def default_scoring(model: Any) -> Any:
    """The scoring of a search whose `scoring` is None."""
    return model._default_score
