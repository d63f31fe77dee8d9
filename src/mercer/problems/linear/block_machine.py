r"""A linear model over the rows of many blocks, with any convex loss.

.. math::
    \min_{w, b}\; \tfrac12\|w\|^2 \;[+ \tfrac{1}{2s^2} b^2]\; + \sum_i C_i\, \varphi(z_i), \qquad
    f_i = \langle v, \phi_i\rangle + b, \quad w = L^T v,

with a loss of the margin, :math:`z_i = y_i f_i`, or of the residual, :math:`z_i = f_i - y_i`. Without a factor L,
v = w. The bias is free, absent, or the weight of a constant feature of value s. The dual, over signed coefficients, is

.. math::
    \max_\beta\; \sum_i p_i\beta_i - \varepsilon\|\beta\|_1 - \tfrac12\beta^T R\beta
    - \tfrac12 \Big\|L^{-1}\sum_i \beta_i\phi_i\Big\|^2 - \tfrac{s^2}{2}\Big(\sum_i\beta_i\Big)^2,
    \qquad l \le \beta \le u,

if the conjugate of the loss is quadratic (`QuadraticForm`). Otherwise :math:`-\sum_i C_i\varphi^*(-s_i\beta_i/C_i)`
replaces its first terms, as in `mercer.problems.kernel_methods.kernel_risk`. With a free bias
:math:`\sum_i\beta_i = 0`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer._errors import ParameterError
from mercer._jit.compile import UNBOUNDED
from mercer._jit.once import computed_once
from mercer._types import FloatArray, IndexArray
from mercer.problems.certificate import Certificate
from mercer.problems.linear.dual import LinearDual
from mercer.problems.losses.margin_losses import Loss
from mercer.problems.losses.residual_losses import TUBE_LOSSES, resolve_loss

# Rows certified at a time: with 10^7 of them, each temporary array of all would take 80 MB.
CHUNK = 2**17


@dataclass(frozen=True)
class RowLosses:
    """The losses of some rows: what a block needs to know of the model.

    Attributes
    ----------
    loss : Loss
    targets : ndarray (n,)
        +1 and -1 for a loss of the margin, any numbers for a loss of the residual.
    C : float or ndarray (n,)
        Weight of each row; a row of weight zero takes no part.
    offsets : ndarray (n,) or None
        What is added to f before the loss sees it: the values of a function that is not penalised.
    """

    loss: Loss
    targets: np.ndarray
    C: Any
    offsets: np.ndarray | None = None

    @property
    def is_of_margin(self) -> bool:
        """Whether z = y f."""
        return self.loss.of == "margin"

    @property
    def is_smooth(self) -> bool:
        """Whether the conjugate is not quadratic, so that the loss has a curvature."""
        return self.loss.form is None

    @computed_once
    def weights(self) -> FloatArray:
        """C of each row."""
        return np.broadcast_to(np.asarray(self.C, np.float64), self.targets.shape)

    @computed_once
    def signs(self) -> FloatArray:
        """s."""
        return np.asarray(self.targets, np.float64) if self.is_of_margin else np.ones(len(self.targets))

    def arguments(self, values: FloatArray) -> FloatArray:
        """z."""
        values = values if self.offsets is None else values + self.offsets
        return self.targets * values if self.is_of_margin else values - self.targets

    def risk(self, values: FloatArray) -> float:
        """Sum of C_i loss(z_i)."""
        return float(self.weights @ self.loss.value(self.arguments(values)))

    def dual(self, scale: float, has_equality: bool) -> LinearDual:
        """p, l, u, R and epsilon of a quadratic conjugate; of any other, p, l and u."""
        gain = np.zeros(len(self.targets)) if self.is_of_margin else np.asarray(self.targets, np.float64)
        if self.offsets is not None:
            gain = gain - self.offsets
        ends = self.loss.bounds(self.signs, self.weights)
        lower, upper = (np.where(self.weights > 0.0, np.clip(end, -UNBOUNDED, UNBOUNDED), 0.0) for end in ends)
        form, tube, ridge = self.loss.form, 0.0, np.zeros(len(self.targets))
        if form is not None:
            gain, tube = gain + form.linear * self.signs, float(form.tube)
            if form.curvature:
                # A row that takes no part has no room to move; its ridge just must not be zero.
                ridge = form.curvature / np.where(self.weights > 0.0, self.weights, 1.0)
        return LinearDual(gain, lower, upper, ridge, tube, scale, has_equality)

    def smooth_response(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(coefficients given by the derivative of a smooth loss, how they change) at these values."""
        z = self.arguments(values)
        return -self.weights * self.signs * self.loss.derivative(z), self.weights * self.loss.curvature(z)

    def separable(self, beta: FloatArray) -> FloatArray:
        """The contribution of each coefficient to the dual, if the loss is smooth."""
        share = np.divide(-self.signs * beta, self.weights, out=np.zeros(len(beta)), where=self.weights > 0.0)
        gain = 0.0 if self.is_of_margin else self.targets * beta
        if self.offsets is not None:
            gain = gain - self.offsets * beta
        return gain - self.weights * self.loss.conjugate(share)


