"""One judge for every contestant: primal and dual objective from data and coefficients.

For each binary problem, with y in {-1, 1}, beta = y * alpha and f(x) = sum beta_j K(x_j, x) + b:

    primal = |w|^2 / 2 + C sum_i max(0, 1 - y_i f(x_i))        dual = sum_i alpha_i - |w|^2 / 2

Everything is float64 NumPy on blocks of rows and shares no code with the library. For
one-vs-one the objectives of all pairs are added up.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True)
class Coefficients:
    """What a fitted SVC has, in scikit-learn's layout (one-vs-one as in LIBSVM)."""

    support: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray


@dataclass(frozen=True)
class Optimality:
    """How good a solution is, summed over the binary problems; residuals are the worst."""

    primal: float
    dual: float
    equality_residual: float
    box_violation: float

    @property
    def gap(self):
        """Primal minus dual: no solution can be better by more than this."""
        return self.primal - self.dual

    @property
    def relative_gap(self):
        """The gap as a share of the primal objective."""
        return self.gap / max(abs(self.primal), 1e-300)


def pair_signs(n_classes):
    """The label (+1, -1 or 0: absent) of each class in each binary problem.

    Two classes: the second is positive. More: problem (i, j) has i positive, as LIBSVM.
    """
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    pairs = list(combinations(range(n_classes), 2))
    signs = np.zeros((n_classes, len(pairs)))
    for problem, (i, j) in enumerate(pairs):
        signs[i, problem], signs[j, problem] = 1.0, -1.0
    return signs


def pair_coefficients(dual_coef, codes, n_classes):
    """Values of beta for each support vector (row) and binary problem (column).

    In LIBSVM's layout a vector of class i keeps its coefficient against class j in row
    j - 1 if j > i, else in row j; `codes` holds the class of each vector.
    """
    if n_classes == 2:
        return np.asarray(dual_coef, np.float64).T.copy()
    pairs = list(combinations(range(n_classes), 2))
    beta = np.zeros((len(codes), len(pairs)))
    for problem, (i, j) in enumerate(pairs):
        of_i, of_j = codes == i, codes == j
        beta[of_i, problem] = dual_coef[j - 1, of_i]
        beta[of_j, problem] = dual_coef[i, of_j]
    return beta


def _dense(rows):
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(rows, dtype=np.float64)


def gaussian(left, right, gamma):
    """exp(-gamma |x - y|^2) for two dense float64 arrays of rows."""
    distances = left @ right.T
    distances *= -2.0
    distances += np.square(left).sum(axis=1)[:, None]
    distances += np.square(right).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)
    distances *= -gamma
    return np.exp(distances, out=distances)


def decision_without_bias(X, support_rows, beta, gamma):
    """K(X, support) @ beta, a block of rows at a time."""
    right = _dense(support_rows)
    block = max(1, BLOCK_ENTRIES // max(1, len(right)))
    parts = [gaussian(_dense(X[s : s + block]), right, gamma) @ beta for s in range(0, X.shape[0], block)]
    return np.concatenate(parts)


def judge(X, y, C, gamma, model):
    """The objectives of a fitted model, a `Coefficients`, on its training data."""
    classes, codes = np.unique(y, return_inverse=True)
    signs = pair_signs(len(classes))
    support_codes = codes[model.support]
    beta = pair_coefficients(model.dual_coef, support_codes, len(classes))
    values = decision_without_bias(X, X[model.support], beta, gamma)
    squared_norms = np.einsum("sp,sp->p", beta, values[model.support])
    alpha = beta * signs[support_codes]
    losses = _hinge_sums(values, model.intercept, signs, codes)
    return Optimality(
        primal=float(np.sum(squared_norms / 2 + C * losses)),
        dual=float(np.sum(alpha.sum(axis=0) - squared_norms / 2)),
        equality_residual=float(np.abs(beta.sum(axis=0)).max(initial=0.0)),
        box_violation=float(np.maximum(-alpha, alpha - C).max(initial=0.0)),
    )


def _hinge_sums(values, intercept, signs, codes):
    """The sum of hinge losses of each binary problem over the rows of its two classes."""
    labels = signs[codes]
    margins = labels * (values + np.ravel(intercept))
    return np.where(labels != 0, np.maximum(0.0, 1.0 - margins), 0.0).sum(axis=0)
