"""From data as they were read to a machine that suits them, unfitted."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mercer._errors import DataError, ParameterError
from mercer.estimators.fitting.auto_kernel import kernel_for
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.io.dataset import Dataset
from mercer.kernels import Columns, describe_columns, parse, placed
from mercer.kernels.base.structured import StructuredKernel
from mercer.workflow.scores_or_classes import judged_as_scores, may_be_scores
from mercer.workflow.target import TASKS, require_learnable, task_of

# Half the width of the tube around a quantity, in standard deviations of it.
EPSILON = 0.05
# The name that asks for a kernel for each column, averaged.
ADDITIVE = ("additive", "columns")
# The most columns that are described one by one.
MOST_LINES = 30
# What structured kernels call one item of each kind.
_ITEMS = {"texts": "text", "trees": "tree", "graphs": "graph"}


@dataclass(frozen=True)
class Assembly:
    """A machine for some data, and the data in the form it takes.

    Attributes
    ----------
    estimator : unfitted estimator, or Pipeline that scales first
    X, y
        For ``estimator.fit``.
    task : "classification" or "regression"
    notes : tuple of str
        What was decided, in sentences.
    unit : float
        The unit of C: the target's standard deviation if it is a quantity, otherwise 1.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    task: str
    notes: tuple[str, ...]
    unit: float = 1.0


def assemble(
    dataset: Dataset,
    kernel: Any = None,
    *,
    task: str | None = None,
    C: float | str = "auto",
    scale: bool = True,
    **parameters: Any,
) -> Assembly:
    r"""A support vector machine that suits what a `Dataset` holds.

    Unless a kernel is given, it is the one that ``kernel="auto"`` chooses for the rows of the fit; numbers are scaled
    first.

    Parameters
    ----------
    dataset : mercer.io.Dataset
        With a target.
    kernel : Kernel or str, optional
        An expression such as ``"rbf(gamma=0.1) + 2*spectrum(k=3)@text"``; or "additive", a kernel for each column,
        averaged (`Columns.infer`).
    task : {"classification", "regression"}, optional
        By default decided by the target: texts and a few different whole numbers are classes, other numbers
        quantities; so are whole numbers that are scores, if they are predicted better as quantities.
    C : float or "auto"
        In units of the target's standard deviation if the target is a quantity; "auto" chooses C by cross-validation.
    scale : bool
        Bring numbers to a common scale first.
    **parameters
        Parameters of `SVC` or `SVR`.

    Returns
    -------
    Assembly

    Examples
    --------
    >>> import io
    >>> from mercer.io import read_table
    >>> from mercer.workflow.assemble import assemble
    >>> rows = b"age,town,buys\n31,Ulm,yes\n60,Bonn,no\n33,Ulm,yes\n"
    >>> found = assemble(read_table(io.BytesIO(rows), target="buys"))
    >>> found.task, found.estimator.kernel, found.estimator.C
    ('classification', 'auto', 'auto')
    """
    if dataset.target is None:
        raise DataError(f"{dataset.name}: there are no labels to learn from")
    require_learnable(dataset, task)
    task, about_task = (task, ()) if task is not None else _task_of(dataset)
    if task not in TASKS:
        raise ParameterError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    X, kernel, scaler, notes = _data_and_kernel(dataset, _asked(kernel, dataset, scale), scale)
    y, unit = _target(dataset.name, dataset.target, task)
    if task == "classification":
        machine = SVC(C=C, kernel=kernel, **parameters)
    else:
        machine = SVR(C=C if isinstance(C, str) else C * unit, epsilon=EPSILON * unit, kernel=kernel, **parameters)
        what = "epsilon is" if isinstance(C, str) else "C and epsilon are"
        notes = (*notes, f"{what} in units of the target's standard deviation, {unit:.4g}")
    notes = (*about_task, *notes)
    estimator = machine if scaler is None else Pipeline([("scale", scaler), ("model", machine)])
    return Assembly(estimator, X, y, task, notes, unit)


def _task_of(dataset: Dataset) -> tuple[str, tuple[str, ...]]:
    """(task, notes about it)."""
    target = cast("NDArray[Any]", dataset.target)
    task = task_of(target)
    if task != "classification" or not may_be_scores(target) or dataset.kind != "table":
        return task, ()
    found = judged_as_scores(dataset.data, target)
    if found is None or not found.is_better:
        return task, ()
    return "regression", (f"{dataset.target_name!r} is treated as a quantity: {found}",)


def require_kernel(text: str) -> None:
    """Refuse a kernel expression that cannot be read, before there are data.

    Examples
    --------
    >>> from mercer.workflow.assemble import require_kernel
    >>> require_kernel("additive")
    >>> require_kernel("rfb")
    Traceback (most recent call last):
    ...
    mercer._errors.ParameterError: kernel expression 'rfb', character 1: no kernel is called 'rfb'; did you mean 'rbf'?
    """
    if not _is_additive(text):
        parse(text)


