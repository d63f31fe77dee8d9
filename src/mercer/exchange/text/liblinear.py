"""LIBLINEAR models, in the format of liblinear-train and liblinear-predict.

A header of ``key value ...`` lines, then ``w`` and a line of weights for each feature, with one column for
each function; if ``bias`` is nonnegative, one more line for the constant feature of that value.
"""

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer._types import ArrayLike
from mercer.estimators.bases.probabilities import Calibration, Sigmoid
from mercer.estimators.fitting.fitted_parts import part, set_parts
from mercer.estimators.linear.svc import LinearSVC
from mercer.estimators.linear.svr import LinearSVR
from mercer.estimators.svm.nu_svr import NuSVR
from mercer.estimators.svm.one_class import OneClassSVM
from mercer.estimators.svm.svr import SVR
from mercer.exchange.text.libsvm import whole_labels
from mercer.exchange.text.linear import LinearFunctions, linear_classifier, linear_detector, linear_regressor
from mercer.exchange.text.lines import exact, lines_of_rows, open_model, write_text
from mercer.io.svmlight.table import Layout

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.text.lines import ModelText


_SQUARED, _HINGE = {"loss": "squared_hinge"}, {"loss": "hinge"}
# Parameters of LinearSVC; for logistic regression there are none, only its functions.
CLASSIFIERS = {
    "L2R_L2LOSS_SVC_DUAL": _SQUARED,
    "L2R_L2LOSS_SVC": _SQUARED,
    "L2R_L1LOSS_SVC_DUAL": _HINGE,
    "L1R_L2LOSS_SVC": {"penalty": "l1", **_SQUARED},
    "MCSVM_CS": {"multi_class": "crammer_singer"},
    "L2R_LR": {},
    "L2R_LR_DUAL": {},
    "L1R_LR": {},
}
REGRESSORS = {
    "L2R_L2LOSS_SVR": {"loss": "squared_epsilon_insensitive"},
    "L2R_L2LOSS_SVR_DUAL": {"loss": "squared_epsilon_insensitive"},
    "L2R_L1LOSS_SVR_DUAL": {"loss": "epsilon_insensitive"},
}
ONE_CLASS = "ONECLASS_SVM"
SOLVERS = (*CLASSIFIERS, *REGRESSORS, ONE_CLASS)
_KEYS = ("solver_type", "nr_class", "label", "nr_feature", "bias", "rho")


def read_liblinear_model(
    path: str | PathLike[str], *, classes: ArrayLike | None = None
) -> LinearSVC | LinearSVR | OneClassSVM:
    r"""Read a LIBLINEAR model file as a fitted estimator.

    A logistic regression becomes a `LinearSVC` whose probabilities are the logistic function of its
    scores, as LIBLINEAR's are. The training data are not in the file, so there is no certificate.

    Parameters
    ----------
    path : str or Path
        Plain, or compressed: .gz, .xz, .bz2.
    classes : array-like, optional
        Labels to use instead of the integers in the file, in ascending order of those.

    Returns
    -------
    LinearSVC, LinearSVR or OneClassSVM

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> text = '''solver_type L2R_L1LOSS_SVC_DUAL
    ... nr_class 2
    ... label 1 -1
    ... nr_feature 2
    ... bias 1
    ... w
    ... 2
    ... -1
    ... 0.5
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     _ = path.write_text(text)
    ...     model = mercer.read_liblinear_model(path)
    >>> model.coef_, model.intercept_, model.predict([[0.0, 1.0]])
    (array([[ 2., -1.]]), array([0.5]), array([-1]))
    """
    with open_model(path) as text:
        header = _header(text)
        rows = header["nr_feature"] + (header["bias"] >= 0)
        table = text.rows(Layout(n_labels=_columns(header), label="a weight"), rows, "rows of weights")
        if len(table.indices):
            raise DataError(f"{text.name}: a line of weights must hold {_columns(header)} numbers and nothing else")
    weights, intercepts = table.labels[: header["nr_feature"]].T, np.zeros(table.labels.shape[1])
    if header["bias"] >= 0:
        intercepts = header["bias"] * table.labels[-1]
    functions = LinearFunctions(np.ascontiguousarray(weights), intercepts)
    kind = header["solver_type"]
    if kind in REGRESSORS:
        return linear_regressor(functions, LinearSVR(**cast(dict[str, Any], REGRESSORS[kind])))
    if kind == ONE_CLASS:
        return linear_detector(LinearFunctions(functions.weights, functions.intercepts - header["rho"]), OneClassSVM())
    return _classifier(header, functions, classes)


def _header(text: "ModelText") -> dict[str, Any]:
    header = {}
    while True:
        fields = text.fields("w, the end of the header,")
        if not fields:
            continue
        (key, column), values = fields[0], fields[1:]
        if key == "w":
            break
        if key not in _KEYS or key in header:
            problem = "occurs twice" if key in header else f"must be one of {', '.join(_KEYS)}"
            raise text.error(f"the key {key[:40]!r} {problem}", column)
        header[key] = _value(text, key, column, values)
    return _checked(text, header)


def _value(text: "ModelText", key: str, column: int, values: list[tuple[str, int]]) -> Any:
    if key == "label":
        return np.array([text.whole(field, key, -(10**18)) for field in values], np.int64)
    if len(values) != 1:
        raise text.error(f"{key} must be one value, got {len(values)}", column)
    if key == "solver_type":
        if values[0][0] not in SOLVERS:
            raise text.error(f"solver_type must be one of {', '.join(SOLVERS)}, got {values[0][0][:40]!r}", column)
        return values[0][0]
    if key == "nr_class":
        return text.whole(values[0], key, 1)
    return text.whole(values[0], key, 1) if key == "nr_feature" else text.number(values[0], key)


