r"""What problems have in common that add a loss of each point to the norm of one function,

.. math:: \tfrac12 \|w\|^2 \;[+ \tfrac12 b^2]\; + \sum_i C_i\, \varphi(z_i),

with b free, penalised by the bracketed term, or absent. Where the conjugate of the loss is quadratic, so is the dual:
see `mercer.problems.losses.margin_losses` and `mercer.problems.svm.signed_dual`.
"""

from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate, dual_conditions, relative_gap
from mercer.problems.svm.signed_dual import DualProblem

if TYPE_CHECKING:
    from mercer.problems.losses.margin_losses import Loss, QuadraticForm


def dual_of(loss: "Loss", targets: FloatArray, C: FloatArray, bias: str) -> DualProblem:
    """The dual of a loss whose conjugate is quadratic; targets are signs where it is a loss of the margin."""
    form, is_margin = cast("QuadraticForm", loss.form), loss.of == "margin"
    signs = targets if is_margin else np.ones(len(targets))
    lower, upper = loss.bounds(signs, C)
    return DualProblem(
        linear=form.linear * signs if is_margin else targets + form.linear,
        lower=lower,
        upper=upper,
        has_equality=bias == "free",
        ridge=loss.ridge(C),
        shift=1.0 if bias == "penalized" else 0.0,
        kink=float(form.tube),
    )


class WithBias:
    """A problem over one function, whose bias is "free", "penalized" or "none"."""

    if TYPE_CHECKING:
        bias: str

    def intercept(self, beta: FloatArray, free_bias: float | FloatArray) -> float:
        """b of the function: that of the dual where it is free, else what w implies."""
        if self.bias == "penalized":
            return float(beta.sum())
        return cast(float, free_bias) if self.bias == "free" else 0.0

    def half_norm(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Half the squared norm of w, with that of the bias if it is penalised, given <w, psi(x_i)> for every i."""
        half = 0.5 * float(beta @ projections)
        return half + 0.5 * intercept**2 if self.bias == "penalized" else half


class SignedRisk(WithBias):
    """The gap and the certificate of a problem that has a `dual`, and says what a function costs in `primal`."""

    # Ratio of the primal and dual values to those of `dual()`.
    times_dual: ClassVar[float] = 1.0

    if TYPE_CHECKING:

        def dual(self) -> DualProblem: ...

        def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float: ...

    def best_constant(self) -> float:
        """The bias to answer with when a fit ends before its first step."""
        dual = self.dual()
        return float(dual.best_constant(dual.linear))

    def gap(self, beta: FloatArray, gradient: FloatArray) -> float:
        """Relative duality gap from a gradient that is known for every point."""
        dual = self.dual()
        projections = dual.projections_of(beta, gradient)
        primal = self.primal(beta, projections, self.intercept(beta, dual.bias(beta, gradient)))
        return relative_gap(primal, dual.objective(beta, gradient))

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """The certificate of a solution.

        Parameters
        ----------
        beta : ndarray (n,)
            Signed dual coefficients.
        projections : ndarray (n,)
            <w, psi(x_i)> = sum_j beta_j k(x_j, x_i), computed in double precision.
        intercept : float
        """
        with np.errstate(over="ignore", invalid="ignore"):  # an unbounded dual may leave huge numbers
            dual = self.dual()
            gradient = dual.gradient_of(beta, projections)
            primal = self.primal(beta, projections, intercept)
            return Certificate.of(primal, dual.objective(beta, gradient), **dual_conditions(dual, beta, gradient))
