"""The state of Newton's method in a feature space: coefficients, their values and the biases."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.smooth.optimal_bias import EXACTLY, best_bias, flat

if TYPE_CHECKING:
    from mercer.solvers._types import SmoothRisk
    from mercer.solvers.smooth.newton_gram import NewtonMatrix

# Value changes this much smaller than the goal need not be recomputed from the items.
NEGLIGIBLE = 1e-3


class NewtonState:
    """Coefficients, all zero at first. All arrays have a column for each function.

    Parameters
    ----------
    problem : KernelRisk or Multinomial
        With a smooth loss.
    K : NewtonMatrix
    goal : float
        The violation to be reached.

    Attributes
    ----------
    beta, image : ndarray (n, k)
        Coefficients, and K times them.
    b : ndarray (k,)
        The biases.
    is_exact : bool
        Whether `image` is free of the error of a rounded matrix.
    """

    beta: FloatArray
    image: FloatArray
    b: FloatArray
    _last_response: tuple[Any, Any, Any]

    def __init__(self, problem: "SmoothRisk", K: "NewtonMatrix", goal: float) -> None:
        self.problem, self.K, self.goal, self.is_exact = problem, K, goal, True
        self.k, self.n = problem.n_functions, K.n
        self.beta = self.image = np.zeros((self.n, self.k))
        self.b, self._last_response = np.zeros(self.k), (None, None, None)

    def as_columns(self, values: FloatArray) -> FloatArray:
        """With a column for each function."""
        return np.asarray(values, dtype=np.float64).reshape(self.n, self.k)

    def values(self) -> FloatArray:
        """f at every point."""
        return self.image + self.b

    def response(self) -> FloatArray:
        """The coefficients that the losses respond with at these values."""
        image, b, found = self._last_response
        if image is not self.image or b is not self.b:
            found = self.as_columns(self.problem.response(flat(self.values())))
            self._last_response = self.image, self.b, found
        return found

    def violation(self, response: FloatArray) -> float:
        """The largest difference between response and coefficients, relative to C."""
        return float(np.max(np.abs(response - self.beta) / self.problem.C[:, None], initial=0.0))

    def objective(self, beta: FloatArray, image: FloatArray, values: FloatArray) -> float:
        """The primal objective of some coefficients; infinite where it overflows."""
        value = 0.5 * float(np.sum(beta * image)) + self.problem.risk(flat(values))
        return value if np.isfinite(value) else np.inf

    def compute_exactly(self) -> None:
        """Recompute the values of these coefficients without accumulated rounding."""
        self.image, self.is_exact = self.K.products_in_double(self.beta), True
        self.settle_bias()

    def make_feasible(self) -> None:
        """Project these coefficients on the feasible set."""
        before, self.beta = self.beta, self.as_columns(self.problem.feasible(flat(self.beta)))
        change = self.beta - before
        rounded = self.K.rounded
        if rounded is not None and rounded.unit * np.abs(change).sum(axis=0).max() <= NEGLIGIBLE * self.goal:
            self.image = self.image + self.K.products(change)
        else:
            self.image = self.K.products_in_double(self.beta)
        self.settle_bias()

    def settle_bias(self) -> None:
        """Take the optimal biases for these values."""
        self.b = self.bias_of(self.image)

    def bias_of(self, image: FloatArray, share: float = EXACTLY) -> FloatArray:
        """The optimal biases for projections, to within a share of the sum of C in the dual equality."""
        return best_bias(self.problem, image, self.b, share)
