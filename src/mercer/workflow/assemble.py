"""From data as they were read to a machine that suits them, unfitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mercer._errors import DataError, ParameterError
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.kernels import Columns, Spectrum, SubsetTree, WeisfeilerLehman, parse, placed
from mercer.kernels.base.structured import StructuredKernel

TASKS = ("classification", "regression")
# Whole numbers of more distinct values are quantities, not classes.
CLASSES = 20
# The kernel of items that are no rows of numbers, unless another is named.
_OF_ITEMS = {
    "texts": ("text", lambda: Spectrum(length=(1, 2), tokenizer="words").normalized()),
    "trees": ("tree", lambda: SubsetTree().normalized()),
    "graphs": ("graph", lambda: WeisfeilerLehman().normalized()),
}


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
    """

    estimator: Any
    X: Any
    y: np.ndarray
    task: str
    notes: tuple


def assemble(dataset, kernel=None, *, task=None, C=1.0, scale=True, **parameters):
    r"""A support vector machine for a `Dataset`, by what it holds.

    Rows of numbers are compared by `RBF` after scaling, tables by a kernel for each column, texts by their
    words (`Spectrum`), trees by `SubsetTree`, graphs by `WeisfeilerLehman`; or all by the kernel given.

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
    y, machine, units = _machine(dataset, task, C, kernel, parameters)
    estimator = machine if scaler is None else Pipeline([("scale", scaler), ("model", machine)])
    return Assembly(estimator, X, y, task, (_about_task(dataset, task), *notes, *units))


def task_of(target):
    """What a target asks for."""
    if target.dtype.kind not in "iuf":
        return "classification"
    is_whole = target.dtype.kind in "iu" or bool((target == np.rint(target)).all())
    return "classification" if is_whole and len(np.unique(target)) <= CLASSES else "regression"


def _about_task(dataset, task):
    name = "the labels" if dataset.target_name is None else repr(dataset.target_name)
    if task == "regression":
        return f"{name} holds quantities: regression"
    return f"{name} {'hold' if dataset.target_name is None else 'holds'} {len(np.unique(dataset.target))} classes"


def _data_and_kernel(dataset, kernel, scale):
    """(X, kernel, scaler or None, notes)."""
    if dataset.kind in _OF_ITEMS:
        return dataset.data, _kernel_of_items(dataset, kernel), None, ()
    if dataset.kind == "vectors":
        if kernel is not None:
            _require_numbers(kernel, dataset)
        note = "columns divided by their largest value, which keeps zeros" if scale else "columns as they are"
        return dataset.data, kernel or "rbf", MaxAbsScaler() if scale else None, (note,)
    is_of_rows = kernel is None or not kernel.takes_items
    if is_of_rows and dataset.matrix() is not None:
        note = "columns scaled to mean 0, deviation 1" if scale else "columns as they are"
        return dataset.data, kernel or "rbf", StandardScaler() if scale else None, (note,)
    if kernel is None:
        kernel = Columns.infer(dataset.data)
        return dataset.data, kernel if scale else _unscaled(kernel), None, (_about_columns(kernel, scale),)
    note = "columns of numbers scaled to mean 0, deviation 1" if scale else "columns as they are"
    return dataset.data, placed(kernel, dataset.data, standardise=scale), None, (note,)


def _kernel_of_items(dataset, kernel):
    name, usual = _OF_ITEMS[dataset.kind]
    if kernel is None:
        return usual()
    kinds = {getattr(part, "item_name", None) for part in _leaves(kernel)}
    if kinds != {name}:
        raise ParameterError(f"kernel must be one of {dataset.kind}, got {kernel!r}; such as {usual()!r}")
    return kernel


def _leaves(kernel):
    """The structured kernels within a kernel, and any others as they are."""
    if isinstance(kernel, StructuredKernel):
        return [kernel]
    nested = [value for value in kernel.get_params().values() if hasattr(value, "takes_items")]
    found = [part for part in nested if isinstance(part, StructuredKernel)]
    return found or [kernel]


def _require_numbers(kernel, dataset):
    if kernel.takes_items:
        raise ParameterError(f"kernel must be one of numbers for {dataset.name}, got {kernel!r}")


def _unscaled(kernel):
    return kernel.replace(standardise=False)


def _about_columns(kernel, scale):
    listed = ", ".join(f"{name} by {_short(each)}" for name, each in kernel.kernels.items())
    return f"a kernel for each column: {listed}" + ("; numbers scaled to mean 0, deviation 1" if scale else "")


def _short(kernel):
    return type(getattr(kernel, "kernel", kernel)).__name__


def _machine(dataset, task, C, kernel, parameters):
    """(y, machine, notes): a quantity's C and epsilon are in units of its deviation."""
    y = dataset.target
    if task == "classification":
        return y, SVC(C=C, kernel=kernel, **parameters), ()
    if y.dtype.kind not in "iuf":
        raise DataError(f"{dataset.name}: regression needs numbers, and the target holds texts such as {str(y[0])!r}")
    y = y.astype(np.float64)
    deviation = float(np.std(y)) or 1.0
    machine = SVR(C=C * deviation, epsilon=0.1 * deviation, kernel=kernel, **parameters)
    return y, machine, (f"C and epsilon are in units of the target's deviation, {deviation:.4g}",)
