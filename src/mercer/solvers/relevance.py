r"""How much each column counts: relevances that make a kernel predict well what it has not seen.

The kernel is :math:`k = m(\sum_c r_c d_c) + w \sum_c r_c \ell_c + \sum_t v_t k_t + 1`: a function of the squared
distances of all columns jointly, each column by itself (:math:`\ell_c`, the inner product of its numbers), and further
kernels beside them, such as those of texts. Ridge regression of the targets (of classes: of their indicators) knows
what it would say of each row without that row: with :math:`A = (K + \lambda I)^{-1}` and :math:`\alpha = A Y` the
residual of row i left out is :math:`\rho_i = \alpha_i / A_{ii}` (Allen 1974). The mean square of these is a smooth
function of all parameters, minimised here by a quasi-Newton method along its exact gradient (Sundararajan & Keerthi
2001 do so for Gaussian processes):

.. math:: \frac{\partial}{\partial\theta} \tfrac12 \sum_i \rho_i^2
    = \operatorname{tr}\Big(G\, \frac{\partial K}{\partial\theta}\Big),
    \qquad G = A \operatorname{diag}(h) A - \operatorname{sym}(A g \alpha^\top), \quad
    g_i = \frac{\rho_i}{A_{ii}}, \quad h_i = \frac{\rho_i \cdot \alpha_i}{A_{ii}^2}.

A prior keeps relevances together: each would rather be like the others. One step costs a few products of n by n
matrices; some hundred rows say enough.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mercer._jit.threads import one_blas_thread
from mercer._types import FloatArray, IndexArray

# Bounds of the logarithms of relevances, of the ridge and of weights.
_RELEVANCE, _RIDGE, _WEIGHT = (-12.0, 4.0), (-7.0, 4.0), (-10.0, 3.0)
# Where the search begins.
_FIRST_RIDGE, _FIRST_WEIGHT = 0.1, 0.05


@dataclass(frozen=True, eq=False)
class Relevances:
    """What was found.

    Attributes
    ----------
    relevance : ndarray (n_groups,)
    plane : float
        The weight w of each column by itself, against 1 for all jointly.
    beside : ndarray
        The weights of the further kernels.
    ridge : float
    explained : float
        One minus the mean squared error of rows left out, over that of the mean alone.
    """

    relevance: FloatArray
    plane: float
    beside: FloatArray
    ridge: float
    explained: float


def _gaussian(squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    values = np.exp(-squares)
    return values, -values


def _rough(squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """exp(-r); its slope in r^2 has no bound at 0, where only equal rows are, which no relevance moves apart."""
    radius = np.sqrt(squares)
    values = np.exp(-radius)
    return values, np.divide(-0.5 * values, radius, out=np.zeros_like(radius), where=radius > 1e-9)


def _once_smooth(squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    radius = np.sqrt(3.0 * squares)
    decay = np.exp(-radius)
    return (1.0 + radius) * decay, -1.5 * decay


# (k, its derivative) as functions of the squared distance.
SHAPES: dict[str, Callable[[FloatArray], tuple[FloatArray, FloatArray]]] = {
    "rough": _rough,
    "once smooth": _once_smooth,
    "gaussian": _gaussian,
}


class _LeftOut:
    """The error of rows left out and its gradient, for parameters as one vector of logarithms."""

    def __init__(
        self, Z: FloatArray, groups: IndexArray, Y: FloatArray, beside: Sequence[FloatArray], shape: str, prior: float
    ) -> None:
        self.Z, self.groups, self.Y, self.beside, self.prior = Z, groups, Y, list(beside), prior
        self.shape, self.squares = SHAPES[shape], Z**2
        self.n_groups = int(groups.max()) + 1

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        d, n = self.n_groups, len(self.Z)
        relevance, (ridge, plane), weights = np.exp(theta[:d]), np.exp(theta[d : d + 2]), np.exp(theta[d + 2 :])
        own = relevance[self.groups]
        dots = (self.Z * own) @ self.Z.T
        norms = dots.diagonal()
        joint, slope = self.shape(np.maximum(norms[:, None] + norms - 2.0 * dots, 0.0))
        K = joint + plane * dots + 1.0
        for weight, other in zip(weights, self.beside, strict=True):
            K += weight * other
        K[np.diag_indices(n)] += ridge
        inverse = np.linalg.inv(K)
        alpha, diagonal = inverse @ self.Y, inverse.diagonal()[:, None]
        left_out = alpha / diagonal
        total = 0.5 * float((left_out**2).sum())
        h = (left_out * alpha / diagonal**2).sum(axis=1)
        G = (inverse * h) @ inverse - (inverse @ (left_out / diagonal)) @ alpha.T
        G = 0.5 * (G + G.T)
        gradient = np.empty_like(theta)
        gradient[:d] = relevance * np.bincount(self.groups, self._by_number(G, slope, plane), d)
        gradient[d : d + 2] = ridge * np.trace(G), plane * np.vdot(G, dots)
        gradient[d + 2 :] = [w * np.vdot(G, other) for w, other in zip(weights, self.beside, strict=True)]
        return self._with_prior(theta, total, gradient)

    def _by_number(self, G: FloatArray, slope: FloatArray, plane: float) -> FloatArray:
        """The derivative in the relevance of each number of Z."""
        M = G * slope
        distances = 2.0 * (M.sum(axis=1) @ self.squares - (self.Z * (M @ self.Z)).sum(axis=0))
        return distances + plane * (self.Z * (G @ self.Z)).sum(axis=0)

    def _with_prior(self, theta: FloatArray, total: float, gradient: FloatArray) -> tuple[float, FloatArray]:
        """Half the logarithm of the error, as of a likelihood; each row counts one against the prior."""
        n, d = len(self.Z), self.n_groups
        apart = theta[:d] - theta[:d].mean()
        value = 0.5 * math.log(total / n) + 0.5 * self.prior / n * float(apart @ apart)
        gradient = gradient / (2.0 * total)
        gradient[:d] += self.prior / n * apart
        return value, gradient


def learn_relevances(
    Z: FloatArray,
    groups: IndexArray,
    Y: FloatArray,
    beside: Sequence[FloatArray] = (),
    *,
    shape: str = "rough",
    prior: float = 2.0,
    steps: int = 25,
    stop: Callable[[], bool] = lambda: False,
) -> Relevances:
    """Relevances of columns by the error of rows left out.

    Parameters
    ----------
    Z : ndarray (n, m)
        Numbers of each row, each group of variance 1.
    groups : ndarray (m,)
        Which column each number is part of, from 0 on; numbers of one group share a relevance.
    Y : ndarray (n, t)
        Targets of mean 0.
    beside : sequence of ndarray (n, n)
        Further kernels.
    shape : {"rough", "once smooth", "gaussian"}
        Of the joint part, as a function of the distance.
    prior : float
        How many rows' worth of evidence holds a relevance to the mean of the others.
    steps : int
        At most.
    stop : callable
        Asked between steps; true ends the search with the best so far.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.relevance import learn_relevances
    >>> Z = np.random.default_rng(0).normal(size=(80, 2))
    >>> found = learn_relevances(Z, np.arange(2), np.sin(2 * Z[:, :1]))
    >>> bool(found.relevance[0] > 10 * found.relevance[1]), found.explained > 0.9
    (True, True)
    """
    error = _LeftOut(Z, groups, Y / math.sqrt(float(np.mean(Y**2))), beside, shape, prior)
    d = error.n_groups
    first = np.concatenate([np.full(d, -math.log(d)), np.log([_FIRST_RIDGE, _FIRST_WEIGHT]),
                            np.full(len(error.beside), math.log(_FIRST_WEIGHT))])  # fmt: skip
    bounds = [_RELEVANCE] * d + [_RIDGE] + [_WEIGHT] * (1 + len(error.beside))
    best = _Best(error, stop)
    options = {"maxiter": steps, "maxfun": 2 * steps}
    # Matrices of some hundred rows gain little by a second thread, and lose much if other programs are running.
    with suppress(_Enough), one_blas_thread():
        minimize(best, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    theta = best.theta if best.theta is not None else first
    relevance, rest = np.exp(theta[:d]), np.exp(theta[d:])
    t = error.Y.shape[1]
    explained = 1.0 - 2.0 * math.exp(2.0 * best.plain) / t if math.isfinite(best.plain) else 0.0
    return Relevances(relevance, float(rest[1]), rest[2:], float(rest[0]), explained)


def left_out(K: FloatArray, Y: FloatArray, ridge: float) -> FloatArray:
    """What ridge regression with the kernel matrix K says of each row that it is fitted without.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.relevance import left_out
    >>> left_out(np.ones((3, 3)), np.array([[0.0], [3.0], [6.0]]), ridge=1e-9).round(6).ravel()
    array([4.5, 3. , 1.5])
    """
    with one_blas_thread():
        inverse = np.linalg.inv(K + ridge * np.eye(len(K)))
    return Y - (inverse @ Y) / inverse.diagonal()[:, None]


class _Enough(Exception):
    """Somebody asked to stop."""


class _Best:
    """The error, remembering the best parameters that it was asked for."""

    def __init__(self, error: _LeftOut, stop: Callable[[], bool]) -> None:
        self.error, self.stop = error, stop
        self.theta: FloatArray | None = None
        self.value = self.plain = math.inf

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        if self.stop():
            raise _Enough
        value, gradient = self.error(theta)
        if value < self.value:
            apart = theta[: self.error.n_groups] - theta[: self.error.n_groups].mean()
            penalty = 0.5 * self.error.prior / len(self.error.Z) * float(apart @ apart)
            self.theta, self.value, self.plain = theta.copy(), value, value - penalty
        return value, gradient
