"""What a model has learnt, as a readable polynomial of the columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError, ParameterError
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.inputs import require_fitted
from mercer.explanation.functions import function_names
from mercer.kernels.algebra.feature_maps import monomial_name
from mercer.kernels.algebra.polynomial_functions import PolynomialFunctions, in_inner_product, weight_count

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

# More monomials than this are no explanation.
MOST_TERMS = 20_000
# Terms in a sentence.
SENTENCE = 24
# Terms this small relative to the largest, on the support vectors, are rounding errors and not written.
DUST = 1e-9


@dataclass(frozen=True, eq=False)
class LearntPolynomial:
    """Decision functions as polynomials of the columns; printable.

    Attributes
    ----------
    functions : list of str
        What a positive value of each function means.
    columns : list of str
    powers : list of tuple of int
        The columns, by position, whose product each monomial is: (0, 0, 1) is a²b.
    coefficients : ndarray of shape (n_functions, n_monomials)
    constants : ndarray of shape (n_functions,)
        Added to the sum: the intercept, and the constant of the kernel.
    reach : ndarray of shape (n_columns,)
        The largest absolute value of each column among the support vectors, used to recognise rounding errors; 1
        without support vectors.
    is_rule : bool
        Whether the functions are decisions, whose sign counts.
    """

    functions: list
    columns: list
    powers: list
    coefficients: np.ndarray
    constants: np.ndarray
    reach: np.ndarray
    is_rule: bool = True

    @property
    def names(self) -> list[str]:
        """The monomials as text."""
        return [monomial_name(self.columns, choice) for choice in self.powers]

    def as_dict(self, function: int = 0) -> dict[str, float]:
        """Coefficient by monomial; that of "1" is the constant."""
        named = dict(zip(self.names, self.coefficients[function].tolist(), strict=True))
        return {"1": float(self.constants[function]), **named}

    def values(self, X: Rows) -> FloatArray:
        """The functions at the rows of X, shape (n, n_functions): the decision values, up to rounding."""
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            raise DataError(f"X must have {len(self.columns)} columns, got shape {X.shape}")
        total = np.tile(self.constants, (len(X), 1))
        for choice, weights in zip(self.powers, self.coefficients.T, strict=True):
            total += np.prod(X[:, choice], axis=1)[:, None] * weights
        return total

    def sentence(self, function: int = 0, digits: int = 3, most: int = SENTENCE) -> str:
        """The rule as an inequality, "3a + 2b + a² + 3ab > 2.6", or the value as a sum.

        Parameters
        ----------
        function : int
        digits : int
            Significant digits of a coefficient.
        most : int
            Terms to write: the largest possible on the support vectors, in order of degree.
        """
        weights, constant = self.coefficients[function], float(self.constants[function])
        size = np.abs(weights) * [np.prod(self.reach[list(choice)]) for choice in self.powers]
        there = np.flatnonzero(size > DUST * size.max(initial=0.0))
        kept = np.sort(there[np.argsort(-size[there], kind="stable")[:most]])
        terms = [(float(weights[k]), monomial_name(self.columns, self.powers[k])) for k in kept]
        left = len(there) - len(kept)
        rest = f" + {left} smaller terms" if left else ""
        gap = "" if all(len(name) == 1 for name in self.columns) else " "
        if self.is_rule:
            return f"{_sum(terms, digits, gap)}{rest} > {_number(-constant, digits)}"
        return f"{_sum([(constant, ''), *terms], digits, gap)}{rest}"

    def __str__(self) -> str:
        between = " if " if self.is_rule else " = "
        return "\n".join(f"{name}{between}{self.sentence(k)}" for k, name in enumerate(self.functions))


def as_polynomial(model: "BaseEstimator", names: Sequence[str] | None = None) -> LearntPolynomial:
    """The decision functions of a fitted model as readable polynomials of the columns.

    For linear models, and kernel models whose kernel is a polynomial of the inner product: `Polynomial`,
    `SecondOrder`, `Linear`, their sums, products, multiples and whole powers. The weight of a
    monomial is summed over the support vectors by the multinomial theorem, so the polynomial is the model itself, up
    to rounding, and not an approximation.

    Parameters
    ----------
    model : fitted estimator
        A model, a search that has fitted one, or a pipeline that ends with one; in a pipeline, the columns are those
        that its last step sees.
    names : sequence of str, optional
        Of the columns; by default those of the data frame it was fitted to, or x0, x1, ...

    Returns
    -------
    LearntPolynomial
        Printable; `as_dict()` has the coefficients, `values(X)` the decision values.

    Examples
    --------
    >>> import mercer
    >>> from mercer.kernels import Polynomial
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = mercer.HardMarginSVC(Polynomial(degree=2, gamma=1.0, coef0=1.0)).fit(X, y)
    >>> print(mercer.as_polynomial(model, names=["a", "b"]))
    same rather than other if -1.33a - 1.33b - 0.667a² + 4ab - 0.667b² > -1
    """
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        steps, model = model[:-1], model.steps[-1][1]
        model = getattr(model, "best_estimator_", model)
        names = _names_after(steps) if names is None else names
    if not hasattr(model, "expansion_"):
        check_is_fitted(model)
        return _of_linear(model, names)
    require_fitted(model)
    found = PolynomialFunctions.of(model.expansion_, "as_polynomial", "explain divides one decision value", MOST_TERMS)
    if found.normaliser is not None:
        raise ParameterError(
            f"as_polynomial needs a kernel that is not normalised, got {model.expansion_.kernel!r}: its functions are "
            "polynomials divided by a norm"
        )
    vectors = model.expansion_.vectors
    width = vectors.shape[1] if getattr(vectors, "ndim", 0) == 2 else model.n_features_in_
    reach = np.asarray(abs(vectors).max(axis=0).toarray() if sparse.issparse(vectors) else np.abs(vectors).max(axis=0))
    return _gathered(model, found, _columns(model, names, width), reach.ravel())


def named_polynomial(model: "BaseEstimator", names: Sequence[str] | None = None) -> LearntPolynomial | None:
    """Like `as_polynomial`, or None if the model is not a polynomial, or has too many terms to read."""
    expansion = model.expansion_
    series = in_inner_product(expansion.kernel)
    if series is None or getattr(expansion.vectors, "ndim", 0) != 2:
        return None
    if weight_count(expansion.vectors.shape[1], series, expansion.n_functions) > MOST_TERMS:
        return None
    return as_polynomial(model, names)


def _gathered(
    model: "BaseEstimator", found: PolynomialFunctions, columns: list[str], reach: FloatArray
) -> LearntPolynomial:
    """Terms of all degrees side by side; degree 0 is a constant."""
    constants = np.array(found.intercepts, dtype=np.float64)
    powers, weights = [], [np.empty((0, len(constants)))]
    for term in found.terms:
        if term.choices.shape[1] == 0:
            constants = constants + term.weights[0]
            continue
        powers += [tuple(choice) for choice in term.choices.tolist()]
        weights.append(term.weights)
    coefficients = np.concatenate(weights).T
    names = function_names(model, len(constants))
    return LearntPolynomial(names, columns, powers, coefficients, constants, reach, hasattr(model, "classes_"))


def _of_linear(model: "BaseEstimator", names: Sequence[str] | None) -> LearntPolynomial:
    """w and b of a linear model, as a polynomial of degree 1."""
    if not hasattr(model, "coef_"):
        raise ParameterError(f"as_polynomial takes linear and kernel models, got {type(model).__name__}")
    weights = model.coef_.toarray() if sparse.issparse(model.coef_) else np.atleast_2d(model.coef_)
    constants = np.broadcast_to(np.atleast_1d(model.intercept_), (len(weights),)).astype(np.float64)
    columns = _columns(model, names, weights.shape[1])
    powers = [(place,) for place in range(len(columns))]
    functions = function_names(model, len(weights))
    reach, is_rule = np.ones(len(columns)), hasattr(model, "classes_")
    return LearntPolynomial(functions, columns, powers, np.array(weights), constants, reach, is_rule)


def _columns(model: "BaseEstimator", names: Sequence[str] | None, width: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None) if names is None else names
    names = [f"x{place}" for place in range(width)] if names is None else [str(name) for name in names]
    if len(names) != width:
        raise ParameterError(f"names must name {width} columns, got {len(names)}")
    return names


def _names_after(steps: "Pipeline") -> list[str] | None:
    """The names that the steps before a model give its columns; None if they give none."""
    try:
        return list(steps.get_feature_names_out()) if steps.steps else None
    except (AttributeError, ValueError):
        return None


def _number(value: float, digits: int) -> str:
    return f"{value + 0.0:.{digits}g}"


def _sum(terms: Iterable[tuple[float, str]], digits: int, gap: str) -> str:
    """Signed terms with their names, as one would write them; `gap` separates a number from a name."""
    text = ""
    for weight, name in terms:
        number = _number(abs(weight), digits)
        written = name if name and number == "1" else f"{number}{gap if name else ''}{name}"
        sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
        text += sign + written
    return text or "0"
