r"""Contributions that add up to a decision value.

A decision value is :math:`f(x) = \sum_j c_j k(x_j, x) + b`, a sum over support vectors. If the
kernel is a sum of kernels (columns of a table, links of a record), it is also a sum
over those: :math:`\sum_j c_j k_t(x_j, x)` for each term t. If it is an inner product of features
that can be listed (coordinates, substrings, subtrees, neighbourhoods), it is a sum over features:
:math:`\psi_f(x) \sum_j c_j \psi_f(x_j)`. Each divides the whole of f(x) - b in a different way.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.inputs import expansion_input, require_fitted
from mercer.explanation.columns import by_column
from mercer.explanation.explanation import Contributions, Explanation
from mercer.explanation.functions import function_names
from mercer.explanation.nodes import by_node
from mercer.explanation.pipelines import by_input, transformed
from mercer.explanation.polynomials import DUST, as_polynomial, named_polynomial
from mercer.explanation.positions import by_position, unwrapped
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.polynomial_functions import in_inner_product
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.structured import CountKernel, StructuredKernel
from mercer.kernels.evaluation import tiles
from mercer.kernels.given.precomputed import MatrixItems
from mercer.kernels.table.frame import Frame, as_frame, is_data_frame
from mercer.kernels.vector.linear import Linear

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from mercer.explanation.polynomials import LearntPolynomial
    from mercer.kernels.base.expansion import Expansion


def explain(model: "BaseEstimator", x: Any) -> Explanation:
    """Divide the decision value of one item into contributions that add up to it.

    Parameters
    ----------
    model : fitted estimator
        Any of Mercer's kernel or linear models, a search that has fitted one, or a scikit-learn
        ``Pipeline`` that ends with one. What scalers, imputers, selections, one-hot codes and a
        ``ColumnTransformer`` of these make of a column is credited to that column; features of other steps
        keep the names that the step gives them.
    x : object
        One item of the kind the model takes: a row of numbers, a text, a tree, a graph, a row of a
        table (a dictionary, or a data frame with one row), a key of a record.

    Returns
    -------
    Explanation
        Printable. ``by_support_vector`` is always there (for a kernel model), ``by_term`` if
        the kernel is a sum (columns of a table), ``by_feature`` if its features can be listed
        (coordinates of a linear kernel; monomials of a polynomial one; substrings, subtrees, neighbourhoods),
        ``by_column`` if it multiplies over the columns of a row of numbers (a Gaussian; these are Shapley values),
        ``by_position`` for texts of at most 400 symbols under a subsequence kernel, ``by_node`` for trees under a
        kernel of fragments (those that begin at the node) and graphs under Weisfeiler-Lehman.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Columns, Delta, RBF
    >>> people = [{"age": a, "town": t} for a, t in [(20, "Ulm"), (25, "Ulm"), (60, "Ulm"), (65, "Bonn")]]
    >>> model = mercer.SVC(kernel=Columns({"age": RBF(0.01), "town": Delta()}), C=10.0)
    >>> print(mercer.explain(model.fit(people, [0, 0, 1, 1]), {"age": 58, "town": "Ulm"}))
    decision value for 1 rather than 0: 0.946
      age         0.994
      town       -0.097
      intercept   0.048
    """
    # A search predicts with the model it has found.
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        return _explain_pipeline(model, x)
    return _explain_machine(model, x, getattr(model, "feature_names_in_", None))


def _explain_pipeline(pipeline: "Pipeline", x: Any) -> Explanation:
    """Explain the last step on the output of the others, in terms of x as far as possible."""
    machine = pipeline.steps[-1][1]
    machine = getattr(machine, "best_estimator_", machine)
    _require_machine(machine)
    after, names, origins = transformed(pipeline, x)
    found = _explain_machine(machine, after, names)
    changes = cast(
        dict[str, Any],
        {name: by_input(getattr(found, name), names, origins) for name in ("by_feature", "by_column", "by_term")},
    )
    return replace(found, **changes)


def _require_machine(model: "BaseEstimator") -> None:
    if hasattr(model, "expansion_") or hasattr(model, "coef_"):
        return
    check_is_fitted(model)
    raise ParameterError(
        f"the last step of the pipeline must be a fitted Mercer model, got {type(model).__name__}; "
        "explain takes models with support vectors, or with coefficients"
    )


def _explain_machine(model: "BaseEstimator", x: Any, named: Sequence[str] | None) -> Explanation:
    if not hasattr(model, "expansion_") and hasattr(model, "coef_"):
        return _explain_linear(model, x, named)
    require_fitted(model)
    expansion = model.expansion_
    X = expansion_input(model, _one(x, expansion.kernel))
    coefficients = _coefficients(expansion)
    support = _values(expansion.kernel, expansion, X)
    positions, nodes = _by_parts(expansion, X, coefficients)
    polynomial = named_polynomial(model, named)
    return Explanation(
        functions=function_names(model, expansion.n_functions),
        intercept=expansion.intercepts,
        by_support_vector=Contributions("support vector", _support_names(model, expansion), coefficients.T * support),
        by_term=_by_term(expansion, X, coefficients),
        has_named_terms=any(name for name, _ in expansion.kernel.terms()),
        by_feature=_by_feature(expansion, X, coefficients, named, polynomial),
        by_column=by_column(expansion, X, coefficients, named),
        by_position=positions,
        by_node=nodes,
        polynomial=polynomial,
    )


def _one(x: Any, kernel: Kernel) -> Rows:
    """A batch of the one item."""
    if hasattr(x, "to_frame") and getattr(x, "ndim", 2) == 1 and not kernel.takes_items:
        return x.to_frame().T
    if hasattr(x, "to_dict") and getattr(x, "ndim", 2) == 1 and kernel.takes_tables:
        return [x.to_dict()]
    is_batch = sparse.issparse(x) or getattr(x, "ndim", 1) == 2 or is_data_frame(x)
    if is_batch and (kernel.takes_tables or not kernel.takes_items):
        count = x.shape[0]
        if count != 1:
            raise DataError(f"x must be one item, got {count} rows; explain them one by one")
        return x
    return [x] if kernel.takes_items else np.asarray(x)[None]


def _coefficients(expansion: "Expansion") -> FloatArray:
    """c_j of every vector for every function, shape (n_vectors, n_functions)."""
    table = np.zeros((max((group.end for group in expansion.groups), default=0), expansion.n_functions))
    for group in expansion.groups:
        table[group.begin : group.end, group.outputs] = group.coefficients
    return table


def _values(kernel: Kernel, expansion: "Expansion", X: Rows) -> FloatArray:
    """k(x, x_j) for every vector."""
    vectors = expansion.vectors
    if isinstance(vectors, MatrixItems):
        item = kernel.prepare(X, np.float64)
    else:
        item = kernel.prepare(X, np.float64, origin=expansion.origin)
        vectors = kernel.prepare(vectors, np.float64, origin=expansion.origin, check=False)
    return tiles.fill(kernel, item, vectors, np.empty((1, len(vectors))))[0]


def _support_names(model: "BaseEstimator", expansion: "Expansion") -> list[str]:
    places = getattr(model, "support_", None)
    count = max((group.end for group in expansion.groups), default=0)
    if places is None or len(places) != count:
        return [f"vector {k}" for k in range(count)]
    return [f"row {place}{_shown(expansion.vectors, k)}" for k, place in enumerate(places)]


def _shown(vectors: Rows, k: int) -> str:
    """A text or a key, if it is short."""
    item = vectors[k] if isinstance(vectors, list) else None
    text = repr(item) if isinstance(item, str | int | tuple) else ""
    return f" {text if len(text) <= 30 else text[:26] + '...' + text[-1]}" if text else ""


def _by_term(expansion: "Expansion", X: Rows, coefficients: FloatArray) -> Contributions | None:
    """The terms of the kernel, if it has more than one."""
    terms = [] if isinstance(expansion.vectors, MatrixItems) else expansion.kernel.terms()
    if len(terms) < 2 and not (terms and terms[0][0]):
        return None
    values = [_values(term, expansion, X) @ coefficients for _, term in terms]
    return Contributions("term", [name or _called(term) for name, term in terms], np.array(values).T)


def _called(term: "Kernel") -> str:
    """The name of an unnamed term: the columns it compares, or its expression."""
    columns = getattr(getattr(term, "kernel", term), "columns", None) or getattr(term, "columns", None)
    return f"{', '.join(map(str, columns))} jointly" if columns else repr(term)


def _by_feature(
    expansion: "Expansion",
    X: Rows,
    coefficients: FloatArray,
    named: Sequence[str] | None,
    polynomial: "LearntPolynomial | None",
) -> Contributions | None:
    """Features that occur in x, if all of the kernel's features can be listed."""
    kernel = expansion.kernel
    if polynomial is not None and max(map(len, polynomial.powers), default=0) > 1:
        return _by_monomial(X, polynomial, expansion.intercepts)
    if in_inner_product(kernel) is not None and not isinstance(kernel, Linear | Scaled):
        # A polynomial with too many monomials to read.
        return None
    if isinstance(expansion.vectors, MatrixItems) or not _lists_features(kernel):
        return None
    together = _together(X, expansion.vectors)
    try:
        features = sparse.csr_array(kernel.feature_map(together))
        names = kernel.feature_names(together, named)
    except (ParameterError, DataError):
        return None
    own, weights = features[:1].toarray()[0], np.asarray(features[1:].T @ coefficients)
    there = np.flatnonzero(own)
    return Contributions("feature", [names[k] for k in there], (own[there, None] * weights[there]).T)