@dataclass(frozen=True)
class BlockMachine:
    """Targets and weights of all rows, in the order of the blocks, a loss and a kind of bias.

    Attributes
    ----------
    targets : ndarray (n,)
    C : float or ndarray (n,)
    loss : str or Loss
        A name accepted by `KernelMachine`, or a convex `Loss`.
    epsilon : float
        Of a tube given by name.
    bias : {"free", "penalized", "none"}
    scale : float
        s of a penalised bias.
    offsets : ndarray (n,) or None
        As of `RowLosses`.
    """

    targets: np.ndarray
    C: Any
    loss: Any
    epsilon: float = 0.0
    bias: str = "penalized"
    scale: float = 1.0
    offsets: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.bias not in ("free", "penalized", "none"):
            raise ParameterError(f"bias must be 'free', 'penalized' or 'none', got {self.bias!r}")
        is_tube = isinstance(self.loss, str) and self.loss in TUBE_LOSSES
        object.__setattr__(self, "loss", TUBE_LOSSES[self.loss](self.epsilon) if is_tube else resolve_loss(self.loss))

    @property
    def constant(self) -> float:
        """The constant feature: s, 1 for a free bias, 0 for none."""
        return {"free": 1.0, "penalized": float(self.scale), "none": 0.0}[self.bias]

    @property
    def is_free(self) -> bool:
        """Whether the bias is left out of the penalty."""
        return self.bias == "free"

    @property
    def spread(self) -> float:
        """The size of a residual at the beginning: 1 if the loss is of the margin."""
        if self.loss.of == "margin":
            return 1.0
        targets = np.asarray(self.targets, np.float64)
        return max(float(np.mean(np.abs(targets - np.mean(targets)))), 1e-12)

    def rows(self, place: slice | IndexArray) -> RowLosses:
        """The losses of some rows."""
        C = self.C if np.ndim(self.C) == 0 else self.C[place]
        return RowLosses(self.loss, self.targets[place], C, None if self.offsets is None else self.offsets[place])

    def sample(self, places: IndexArray) -> "BlockMachine":
        """The model of some rows, each of which stands for several."""
        share = len(self.targets) / max(1, len(places))
        C = share * (self.C if np.ndim(self.C) == 0 else self.C[places])
        offsets = None if self.offsets is None else self.offsets[places]
        return replace(self, targets=self.targets[places], C=C, offsets=offsets)

    def certificate(
        self, w: FloatArray, bias: float, values: FloatArray, beta: FloatArray, image: FloatArray
    ) -> Certificate:
        """The certificate of a solution.

        Parameters
        ----------
        w : ndarray (m,)
            Weights in coordinates in which the penalty is |w|^2 / 2.
        bias : float
        values : ndarray (n,)
            f_i, computed in double precision.
        beta : ndarray (n,)
            Signed dual coefficients.
        image : ndarray (m,)
            L^-1 sum_i beta_i phi_i, computed in double precision.
        """
        size = float(max(np.max(beta, initial=0.0), -np.min(beta, initial=0.0)))
        spans = [slice(begin, begin + CHUNK) for begin in range(0, max(1, len(beta)), CHUNK)]
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self._part(self.rows(span), values[span], beta[span], size) for span in spans]
            loss, gain, balance = (float(np.sum(each)) for each in list(zip(*parts, strict=True))[:3])
            bias_term, square = (0.0, 0.0) if self.is_free else (bias / (self.constant or 1.0), self.constant * balance)
            primal = 0.5 * float(w @ w + bias_term**2) + loss
            dual = gain - 0.5 * (float(image @ image) + square**2)
        each = [conditions for *_, conditions in parts]
        counts = {name: sum(one[name] for one in each) for name in ("n_free", "n_bounded", "n_zero")}
        return Certificate.of(
            primal, dual,
            kkt_violation=max(violation for *_, violation, _ in parts),
            equality_residual=abs(balance) if self.is_free else 0.0,
            box_violation=max(one["box_violation"] for one in each),
            **counts,
        )  # fmt: skip

    def _part(
        self, rows: RowLosses, values: FloatArray, beta: FloatArray, size: float
    ) -> tuple[float, float, float, float, dict[str, Any]]:
        """(loss, gain of the dual, sum of beta, violation, conditions) of some rows."""
        dual, balance = rows.dual(self.constant, self.is_free), float(beta.sum())
        if rows.is_smooth:
            gain, (asked, _) = float(rows.separable(beta).sum()), rows.smooth_response(values)
            reach = np.where(rows.weights > 0.0, rows.weights, 1.0)
            violation = float(np.max(np.abs(beta - asked) / reach, initial=0.0))
        else:
            gain, violation = dual.separable(beta), dual.violation(beta, values, size)
        return rows.risk(values), gain, balance, violation, dual.conditions(beta, size)
