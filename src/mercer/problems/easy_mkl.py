r"""Kernel weights from the distance between classes (EasyMKL; Aiolli & Donini 2015).

With one distribution :math:`\gamma` over the points of each class, and a share :math:`\lambda` of a
ridge that keeps it from resting on few,

.. math::
    \min_\gamma\; (1 - \lambda)\, \gamma^T Y \Big(\sum_m K_m\Big) Y\gamma + \lambda\|\gamma\|^2
    \quad\text{s.t.}\quad \gamma \ge 0,\quad \sum_{y_i = +1}\gamma_i = \sum_{y_i = -1}\gamma_i = 1,

the nearest points of two hulls. The weight of a kernel is what it contributes to their distance,
:math:`\mu_m \propto \gamma^T Y K_m Y\gamma`. In :math:`\beta = Y\gamma` it is `mercer.problems.dual`
with p = 0, two groups of sums 1 and -1, and :math:`R = \lambda / (1 - \lambda)`.
"""

import numpy as np

from mercer.problems.dual import DualProblem


def hull_problem(signs, lam, copies):
    """The program over beta, divided by 1 - lambda.

    A point that stands for several copies has that many times the room for its ridge.
    """
    positive = signs > 0
    return DualProblem(
        linear=np.zeros(len(signs)),
        lower=np.where(positive, 0.0, -1.0),
        upper=np.where(positive, 1.0, 0.0),
        ridge=lam / (1.0 - lam) / copies if lam > 0 else None,
        total=np.array([1.0, -1.0]),
        groups=np.where(positive, 0, 1),
    )
