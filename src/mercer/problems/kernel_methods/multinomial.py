r"""Multinomial logistic regression in a feature space.

One function per class, :math:`f_c(x) = \langle w_c, \psi(x)\rangle + b_c`, and
:math:`p_c(x) = e^{f_c(x)} / \sum_d e^{f_d(x)}`. Primal:

.. math::
    \tfrac12 \sum_c \|w_c\|^2 \;[+ \tfrac12 b_c^2]\; - \sum_i C_i \log p_{y_i}(x_i).

With :math:`w_c = \sum_i \beta_{ic}\psi(x_i)` and :math:`e_{ic} = [y_i = c]`, the dual is

.. math::
    \max_\beta\; -\tfrac12 \sum_c \beta_c^T (K + t\,11^T)\beta_c
    - \sum_i C_i \sum_c q_{ic}\log q_{ic}, \qquad q_i = e_i - \beta_i / C_i \text{ a distribution},

and :math:`\sum_i \beta_{ic} = 0` if the biases are free. At the optimum :math:`q = p`. The Hessian of a
point in its values is :math:`C_i(\mathrm{diag}(p) - p p^T) = A_i A_i^T` with
:math:`A_i = \sqrt{C_i}\,(\mathrm{diag}(\sqrt p) - p \sqrt p^T)`.
"""

from dataclasses import dataclass, replace

import numpy as np

from mercer._jit.once import computed_once
from mercer._types import FloatArray, IndexArray
from mercer.problems.certificate import Certificate, relative_gap
from mercer.problems.kernel_methods.kernel_risk import PANEL, every_few

# Rounds of alternating projections that make coefficients feasible; a handful are enough.
_PROJECTIONS = 50


