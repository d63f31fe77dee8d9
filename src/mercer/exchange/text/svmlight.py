r"""SVMlight models, in the format of svm_learn and svm_classify.

Eleven lines, each a value and a comment that says what it is, then a line for each support vector:
alpha times y, and its features. The function is :math:`f(x) = \sum_j \alpha_j y_j k(x_j, x) - b`.
The file does not say whether the model classifies, predicts quantities or ranks.
"""

from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, Rows
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svdd import SVDD
from mercer.estimators.svm.svr import SVR
from mercer.exchange.text.kernels import KERNELS, kernel_named, named, parameters_of
from mercer.exchange.text.lines import csr_of, exact, lines_of_rows, open_model, write_text
from mercer.exchange.text.parts import Machine, compact_rows
from mercer.io.svmlight.table import ANY_WIDTH, Layout
from mercer.kernels.given.precomputed import Precomputed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.text.lines import ModelText
    from mercer.kernels.base.kernel import Kernel

# In the order of their numbers; 4 is a kernel compiled into the program by the user.
_KERNELS = tuple(name for name in KERNELS if name != "precomputed")
VERSION = "SVM-light Version V6.02"
TASKS = {"classification": SVC, "regression": SVR}


def read_svmlight_model(
    path: str | PathLike[str], *, task: str = "classification", n_features: int | None = None
) -> SVC | SVR:
    r"""Read an SVMlight model file as a fitted estimator.

    Parameters
    ----------
    path : str or Path
        Plain, or compressed: .gz, .xz, .bz2.
    task : {"classification", "regression"}, default="classification"
        What the function is for, which the file does not say: an `SVC` for the classes -1 and 1, or
        an `SVR`, whose predictions are also the scores of a ranking model.
    n_features : int, optional
        Number of columns; by default the highest feature index in the file's header.

    Returns
    -------
    SVC or SVR
        As from `mercer.read_libsvm_model`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> model = mercer.SVC(kernel="linear").fit([[1.0], [-1.0]], [1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     mercer.write_svmlight_model(model, path)
    ...     again = mercer.read_svmlight_model(path)
    >>> again.decision_function([[2.0], [-3.0]])
    array([ 2., -3.])
    """
    if task not in TASKS:
        raise ParameterError(f"task must be 'classification' or 'regression', got {task!r}")
    with open_model(path) as text:
        name, parameters = _kernel_lines(text)
        width = _whole(text, "the highest feature index")
        if width > ANY_WIDTH:
            raise text.error(f"the highest feature index must be at most {ANY_WIDTH}, got {width}", 1)
        count = _whole(text, "the number of training documents")
        total = _whole(text, "the number of support vectors plus 1", 1)
        intercept = -_number(text, "the threshold b")
        table = text.rows(Layout(label="alpha times y"), total - 1, "support vectors")
        kernel = kernel_named(name, parameters, text.name)
        vectors = csr_of(table, max(1, table.width, width) if n_features is None else n_features, text.name)
    machine = _machine(kernel, compact_rows(vectors), table.labels.T, np.array([intercept]), task)
    return machine.into(TASKS[task](**parameters_of(kernel)), (max(count, len(table)), vectors.shape[1]))


def _machine(kernel: "Kernel", vectors: Rows, coefficients: FloatArray, intercepts: FloatArray, task: str) -> Machine:
    if task == "regression":
        return Machine(kernel, vectors, coefficients, np.array([coefficients.shape[1]]), intercepts)
    is_positive = coefficients[0] > 0
    order, positive = np.argsort(is_positive, kind="stable"), int(is_positive.sum())
    counts = np.array([len(order) - positive, positive])
    return Machine(kernel, vectors[order], coefficients[:, order], counts, intercepts, np.array([-1, 1]))


