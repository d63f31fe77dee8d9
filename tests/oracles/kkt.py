"""One judge for every solver: are the Karush-Kuhn-Tucker conditions met, and how large is the gap?

Plain NumPy in double precision, from a kernel matrix, labels, weights and the coefficients that a
model shows. Nothing is taken from the library, so that a mistake in it cannot hide here.

The problem: minimise |w|²/2 [+ b²/2] + Σ C_i loss(1 - y_i f(x_i)) with f(x) = Σ_j β_j k(x_j, x) + b,
where β_j = y_j α_j. Its conditions, for each point with slack s = 1 - y f(x):

hinge           0 <= α <= C;  s <= 0 where α < C;  s >= 0 where α > 0
squared hinge   0 <= α;       s <= 0 where α = 0;  s = α / 2C where α > 0
bias            free: Σ β = 0;  penalised: b = Σ β;  none: b = 0
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

ROUNDING = 1e-12


@dataclass(frozen=True)
class Verdict:
    """How far a solution is from each condition; all are zero at the optimum."""

    primal: float
    dual: float
    box: float
    bias: float
    complementarity: float
    weight: float  # the sum of C_i
    largest: float  # the largest C_i
    loss: str

    @property
    def gap(self):
        return self.primal - self.dual

    def gap_allowed(self, tol):
        """The gap of a solution whose complementarity is `tol` is at most this.

        Hinge: each point adds C s⁺ - α s <= C tol. Squared hinge: C (s - α / 2C)² <= C tol²
        where s > 0, and α (α / 4C - s) <= 2 C tol² where s <= 0.
        """
        share = tol if self.loss == "hinge" else 2.0 * tol**2
        return share * self.weight + ROUNDING * max(1.0, abs(self.primal))


def judge(K, signs, C, beta, intercept, loss="hinge", bias="free"):
    """The verdict on β and b for one two-class problem with kernel matrix K and weights C_i."""
    alpha, projections = signs * beta, K @ beta
    slack = 1.0 - signs * (projections + intercept)
    half_norm = 0.5 * beta @ projections
    if bias == "penalized":
        half_norm += 0.5 * intercept**2
    if loss == "hinge":
        losses, spent = np.maximum(slack, 0.0), 0.0
        box = np.maximum(-alpha, alpha - C).max(initial=0.0)
        residual = np.where(alpha < C, slack, 0.0), np.where(alpha > 0, -slack, 0.0)
    else:
        losses, spent = np.maximum(slack, 0.0) ** 2, np.sum(alpha**2 / (4.0 * C))
        box = (-alpha).max(initial=0.0)
        residual = slack - alpha / (2.0 * C), np.where(alpha > 0, alpha / (2.0 * C) - slack, 0.0)
    expected = {"free": beta.sum(), "penalized": intercept - beta.sum(), "none": intercept}[bias]
    return Verdict(
        primal=float(half_norm + C @ losses),
        dual=float(alpha.sum() - spent - half_norm),
        box=float(box),
        bias=float(abs(expected)),
        complementarity=float(np.max(residual, initial=0.0)),
        weight=float(C.sum()),
        largest=float(C.max(initial=0.0)),
        loss=loss,
    )


def assert_solved(verdict, tol):
    """Feasible to 1e-10 C, optimal to `tol`, and with no larger gap than `tol` allows."""
    assert verdict.box <= 1e-10 * verdict.largest
    assert verdict.bias <= 1e-10 * verdict.largest
    assert verdict.complementarity <= tol
    assert -verdict.gap_allowed(0.0) <= verdict.gap <= verdict.gap_allowed(tol)


@dataclass(frozen=True)
class Part:
    """One two-class problem of a fitted classifier, as its public attributes show it."""

    indices: np.ndarray
    signs: np.ndarray
    beta: np.ndarray
    intercept: float


def parts(model, y):
    """The two-class problems of a fitted `SVC`, in the order of `intercept_`.

    Two classes: the second is positive. One-vs-one (scikit-learn's layout): in the pair i < j
    class i is positive; row j - 1 of dual_coef_ holds the vectors of class i, row i those of j.
    One-vs-rest: row c holds the problem in which class c is positive.
    """
    codes = np.searchsorted(model.classes_, y)
    coefficients = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    spread = np.zeros((len(coefficients), len(y)))
    spread[:, model.support_] = coefficients
    n_classes = len(model.classes_)
    everything = np.arange(len(y))
    if n_classes == 2:
        return [Part(everything, np.where(codes == 1, 1.0, -1.0), spread[0], float(model.intercept_[0]))]
    if model.multi_class == "ovr":
        return [
            Part(everything, np.where(codes == c, 1.0, -1.0), spread[c], float(model.intercept_[c]))
            for c in range(n_classes)
        ]
    found = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            members = np.flatnonzero((codes == i) | (codes == j))
            own = codes[members] == i
            beta = np.where(own, spread[j - 1, members], spread[i, members])
            found.append(Part(members, np.where(own, 1.0, -1.0), beta, float(model.intercept_[len(found)])))
    return found


def verdicts(model, K, y, sample_weight=None):
    """A verdict for each two-class problem of a fitted `SVC`; K is the kernel matrix of its rows."""
    C = model.C * (np.ones(len(y)) if sample_weight is None else sample_weight)
    return [
        judge(
            K[np.ix_(part.indices, part.indices)],
            part.signs,
            C[part.indices],
            part.beta,
            part.intercept,
            model.loss,
            model.bias,
        )
        for part in parts(model, y)
    ]
