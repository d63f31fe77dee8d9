r"""A relevance for each column: the Gaussian kernel whose widths the labels ask for.

.. math:: k(x, x') = \exp\Big(-\sum_j \theta_j (x_j - x'_j)^2\Big)

The relevances :math:`\theta_j` are those under which a Gaussian process has most likely drawn the targets (MacKay
1994; Neal 1996), with a signal s and a noise :math:`\tau` of their own. A weak prior holds columns of which the rows
say nothing where they began. With :math:`A = sK + \tau I`, :math:`\alpha = A^{-1} y` and
:math:`M = (\alpha\alpha^T - A^{-1}) \circ sK`

.. math:: \frac{\partial}{\partial \log\theta_j} \big(-\log p(y)\big)
    = \theta_j \Big(\sum_a (M 1)_a x_{aj}^2 - \sum_a x_{aj} (M x)_{aj}\Big),

one product of matrices for all columns. A few hundred rows and some dozen steps of L-BFGS suffice: what is wanted is
which columns matter, not a fit.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

from mercer._types import Array, FloatArray, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.table.standardised import Standardised
from mercer.kernels.vector.rbf import RBF
from mercer.selection.families.learnt import sample_of

# Rows that relevances are learnt from at most, and steps.
MOST_ROWS = 300
STEPS = 30
# Standard deviation of the prior of a relevance's logarithm, and how far it may go.
PRIOR = 2.5
FARTHEST = 10.0


@dataclass(frozen=True)
class Relevance:
    """The recipe of a Gaussian kernel with a relevance for each column.

    Attributes
    ----------
    scaling : Standardised
        Brings columns to one scale first.
    width : float
        In units of that which the relevances came to.
    """

    scaling: Standardised
    width: float = 1.0

    @property
    def learnt_once(self) -> Hashable:
        return "relevance"

    def learn(self, X: Any, y: Array, weights: FloatArray | None, classifies: bool) -> FloatArray:
        """The relevance of each column, on the common scale."""
        return self.measure(*sample_of(X, y, weights, classifies))

    def measure(self, X: Rows, targets: FloatArray, weights: FloatArray) -> FloatArray:
        """The same for targets of shape (n, t)."""
        rows = (np.asarray(X, dtype=np.float64) - np.asarray(self.scaling.mean)) / np.asarray(self.scaling.deviation)
        chosen = np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.intp)) if len(rows) else []
        return relevances(rows[chosen], targets[chosen], weights[chosen])

    def kernel(self, learnt: FloatArray) -> Kernel:
        """A Gaussian of columns divided by what makes them as relevant as they are."""
        deviation = np.asarray(self.scaling.deviation) / np.sqrt(learnt)
        return Standardised(RBF(1.0 / self.width**2), self.scaling.mean, tuple(deviation.tolist()))


def relevances(rows: FloatArray, targets: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Relevances of standardised columns for targets of shape (n, t); a row of weight two counts as two.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.selection.families.relevance import relevances
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> theta = relevances(rows, np.sin(2 * rows[:, 1:2]))
    >>> int(np.argmax(theta)), bool(theta[1] > 10 * theta[[0, 2]].max())
    (1, True)
    """
    d = rows.shape[1]
    weights = np.ones(len(rows)) if weights is None else weights
    targets = targets - np.average(targets, axis=0, weights=weights)
    size = np.sqrt(np.average(np.mean(targets**2, axis=1), weights=weights))
    if not size > 0 or len(rows) < 3:
        return np.full(d, 0.5 / d)
    start = np.concatenate([np.full(d, np.log(0.5 / d)), [0.0, np.log(0.1)]])
    bounds = [(value - FARTHEST, value + FARTHEST) for value in start[:d]] + [(-4.0, 4.0), (-7.0, 2.0)]
    found = minimize(
        _Likelihood(rows, targets / size, weights, start), start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": STEPS},
    )  # fmt: skip
    return np.exp(found.x[:d])


class _Likelihood:
    """Minus the logarithm of the posterior, and its slope, in logarithms of relevances, signal and noise."""

    def __init__(self, rows: FloatArray, targets: FloatArray, weights: FloatArray, start: FloatArray) -> None:
        self.rows, self.targets, self.start = rows, targets, start
        # Copies of a row, of which there are weights, have the noise of their mean.
        self.noises, self.copies = 1.0 / weights, float(weights.sum() - len(weights))
        self.squares = rows**2

    def __call__(self, x: FloatArray) -> tuple[float, FloatArray]:
        d, count = self.rows.shape[1], self.targets.shape[1]
        theta, signal, noise = np.exp(x[:d]), np.exp(x[d]), np.exp(x[d + 1])
        scaled = self.rows * np.sqrt(theta)
        norms = np.einsum("ij,ij->i", scaled, scaled)
        K = signal * np.exp(-np.maximum(0.0, norms[:, None] + norms - 2.0 * scaled @ scaled.T))
        factor = _factor(K, noise * self.noises)
        alpha = cho_solve(factor, self.targets)
        W = alpha @ alpha.T - count * _inverse(factor)
        M = W * K
        slopes = np.empty(d + 2)
        slopes[:d] = theta * (M.sum(axis=1) @ self.squares - np.einsum("ij,ij->j", self.rows, M @ self.rows))
        slopes[d] = -0.5 * M.sum()
        slopes[d + 1] = 0.5 * count * self.copies - 0.5 * noise * float(self.noises @ np.diag(W))
        away = (x[:d] - self.start[:d]) / PRIOR**2
        slopes[:d] += away
        value = 0.5 * float(np.vdot(self.targets, alpha)) + count * float(np.log(np.diag(factor[0])).sum())
        value += 0.5 * count * self.copies * x[d + 1]
        return value + 0.5 * float(away @ (x[:d] - self.start[:d])), slopes


def _factor(K: FloatArray, noise: FloatArray) -> Any:
    A = K.copy()
    # Rounding of entries, where the noise is nearly nothing.
    A.flat[:: len(A) + 1] += noise + 1e-8 * K[0, 0]
    return cho_factor(A, lower=True, overwrite_a=True, check_finite=False)


def _inverse(factor: Any) -> FloatArray:
    lower = lapack.dpotri(factor[0], lower=1)[0]
    full = np.tril(lower)
    return full + np.tril(full, -1).T
