"""Judge settings on folds, repeating as little work as possible.

For each kernel there is one matrix of all rows, whatever the folds, the classes and C; a fold goes
through the values of C from small to large, each solution being the start of the next
(`fold_series`). Folds and kernels run side by side on the cores (`fold_jobs`). Settings that cannot share
(probabilities, scores that need a real machine, matrices that do not fit) are fitted one by one.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import config_context, get_config

from mercer._jit.threads import run_parallel, thread_count
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.inputs import is_precomputed
from mercer.selection.families.learnt import Recipe
from mercer.selection.tuning.elsewhere import run_elsewhere
from mercer.selection.tuning.fold_jobs import Failing, Learnt, OneByOne, Shared, positions
from mercer.selection.tuning.progress import SearchPoint
from mercer.selection.tuning.results import DONE, FAILED, UNTRIED
from mercer.selection.tuning.shared_matrix import (
    KernelGroup,
    Seeds,
    SharedGram,
    grouped,
    is_same_kernel,
    needs_double,
    shares_matrix,
    take_part,
)
from mercer.selection.tuning.ties import first_best
from mercer.solvers.dual_qp import policy
from mercer.solvers.elsewhere import workers_in_force
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.fitting.training import Budget
    from mercer.selection.tuning.progress import Progress
    from mercer.selection.tuning.results import Table
    from mercer.selection.tuning.scores import Scores
    from mercer.solvers.limits import Limits


# With fewer folds than this, a solution for all rows takes longer than it saves.
WORTH_A_SEED = 4


@dataclass
class Task:
    """What a search is about: checked rows, targets, weights and folds."""

    X: object
    y: np.ndarray
    weights: np.ndarray | None
    folds: list
    # What was learnt from the labels of a fold, by fold; None is all rows.
    learnt: dict = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.y)

    def weights_at(self, rows: IndexArray) -> FloatArray | None:
        return None if self.weights is None else self.weights[rows]


class Search:
    """Settings judged on folds; the results go to a `Table`.

    Parameters
    ----------
    models : list of SVC, SVR or Exception
        One for each setting, not fitted; or why there is none.
    task : Task
    scores : Scores
    table : Table
    limits : Limits
    budget : Budget
    n_jobs : int or None
    error_score : float or "raise"
    with_train : bool
        Whether training rows are scored too.
    classifies : bool
    progress : Progress
    """

    def __init__(
        self,
        models: Sequence[Any],
        task: Task,
        scores: "Scores",
        table: "Table",
        *,
        limits: "Limits",
        budget: "Budget",
        n_jobs: int | None,
        error_score: float | str,
        with_train: bool,
        classifies: bool,
        progress: "Progress",
    ) -> None:
        self.models, self.task, self.scores, self.table = models, task, scores, table
        self.limits, self.budget, self.n_jobs = limits, budget, n_jobs
        self.error_score, self.with_train = error_score, with_train
        self.config = get_config()
        self.progress, self._lock = progress, threading.Lock()
        # Rows of a class next to each other: the entries of a pair of classes then are too.
        self.classifies = classifies
        self.order = np.argsort(task.y, kind="stable") if self.classifies else None
        # The stages of a race need the same kernels again and again: those that fit are kept.
        self.keeps_grams, self._grams = False, []
        self._exact = needs_double([len(train) for train, _ in task.folds])

    def run_all(self) -> None:
        """Judge every setting on every fold."""
        self.run(list(range(len(self.models))), list(range(len(self.task.folds))))

    def run(self, numbers: Iterable[int], folds: Sequence[int], hopeless: Callable[..., Any] | None = None) -> None:
        """Judge some settings on some folds. Raises `Stopped` when a limit is reached.

        `hopeless`, where given, makes for (setting, fold) a function that says whether to cut it short.
        """
        missing = [k for k in numbers if isinstance(self.models[k], Exception)]
        jobs = [Failing(self, [k], fold, self.models[k]) for k in missing for fold in folds]
        numbers, workers = [k for k in numbers if k not in missing], self._workers()
        chosen = grouped([self.models[k] for k in numbers])
        for group in chosen:
            group.members = [numbers[k] for k in group.members]
        elsewhere = workers_in_force()
        if elsewhere is None:
            names = {id(self.models[k]): k for k in numbers}
            own = [self._jobs(group, folds, names, workers, hopeless) for group in chosen]
            jobs += _side_by_side(own) if workers > 1 else chain.from_iterable(own)
        else:
            run_elsewhere(elsewhere, self, chosen, folds, hopeless)
        run_parallel(self._run_job, jobs, workers, self.limits.unwatched().stop)

    def _workers(self) -> int:
        return 1 if self.task.n > policy.SIDE_BY_SIDE else thread_count(self.n_jobs)

    def _jobs(
        self,
        group: KernelGroup,
        folds: Sequence[int],
        names: Mapping[int, int],
        workers: int,
        hopeless: Callable[..., Any] | None,
    ) -> list[Any]:
        if not all(shares_matrix(self.models[k]) for k in group.members):
            return [OneByOne(self, [(k, self.models[k]) for k in group.members], fold) for fold in folds]
        if isinstance(group.template.kernel, Recipe) and self._can_share(group, workers):
            return [Learnt(self, group, fold) for fold in folds]
        try:
            is_bound = group.is_bound
        except Exception as error:  # noqa: BLE001 - one bad setting must not end the others
            return [Failing(self, group.members, fold, error) for fold in folds]
        kept = workers if not is_bound else min(2, workers)
        if not self._can_share(group, kept):
            return [OneByOne(self, [(k, self.models[k]) for k in group.members], fold) for fold in folds]
        if is_bound:
            gram = self._known_gram(group, len(folds))
            # Scores of a regression are continuous: they show where within `tol` of the solution another start ends.
            seeds = Seeds() if self.classifies and len(folds) >= WORTH_A_SEED else None
            return [Shared(self, group, names, fold, gram, hopeless, seeds) for fold in folds]
        return [
            Shared(self, group, names, fold, self._gram(group, self._bound_to(fold), 1), hopeless) for fold in folds
        ]

    def gram_of(self, model: "BaseEstimator") -> SharedGram:
        """The matrix of a machine's kernel, which waits for no data, for one fold alone."""
        return self._gram(KernelGroup(model), (np.arange(self.task.n), self.task.weights), 1)

    def _known_gram(self, group: KernelGroup, uses: int) -> SharedGram:
        """The matrix of a kernel that does not depend on the fold."""
        for template, gram in self._grams:
            if is_same_kernel(template, group.template):
                gram.expect(uses)
                return gram
        everything = np.arange(self.task.n), self.task.weights
        room = self.budget.cache // (self.task.n**2 * 8)
        if not self.keeps_grams or len(self._grams) >= room - 2:
            return self._gram(group, everything, uses)
        # Never released: it has one use more than there will be.
        gram = self._gram(group, everything, uses + 1)
        self._grams.append((group.template, gram))
        return gram

    def _bound_to(self, fold: int) -> tuple[Rows, FloatArray | None]:
        train = self.task.folds[fold][0]
        rows = train if self.order is None else positions(self.order)[train]
        return rows, self.task.weights_at(train)

    def _gram(self, group: KernelGroup, bound_to: Any, uses: int) -> SharedGram:
        X = self.task.X if self.order is None else take_part(self.task.X, self.order, self.order, self._is_gram(group))
        return SharedGram(group.template, X, bound_to, uses, self._exact, self.budget, self.n_jobs, self._stop)

    def _stop(self, _share: Any = None) -> Any:
        """Called while a kernel matrix is made, of which watchers of a search are not shown the progress."""
        # Not a bound method of the limits: a matrix that is kept may be made when there are others.
        return self.limits.unwatched().stop()

    def _is_gram(self, group: KernelGroup) -> bool:
        return is_precomputed(group.template.kernel)

    def _can_share(self, group: KernelGroup, kept: int) -> bool:
        """Whether the scores need only decision values, and there is room for the matrices."""
        if not self.scores.need_values_only:
            return False
        itemsize = 8 if self._exact or group.template.tol < 1e-5 else 4
        return kept * self.task.n**2 * itemsize <= self.budget.cache

    def _run_job(self, job: Any) -> None:
        with config_context(**self.config):
            job.run()
        self.report()

    def report(self) -> None:
        """Show watchers how far the search is."""
        with self._lock:
            self.limits.report(self.point())

    def point(self) -> SearchPoint:
        """How far the search is."""
        seconds, here = self.limits.seconds, int(np.count_nonzero(self.table.state != UNTRIED))
        left = self.progress.seconds_left(here, seconds)
        done, total = self.progress.done(here), self.progress.total
        means = np.where(self.table.is_complete(), self.table.means(self.scores.judge), np.nan)
        if np.isnan(means).all():
            return SearchPoint(seconds, left, done, total, np.nan, None)
        best = first_best(means)
        judged = tuple((self.table.settings[k], float(means[k])) for k in np.flatnonzero(~np.isnan(means)).tolist())
        return SearchPoint(
            seconds, left, done, total, float(means[best]), self.table.settings[best], judged, self.task.n
        )

    def fail(self, number: int, fold: int, error: Exception) -> None:
        """A setting that cannot be fitted: its score is `error_score`, and the others go on."""
        if isinstance(self.error_score, str):
            raise error
        self.table.errors[number, fold] = f"{type(error).__name__}: {error}"
        self.table.state[number, fold] = FAILED
        for scores in [*self.table.test.values(), *self.table.train.values()]:
            scores[number, fold] = self.error_score

    def keep(
        self, number: int, fold: int, machine: "BaseEstimator", answers: Any, seconds: float, status: Status
    ) -> None:
        """Score a machine; `answers` are (rows it is asked for, row numbers) of the test and training part."""
        begin = time.perf_counter()
        for (asked, rows), kept in zip(answers, (self.table.test, self.table.train), strict=False):
            found = self.scores.of(machine(asked), asked, self.task.y[rows], self.task.weights_at(rows))
            for name, score in found.items():
                self.table.scores(kept, name)[number, fold] = score
        self.table.fit_time[number, fold] = seconds
        self.table.score_time[number, fold] = time.perf_counter() - begin
        self.table.status[number, fold] = status
        self.table.state[number, fold] = DONE


def _side_by_side(groups: Sequence[Sequence[Any]]) -> list[Any]:
    """The jobs of two kernels in turns: while one thread makes a kernel's matrix, another need not wait for it."""
    pairs = zip_longest(groups[::2], groups[1::2], fillvalue=())
    return [job for pair in pairs for turn in zip_longest(*pair) for job in turn if job is not None]