def softmax(f: FloatArray) -> FloatArray:
    """Probabilities of each row, shape as f."""
    shifted = np.exp(f - f.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def log_probabilities(values: FloatArray) -> FloatArray:
    """Log-probability of each class, from decision values; a single column is for the second of two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.kernel_methods.multinomial import log_probabilities
    >>> np.exp(log_probabilities(np.array([[0.0], [np.log(3.0)]])))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if values.shape[1] == 1:
        return -np.logaddexp(0.0, values * np.array([1.0, -1.0]))
    shifted = values - values.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Multinomial:
    """Class codes, a weight C_i for each point, the number of classes and a kind of bias."""

    codes: np.ndarray
    C: np.ndarray
    n_functions: int
    bias: str = "free"

    @property
    def indicators(self) -> FloatArray:
        """e, shape (n, n_classes)."""
        return (self.codes[:, None] == np.arange(self.n_functions)).astype(np.float64)

    def risk(self, f: FloatArray) -> float:
        """Sum of C_i times minus the log-probability of the label."""
        highest = f.max(axis=1)
        total = highest + np.log(np.exp(f - highest[:, None]).sum(axis=1))
        return float(self.C @ (total - f[np.arange(len(f)), self.codes]))

    def response(self, f: FloatArray) -> FloatArray:
        """The coefficients that correspond to the derivative of the loss at values f."""
        return self.C[:, None] * (self.indicators - softmax(f))

    def root(self, f: FloatArray) -> "SoftmaxRoot":
        """The square root of the Hessian in f, as an operator."""
        return SoftmaxRoot(softmax(f), self.C)

    def sample(self, share: int) -> "tuple[IndexArray, Multinomial] | None":
        """Like `KernelRisk.sample`; None if a class has none."""
        chosen = every_few(self.codes, share)
        part = replace(self, codes=self.codes[chosen], C=share * self.C[chosen])
        return (chosen, part) if len(np.unique(part.codes)) == self.n_functions else None

    def penalty(self, beta: FloatArray, projections: FloatArray, intercept: FloatArray) -> float:
        half = 0.5 * float(np.sum(beta * projections))
        return half + 0.5 * float(np.sum(np.square(intercept))) if self.bias == "penalized" else half

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: FloatArray) -> float:
        """Primal objective, given <w_c, psi(x_i)>, shape (n, n_classes)."""
        return self.penalty(beta, projections, intercept) + self.risk(projections + intercept)

    def dual_value(self, beta: FloatArray, projections: FloatArray) -> float:
        """Dual objective; minus infinity if beta does not give distributions."""
        q = self.indicators - beta / self.C[:, None]
        if q.min(initial=0.0) < -1e-9 or np.abs(q.sum(axis=1) - 1.0).max(initial=0.0) > 1e-9:
            return -np.inf
        entropy = -np.sum(q * np.log(np.where(q > 0, q, 1.0)), axis=1)
        half = 0.5 * float(np.sum(beta * projections))
        if self.bias == "penalized":
            half += 0.5 * float(np.sum(beta.sum(axis=0) ** 2))
        return float(self.C @ entropy) - half

    def gap(self, beta: FloatArray, projections: FloatArray, intercept: FloatArray) -> float:
        """Relative duality gap."""
        return relative_gap(self.primal(beta, projections, intercept), self.dual_value(beta, projections))

    def feasible(self, beta: FloatArray) -> FloatArray:
        """Coefficients near `beta` whose q are distributions, and that sum to zero if they have to.

        Mixing q with the labels keeps every row a distribution; columns are balanced by scaling
        what each class takes from others and gives to them.
        """
        q = np.maximum(self.indicators - beta / self.C[:, None], 0.0)
        # A row with nothing left starts with its label.
        q = np.where(q.sum(axis=1, keepdims=True) > 0, q, self.indicators)
        if self.bias != "free":
            return self.C[:, None] * (self.indicators - q / q.sum(axis=1, keepdims=True))
        wanted = self.C @ self.indicators
        for _ in range(_PROJECTIONS):
            q /= q.sum(axis=1, keepdims=True)
            share = wanted / np.maximum(self.C @ q, 1e-300)
            if np.abs(share - 1.0).max() < 1e-15:
                break
            q *= share
        q /= q.sum(axis=1, keepdims=True)
        return self.C[:, None] * (self.indicators - q)

    def stationarity(self, beta: FloatArray, f: FloatArray) -> float:
        """Largest difference between beta and its value from the loss at f, as a fraction of C."""
        return float(np.max(np.abs(beta - self.response(f)) / self.C[:, None], initial=0.0))

    def intercept(self, beta: FloatArray, free_bias: FloatArray) -> FloatArray:
        """b, one for each class."""
        return {"free": free_bias, "penalized": beta.sum(axis=0), "none": np.zeros(self.n_functions)}[self.bias]

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: FloatArray) -> Certificate:
        """Like `KernelRisk.certificate`, for all classes together; counts are of coefficients."""
        primal, dual = self.primal(beta, projections, intercept), self.dual_value(beta, projections)
        share = self.indicators - beta / self.C[:, None]
        excess = max(float(-share.min(initial=0.0)), float((share - 1.0).max(initial=0.0)))
        zero = int(np.sum(beta == 0))
        bounded = int(np.sum((beta != 0) & ((share <= 0) | (share >= 1))))
        return Certificate.of(
            primal,
            dual,
            kkt_violation=self.stationarity(beta, projections + intercept),
            equality_residual=float(np.abs(beta.sum(axis=0)).max()) if self.bias == "free" else 0.0,
            box_violation=excess * float(self.C.max()),
            n_free=beta.size - zero - bounded,
            n_bounded=bounded,
            n_zero=zero,
        )


class SoftmaxRoot:
    """A with A A' = H, for every point at once; x and A x have shape (n, n_classes)."""

    def __init__(self, p: FloatArray, C: FloatArray) -> None:
        self.p, self.C = p, C

    def part(self, rows: slice) -> "SoftmaxRoot":
        """The same for some of the points."""
        return SoftmaxRoot(self.p[rows], self.C[rows])

    def in_single(self) -> "SoftmaxRoot":
        """The same in single precision."""
        return SoftmaxRoot(self.p.astype(np.float32), self.C.astype(np.float32))

    @computed_once
    def _halves(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """sqrt(p), and p and that times sqrt(C): computed only when needed."""
        half, scale = np.sqrt(self.p), np.sqrt(self.C)[:, None]
        return half, scale * self.p, scale * half

    def times(self, x: FloatArray) -> FloatArray:
        """A x."""
        half, scaled, scaled_half = self._halves
        out = scaled_half * x
        out -= scaled * np.einsum("ij,ij->i", half, x)[:, None]
        return out

    def transposed_times(self, x: FloatArray) -> FloatArray:
        """A' x."""
        out = x - np.einsum("ij,ij->i", self.p, x)[:, None]
        out *= self._halves[2]
        return out

    def applied(self, values: FloatArray) -> FloatArray:
        """H times values."""
        out = values - np.einsum("ij,ij->i", self.p, values)[:, None]
        out *= self.C[:, None] * self.p
        return out

    def blocks(self, factor: FloatArray) -> FloatArray:
        """factor' H factor, in blocks of pairs of classes; in the precision of the factor."""
        r, k = factor.shape[1], self.p.shape[1]
        out = np.zeros((k * r, k * r), factor.dtype)
        for begin in range(0, len(factor), PANEL):
            part = slice(begin, begin + PANEL)
            self._add_blocks(out, factor[part], self.p[part].astype(factor.dtype), self.C[part].astype(factor.dtype))
        return out

    @staticmethod
    def _add_blocks(out: FloatArray, factor: FloatArray, p: FloatArray, C: FloatArray) -> None:
        (n, r), weights = factor.shape, C[:, None]
        scaled = ((np.sqrt(weights) * p)[:, :, None] * factor[:, None, :]).reshape(n, -1)
        # A matrix times its transpose is half the work.
        out -= scaled.T @ scaled
        for c in range(p.shape[1]):
            own = slice(c * r, (c + 1) * r)
            out[own, own] += (weights * p[:, c : c + 1] * factor).T @ factor

    @property
    def largest(self) -> float:
        """No eigenvalue of the Hessian is larger."""
        return 0.5 * float(self.C.max(initial=0.0))

    @property
    def total(self) -> FloatArray:
        """Sum of the points' Hessians, shape (n_classes, n_classes)."""
        weighted = self.C[:, None] * self.p
        return np.diag(weighted.sum(axis=0)) - weighted.T @ self.p
