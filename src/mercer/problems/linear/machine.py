r"""Linear models with an L2 penalty, in primal form.

.. math::
    \min_{w,b}\; \tfrac12\|w\|^2 \;[+ \tfrac{1}{2s^2} b^2]\; + \sum_i C_i\, \ell_i(\langle w, x_i\rangle + b)

Classification: the hinge max(0, 1 - y f) or its square. Regression: the loss outside a tube,
max(0, |y - f| - epsilon), or its square. b is free, absent, or (bracketed term) the weight of a
constant feature of value s, as in LIBLINEAR. The dual is that of `mercer.problems.linear.dual`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._jit.compile import UNBOUNDED
from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.dual import LinearDual
from mercer.problems.losses.margin_losses import MARGIN_LOSSES, QuadraticForm
from mercer.problems.losses.residual_losses import TUBE_LOSSES

if TYPE_CHECKING:
    from mercer._jit.row_products import RowProducts
    from mercer.problems.losses.margin_losses import Loss


@dataclass(frozen=True)
class LinearMachine:
    """The common part of classification and regression.

    Attributes
    ----------
    targets : ndarray (n,)
        Labels +1 and -1, or the numbers to predict.
    C : ndarray (n,)
        C times the weight of each row; finite, and zero for a row that takes no part.
    loss : str
    bias : {"free", "penalized", "none"}
    scale : float
        s of a penalised bias.
    """

    targets: np.ndarray
    C: np.ndarray
    loss: str
    bias: str = "penalized"
    scale: float = 1.0

    @property
    def _loss(self) -> "Loss":
        raise NotImplementedError

    def losses(self, values: FloatArray) -> FloatArray:
        """Loss of each row, given f(x_i)."""
        return self._loss.value(values - self.targets if self._loss.of == "residual" else self.targets * values)

    def _dual(self) -> LinearDual:
        """The program; a row of weight zero has no loss and stays at zero."""
        loss = self._loss
        is_used, ridge = self.C > 0, loss.ridge(np.where(self.C > 0, self.C, 1.0))
        reach = np.where(is_used, np.minimum(loss.box(self.C), UNBOUNDED), 0.0)
        is_margin = loss.of == "margin"
        kinds = {"free": (1.0, True), "penalized": (self.scale, False), "none": (0.0, False)}
        scale, has_equality = kinds[self.bias]
        return LinearDual(
            linear=self.targets,
            lower=np.where(self.targets < 0, -reach, 0.0) if is_margin else -reach,
            upper=np.where(self.targets > 0, reach, 0.0) if is_margin else reach,
            ridge=np.zeros_like(self.C) if ridge is None else ridge,
            epsilon=float(cast(QuadraticForm, loss.form).tube),
            scale=float(scale),
            has_equality=has_equality,
        )

    def dual(self) -> LinearDual:
        """The dual problem."""
        found = self.__dict__.get("_kept")
        if found is None:
            found = self.__dict__["_kept"] = self._dual()
        return found

    def primal(self, w: FloatArray, b: float, values: FloatArray) -> float:
        """Primal objective, given f(x_i) for every i."""
        return self.dual().penalty(w, b) + float(self.C @ self.losses(values))

    def certificate(self, products: "RowProducts", w: FloatArray, b: float, beta: FloatArray) -> Certificate:
        """The certificate of (w, b) and beta.

        Parameters
        ----------
        products : RowProducts
            The training rows.
        w : ndarray (d,)
        b : float
        beta : ndarray (n,)
            Signed dual coefficients; the corresponding sum of rows need not be exactly w.
        """
        dual = self.dual()
        with np.errstate(over="ignore", invalid="ignore"):
            values = products.dots(w) + b
            primal_value = self.primal(w, b, values)
            dual_value = dual.value(beta, products.combination(beta))
        return Certificate.of(
            primal_value,
            dual_value,
            kkt_violation=dual.violation(beta, values),
            **dual.conditions(beta),
        )


class LinearMargin(LinearMachine):
    """Two classes, with the hinge or its square."""

    @property
    def _loss(self) -> "Loss":
        return MARGIN_LOSSES[self.loss]


@dataclass(frozen=True)
class LinearTube(LinearMachine):
    """Regression, with the loss outside a tube of half-width epsilon, or its square."""

    epsilon: float = 0.0

    @property
    def _loss(self) -> "Loss":
        return TUBE_LOSSES[self.loss](self.epsilon)
