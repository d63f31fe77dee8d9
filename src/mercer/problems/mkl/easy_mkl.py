r"""Kernel weights from the distance between classes (EasyMKL; Aiolli & Donini 2015).

With one distribution :math:`\gamma` over the points of each class, and a fraction :math:`\lambda` of a
ridge that keeps it from concentrating on a few points,

.. math::
    \min_\gamma\; (1 - \lambda)\, \gamma^T Y \Big(\sum_m K_m\Big) Y\gamma + \lambda\|\gamma\|^2
    \quad\text{s.t.}\quad \gamma \ge 0,\quad \sum_{y_i = +1}\gamma_i = \sum_{y_i = -1}\gamma_i = 1,

the nearest points of two hulls. The weight of a kernel is what it contributes to their distance,
:math:`\mu_m \propto \gamma^T Y K_m Y\gamma`. Nearest points of hulls are a hard margin up to scale
(Bennett & Bredensteiner 2000), and a ridge is the squared hinge: :math:`\gamma` is a multiple of
:math:`\alpha` of a soft margin (`mercer.problems.svm.soft_margin`) with :math:`1/(2C) = \lambda/(1 - \lambda)`.
"""

import numpy as np

from mercer._types import FloatArray
from mercer.problems.svm.soft_margin import SoftMargin


def hull_problem(signs: FloatArray, lam: float, copies: FloatArray) -> SoftMargin:
    """The soft margin whose coefficients are those of the nearest points.

    A point that stands for several copies has a ridge divided by their number.
    """
    return SoftMargin(signs, 0.5 * (1.0 - lam) / lam * copies, "squared_hinge")


def hull_ridge(lam: float, copies: FloatArray) -> FloatArray:
    """What is added to the diagonal of a kernel matrix, for `ridged_hull_problem`; nothing for points that
    take no part."""
    return np.where(copies > 0, lam / (1.0 - lam) / np.where(copies > 0, copies, 1.0), 0.0)


def ridged_hull_problem(signs: FloatArray) -> SoftMargin:
    """Like `hull_problem`, with the ridge in the kernel matrix: what is left is a hard margin."""
    return SoftMargin(signs, np.full(len(signs), np.inf))


def distributions(beta: FloatArray) -> FloatArray:
    """Y gamma from the coefficients of the soft margin, with sum 1 over each class."""
    total = float(np.maximum(beta, 0.0).sum())
    return beta / total if total > 0 else beta
