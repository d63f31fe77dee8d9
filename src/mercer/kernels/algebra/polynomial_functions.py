r"""Functions of polynomial kernels as polynomials: weights of monomials instead of support vectors.

A kernel that is a polynomial of the inner product, :math:`k(x, v) = \sum_p a_p \langle x, v\rangle^p`,
makes every :math:`f(x) = \sum_j c_j k(x_j, x) + b` a polynomial of the coordinates of x: by the
multinomial theorem, the monomial :math:`x^m` of degree p has the weight
:math:`a_p \frac{p!}{m!} \sum_j c_j x_j^m`. This includes linear and polynomial kernels, constants, their sums,
products, multiples and whole powers; and normalised ones, which are divided by a number for each row.
"""

from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.polynomial import polynomial as algebra

from mercer._errors import ParameterError
from mercer._types import ArrayLike, FloatArray
from mercer.kernels.algebra.feature_maps import monomial_features
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.scaled_power import Power, Scaled
from mercer.kernels.algebra.sum_product import Product, Sum
from mercer.kernels.vector.constant import Constant
from mercer.kernels.vector.cosine import Cosine
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.polynomial import Polynomial
from mercer.kernels.vector.second_order import SecondOrder

if TYPE_CHECKING:
    from mercer.kernels.base.expansion import Expansion
    from mercer.kernels.base.kernel import Kernel

# More weights than this would make a larger file than most sets of support vectors.
MOST_WEIGHTS = 2_000_000
# Numbers of monomials held in memory at once.
_AT_ONCE = 2**23


def in_inner_product(kernel: "Kernel") -> FloatArray | None:
    """Coefficients a_0, a_1, ... of a kernel that is a polynomial of <x, y>, or None."""
    if isinstance(kernel, Linear):
        return np.array([0.0, 1.0])
    if isinstance(kernel, SecondOrder):
        return np.array([0.0, 1.0, 1.0])
    if isinstance(kernel, Constant):
        return np.array([float(kernel.value)])
    if isinstance(kernel, Polynomial):
        return algebra.polypow([float(kernel.coef0), float(kernel.gamma)], int(kernel.degree))
    if isinstance(kernel, (Scaled, Power)):
        inner = in_inner_product(kernel.kernel)
        if inner is None or (isinstance(kernel, Power) and not float(kernel.exponent).is_integer()):
            return None
        return kernel.factor * inner if isinstance(kernel, Scaled) else algebra.polypow(inner, int(kernel.exponent))
    if isinstance(kernel, (Sum, Product)):
        parts = [in_inner_product(each) for each in kernel.kernels]
        if any(part is None for part in parts):
            return None
        return reduce(algebra.polyadd if isinstance(kernel, Sum) else algebra.polymul, cast("list[FloatArray]", parts))
    return None


@dataclass(frozen=True)
class Monomials:
    """The monomials of one degree, and their weights.

    Attributes
    ----------
    choices : ndarray of int, shape (n_monomials, degree)
        The coordinates whose product it is.
    weights : ndarray of shape (n_monomials, n_functions)
    """

    choices: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class PolynomialFunctions:
    """f(x) = (sum of weighted monomials of x) / s(x) + b.

    Attributes
    ----------
    terms : list of Monomials
    intercepts : ndarray of shape (n_functions,)
    normaliser : ndarray or None
        Coefficients in |x|^2 of s(x)^2, if the kernel is normalised; 0 / 0 is 0.
    """

    terms: list
    intercepts: np.ndarray
    normaliser: np.ndarray | None = None

    @classmethod
    def of(cls, expansion: "Expansion", asked: str, instead: str, most: int = MOST_WEIGHTS) -> Self:
        """The polynomials of an expansion; refuses other kernels, and more than `most` weights.

        Errors begin with what was `asked` for and end with what to use `instead`.
        """
        kernel = Normalized(Linear()) if isinstance(expansion.kernel, Cosine) else expansion.kernel
        is_normalised = isinstance(kernel, Normalized)
        series = in_inner_product(cast(Normalized, kernel).kernel if is_normalised else kernel)
        if series is None:
            raise ParameterError(
                f"{asked} needs a kernel whose features can be written down, a polynomial of the inner "
                f"product, got {kernel!r}; {instead}"
            )
        vectors = expansion.vectors
        vectors = np.asarray(vectors.toarray() if hasattr(vectors, "toarray") else vectors, dtype=np.float64)
        coefficients = coefficient_matrix(expansion)
        if is_normalised:
            own = algebra.polyval((vectors**2).sum(axis=1), series)
            scale = np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
            coefficients = coefficients * scale[:, None]
        count = weight_count(vectors.shape[1], series, coefficients.shape[1])
        if count > most:
            raise ParameterError(f"{asked} would have {count:,} weights of monomials, more than {most:,}; {instead}")
        terms = [_monomials(vectors, coefficients, p, a) for p, a in enumerate(series) if a != 0]
        return cls(terms, expansion.intercepts, series if is_normalised else None)

    def values(self, X: ArrayLike) -> FloatArray:
        """f at the rows of X, shape (n, n_functions)."""
        X = np.asarray(X, dtype=np.float64)
        total = np.zeros((len(X), len(self.intercepts)))
        for term in self.terms:
            total += np.prod(X[:, term.choices], axis=2) @ term.weights
        if self.normaliser is not None:
            own = algebra.polyval((X**2).sum(axis=1), self.normaliser)
            total *= np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)[:, None]
        return total + self.intercepts


def coefficient_matrix(expansion: "Expansion") -> FloatArray:
    """Coefficients of all vectors for all functions, zero if a vector takes no part."""
    count = max((group.end for group in expansion.groups), default=0)
    table = np.zeros((count, expansion.n_functions))
    for group in expansion.groups:
        table[group.begin : group.end, group.outputs] = group.coefficients
    return table


def weight_count(d: int, series: FloatArray, n_functions: int = 1) -> int:
    """Number of monomials in d coordinates of a polynomial of the inner product, times the functions."""
    return n_functions * sum(comb(d + p - 1, p) if d else int(p == 0) for p, a in enumerate(series) if a != 0)


def _monomials(vectors: FloatArray, coefficients: FloatArray, degree: int, factor: float) -> Monomials:
    """The weights of the monomials of one degree."""
    d = vectors.shape[1]
    choices = np.array(list(combinations_with_replacement(range(d), degree)), np.intp)
    # Features are monomials times the square root of their multinomial coefficient.
    roots = monomial_features(np.ones((1, d)), degree, 0.0)[0]
    weights = np.zeros((len(roots), coefficients.shape[1]))
    block = max(1, _AT_ONCE // max(1, len(roots)))
    for begin in range(0, len(vectors), block):
        part = slice(begin, begin + block)
        weights += monomial_features(vectors[part], degree, 0.0).T @ coefficients[part]
    return Monomials(choices.reshape(len(roots), degree), factor * roots[:, None] * weights)
