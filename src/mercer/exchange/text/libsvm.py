"""LIBSVM models, in the format of svm-train and svm-predict.

A header of ``key value ...`` lines, then ``SV`` and a line for each support vector, grouped by class in
the order of ``label``: its coefficients against each of the other classes, and its features. The
function of labels i and j (i before j) is positive where label i wins. The file contains neither the
number of features nor the training data.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, FloatArray, IndexArray, Rows
from mercer.estimators.bases.probabilities import Sigmoid
from mercer.estimators.fitting.tasks import pair_row, pairs
from mercer.estimators.kernel.logistic import KernelLogisticRegression
from mercer.estimators.svm.nu_svc import NuSVC
from mercer.estimators.svm.nu_svr import NuSVR
from mercer.estimators.svm.one_class import OneClassSVM
from mercer.estimators.svm.rank import RankSVM
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svdd import SVDD
from mercer.estimators.svm.svr import SVR
from mercer.exchange.text.kernels import KERNELS, kernel_named, named, parameters_of
from mercer.exchange.text.lines import csr_of, exact, lines_of_rows, open_model, write_text
from mercer.exchange.text.parts import Machine, compact_rows, sigmoid_of_other_side
from mercer.io.svmlight.table import Layout
from mercer.kernels.given.precomputed import MatrixItems, Precomputed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.text.lines import ModelText
    from mercer.io.svmlight.table import Table
    from mercer.kernels.base.kernel import Kernel

TYPES = {"c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR}
_CLASSIFIERS = ("c_svc", "nu_svc")
_NUMBERS = {"gamma": 1, "coef0": 1}
_COUNTS = {"degree": 0, "nr_class": 2, "total_sv": 0}
_LISTS = ("rho", "probA", "probB", "prob_density_marks")


def read_libsvm_model(
    path: str | PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    classes: ArrayLike | None = None,
) -> SVC | NuSVC | OneClassSVM | SVR | NuSVR:
    r"""Read a LIBSVM model file as a fitted estimator.

    Its decision values are LIBSVM's. A certificate needs the training data, which the file
    does not contain, so `certificate_` raises an error; `status_` is what LIBSVM claims for every model it writes,
    and `support_` just counts the support vectors, since the file does not say which rows they were.
    The width of a regression's Laplace noise (``probA`` of svm-train -b 1) has no place in `SVR`.

    Parameters
    ----------
    path : str or Path
        Plain, or compressed: .gz, .xz, .bz2.
    n_features : int, optional
        Number of columns (of training items, for a precomputed kernel), which the file does not contain;
        by default the largest index of a support vector.
    zero_based : bool, default=False
        Whether the first feature has index 0 instead of 1.
    classes : array-like, optional
        Labels to use instead of the integers in the file, in ascending order of those.

    Returns
    -------
    SVC, NuSVC, OneClassSVM, SVR or NuSVR

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> text = '''svm_type c_svc
    ... kernel_type linear
    ... nr_class 2
    ... total_sv 2
    ... rho 0
    ... label 1 -1
    ... nr_sv 1 1
    ... SV
    ... 0.5 1:1
    ... -0.5 1:-1
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     _ = path.write_text(text)
    ...     model = mercer.read_libsvm_model(path)
    >>> model.decision_function([[2.0], [-3.0]]), model.predict([[2.0], [-3.0]])
    (array([ 2., -3.]), array([ 1, -1]))
    """
    if n_features is not None and (not isinstance(n_features, (int, np.integer)) or n_features < 1):
        raise ParameterError(f"n_features must be a positive integer or None, got {n_features!r}")
    with open_model(path) as text:
        header = _header(text)
        kernel = kernel_named(header["kernel_type"], header, text.name)
        is_given = isinstance(kernel, Precomputed)
        n_columns = _coefficient_columns(header)
        first = 0 if is_given or zero_based else 1
        table = text.rows(Layout(first=first, n_labels=n_columns, label="a coefficient"), header["total_sv"], "rows")
        if is_given:
            vectors, width = _positions(table, n_features, text.name)
        else:
            vectors = compact_rows(csr_of(table, n_features, text.name))
            width = vectors.shape[1]
    machine = _machine(header, kernel, vectors, table.labels.T)
    if classes is not None:
        machine = _renamed(machine, classes)
    estimator = TYPES[header["svm_type"]](**parameters_of(kernel))
    if machine.sigmoids is not None:
        estimator.probability = True
    machine.into(estimator, (width if is_given else len(table), width))
    if isinstance(estimator, OneClassSVM):
        estimator.offset_ = -estimator.intercept_
    return estimator


def _header(text: "ModelText") -> dict[str, Any]:
    """The lines up to SV, checked for consistency."""
    header = {}
    while True:
        fields = text.fields("SV, the end of the header,")
        if not fields:
            continue
        key, column = fields[0]
        if key == "SV":
            break
        if key in header:
            raise text.error(f"{key} occurs twice", column)
        header[key] = _value(text, key, column, fields[1:])
    return _checked(text, header)


def _value(text: "ModelText", key: str, column: int, fields: list[tuple[str, int]]) -> Any:
    if key in ("svm_type", "kernel_type"):
        allowed = TYPES if key == "svm_type" else KERNELS
        if len(fields) != 1 or fields[0][0] not in allowed:
            got = " ".join(word for word, _ in fields)[:40]
            raise text.error(f"{key} must be one of {', '.join(allowed)}, got {got!r}", column)
        return fields[0][0]
    if key in _LISTS:
        return np.array([text.number(field, key) for field in fields])
    if key in ("label", "nr_sv"):
        least = 0 if key == "nr_sv" else -(10**18)
        return np.array([text.whole(field, key, least) for field in fields], np.int64)
    if key not in _NUMBERS and key not in _COUNTS:
        raise text.error(f"a header has no line {key[:40]!r}", column)
    if len(fields) != 1:
        raise text.error(f"{key} must be one number, got {len(fields)}", column)
    return text.number(fields[0], key) if key in _NUMBERS else text.whole(fields[0], key, _COUNTS[key])


def _checked(text: "ModelText", header: dict[str, Any]) -> dict[str, Any]:
    for key in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if key not in header:
            raise DataError(f"{text.name}: the header has no {key}")
    is_classifier = header["svm_type"] in _CLASSIFIERS
    k = header["nr_class"]
    if not is_classifier and k != 2:
        raise DataError(f"{text.name}: nr_class must be 2 for {header['svm_type']}, got {k}")
    expected = {"rho": k * (k - 1) // 2}
    if is_classifier:
        expected |= {"label": k, "nr_sv": k}
        expected |= {key: expected["rho"] for key in ("probA", "probB") if "probA" in header or "probB" in header}
    for key, count in expected.items():
        found = len(header.get(key, ()))
        if found != count:
            raise DataError(f"{text.name}: {k} classes need {count} numbers of {key}, got {found}")
    if is_classifier and len(np.unique(header["label"])) != k:
        raise DataError(f"{text.name}: the labels must differ, got {header['label'].tolist()[:20]}")
    if is_classifier and sum(header["nr_sv"].tolist()) != header["total_sv"]:
        total = sum(header["nr_sv"].tolist())
        raise DataError(f"{text.name}: nr_sv adds up to {total}, but total_sv is {header['total_sv']}")
    return header


def _coefficient_columns(header: dict[str, Any]) -> int:
    return header["nr_class"] - 1 if header["svm_type"] in _CLASSIFIERS else 1


def _positions(table: "Table", n_train: int | None, name: str) -> tuple[MatrixItems, int]:
    """Which training items the rows of a precomputed model refer to, and how many items there are."""
    if (np.diff(table.indptr) == 0).any() or (table.indices[table.indptr[:-1]] != 0).any():
        raise DataError(f"{name}: each support vector of a precomputed kernel must begin with 0: and its position")
    serial = table.values[table.indptr[:-1]]
    if len(serial) and not ((serial >= 1) & (serial < 2**31) & (serial == np.rint(serial))).all():
        raise DataError(f"{name}: a position of a precomputed kernel must be a whole number from 1, got {serial.min()}")
    largest = int(serial.max(initial=1))
    if n_train is not None and largest > n_train:
        raise DataError(f"{name}: a support vector is training item {largest}, more than n_features={n_train}")
    return MatrixItems(None, serial.astype(np.intp) - 1, np.float64), n_train or largest


def _machine(header: dict[str, Any], kernel: "Kernel", vectors: Rows, coefficients: FloatArray) -> Machine:
    """The model with its classes in ascending order."""
    intercepts = -header["rho"]
    if header["svm_type"] not in _CLASSIFIERS:
        support = vectors.index if isinstance(vectors, MatrixItems) else None
        counts = np.array([coefficients.shape[1]])
        return Machine(kernel, vectors, coefficients, counts, intercepts, support=support)
    labels = header["label"]
    order = np.argsort(labels)
    sigmoids = None
    if "probA" in header:
        sigmoids = [Sigmoid(float(A), float(B)) for A, B in zip(header["probA"], header["probB"], strict=True)]
    edges = np.concatenate([[0], np.cumsum(header["nr_sv"])])
    places = np.concatenate([np.arange(edges[c], edges[c + 1]) for c in order])
    dual_coef, intercepts, sigmoids = _by_pairs(order, edges, coefficients, intercepts, sigmoids)
    chosen = vectors.take(places) if isinstance(vectors, MatrixItems) else vectors[places]
    machine = Machine(kernel, chosen, dual_coef[:, places], header["nr_sv"][order], intercepts, labels[order], sigmoids)
    # For a precomputed kernel, the file contains the positions.
    return replace(machine, support=chosen.index) if isinstance(chosen, MatrixItems) else machine


def _by_pairs(
    order: IndexArray,
    edges: IndexArray,
    coefficients: FloatArray,
    intercepts: FloatArray,
    sigmoids: list[Sigmoid] | None,
) -> tuple[FloatArray, FloatArray, list[Sigmoid] | None]:
    """Coefficients, biases and sigmoids of the pairs of sorted classes, in scikit-learn's layout.

    For two classes, the second is the positive one; for several, the first of each pair.
    """
    k = len(order)
    column = {pair: number for number, pair in enumerate(pairs(k))}
    table, found, maps = np.zeros_like(coefficients), np.empty_like(intercepts), []
    for number, (i, j) in enumerate(pairs(k)):
        a, b = int(order[i]), int(order[j])
        sign = 1.0 if (a < b) == (k > 2) else -1.0
        source = column[min(a, b), max(a, b)]
        found[number] = sign * intercepts[source]
        if sigmoids is not None:
            maps.append(sigmoids[source] if sign > 0 else sigmoid_of_other_side(sigmoids[source]))
        for (own, other), (sorted_own, sorted_other) in (((a, b), (i, j)), ((b, a), (j, i))):
            members = slice(edges[own], edges[own + 1])
            table[pair_row(sorted_own, sorted_other), members] = sign * coefficients[pair_row(own, other), members]
    return table, found, maps if sigmoids is not None else None


def _renamed(machine: Machine, classes: ArrayLike) -> Machine:
    names = np.asarray(classes)
    if machine.classes is None or names.shape != machine.classes.shape or (names[1:] <= names[:-1]).any():
        count = 0 if machine.classes is None else len(machine.classes)
        raise ParameterError(f"classes must be {count} labels in ascending order, got {classes!r}")
    return replace(machine, classes=names)


def write_libsvm_model(
    model: "BaseEstimator",
    path: str | PathLike[str],
    *,
    support_vectors: bool = True,
    labels: Sequence[int] | None = None,
) -> None:
    """Write a fitted kernel model in LIBSVM's format, for svm-predict.

    Support vectors are rows of the training data; with a linear kernel they can be left out.

    Parameters
    ----------
    model : SVC, NuSVC, OneClassSVM, SVR, NuSVR, or another kernel machine of this form
        With a kernel that LIBSVM has: linear, polynomial, rbf, sigmoid or precomputed.
    path : str or Path
    support_vectors : bool, default=True
        False writes the weights of a linear model instead of its support vectors.
    labels : sequence of int, optional
        Integers for the classes, in the order of ``model.classes_``; needed unless these are
        integers themselves.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> model = mercer.SVC(kernel="linear").fit([[1.0], [-1.0]], [1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     mercer.write_libsvm_model(model, path)
    ...     print(path.read_text().split("SV")[0].strip())
    svm_type c_svc
    kernel_type linear
    nr_class 2
    total_sv 2
    rho -0
    label 1 -1
    nr_sv 1 1
    """
    machine, kind = Machine.of(model), type_of(model)
    if isinstance(model, KernelLogisticRegression):
        # Its probabilities are just the logistic function.
        machine = replace(machine, sigmoids=[Sigmoid(-1.0, 0.0)])
    if not support_vectors:
        machine = machine.without_support_vectors()
    numbers = whole_labels(machine.classes, labels, "LIBSVM")
    if numbers is not None and len(numbers) == 2:
        machine, numbers = _second_class_first(machine), numbers[::-1]
    factor, name, parameters = named(cast("Kernel", machine.kernel), "LIBSVM")
    if isinstance(machine.vectors, MatrixItems):
        rows, first = cast(Rows, np.asarray(machine.vectors.index, np.float64)[:, None] + 1.0), 0
    else:
        rows, first = machine.vectors, 1
    header = _header_text(kind, name, parameters, machine, numbers)
    write_text(path, header, lines_of_rows(factor * machine.dual_coef.T, rows, first))


def type_of(model: "BaseEstimator") -> str:
    """The svm_type of an estimator."""
    for name, kind in TYPES.items():
        if isinstance(model, kind):
            return name
    if isinstance(model, (SVDD, RankSVM)):
        raise ParameterError(f"LIBSVM has no counterpart of {type(model).__name__}")
    return "c_svc" if hasattr(model, "classes_") else "epsilon_svr"


def whole_labels(classes: Array | None, labels: Sequence[int] | None, tool: str) -> list[int] | None:
    """Integers for the classes: those given, or the classes themselves."""
    if classes is None:
        return None
    given = np.asarray(classes if labels is None else labels)
    is_whole = given.dtype.kind in "iub" or (given.dtype.kind == "f" and (given == np.rint(given)).all())
    if not is_whole or given.shape != classes.shape or len(np.unique(given)) != len(given):
        raise ParameterError(
            f"{tool}'s labels are whole numbers: labels must be {len(classes)} different ones, one for each of "
            f"classes_, got {given.tolist()[:10]}"
        )
    return [int(label) for label in given]


def _second_class_first(machine: Machine) -> Machine:
    """Two classes with the positive one first, as LIBSVM has it."""
    if machine.counts.sum() == 0:
        return machine
    edge = machine.counts[0]
    places = np.r_[edge : machine.dual_coef.shape[1], 0:edge]
    vectors = machine.vectors
    chosen = vectors.take(places) if isinstance(vectors, MatrixItems) else cast(Rows, vectors)[places]
    return replace(
        machine, vectors=chosen, dual_coef=machine.dual_coef[:, places], counts=machine.counts[::-1], support=None
    )


def _header_text(
    kind: str, name: str, parameters: Mapping[str, Any], machine: Machine, labels: Sequence[int] | None
) -> str:
    lines = [f"svm_type {kind}", f"kernel_type {name}"]
    lines += [f"{key} {exact(value)}" for key, value in parameters.items()]
    lines += [f"nr_class {2 if labels is None else len(labels)}", f"total_sv {machine.dual_coef.shape[1]}"]
    lines += [f"rho {_words(-machine.intercepts)}"]
    if labels is not None:
        lines += [f"label {' '.join(map(str, labels))}"]
        if machine.sigmoids is not None:
            lines += [f"prob{key} {_words([getattr(each, key) for each in machine.sigmoids])}" for key in "AB"]
        lines += [f"nr_sv {' '.join(map(str, machine.counts.tolist()))}"]
    return "\n".join([*lines, "SV\n"])


def _words(values: Iterable[float]) -> str:
    return " ".join(exact(value) for value in values)