def _is_additive(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel.strip().lower() in ADDITIVE


def _asked(kernel: Any, dataset: Dataset, scale: bool) -> Any:
    if _is_additive(kernel):
        if dataset.kind != "table":
            raise ParameterError(
                f"kernel {kernel!r} needs a table, as it is a kernel for each column; {dataset.name} holds "
                f"{dataset.kind}"
            )
        return _by_columns(dataset.data, scale)
    return parse(kernel) if isinstance(kernel, str) else kernel


def _by_columns(X: Any, scale: bool) -> Columns:
    return Columns.infer(X) if scale else Columns.infer(X).replace(standardize=False)


def _data_and_kernel(dataset: Dataset, kernel: Any, scale: bool) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """(X, kernel, scaler or None, notes)."""
    X, is_given = dataset.data, kernel is not None
    if dataset.kind in _ITEMS:
        if not is_given:
            return X, "auto", None, ()
        _require_items(kernel, dataset)
        return X, kernel, None, ()
    if dataset.kind == "vectors":
        return _of_vectors(dataset, kernel, scale)
    if not is_given and scale:
        return X, "auto", None, ()
    if not is_given:
        kernel = "rbf" if dataset.matrix() is not None else _by_columns(X, scale)
    if not _takes_items(kernel) and dataset.matrix() is not None:
        note = "columns scaled to mean 0 and standard deviation 1" if scale else "columns left unscaled"
        return X, kernel, StandardScaler() if scale else None, (note,)
    if isinstance(kernel, Columns):
        return X, kernel, None, (_about_columns(kernel, scale),)
    note = "numeric columns scaled to mean 0 and standard deviation 1" if scale else "columns left unscaled"
    return X, placed(kernel, X, standardize=scale), None, (note,)


def _of_vectors(dataset: Dataset, kernel: Any, scale: bool) -> tuple[Any, Any, Any, tuple[str, ...]]:
    why: tuple[str, ...] = ()
    if kernel is None:
        kernel, reason = kernel_for(dataset.data)
        why = (reason,) if kernel == "linear" else ()
    _require_numbers(kernel, dataset)
    note = "columns divided by their largest absolute value, which keeps zeros" if scale else "columns left unscaled"
    return dataset.data, kernel, MaxAbsScaler() if scale else None, (*why, note)


def chosen_words(machine: Any) -> list[str]:
    """What "auto" chose for a fitted machine: the kernel and why, a line for each column, and C."""
    said = []
    if hasattr(machine, "kernel_reason_"):
        said.append(machine.kernel_reason_)
        lines = [f"{name}: {line}" for name, line in describe_columns(machine.kernel_).items()]
        said += lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]
    if hasattr(machine, "C_"):
        said.append(f"C = {machine.C_:.3g}, chosen by cross-validation")
    return said


def _takes_items(kernel: Any) -> bool:
    return not isinstance(kernel, str) and kernel.takes_items


def _require_items(kernel: Any, dataset: Dataset) -> None:
    if {getattr(part, "item_name", None) for part in _leaves(kernel)} != {_ITEMS[dataset.kind]}:
        usual = kernel_for(dataset.data)[0]
        raise ParameterError(f"kernel must be a kernel for {dataset.kind}, such as {usual!r}, got {kernel!r}")


def _require_numbers(kernel: Any, dataset: Dataset) -> None:
    if _takes_items(kernel):
        raise ParameterError(f"kernel must be a kernel for numbers, which {dataset.name} holds, got {kernel!r}")


def _leaves(kernel: Any) -> list[Any]:
    """The structured kernels within a kernel, and any others as they are."""
    if isinstance(kernel, StructuredKernel):
        return [kernel]
    nested = [value for value in kernel.get_params().values() if hasattr(value, "takes_items")]
    found = [part for part in nested if isinstance(part, StructuredKernel)]
    return found or [kernel]


def _about_columns(kernel: Any, scale: bool) -> str:
    listed = ", ".join(f"{name} by {_short(each)}" for name, each in kernel.kernels.items())
    return f"a kernel for each column: {listed}" + (
        "; numbers scaled to mean 0 and standard deviation 1" if scale else ""
    )


def _short(kernel: Any) -> str:
    return type(getattr(kernel, "kernel", kernel)).__name__


def _target(name: str, y: NDArray[Any], task: str) -> tuple[NDArray[Any], float]:
    """(y, its unit: the standard deviation of a quantity)."""
    if task == "classification":
        return y, 1.0
    if y.dtype.kind not in "iuf":
        raise DataError(f"{name}: regression needs numbers, and the target holds texts such as {str(y[0])!r}")
    y = y.astype(np.float64)
    return y, float(np.std(y)) or 1.0
