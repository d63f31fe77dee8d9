"""Fitted models as ONNX graphs, which run without Python and without Mercer.

The graph consists of plain operators in double precision. (The operators of ai.onnx.ml for support
vector machines compute in single precision, know four kernels, and cannot break ties.)
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.bases.kernel_method import KernelRegression
from mercer.estimators.bases.one_function import OneFunctionModel
from mercer.estimators.fitting.fitted_parts import part
from mercer.estimators.kernel.fisher import KernelFisherDiscriminant
from mercer.estimators.kernel.logistic import KernelLogisticRegression
from mercer.estimators.kernel.machine import KernelMachine
from mercer.estimators.kernel.spectral import SpectralMethod
from mercer.estimators.linear.base import LinearClassifier
from mercer.estimators.linear.svr import LinearSVR
from mercer.estimators.online.pegasos import PegasosSVC
from mercer.estimators.online.perceptron import Perceptron
from mercer.estimators.svm.one_class import OneClassSVM
from mercer.estimators.svm.rank import RankSVM
from mercer.estimators.svm.svdd import SVDD
from mercer.exchange.onnx import heads
from mercer.exchange.onnx.graph import IR_VERSION, OPSET, OPSET_OF_TEXTS, Graph, Tensor, require_onnx
from mercer.exchange.onnx.kernels import Pairs, TablePairs, diagonal, matrix
from mercer.exchange.onnx.steps import step
from mercer.exchange.onnx.tables import Table
from mercer.kernels.algebra.polynomial_functions import PolynomialFunctions, coefficient_matrix
from mercer.kernels.given.precomputed import MatrixItems
from mercer.kernels.table.frame import as_frame
from mercer.kernels.vector.linear import Linear

if TYPE_CHECKING:
    from onnx import ModelProto
    from sklearn.base import BaseEstimator

# The beginning and the end of the error for kernels whose features cannot be written down.
_WITHOUT_VECTORS = ("support_vectors=False", "support_vectors=True writes the support vectors")


def to_onnx(
    model: "BaseEstimator", *, support_vectors: bool | None = None, dtype: DTypeLike = "float64"
) -> "ModelProto":
    """A fitted model, or a pipeline that ends in one, as an ONNX graph.

    The input ``X`` is a matrix of rows or, for a precomputed kernel, K(rows, training rows). If a table
    has columns other than numbers, each column that is read is a named input of
    shape (n, 1): labels as texts, with missing ones empty; numbers, and dates in days since 1970, with missing
    ones NaN. The outputs are named ``label``, ``decision_function`` and ``probabilities`` for classifiers,
    ``prediction`` for regression, ``label`` and ``decision_function`` for one-class learning, and
    ``transformed`` for principal components. All arithmetic is in double precision.

    Support vectors are rows of the training data: anyone who has the file can read them, unless they
    are left out.

    Parameters
    ----------
    model : fitted estimator of Mercer, or Pipeline
        Any with a kernel of vectors that ONNX's operators can express, or without a kernel; or with `Encoded`, which
        turns the rows of a table into vectors.
    support_vectors : bool, optional
        Whether the file contains support vectors. False writes weights of features instead, which
        requires a kernel that is a polynomial of the inner product, normalised or not. None leaves them
        out for a linear kernel, and keeps them for others.
    dtype : {"float64", "float32"}, default="float64"
        Of the input numbers, except dates, whose hours need double precision; the computation is in double precision
        either way.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(model, path)`` writes it.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mercer.SVC().fit(X, y)
    >>> exported = mercer.to_onnx(model)
    >>> session = onnxruntime.InferenceSession(exported.SerializeToString())
    >>> (label,) = session.run(["label"], {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    onnx = require_onnx()
    if str(np.dtype(dtype)) not in ("float64", "float32"):
        raise ParameterError(f"dtype must be 'float64' or 'float32', got {dtype!r}")
    if support_vectors not in (None, True, False):
        raise ParameterError(f"support_vectors must be True, False or None, got {support_vectors!r}")
    graph = Graph()
    steps = [each for _, each in model.steps] if isinstance(model, Pipeline) else [model]
    table = _table(graph, steps, dtype)
    if table is not None:
        return _model(onnx, graph, _outputs(steps[0], table, support_vectors), table.entrances())
    x = graph.input("X")
    if str(np.dtype(dtype)) == "float32":
        x = x.as_double()
    for each in steps[:-1]:
        x = _transformed(each, x, support_vectors) if isinstance(each, SpectralMethod) else step(each, x)
    check_is_fitted(steps[-1])
    outputs = _outputs(steps[-1], x, support_vectors)
    return _model(onnx, graph, outputs, [("X", str(np.dtype(dtype)), _width(steps))])


def _table(graph: Graph, steps: Sequence[Any], dtype: DTypeLike) -> Table | None:
    """The inputs of a model of tables; None for others."""
    expansion = getattr(steps[0], "expansion_", None)
    if len(steps) > 1 or expansion is None or not expansion.kernel.takes_tables:
        return None
    return Table(graph, expansion.kernel, as_frame(expansion.vectors), dtype)


def _width(steps: Sequence[Any]) -> int:
    for each in steps:
        if hasattr(each, "n_features_in_"):
            return int(each.n_features_in_)
    raise ParameterError(f"{type(steps[-1]).__name__} does not take rows of numbers, which is what ONNX passes on")


def _model(
    onnx: Any, graph: Graph, outputs: Mapping[str, Tensor], inputs: Sequence[tuple[str, str, int]]
) -> "ModelProto":
    helper, kinds = onnx.helper, onnx.TensorProto
    known = {"float64": kinds.DOUBLE, "float32": kinds.FLOAT, "text": kinds.STRING}
    for name, tensor in outputs.items():
        tensor.called(name)
    _require_names(graph, [name for name, _, _ in inputs])
    entrances = [helper.make_tensor_value_info(name, known[kind], ["n", width]) for name, kind, width in inputs]
    exits = [onnx.ValueInfoProto(name=name) for name in outputs]
    unnamed = helper.make_graph(graph.nodes, "mercer", entrances, exits, graph.constants)
    opset = OPSET_OF_TEXTS if any(kind == "text" for _, kind, _ in inputs) else OPSET
    model = helper.make_model(
        unnamed, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION, producer_name="mercer"
    )
    # Types and shapes of the outputs follow from the graph.
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(model)
    return model


def _require_names(graph: Graph, names: Sequence[str]) -> None:
    """Inputs and what the graph computes must not share a name."""
    taken = {output for node in graph.nodes for output in node.output} | {each.name for each in graph.constants}
    wrong = next((name for name in names if name in taken or not name or names.count(name) > 1), None)
    if wrong is not None:
        raise ParameterError(
            f"column {wrong!r} cannot be an input of the ONNX graph, as its name is taken or empty; rename it and "
            "train again"
        )


def _outputs(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> dict[str, Tensor]:
    """The outputs of an estimator, by name."""
    for kinds, rule in _RULES:
        if isinstance(model, kinds):
            return rule(model, x, support_vectors)
    names = "SVC, NuSVC, SVR, OneClassSVM, LinearSVC, KernelRidge, KernelPCA and others of Mercer's kernel machines"
    raise ParameterError(f"{type(model).__name__} cannot be exported to ONNX; {names} can")


def _transformed(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> Tensor:
    return _functions(model, x, support_vectors)


def _functions(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> Tensor:
    """Decision values (n, n_functions) of a model that is an expansion in a kernel."""
    if part(model, "items", None) is not None:
        raise ParameterError("the kernel is a Python function, which ONNX cannot hold; pass a Kernel or a name")
    expansion = model.expansion_
    if support_vectors is None:
        support_vectors = not isinstance(expansion.kernel, Linear)
    vectors, coefficients = expansion.vectors, coefficient_matrix(expansion)
    if isinstance(vectors, MatrixItems):
        return cast(Tensor, x).columns(vectors.index) @ coefficients + expansion.intercepts
    if len(coefficients) == 0:
        return x.graph.zeros() @ np.zeros((1, expansion.n_functions)) + expansion.intercepts
    if not support_vectors:
        return _polynomial(PolynomialFunctions.of(expansion, *_WITHOUT_VECTORS), cast(Tensor, x))
    return matrix(expansion.kernel, _pairs(x, vectors)) @ coefficients + expansion.intercepts


def _pairs(x: Tensor | Table, vectors: Rows) -> Pairs | TablePairs:
    return TablePairs(x, vectors) if isinstance(x, Table) else Pairs(x, _rows(vectors))


def _rows(vectors: Rows) -> FloatArray:
    try:
        rows = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2:
        raise ParameterError("only kernels of rows of numbers can be exported to ONNX; texts, trees, graphs cannot")
    return rows


def _polynomial(functions: PolynomialFunctions, x: Tensor) -> Tensor:
    total = None
    for term in functions.terms:
        if term.choices.shape[1] == 0:
            part = (x * 0.0).sum(1) + term.weights
        else:
            features = x.columns(term.choices[:, 0]) if term.choices.shape[1] > 1 else x
            for position in range(1, term.choices.shape[1]):
                features = features * x.columns(term.choices[:, position])
            part = features @ term.weights
        total = part if total is None else total + part
    if total is None:
        total = (x * 0.0).sum(1) @ np.zeros((1, len(functions.intercepts)))
    if functions.normaliser is not None:
        norms, own = (x * x).sum(1), cast(Any, None)
        for coefficient in functions.normaliser[::-1]:
            own = norms * 0.0 + coefficient if own is None else own * norms + coefficient
        total = total * own.above(0.0) / own.where_above_zero(1.0).sqrt()
    return total + functions.intercepts


def _linear(model: "BaseEstimator", x: Tensor) -> Tensor:
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
    weights = np.atleast_2d(weights).astype(np.float64)
    return x @ np.ascontiguousarray(weights.T) + np.atleast_1d(model.intercept_)


def _linear_or_kernel(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> Tensor:
    """PegasosSVC has weights or support vectors."""
    try:
        return _linear(model, cast(Tensor, x))
    except AttributeError:
        return _functions(model, x, support_vectors)


def _ball(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> dict[str, Tensor]:
    """Minus the squared distance from the centre, minus the border."""
    values = (_functions(model, x, support_vectors) - model.intercept_) * 2.0
    own = part(model, "constant")
    if own is None:
        own = diagonal(model.expansion_.kernel, _pairs(x, model.expansion_.vectors))
    return heads.detector(values - own - (part(model, "centre") + model.offset_))


def _regression(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> dict[str, Tensor]:
    values = _functions(model, x, support_vectors)
    return {"prediction": values.squeezed() if part(model, "is_flat", True) else values}


def _machine(model: "BaseEstimator", x: Tensor | Table, support_vectors: bool | None) -> dict[str, Tensor]:
    if not hasattr(model, "classes_"):
        return _regression(model, x, support_vectors)
    return heads.classifier(model, _functions(model, x, support_vectors))


# The first that matches is used.
_RULES = (
    (KernelLogisticRegression, lambda m, x, s: heads.logistic(m, _functions(m, x, s))),
    ((KernelMachine, KernelClassifier), _machine),
    (SVDD, _ball),
    (OneClassSVM, lambda m, x, s: heads.detector(_functions(m, x, s))),
    ((OneFunctionModel, KernelRegression, RankSVM), _regression),
    (KernelFisherDiscriminant, lambda m, x, s: heads.fisher(m, _functions(m, x, s))),
    (SpectralMethod, lambda m, x, s: {"transformed": _transformed(m, x, s)}),
    (LinearClassifier, lambda m, x, _: heads.classifier(m, _linear(m, x))),
    (LinearSVR, lambda m, x, _: {"prediction": _linear(m, x).squeezed()}),
    ((PegasosSVC, Perceptron), lambda m, x, s: heads.classifier(m, _linear_or_kernel(m, x, s))),
)
