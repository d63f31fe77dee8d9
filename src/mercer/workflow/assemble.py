"""From data as they were read to a machine that suits them, unfitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mercer._errors import DataError, ParameterError
from mercer.estimators.fitting.auto_kernel import kernel_for
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.io.dataset import Dataset
from mercer.kernels import parse, placed
from mercer.kernels.base.structured import StructuredKernel

TASKS = ("classification", "regression")
# Whole numbers of more distinct values are quantities, not classes.
CLASSES = 20
# What structured kernels call one of these.
_ITEMS = {"texts": "text", "trees": "tree", "graphs": "graph"}


@dataclass(frozen=True)
class Assembly:
    """A machine for some data, and the data as it takes them.

    Attributes
    ----------
    estimator : unfitted estimator, or Pipeline that scales first
    X, y
        For ``estimator.fit``.
    task : "classification" or "regression"
    notes : tuple of str
        What was decided, in sentences.
    unit : float
        What C is counted in: the target's deviation where that is a quantity, else 1.
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
    C: float = 1.0,
    scale: bool = True,
    **parameters: Any,
) -> Assembly:
    r"""A support vector machine for a `Dataset`, by what it holds.

    Unless a kernel is given, it is what ``kernel="auto"`` takes for the data; numbers are scaled first.

    Parameters
    ----------
    dataset : mercer.io.Dataset
        With a target.
    kernel : Kernel or str, optional
        An expression such as ``"rbf(gamma=0.1) + 2*spectrum(k=3)@text"``.
    task : {"classification", "regression"}, optional
        By the target unless given: texts and few whole numbers are classes, other numbers quantities.
    C : float
        In units of the target's deviation where that is a quantity.
    scale : bool
        Bring numbers to one scale first.
    **parameters
        Of `SVC` or `SVR`.

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
    >>> found.task, found.estimator.kernel.kernels
    ('classification', {'age': RBF(gamma=1.0), 'town': Delta()})
    """
    if dataset.target is None:
        raise DataError(f"{dataset.name}: there are no labels to learn from")
    task = task or task_of(dataset.target)
    if task not in TASKS:
        raise ParameterError(f"task must be one of {', '.join(TASKS)}, got {task!r}")
    kernel = parse(kernel) if isinstance(kernel, str) else kernel
    X, kernel, scaler, notes = _data_and_kernel(dataset, kernel, scale)
    y, unit = _target(dataset.name, dataset.target, task)
    if task == "classification":
        machine = SVC(C=C, kernel=kernel, **parameters)
    else:
        machine = SVR(C=C * unit, epsilon=0.1 * unit, kernel=kernel, **parameters)
        notes = (*notes, f"C and epsilon are in units of the target's deviation, {unit:.4g}")
    estimator = machine if scaler is None else Pipeline([("scale", scaler), ("model", machine)])
    return Assembly(estimator, X, y, task, (_about_task(dataset.target_name, y, task), *notes), unit)


def task_of(target: NDArray[Any]) -> str:
    """What a target asks for."""
    if target.dtype.kind not in "iuf":
        return "classification"
    is_whole = target.dtype.kind in "iu" or bool((target == np.rint(target)).all())
    return "classification" if is_whole and len(np.unique(target)) <= CLASSES else "regression"


def _about_task(name: str | None, y: NDArray[Any], task: str) -> str:
    if task == "regression":
        return f"{'the labels' if name is None else repr(name)} holds quantities: regression"
    return f"{'the labels hold' if name is None else f'{name!r} holds'} {len(np.unique(y))} classes"


def _data_and_kernel(dataset: Dataset, kernel: Any, scale: bool) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """(X, kernel, scaler or None, notes)."""
    X, why, is_given = dataset.data, "", kernel is not None
    if not is_given:
        kernel, why = kernel_for(X)
    if dataset.kind in _ITEMS:
        _require_items(kernel, dataset)
        return X, kernel, None, ()
    plane = (why,) if kernel == "linear" else ()
    if dataset.kind == "vectors":
        _require_numbers(kernel, dataset)
        note = "columns divided by their largest value, which keeps zeros" if scale else "columns as they are"
        return X, kernel, MaxAbsScaler() if scale else None, (*plane, note)
    if not _takes_items(kernel) and dataset.matrix() is not None:
        note = "columns scaled to mean 0, deviation 1" if scale else "columns as they are"
        return X, kernel, StandardScaler() if scale else None, (*plane, note)
    if not is_given:
        return X, kernel if scale else kernel.replace(standardise=False), None, (_about_columns(kernel, scale),)
    note = "columns of numbers scaled to mean 0, deviation 1" if scale else "columns as they are"
    return X, placed(kernel, X, standardise=scale), None, (note,)


def _takes_items(kernel: Any) -> bool:
    return not isinstance(kernel, str) and kernel.takes_items


def _require_items(kernel: Any, dataset: Dataset) -> None:
    if {getattr(part, "item_name", None) for part in _leaves(kernel)} != {_ITEMS[dataset.kind]}:
        usual = kernel_for(dataset.data)[0]
        raise ParameterError(f"kernel must be one of {dataset.kind}, got {kernel!r}; such as {usual!r}")


def _require_numbers(kernel: Any, dataset: Dataset) -> None:
    if _takes_items(kernel):
        raise ParameterError(f"kernel must be one of numbers for {dataset.name}, got {kernel!r}")


def _leaves(kernel: Any) -> list[Any]:
    """The structured kernels within a kernel, and any others as they are."""
    if isinstance(kernel, StructuredKernel):
        return [kernel]
    nested = [value for value in kernel.get_params().values() if hasattr(value, "takes_items")]
    found = [part for part in nested if isinstance(part, StructuredKernel)]
    return found or [kernel]


def _about_columns(kernel: Any, scale: bool) -> str:
    listed = ", ".join(f"{name} by {_short(each)}" for name, each in kernel.kernels.items())
    return f"a kernel for each column: {listed}" + ("; numbers scaled to mean 0, deviation 1" if scale else "")


def _short(kernel: Any) -> str:
    return type(getattr(kernel, "kernel", kernel)).__name__


def _target(name: str, y: NDArray[Any], task: str) -> tuple[NDArray[Any], float]:
    """(y, its unit: the deviation of a quantity)."""
    if task == "classification":
        return y, 1.0
    if y.dtype.kind not in "iuf":
        raise DataError(f"{name}: regression needs numbers, and the target holds texts such as {str(y[0])!r}")
    y = y.astype(np.float64)
    return y, float(np.std(y)) or 1.0
