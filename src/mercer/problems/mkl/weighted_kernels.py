r"""Learning the weights of kernels together with the model (multiple kernel learning).

With base kernels :math:`k_1, \dots, k_M` and their features :math:`\psi_m`, the model is
:math:`f(x) = \sum_m \langle w_m, \psi_m(x)\rangle + b`, and the weights :math:`\mu_m` of the kernels
are variables too (Lanckriet et al. 2004; Bach, Lanckriet & Jordan 2004). Primal, for any problem here
of the form (1/2)|w|^2 + losses:

.. math::
    \min_{\mu \ge 0,\ \|\mu\|_p \le 1}\; \min_{w, b}\;
    \tfrac12 \sum_m \frac{\|w_m\|^2}{\mu_m} + \sum_i C_i\, \ell_i(f(x_i))

p = 1 is SimpleMKL (Rakotomamonjy, Bach, Canu & Grandvalet 2008) and leaves few kernels; p > 1 is
:math:`\ell_p`-norm MKL (Kloft, Brefeld, Sonnenburg & Zien 2011) and leaves all of them. For fixed
weights it is the model with the single kernel :math:`\sum_m \mu_m k_m`, with
:math:`w_m = \mu_m \sum_i \beta_i\psi_m(x_i)`. Dual, with :math:`q_m = \beta^T K_m\beta`, the dual norm
:math:`p^* = p/(p-1)`, and G the dual of the model without its quadratic form:

.. math::
    \max_\beta\; G(\beta) - \tfrac12 \|(q_1, \dots, q_M)\|_{p^*}
    \quad\text{s.t. the box and the equality of the machine.}

Because :math:`\mu\cdot q \le \|q\|_{p^*}`, the gap of the whole is the gap of the model with its
weights, plus :math:`\tfrac12(\|q\|_{p^*} - \mu\cdot q)`, which is zero if the weights are best
for this beta. Several models may share their weights (the pairs of several classes, or each class
against the rest): objectives and :math:`q` are then sums over the models, and there is one gap.

If the weights are not variables but chosen by other means, the second part is zero by definition,
and the gap is that of the models.

A search ends by the gap relative to the objective itself, however small that is: kernels of large
values, or targets in small units, have objectives far below 1.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate, relative_gap

if TYPE_CHECKING:
    from mercer.problems.protocols import Problem


# An objective below this fraction of the cost of having learnt nothing is rounding of losses that cancel.
NO_OBJECTIVE = 1e-13
# The smallest divisor, if there is nothing to lose.
LEAST = 1e-300


@dataclass(frozen=True)
class WeightSet:
    """The allowed weights: nonnegative, with p-norm at most 1; or fixed ones.

    Attributes
    ----------
    p : float or None
        1 or more; None if the weights are not variables.
    """

    p: float | None

    def equal(self, n_kernels: int) -> FloatArray:
        """Equal weights, on the border of the set; with sum 1 if they are fixed."""
        return np.full(n_kernels, float(n_kernels) ** (-1.0 / (self.p or 1.0)))

    def normalised(self, weights: FloatArray) -> FloatArray:
        """A multiple of the weights on the border of the set; equal ones if all are zero."""
        size = np.linalg.norm(weights, self.p or 1.0)
        return weights / size if size > 0 else self.equal(len(weights))

    def support_value(self, q: FloatArray, weights: FloatArray) -> float:
        """max of mu . q over the set: the dual norm of q, which is nonnegative; mu . q if mu is fixed."""
        if self.p is None:
            return float(weights @ q)
        if self.p == 1.0:
            return float(np.max(q))
        return float(np.linalg.norm(q, self.p / (self.p - 1.0)))

    def violation(self, weights: FloatArray) -> float:
        """How far the weights are from the set."""
        too_much = 0.0 if self.p is None else float(np.linalg.norm(weights, self.p)) - 1.0
        return max(0.0, too_much, float(-weights.min()))


@dataclass(frozen=True)
class WeightedCertificate(Certificate):
    """The certificate of models and of the weights of their kernels together.

    Attributes
    ----------
    weights_gap : float
        The part of `gap` that other weights might close; the rest belongs to the models.
    weights_violation : float
        How far the weights are from being allowed.
    """

    weights_gap: float = 0.0
    weights_violation: float = 0.0

    def __str__(self) -> str:
        weights = f"weights: gap {self.weights_gap:.2e}, outside their set by {self.weights_violation:.1e}"
        return f"{super().__str__()}\n{weights}"


def joint_certificate(
    allowed: WeightSet, weights: FloatArray, q: FloatArray, machines: Sequence[Certificate]
) -> WeightedCertificate:
    """One certificate from those of the models.

    Parameters
    ----------
    allowed : WeightSet
    weights : ndarray (M,)
    q : ndarray (M,)
        beta' K_m beta, summed over the machines, in double precision.
    machines : list of Certificate
        Of each machine with the weighted sum of the kernels.
    """
    weights_gap = 0.5 * (allowed.support_value(q, weights) - float(weights @ q))
    each = [asdict(one) for one in machines]
    sums = {name: sum(one[name] for one in each) for name in ("primal", "dual", "n_free", "n_bounded", "n_zero")}
    worst = {name: max(one[name] for one in each) for name in ("kkt_violation", "equality_residual", "box_violation")}
    sums["dual"] -= weights_gap
    return WeightedCertificate(
        gap=sums["primal"] - sums["dual"],
        relative_gap=relative_gap(sums["primal"], sums["dual"]),
        weights_gap=weights_gap,
        weights_violation=allowed.violation(weights),
        **sums,
        **worst,
    )


@dataclass(frozen=True)
class Judged:
    r"""The models at some weights, and what they imply for all other weights.

    :math:`G(\beta) - \tfrac12\mu\cdot q` is a lower bound of the best model's objective at every
    :math:`\mu`: a cut (Sonnenburg, Rätsch, Schäfer & Schölkopf 2006).

    Attributes
    ----------
    weights : ndarray (M,)
    solutions : list
        beta, gradient and bias of each machine.
    primal : float
        Summed over the machines.
    constant : float
        G, summed likewise.
    q : ndarray (M,)
    untaught : float
        The primal of models without any coefficients, summed likewise, against which rounding is measured.
    """

    weights: np.ndarray
    solutions: list
    primal: float
    constant: float
    q: np.ndarray
    untaught: float = 0.0

    @property
    def betas(self) -> list[FloatArray]:
        """Signed dual coefficients of each machine."""
        return [solution.beta for solution in self.solutions]

    def bound(self, allowed: WeightSet) -> float:
        """The dual value: a lower bound of the primal, whatever the weights."""
        return self.constant - 0.5 * allowed.support_value(self.q, self.weights)

    def better_weights(self, allowed: WeightSet) -> FloatArray:
        """The best weights for the same w_m, at which the models' objective is no larger (Kloft et al. 2011)."""
        sizes = self.weights**2 * np.maximum(self.q, 0.0)
        return allowed.normalised(sizes ** (1.0 / (cast(float, allowed.p) + 1.0)))

    @property
    def scale(self) -> float:
        """The unit of objectives and their gaps: the primal, unless that is rounding; at most a certificate's."""
        size = abs(self.primal)
        return min(max(size, NO_OBJECTIVE * abs(self.untaught), LEAST), max(1.0, size))

    def gap(self, allowed: WeightSet) -> float:
        """Of the models and the weights together, relative to `scale`; infinite if the primal is."""
        return (self.primal - self.bound(allowed)) / self.scale if np.isfinite(self.primal) else np.inf

    @property
    def machines_gap(self) -> float:
        """The part of the gap that belongs to the models."""
        return self.primal - (self.constant - 0.5 * float(self.weights @ self.q))


def untaught_primal(problem: "Problem") -> float:
    """The primal of a model without coefficients, with a bias in the middle; 0 if that is infinite."""
    linear = problem.dual().linear
    found = primal_and_dual(problem, np.zeros(len(linear)), linear)[0]
    return found if np.isfinite(found) else 0.0


def primal_and_dual(problem: "Problem", beta: FloatArray, gradient: FloatArray) -> tuple[float, float]:
    """(primal, dual) of one machine, from the gradient of its dual at every point."""
    dual = problem.dual()
    projections = dual.linear - gradient - dual.shift * beta.sum()
    if dual.ridge is not None:
        projections = projections - dual.ridge * beta
    intercept = problem.intercept(beta, dual.bias(beta, gradient))
    return problem.primal(beta, projections, intercept), dual.objective(beta, gradient)
