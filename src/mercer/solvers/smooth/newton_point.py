"""A point of Newton's method in a feature space: coefficients, their values and bias, and what is asked of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.smooth.newton_gram import NewtonMatrix
from mercer.solvers.smooth.optimal_bias import EXACTLY, best_bias, flat

if TYPE_CHECKING:
    from mercer.solvers._types import SmoothRisk

DOUBLE = float(np.finfo(np.float64).eps)
# A change of the values this much smaller than the goal need not be computed from the items.
NEGLIGIBLE = 1e-3
# A step that leaves more than this of the violation is a poor one: the next are solved more finely.
POOR = 0.5


class NewtonPoint:
    """Coefficients with their values. All arrays have a column for each function."""

    beta: FloatArray
    image: FloatArray
    b: FloatArray
    problem: "SmoothRisk"
    K: NewtonMatrix
    goal: float
    is_exact: bool
    n: int
    k: int
    _last_response: tuple[Any, Any, Any]

    def _column(self, values: FloatArray) -> FloatArray:
        return np.asarray(values, dtype=np.float64).reshape(self.n, self.k)

    def _values(self) -> FloatArray:
        return self.image + self.b

    def _response(self) -> FloatArray:
        image, b, found = self._last_response
        if image is not self.image or b is not self.b:
            found = self._column(self.problem.response(flat(self._values())))
            self._last_response = self.image, self.b, found
        return found

    def _violation(self, response: FloatArray) -> float:
        return float(np.max(np.abs(response - self.beta) / self.problem.C[:, None], initial=0.0))

    def _make_feasible(self) -> None:
        before, self.beta = self.beta, self._column(self.problem.feasible(flat(self.beta)))
        change = self.beta - before
        rounded = self.K.rounded
        if rounded is not None and rounded.unit * np.abs(change).sum(axis=0).max() <= NEGLIGIBLE * self.goal:
            self.image = self.image + self.K.products(change)
        else:
            self.image = self.K.products_in_double(self.beta)
        self._best_bias()

    def _is_hidden(self, beta: FloatArray, image: FloatArray, b: FloatArray, now: float) -> bool:
        """Whether the objective at a point is what it was, up to the rounding of the squared norm.

        Coefficients that are large and cancel, as those of equal rows with different labels do, leave little else.
        """
        size = (float(self.K.matrix.diag.max(initial=0.0)) + 1.0) * float(np.abs(beta).sum()) ** 2
        return abs(self._objective(beta, image, image + b) - now) <= DOUBLE * size

    def _is_better(self, beta: FloatArray, image: FloatArray, b: FloatArray) -> bool:
        """Where rounding hides whether the objective falls: whether the violation does; if so, the point is taken."""
        before, violation = (self.beta, self.image, self.b), self._violation(self._response())
        self.beta, self.image, self.b = beta, image, b
        if self._violation(self._response()) <= POOR * violation:
            return True
        self.beta, self.image, self.b = before
        return False

    def _objective(self, beta: FloatArray, image: FloatArray, values: FloatArray) -> float:
        value = 0.5 * float(np.sum(beta * image)) + self.problem.risk(flat(values))
        return value if np.isfinite(value) else np.inf

    def _best_bias(self) -> None:
        self.b = self._bias_of(self.image)

    def _bias_of(self, image: FloatArray, share: float = EXACTLY) -> FloatArray:
        return best_bias(self.problem, image, self.b, share)

    def _compute_exactly(self) -> None:
        """The values of these coefficients, without what rounding has done to them."""
        self.image, self.is_exact = self.K.products_in_double(self.beta), True
        self._best_bias()