def _by_monomial(X: Rows, polynomial: "LearntPolynomial", intercepts: FloatArray) -> Contributions:
    """Each monomial of x times its coefficient, and what the kernel's constant adds."""
    row = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)[0]
    products = np.array([np.prod(row[list(choice)]) for choice in polynomial.powers])
    there = np.flatnonzero(products)
    own = polynomial.constants - intercepts
    values, names = polynomial.coefficients[:, there] * products[there], [polynomial.names[k] for k in there]
    if (np.abs(own) > DUST * np.abs(values).max(initial=1.0)).any():
        values, names = np.column_stack([own, values]), ["1", *names]
    return Contributions("feature", names, values)


def _by_parts(
    expansion: "Expansion", X: Rows, coefficients: FloatArray
) -> tuple[Contributions | None, Contributions | None]:
    """Contributions by position and by node of the item, if a single kernel of texts, trees or graphs reads it."""
    kernel = expansion.kernel
    while isinstance(kernel, Scaled | Normalized):
        kernel = kernel.kernel
    if not isinstance(kernel, StructuredKernel) or isinstance(expansion.vectors, MatrixItems):
        return None, None
    kernel, factor, coefficients = unwrapped(expansion, X, coefficients)
    return cast(
        tuple[Contributions | None, Contributions | None],
        tuple(divide(kernel, factor, X, expansion.vectors, coefficients) for divide in (by_position, by_node)),
    )


