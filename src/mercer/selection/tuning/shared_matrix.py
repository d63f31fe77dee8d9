"""Settings that share a kernel matrix, and the matrix: made for the first user, released by the last."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._jit.threads import Stopped
from mercer._types import IndexArray, Rows
from mercer.estimators.fitting.given_matrix import evaluate, require_gram
from mercer.estimators.fitting.inputs import is_function
from mercer.estimators.fitting.tasks import strategy_of
from mercer.estimators.fitting.training import TrainingData
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.table.frame import Frame
from mercer.problems.regularization import Regularization
from mercer.solvers.dual_qp import policy

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.fitting.training import Budget


# Parameters that make the kernel, and the one along which a series runs.
OF_THE_KERNEL = ("kernel", "gamma", "degree", "coef0")
ALONG = ("C",)


def shares_matrix(model: "BaseEstimator") -> bool:
    """Whether a machine is of the kind whose settings can be solved over one matrix."""
    if _asks_data(model.C) or _asks_data(model.kernel):
        return False
    is_plain = getattr(model, "solver", "auto") in ("auto", "smo") and not getattr(model, "probability", False)
    has_tasks = strategy_of(model) in ("ovo", "ovr")
    return is_plain and has_tasks and model.gap_tol is None and bool(np.isfinite(_place(model)))


def _asks_data(value: Any) -> bool:
    """Whether a fit is to find the value from its own rows."""
    return isinstance(value, str) and value == "auto"


class KernelGroup:
    """The settings of one kernel, as series that differ in C alone.

    Attributes
    ----------
    template : SVC or SVR
    members : list of int
        Numbers of the settings.
    """

    def __init__(self, template: "BaseEstimator") -> None:
        self.template, self.members, self._series = template, [], []

    def add(self, number: int, model: "BaseEstimator") -> None:
        """Put a setting where it belongs."""
        self.members.append(number)
        others = {k: v for k, v in model.get_params(deep=False).items() if k not in (*OF_THE_KERNEL, *ALONG)}
        for known, series in self._series:
            if _are_equal(known, others):
                series.append((number, model))
                return
        self._series.append((others, [(number, model)]))

    def series(self) -> list[list[tuple[int, Any]]]:
        """Lists of (number, model), in the order in which a solution is a start for the next."""
        return [sorted(series, key=lambda item: _place(item[1])) for _, series in self._series]

    @property
    def is_bound(self) -> bool:
        """Whether the kernel is the same whatever the rows."""
        kernel = self.template.kernel
        if is_function(kernel):
            return True
        return resolve(kernel, self.template.gamma, self.template.degree, self.template.coef0).is_bound


def _place(model: "BaseEstimator") -> float:
    if _asks_data(model.C):
        return 0.0
    return model.C.numerator if isinstance(model.C, Regularization) else float(model.C)


def _are_equal(first: Any, second: Any) -> bool:
    try:
        return bool(first == second)
    except (TypeError, ValueError):  # arrays among the parameters of a kernel
        return False


def is_same_kernel(first: "BaseEstimator", second: "BaseEstimator") -> bool:
    """Whether two machines have the same kernel, as far as can be told without data."""
    one, other = (tuple(getattr(model, name) for name in OF_THE_KERNEL) for model in (first, second))
    return isinstance(one[0], Kernel) == isinstance(other[0], Kernel) and _are_equal(one, other)


def grouped(models: Sequence[Any]) -> list[KernelGroup]:
    """The settings by their kernel, in the order of their first."""
    groups = []
    for number, model in enumerate(models):
        for group in groups:
            if is_same_kernel(group.template, model):
                break
        else:
            group = KernelGroup(model)
            groups.append(group)
        group.add(number, model)
    return groups


class Seeds:
    """Solutions for all rows from which the folds begin, one for each series; made by the first to need them."""

    def __init__(self) -> None:
        self._lock, self._known = threading.Lock(), {}

    def of(self, series: int, make: Callable[..., Any]) -> Any:
        """The solution for a series."""
        with self._lock:
            if series not in self._known:
                self._known[series] = make()
            return self._known[series]


class SharedGram:
    """The kernel matrix of all rows for one kernel.

    Parameters
    ----------
    template : SVC or SVR
        Its kernel.
    X : rows or items
    bound_to : (ndarray of int, ndarray or None)
        Rows, with their weights, that fix what a kernel takes from data.
    uses : int
        How often it will be used; then the memory is released.
    exact : bool
        Whether entries must be in double precision.
    """

    if TYPE_CHECKING:
        _matrix: Any
        _error: Exception | None

    def __init__(
        self,
        template: "BaseEstimator",
        X: Rows,
        bound_to: Any,
        uses: int,
        exact: bool,
        budget: "Budget",
        n_jobs: int | None,
        stop: Callable[..., Any],
    ) -> None:
        self.template, self.X, self.bound_to, self.exact = template, X, bound_to, exact
        self.budget, self.n_jobs, self.stop = budget, n_jobs, stop
        self._uses, self._lock, self._matrix, self._error = uses, threading.Lock(), None, None

    def expect(self, uses: int) -> None:
        """It will be asked for more often."""
        with self._lock:
            self._uses += uses

    @contextmanager
    def use(self) -> Iterator[tuple[StoredMatrix, bool]]:
        """(the stored matrix, whether it is known to be positive semidefinite)."""
        with self._lock:
            if self._matrix is None:
                self._make()
        try:
            if self._error is not None:
                raise self._error
            yield self._matrix
        finally:
            with self._lock:
                self._uses -= 1
                if self._uses == 0 and self._error is None:
                    self._matrix[0].release()
                    self._matrix = ()

    def _make(self) -> None:
        try:
            self._matrix = self._evaluated()
        except Stopped:
            # Not the matrix's fault: it is made when it is next needed and there is time.
            raise
        except Exception as error:  # noqa: BLE001 - every setting that shares it is told
            self._matrix, self._error = (), error

    def _evaluated(self) -> tuple[StoredMatrix, bool]:
        template, X = self.template, self.X
        if is_function(template.kernel):
            K = evaluate(template.kernel, X, X)
            require_gram(K)
            return StoredMatrix.of(K, self.n_jobs), False
        rows, weights = self.bound_to
        kernel = resolve(template.kernel, template.gamma, template.degree, template.coef0)
        if not kernel.is_bound:
            kernel = kernel.bind(take(X, rows), weights)
        if isinstance(kernel, Precomputed):
            require_gram(X)
        matrix = TrainingData(kernel, X).matrix(0.0 if self.exact else template.tol, None, self.budget, self.n_jobs)
        stored = cast(Any, matrix).stored_in_single(self.stop) if matrix.is_rough else matrix.stored(self.stop)
        return stored, kernel.is_psd is True


def take(X: Rows, rows: IndexArray) -> Any:
    """Some of the rows or items."""
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def take_part(X: Rows, rows: IndexArray, columns: IndexArray, is_gram: bool) -> Any:
    """The same; of a kernel matrix, the block between some rows and those that were learnt from."""
    if is_gram:
        return np.ascontiguousarray(X[np.ix_(rows, columns)])
    return take(X, rows)


def as_given(X: Rows) -> Any:
    """Rows or items as a user has them: what is in a `Frame`."""
    return X.native if isinstance(X, Frame) else X


def needs_double(train_sizes: Iterable[int]) -> bool:
    """Whether some fold is so small that it is solved to rounding error."""
    return min(train_sizes) <= policy.EXACT_SIZE