def _checked(text: "ModelText", header: dict[str, Any]) -> dict[str, Any]:
    is_classifier = header.get("solver_type") in CLASSIFIERS
    needed = ["solver_type", "nr_class", "nr_feature", "bias"]
    needed += ["label"] if is_classifier else []
    needed += ["rho"] if header.get("solver_type") == ONE_CLASS else []
    for key in needed:
        if key not in header:
            raise DataError(f"{text.name}: the header has no {key}")
    if is_classifier:
        labels = header["label"]
        if len(labels) != header["nr_class"] or len(np.unique(labels)) != len(labels):
            raise DataError(
                f"{text.name}: nr_class={header['nr_class']} needs as many different labels, got {labels.tolist()[:20]}"
            )
        if len(labels) < 2:
            raise DataError(f"{text.name}: a classifier needs two classes, got {len(labels)}")
    return header


def _columns(header: dict[str, Any]) -> int:
    is_single = header["solver_type"] not in CLASSIFIERS or (
        header["nr_class"] == 2 and header["solver_type"] != "MCSVM_CS"
    )
    return 1 if is_single else header["nr_class"]


def _classifier(header: dict[str, Any], functions: LinearFunctions, classes: ArrayLike | None) -> LinearSVC:
    labels = header["label"]
    order = np.argsort(labels)
    if len(functions.weights) == 1:
        # One function, positive where the first label wins; ours is positive where the larger one does.
        functions = functions if order[0] == 1 else functions.negated()
    elif len(labels) == 2:
        functions = functions.taken(order).difference()
    else:
        functions = functions.taken(order)
    names = labels[order] if classes is None else np.asarray(classes)
    if names.shape != labels.shape or (names[1:] <= names[:-1]).any():
        raise ParameterError(f"classes must be {len(labels)} labels in ascending order, got {classes!r}")
    model = linear_classifier(functions, names, LinearSVC(**cast(dict[str, Any], CLASSIFIERS[header["solver_type"]])))
    if header["solver_type"].endswith(("_LR", "_LR_DUAL")):
        model.probability = True
        logistic = [Sigmoid(-1.0, 0.0)] * len(functions.weights)
        set_parts(model, calibration=Calibration.of_maps("sigmoid", logistic, len(labels), has_pairs=False))
    return model


def write_liblinear_model(
    model: "BaseEstimator", path: str | PathLike[str], *, labels: Sequence[int] | None = None
) -> None:
    """Write a fitted linear model as a LIBLINEAR model: weights only, no training data.

    Parameters
    ----------
    model : LinearSVC, LinearSVR, PegasosSVC, Perceptron, or a kernel machine with a linear kernel
        With one function, or one for each class. `SVC` with several classes has one for each pair
        by default: fit it with ``multi_class="ovr"``, or use `write_libsvm_model`.
    path : str or Path
    labels : sequence of int, optional
        Integers for the classes, in the order of ``model.classes_``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> model = mercer.LinearSVC(C=10.0, loss="hinge").fit([[1.0], [-1.0]], [1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "machine.model"
    ...     mercer.write_liblinear_model(model, path)
    ...     print(path.read_text().split("w")[0].strip())
    solver_type L2R_L1LOSS_SVC_DUAL
    nr_class 2
    label 1 -1
    nr_feature 1
    bias 1
    """
    functions = LinearFunctions.of(model)
    is_classifier = hasattr(model, "classes_")
    _require_no_calibration(model)
    if isinstance(model, OneClassSVM):
        kind, rows, rho = ONE_CLASS, functions.weights, -functions.intercepts[0]
        lines = [f"solver_type {kind}", "nr_class 2", f"nr_feature {rows.shape[1]}", "bias -1", f"rho {exact(rho)}"]
    else:
        kind = _solver_of(model) if is_classifier else _regression_solver(model)
        numbers = whole_labels(model.classes_, labels, "LIBLINEAR") if is_classifier else None
        if numbers is not None and len(numbers) == 2:
            numbers = numbers[::-1]
        rows = np.column_stack([functions.weights, functions.intercepts])
        lines = [f"solver_type {kind}", f"nr_class {2 if numbers is None else len(numbers)}"]
        lines += [] if numbers is None else [f"label {' '.join(map(str, numbers))}"]
        lines += [f"nr_feature {functions.weights.shape[1]}", "bias 1"]
    nothing = sparse.csr_matrix((rows.shape[1], 1))
    write_text(path, "\n".join([*lines, "w\n"]), lines_of_rows(rows.T, nothing))


def _require_no_calibration(model: "BaseEstimator") -> None:
    calibration = part(model, "calibration", None)
    logistic = calibration is not None and all(each == Sigmoid(-1.0, 0.0) for each in calibration.maps)
    if calibration is not None and not logistic:
        raise ParameterError(
            "LIBLINEAR has no place for calibrated probabilities; fit with probability=False, or export to ONNX"
        )


def _solver_of(model: "BaseEstimator") -> str:
    if part(model, "calibration", None) is not None:
        return "L2R_LR"
    if getattr(model, "multi_class", None) == "crammer_singer" and len(model.classes_) > 2:
        return "MCSVM_CS"
    if getattr(model, "penalty", "l2") == "l1":
        return "L1R_L2LOSS_SVC"
    return "L2R_L2LOSS_SVC_DUAL" if getattr(model, "loss", "hinge") == "squared_hinge" else "L2R_L1LOSS_SVC_DUAL"


def _regression_solver(model: "BaseEstimator") -> str:
    is_known = isinstance(model, (LinearSVR, SVR, NuSVR))
    is_squared = is_known and getattr(model, "loss", "") == "squared_epsilon_insensitive"
    return "L2R_L2LOSS_SVR" if is_squared else "L2R_L1LOSS_SVR_DUAL"