def _lists_features(part: Kernel) -> bool:
    """Whether all its kernels have features, few enough to list: not those that compare pairs."""
    if isinstance(part, Kernel) and type(part).feature_map is Kernel.feature_map:
        return False
    if isinstance(part, StructuredKernel):
        return isinstance(part, CountKernel)
    return all(map(_lists_features, part.nested_kernels().values()))


def _together(X: Rows, vectors: Rows) -> Rows:
    """The item and the vectors in one container."""
    if any(isinstance(part, Frame) for part in (X, vectors)):
        return [row for part in (X, vectors) for row in as_frame(part).rows()]
    if sparse.issparse(vectors):
        return sparse.vstack([sparse.csr_array(X), vectors], "csr")
    if isinstance(vectors, np.ndarray) and not isinstance(X, list):
        return np.concatenate([np.asarray(X), vectors])
    return [*X, *vectors]


def _explain_linear(model: "BaseEstimator", x: Any, named: Sequence[str] | None) -> Explanation:
    """The coordinates of a linear model, which has no support vectors."""
    row = x.toarray()[0] if sparse.issparse(x) else np.asarray(x, dtype=np.float64).ravel()
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_)
    if len(row) != weights.shape[1]:
        raise DataError(f"x must be one row of {weights.shape[1]} features, got {len(row)} numbers")
    names = [f"x{k}" for k in range(len(row))] if named is None else [str(name) for name in named]
    intercept = np.broadcast_to(np.atleast_1d(model.intercept_), (len(weights),)).astype(np.float64)
    return Explanation(
        function_names(model, len(weights)),
        intercept,
        by_feature=Contributions("feature", names, weights * row),
        polynomial=as_polynomial(model, names),
    )
