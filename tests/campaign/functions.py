"""The functions of a fitted model as its public attributes show them, evaluated in long double."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer.estimators.fitting.tasks import strategy_of
from tests.oracles import exact_conditions as conditions
from tests.oracles.exact_kernels import LONG


def row_weights(problem):
    """The weight of each row; rows of weight zero take no part."""
    n = problem.X.shape[0] if hasattr(problem.X, "shape") else len(problem.X)
    return np.ones(n) if problem.weights is None else np.maximum(problem.weights, 0.0)


@dataclass(frozen=True)
class Machine:
    """One function over some of the training rows."""

    name: str
    indices: np.ndarray
    signs: np.ndarray
    beta: np.ndarray
    intercept: float
    f: np.ndarray  # at these rows
    rounding: np.ndarray  # what f may be off by in double precision

    def only(self, mask):
        """At some of its rows."""
        return replace(
            self,
            indices=self.indices[mask],
            signs=self.signs[mask],
            beta=self.beta[mask],
            f=self.f[mask],
            rounding=self.rounding[mask],
        )

    @staticmethod
    def table(problem, model):
        """Coefficients of all training rows, a column for each row of `dual_coef_`."""
        coefficients = model.dual_coef_
        coefficients = coefficients.toarray() if sparse.issparse(coefficients) else np.asarray(coefficients)
        if not hasattr(model, "support_"):
            return coefficients.reshape(problem.K.shape[0], -1)
        spread = np.zeros((problem.K.shape[0], len(coefficients)))
        spread[model.support_] = coefficients.T
        return spread


def _layout(problem, model):
    """(name, rows, signs, column of coefficients for each row) of every function, in the order of `intercept_`."""
    everything = np.arange(problem.K.shape[0])
    ones = np.ones(len(everything))
    if not hasattr(model, "classes_"):
        yield "function", everything, ones, 0 * everything
        return
    codes, n_classes = np.searchsorted(model.classes_, problem.y), len(model.classes_)
    if n_classes == 2:
        yield "two classes", everything, np.where(codes == 1, 1.0, -1.0), 0 * everything
        return
    if strategy_of(model) != "ovo":
        for c in range(n_classes):
            yield f"class {c}", everything, np.where(codes == c, 1.0, -1.0), np.full(len(codes), c)
        return
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            members = np.flatnonzero((codes == i) | (codes == j))
            is_first = codes[members] == i
            yield f"pair {i}-{j}", members, np.where(is_first, 1.0, -1.0), np.where(is_first, j - 1, i)


def machines(problem, model):
    """Every function of a model, at its own training rows."""
    table, intercepts = Machine.table(problem, model), np.ravel(model.intercept_)
    for (name, indices, signs, columns), b in zip(_layout(problem, model), intercepts, strict=True):
        beta = table[indices, columns]
        K, doubt = problem.K[np.ix_(indices, indices)], problem.doubt[np.ix_(indices, indices)]
        f = K @ beta.astype(LONG) + LONG(b)
        rounding = conditions.rounding(beta, doubt, K) + 4.0 * conditions.EPS * abs(b)
        yield Machine(name, indices, signs, beta, float(b), f, rounding)


def values(problem, model, is_new):
    """(f, what it may be off by) of every function at all training rows, or at the new ones.

    Rows in single precision are evaluated so only where the tolerance does not notice (docs/svc.md).
    """
    table, intercepts = Machine.table(problem, model), np.ravel(model.intercept_)
    K = problem.K_new if is_new else problem.K
    doubt = problem.doubt_new if is_new else problem.doubt
    tolerated = 4.0 * model.tol if problem.eps > conditions.EPS and getattr(model, "tol", None) else 0.0
    found, off = [], []
    for (_, indices, _, columns), b in zip(_layout(problem, model), intercepts, strict=True):
        beta = table[indices, columns]
        found.append(K[:, indices] @ beta.astype(LONG) + LONG(b))
        own = conditions.rounding(beta, doubt[:, indices], K[:, indices], stated=conditions.PREDICTION)
        off.append(own + 4.0 * conditions.EPS * abs(b) + tolerated)
    return np.stack(found, axis=1), np.stack(off, axis=1)
