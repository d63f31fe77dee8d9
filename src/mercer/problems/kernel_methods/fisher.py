r"""Fisher's discriminant in the features of a kernel, for any number of classes.

With the centred matrix :math:`\bar K`, and E with a column for each class c of :math:`n_c` rows,
:math:`E_{ic} = (1[y_i = c] - n_c / n) / \sqrt{n_c}`, the scatter between classes along
:math:`f = \sum_i a_i \bar k(x_i, \cdot)` is :math:`a^\top \bar K E E^\top \bar K a`, and the total one
:math:`a^\top \bar K \bar K a`. What is maximised (Mika et al. 1999; Baudat & Anouar 2000) is the first
over the second with :math:`\mu \lvert f\rvert^2` added. With

.. math:: (\bar K + \mu I)\, U = E, \qquad B = E^\top \bar K U = E^\top (E - \mu U),

its stationary points are :math:`a = U v` for the eigenvectors of the small matrix, :math:`B v = \lambda v`,
:math:`0 \le \lambda < 1`: the equations are those of a ridge regression of the class indicators, and are
certified as such. With :math:`\lvert v\rvert = 1` the penalised scatter within classes is
:math:`\lambda (1 - \lambda)`, by which a is scaled to make it one.

A row of weight :math:`w_i` counts as that many rows: counts are sums of weights, the mean that is subtracted is the
weighted one, and with :math:`S = \mathrm{diag}(w)^{1/2}` the same holds for :math:`S\bar K S` and :math:`S E`, with
:math:`S^{-1} a` in place of a.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from mercer._types import FloatArray, IndexArray
from mercer.problems.kernel_methods.ridge import Ridge

_EPS = float(np.finfo(np.float64).eps)


def indicators(codes: IndexArray, counts: FloatArray) -> FloatArray:
    """E: centred, scaled class indicators, shape (n, n_classes); `counts` are the weights of the classes."""
    E = np.tile(-counts / counts.sum(), (len(codes), 1))
    E[np.arange(len(codes)), codes] += 1.0
    return E / np.sqrt(counts)


def class_counts(codes: IndexArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """n_c: the total weight of each class."""
    return np.bincount(codes, weights, minlength=n_classes).astype(np.float64)


def indicator_regression(codes: IndexArray, weights: FloatArray, n_classes: int, penalty: float) -> Ridge:
    """The ridge regression whose solution is U."""
    E = indicators(codes, class_counts(codes, weights, n_classes))
    return Ridge(E, np.full(n_classes, float(penalty)), np.sqrt(weights))


@dataclass(frozen=True)
class FisherRule:
    """Discriminant directions, and the classes' means along them.

    Attributes
    ----------
    coefficients : ndarray of shape (n, q)
        Of the directions in the centred kernel; the penalised covariance within classes is the identity.
    ratios : ndarray of shape (q,)
        Scatter between classes over penalised scatter within, largest first.
    means : ndarray of shape (n_classes, q)
    log_priors : ndarray of shape (n_classes,)
    """

    coefficients: np.ndarray
    ratios: np.ndarray
    means: np.ndarray
    log_priors: np.ndarray

    @classmethod
    def of(cls, problem: Ridge, U: FloatArray, counts: FloatArray, priors: FloatArray, count: int) -> Self:
        """From the solution U of the regression `problem`, the classes' weights, and the number of directions."""
        E, mu = problem.right(), float(problem.penalties[0])
        fitted = E - mu * U
        values, V = np.linalg.eigh((E.T @ fitted + fitted.T @ E) / 2)
        order = np.argsort(-values)[:count]
        lam, V = np.clip(values[order], _EPS, 1.0 - _EPS), V[:, order]
        V = V * np.sqrt(max(1.0, counts.sum() - len(counts)) / (lam * (1.0 - lam)))
        means = (E.T @ (fitted @ V)) / np.sqrt(counts)[:, None]
        return cls(problem.scale[:, None] * (U @ V), lam / (1.0 - lam), means, np.log(priors))

    def scores(self, coordinates: FloatArray) -> FloatArray:
        """Logarithms of the classes' densities times priors, up to a common term (n, n_classes)."""
        return coordinates @ self.means.T - 0.5 * (self.means**2).sum(axis=1) + self.log_priors
