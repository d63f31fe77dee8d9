"""The pieces of a search that run side by side: some settings on one fold.

Settings of one kernel are solved over the matrix that they share; those that cannot share are fitted one by one, and
those that cannot be fitted at all are recorded.
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from mercer._jit.threads import Stopped
from mercer._types import IndexArray
from mercer.estimators.fitting.inputs import is_precomputed
from mercer.estimators.fitting.plan import check_parameters, fit_without_report, problems_of
from mercer.estimators.fitting.weights import target_weights
from mercer.selection.families.learnt import Recipe, learnt_kernel
from mercer.selection.tuning.fold_series import FoldSeries
from mercer.selection.tuning.results import CUT, DONE
from mercer.selection.tuning.scores import ClassifierAnswers, RegressorAnswers, ScoringError
from mercer.selection.tuning.shared_matrix import (
    KernelGroup,
    Seeds,
    SharedGram,
    as_given,
    take,
    take_part,
)
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.selection.tuning.fold_series import FoldFit
    from mercer.selection.tuning.search import Search, Task


def positions(order: IndexArray) -> IndexArray:
    """Where each row stands after sorting."""
    places = np.empty(len(order), np.intp)
    places[order] = np.arange(len(order))
    return places


class Failing:
    """Settings whose kernel cannot even be made."""

    def __init__(self, search: "Search", numbers: Sequence[int], fold: int, error: Exception) -> None:
        self.search, self.numbers, self.fold, self.error = search, numbers, fold, error

    def run(self) -> None:
        for number in self.numbers:
            self.search.fail(number, self.fold, self.error)


class Shared:
    """The settings of one kernel on one fold, over the shared matrix."""

    def __init__(
        self,
        search: "Search",
        group: KernelGroup,
        names: Mapping[int, int],
        fold: int,
        gram: SharedGram,
        hopeless: Callable[..., Any] | None,
        seeds: Seeds | None = None,
    ) -> None:
        self.search, self.group, self.names, self.fold = search, group, names, fold
        self.gram, self.hopeless, self.seeds = gram, hopeless, seeds

    def run(self) -> None:
        search = self.search
        try:
            with self.gram.use() as (matrix, convex):
                self._solve(matrix, convex)
        except Stopped:
            raise
        except MemoryError:
            # No room for the matrix after all: rows on demand.
            OneByOne(search, [(number, search.models[number]) for number in self._left()], self.fold).run()
        except Exception as error:  # noqa: BLE001 - recorded; the other kernels go on
            for number in self._left():
                search.fail(number, self.fold, error)

    def _left(self) -> list[int]:
        return [number for number in self.group.members if self.search.table.state[number, self.fold] != DONE]

    def _solve(self, matrix: "KernelMatrix", convex: bool) -> None:
        search, task = self.search, self.search.task
        train, test = task.folds[self.fold]
        places = np.arange(task.n) if search.order is None else positions(search.order)
        asked = np.concatenate([test, train]) if search.with_train else test
        for place, series in enumerate(self.group.series()):
            known = [(self.names[id(model)], model, self._setup(model, train)) for _, model in series]
            known = [each for each in known if each[2] is not None]
            if not known:
                continue
            limits = search.limits.with_max_iter(known[0][1].max_iter).unwatched()
            solver = FoldSeries(
                matrix, convex, places[train], places[asked], known[0][1].tol, limits, search.budget.working
            )
            seed = self._seed(place, known[0][1], solver.on(places))
            fits = solver.solve([s for *_, s in known], self._cuts(known, places, matrix), seed)
            for (number, model, setup), fit in zip(known, fits, strict=True):
                self._keep(number, model, setup, fit, test, train)

    def _seed(self, place: int, model: "BaseEstimator", solver: FoldSeries) -> Any:
        """The solution of the first setting for all rows, if enough folds begin with it."""
        if self.seeds is None:
            return None
        everything = np.arange(self.search.task.n)
        return self.seeds.of(place, lambda: solver.seed(self._problems(model, everything)))

    def _cuts(self, known: Any, places: IndexArray, matrix: "KernelMatrix") -> list[Any] | None:
        if self.hopeless is None:
            return None
        return [self.hopeless(number, self.fold, setup, places, matrix) for number, _, setup in known]

    def _setup(self, model: "BaseEstimator", train: IndexArray) -> Any:
        """The problems of a setting on this fold, or None if there are none."""
        try:
            check_parameters(model)
            return self._problems(model, train)
        except Exception as error:  # noqa: BLE001 - recorded; the other settings go on
            self.search.fail(self.names[id(model)], self.fold, error)
            return None

    def _problems(self, model: "BaseEstimator", rows: IndexArray) -> Any:
        task = self.search.task
        y, weights = task.y[rows], task.weights_at(rows)
        return problems_of(model, y, weights if self.search.classifies else target_weights(weights, len(y)))

    def _keep(
        self, number: int, model: "BaseEstimator", setup: Any, fit: "FoldFit", test: IndexArray, train: IndexArray
    ) -> None:
        search = self.search
        if fit.values is None:
            search.table.state[number, self.fold] = CUT
            search.table.fit_time[number, self.fold] = fit.seconds
            return
        fitted = copy.copy(model)
        if search.classifies:
            fitted.classes_ = setup.classes
        kind = ClassifierAnswers if search.classifies else RegressorAnswers
        parts = [(test, test)] + ([(train, train)] if search.with_train else [])
        values = dict(zip(map(id, (test, train)), np.split(fit.values, [len(test)]), strict=True))
        search.keep(
            number, self.fold, lambda asked: kind(fitted, asked, values[id(asked)]), parts, fit.seconds, fit.status
        )


class Learnt:
    """The settings of a kernel that is learnt from labels, on one fold: learnt first, then shared like any other."""

    def __init__(self, search: "Search", group: KernelGroup, fold: int) -> None:
        self.search, self.group, self.fold = search, group, fold

    def run(self) -> None:
        search, numbers = self.search, self.group.members
        try:
            models = [
                with_learnt_kernel(search.models[k], search.task, search.task.folds[self.fold][0]) for k in numbers
            ]
        except Exception as error:  # noqa: BLE001 - recorded; the other kernels go on
            Failing(search, numbers, self.fold, error).run()
            return
        group = KernelGroup(models[0])
        for number, model in zip(numbers, models, strict=True):
            group.add(number, model)
        names = {id(model): number for number, model in zip(numbers, models, strict=True)}
        Shared(search, group, names, self.fold, search.gram_of(models[0]), None).run()


def with_learnt_kernel(model: Any, task: "Task", rows: IndexArray) -> Any:
    """A machine whose kernel is learnt from the labels of some rows, if it has a kernel to learn."""
    if not isinstance(model.kernel, Recipe):
        return model
    known = task.learnt.setdefault(rows.tobytes(), {})
    X, y, weights = take(task.X, rows), task.y[rows], task.weights_at(rows)
    kernel = learnt_kernel(model.kernel, X, y, weights, is_classifier(model), known)
    return copy.copy(model).set_params(kernel=kernel)


class OneByOne:
    """Settings on one fold, each fitted by itself."""

    def __init__(self, search: "Search", known: Sequence[tuple[int, Any]], fold: int) -> None:
        self.search, self.known, self.fold = search, known, fold

    def run(self) -> None:
        for number, model in self.known:
            if self.search.limits.stop():
                raise Stopped
            try:
                self._fit(number, clone(model))
            except (Stopped, ScoringError):
                raise
            except Exception as error:  # noqa: BLE001 - recorded; the other settings go on
                self.search.fail(number, self.fold, error)

    def _fit(self, number: int, model: "BaseEstimator") -> None:
        search, task = self.search, self.search.task
        train, test = task.folds[self.fold]
        is_gram = is_precomputed(model.kernel)
        begin = time.perf_counter()
        model = with_learnt_kernel(model, task, train)
        model.callbacks = [lambda _: search.limits.stop()]
        rows = as_given(take_part(task.X, train, train, is_gram))
        fit_without_report(model, rows, task.y[train], task.weights_at(train))
        if model.status_ in (Status.TIME_LIMIT, Status.INTERRUPTED):
            raise Stopped
        parts = [(as_given(take_part(task.X, test, train, is_gram)), test)]
        if search.with_train:
            parts.append((rows, train))
        search.keep(number, self.fold, lambda _: model, parts, time.perf_counter() - begin, model.status_)
