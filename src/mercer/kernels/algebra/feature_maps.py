"""Explicit feature maps: monomials, sequences of coordinates, Taylor series, products.

A map may be finite and yet too large to compute, so each function first counts its features and
refuses rows of more than `LARGEST_ROW` numbers.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

import numpy as np
from scipy import sparse

from mercer._errors import ParameterError
from mercer._types import FloatArray, IndexArray, Rows
from mercer.kernels._types import Features, Sparse
from mercer.kernels.items.prepare_rows import prepare_rows

LARGEST_ROW = 10_000_000
# Largest number of columns of a sparse matrix.
LARGEST_NUMBER = 2**62
# The largest number whose factorial is finite in double precision.
LARGEST_FACTORIAL = 170
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def double_rows(X: Rows) -> FloatArray:
    """The rows of `X`, dense and in double precision."""
    return prepare_rows(X, np.float64).dense()


def require_writable(features: int) -> None:
    """Refuse a map whose rows would be too large."""
    if features > LARGEST_ROW:
        # Python does not print integers of thousands of digits.
        many = f"{features:,}" if features < LARGEST_NUMBER else "far too many"
        raise ParameterError(
            f"the feature map has {many} coordinates for each row, more than {LARGEST_ROW:,}; "
            "use the kernel itself, fewer columns or a lower degree"
        )


def _require_degree(degree: int) -> None:
    """Refuse a degree whose factorial, which the weights of monomials contain, overflows double precision."""
    if degree > LARGEST_FACTORIAL:
        raise ParameterError(
            f"degree must be at most {LARGEST_FACTORIAL} for a feature map, whose weights overflow beyond it, "
            f"got {degree}; use the kernel itself"
        )


def monomial_features(rows: FloatArray, degree: int, coef0: float) -> FloatArray:
    """Features of (x.y + coef0)^degree, one for each distinct monomial.

    Expanding the power gives each x^a the weight degree! coef0^(degree - |a|) /
    ((degree - |a|)! a!), whose square root goes to each side.
    """
    _require_degree(degree)
    totals = range(degree + 1) if coef0 > 0 else [degree]
    require_writable(sum(_count(rows.shape[1], total) for total in totals))
    parts = []
    for total in totals:
        choices = _choices(rows.shape[1], total)
        weight = factorial(degree) / factorial(degree - total) * float(coef0) ** (degree - total)
        parts.append(_products(rows, choices) * np.sqrt(weight / _factorials(choices)))
    return np.hstack(parts)


def taylor_features(rows: FloatArray, order: int) -> FloatArray:
    """Features x^a / sqrt(a!) for |a| <= order: the Taylor series of exp(x.y)."""
    require_writable(sum(_count(rows.shape[1], total) for total in range(order + 1)))
    parts = []
    for total in range(order + 1):
        choices = _choices(rows.shape[1], total)
        parts.append(_products(rows, choices) / np.sqrt(_factorials(choices)))
    return np.hstack(parts)


def sequence_features(rows: FloatArray, degree: int, coef0: float) -> FloatArray:
    """Features of (x.y + coef0)^degree, one for each sequence J in {0..d}^degree."""
    _require_degree(degree)
    require_writable((rows.shape[1] + 1) ** degree)
    extended = np.hstack([np.full((len(rows), 1), np.sqrt(coef0)), rows])
    features = np.ones((len(rows), 1))
    for _ in range(degree):
        features = row_kronecker(features, extended)
    return features


def row_kronecker(left: Features, right: Features) -> Features:
    """All products of a feature of `left` with one of `right`, row by row; sparse if one is."""
    if sparse.issparse(left) or sparse.issparse(right):
        return _sparse_row_kronecker(sparse.csr_array(left), sparse.csr_array(right))
    require_writable(left.shape[1] * right.shape[1])
    return np.einsum("ij,ik->ijk", left, right).reshape(len(left), -1)


def monomial_names(columns: Sequence[str], degree: int, coef0: float) -> list[str]:
    """Names for the columns of `monomial_features`, without their weights: "1", "a", "a²", "ab".

    Names of one letter are joined directly; longer ones have a dot between them.
    """
    _require_degree(degree)
    totals = range(degree + 1) if coef0 > 0 else [degree]
    require_writable(sum(_count(len(columns), total) for total in totals))
    return [monomial_name(columns, choice) for total in totals for choice in _choices(len(columns), total)]


def monomial_name(columns: Sequence[str], choice: Iterable[int]) -> str:
    """The product of the columns at `choice`, which is sorted; "1" if it is empty."""
    powers = {}
    for place in choice:
        powers[place] = powers.get(place, 0) + 1
    dot = "" if all(len(name) == 1 for name in columns) else "·"
    raised = (columns[place] + (str(power).translate(_RAISED) if power > 1 else "") for place, power in powers.items())
    return dot.join(raised) or "1"


def product_names(parts: Sequence[Sequence[str]]) -> list[str]:
    """The names of all products of one feature of each part, in the order of `row_kronecker`."""
    require_writable(prod(map(len, parts)))
    return [" & ".join(chosen) for chosen in product(*parts)]


def _sparse_row_kronecker(left: Sparse, right: Sparse) -> Sparse:
    """Like `row_kronecker`, for counts with many columns and few entries."""
    if left.shape[1] * right.shape[1] > LARGEST_NUMBER:
        raise ParameterError(
            f"the feature map has {left.shape[1] * right.shape[1]:.3g} coordinates, more than can be numbered; "
            "use the kernel itself, fewer columns or a lower degree"
        )
    own, other = np.diff(left.indptr).astype(np.int64), np.diff(right.indptr).astype(np.int64)
    row = np.repeat(np.arange(left.shape[0]), own * other)
    ends = np.concatenate([[0], np.cumsum(own * other)])
    within = np.arange(ends[-1]) - ends[row]
    first, second = left.indptr[row] + within // other[row], right.indptr[row] + within % other[row]
    column = left.indices[first].astype(np.int64) * right.shape[1] + right.indices[second]
    shape = (left.shape[0], left.shape[1] * right.shape[1])
    return sparse.csr_array((left.data[first] * right.data[second], column, ends), shape=shape)


def _count(features: int, total: int) -> int:
    return comb(features + total - 1, total) if features else int(total == 0)


def _choices(features: int, total: int) -> IndexArray:
    """Sorted ways to choose `total` coordinates with repetition, one per row."""
    chosen = list(combinations_with_replacement(range(features), total))
    return np.array(chosen, dtype=np.intp).reshape(len(chosen), total)


def _products(rows: FloatArray, choices: IndexArray) -> FloatArray:
    features = np.ones((len(rows), len(choices)))
    for position in range(choices.shape[1]):
        features *= rows[:, choices[:, position]]
    return features


def _factorials(choices: IndexArray) -> FloatArray:
    """The factorial a! of each monomial, from the lengths of the runs of equal coordinates."""
    run = np.ones(len(choices))
    result = np.ones(len(choices))
    for position in range(1, choices.shape[1]):
        again = choices[:, position] == choices[:, position - 1]
        run = np.where(again, run + 1.0, 1.0)
        result *= run
    return result