def _kernel_lines(text: "ModelText") -> tuple[str, dict[str, Any]]:
    """(name of the kernel, its parameters) from the first seven lines."""
    version = text.next_line("SVM-light Version")
    if not version.startswith("SVM-light Version"):
        raise text.error(f"the file must begin with 'SVM-light Version', got {version[:40]!r}", 1)
    number = _whole(text, "the kernel type")
    if number >= len(_KERNELS):
        allowed = ", ".join(f"{place} ({name})" for place, name in enumerate(_KERNELS))
        raise text.error(f"the kernel type must be one of {allowed}, got {number}", 1)
    degree, gamma = _whole(text, "-d, the degree"), _number(text, "-g, gamma")
    scale, coef0 = _number(text, "-s, the factor of the inner product"), _number(text, "-r, the constant")
    text.next_line("-u, the parameter of a custom kernel")
    name = _KERNELS[number]
    return name, {"degree": degree, "gamma": gamma if name == "rbf" else scale, "coef0": coef0}


def _whole(text: "ModelText", what: str, least: int = 0) -> int:
    return text.whole(_first(text, what), what, least)


def _number(text: "ModelText", what: str) -> float:
    return text.number(_first(text, what), what)


def _first(text: "ModelText", what: str) -> tuple[str, int]:
    """The first word of the next line, and its column."""
    fields = text.fields(what)
    if not fields:
        raise text.error(f"{what} must be here, got an empty line", 1)
    return fields[0]


def write_svmlight_model(model: "BaseEstimator", path: str | PathLike[str], *, support_vectors: bool = True) -> None:
    """Write a fitted kernel model with one function in SVMlight's format.

    Parameters
    ----------
    model : SVC of two classes, SVR, OneClassSVM, RankSVM, or another machine of one function
        With a linear, polynomial, Gaussian or sigmoid kernel. For two classes, the second one in
        ``model.classes_`` is SVMlight's +1.
    path : str or Path
    support_vectors : bool, default=True
        False writes the weights of a linear model instead of its support vectors, which are rows
        of the training data.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> model = mercer.SVR(kernel="linear", epsilon=0.0, C=10.0).fit([[0.0], [1.0]], [1.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     mercer.write_svmlight_model(model, path, support_vectors=False)
    ...     print(path.read_text().splitlines()[-1].strip(" #"))
    1 1:2
    """
    if isinstance(model, SVDD):
        raise ParameterError("SVMlight has no counterpart of SVDD")
    machine = Machine.of(model)
    if machine.has_pairs:
        raise ParameterError(
            f"SVMlight knows two classes, got {len(cast(Array, machine.classes))}; "
            "write_libsvm_model takes more of them"
        )
    if isinstance(machine.kernel, Precomputed):
        raise ParameterError("SVMlight has no precomputed kernel; write_libsvm_model takes it")
    if not support_vectors:
        machine = machine.without_support_vectors()
    factor, name, parameters = named(cast("Kernel", machine.kernel), "SVMlight")
    gamma = parameters.get("gamma", 1.0)
    values = [
        (VERSION, None),
        (_KERNELS.index(name), "kernel type"),
        (parameters.get("degree", 3), "kernel parameter -d"),
        (exact(gamma if name == "rbf" else 1.0), "kernel parameter -g"),
        (exact(1.0 if name == "rbf" else gamma), "kernel parameter -s"),
        (exact(parameters.get("coef0", 1.0)), "kernel parameter -r"),
        ("empty", "kernel parameter -u"),
        (cast(Rows, machine.vectors).shape[1], "highest feature index"),
        (model.shape_fit_[0], "number of training documents"),
        (machine.dual_coef.shape[1] + 1, "number of support vectors plus 1"),
        (exact(-machine.intercepts[0]), "threshold b, each following line is a SV (starting with alpha*y)"),
    ]
    header = "".join(f"{value}\n" if what is None else f"{value} # {what}\n" for value, what in values)
    write_text(path, header, lines_of_rows(factor * machine.dual_coef.T, machine.vectors, end=" #\n"))
