"""Where a dual solver stands: coefficients, gradient, and which coordinates it looks at.

Only *active* coordinates have an up-to-date gradient. The others are *parked*: in layers, each
of which remembers what changed since it was parked, so that its gradient is brought up to date
by one kernel product when it returns.
"""

import numpy as np


class DualState:
    """Coefficients of a dual problem with the gradient of the active ones.

    Parameters
    ----------
    problem : DualProblem
    matrix : KernelMatrix
    start : ndarray, optional
        Coefficients to start from; `DualProblem.beginning` otherwise.
    stop : callable, optional
        Asked during long products (see `run_parallel`).
    """

    def __init__(self, problem, matrix, start=None, stop=None):
        self.problem, self.matrix, self.stop = problem, matrix, stop
        self.beta = problem.beginning(start)
        self.gradient = problem.gradient(matrix, self.beta, stop)
        self.dual = problem.objective(self.beta, self.gradient)
        self.active = np.arange(len(problem))
        self.parked = []
        # False while a product is under way that the gradient of active coordinates waits for.
        self.is_current = True

    @property
    def is_complete(self):
        """Whether the gradient is known for every coordinate."""
        return self.is_current and not self.parked

    @property
    def free(self):
        """Coordinates strictly inside their box."""
        return np.flatnonzero(self.problem.is_free(self.beta))

    @property
    def view(self):
        """What takes the active coordinates out of an array: without a copy, where they are all."""
        return self.active if self.parked else slice(None)

    def extremes(self):
        """Largest active gradient that may rise, smallest that may fall."""
        return self.problem.extremes(self.beta, self.gradient, self.view)

    def move(self, indices, beta, moved, change, own=None):
        """Set beta[indices], of which `moved` changed by `change`, and update the gradient.

        `own` is what the change takes off the gradient at `indices`, where that is known.
        """
        self.dual += self.problem.kink_cost(self.beta[indices]) - self.problem.kink_cost(beta)
        self.beta[indices] = beta
        if len(moved) == 0:
            return
        for _, missed in self.parked:
            missed[moved] += change
        before = self.gradient[moved]
        rows = self.active if own is None else self.active[~self._mask(indices)[self.active]]
        self.is_current = False
        if len(rows):
            everything = None if len(rows) == len(self.problem) else rows
            self.gradient[rows] -= self.problem.quadratic_product(self.matrix, moved, change, everything, self.stop)
        if own is not None:
            self.gradient[indices] -= own
        self.is_current = True
        self.dual += 0.5 * float(change @ (before + self.gradient[moved]))

    def park(self, indices):
        """Stop looking at some of the active coordinates."""
        self.parked.append((indices, np.zeros(len(self.problem))))
        self.active = self.active[~self._mask(indices)[self.active]]

    def _mask(self, indices):
        mask = np.zeros(len(self.problem), bool)
        mask[indices] = True
        return mask

    def unpark_last(self):
        """Make the layer parked last active again."""
        indices, missed = self.parked[-1]
        moved = np.flatnonzero(missed)
        if len(moved):
            self.gradient[indices] -= self.problem.quadratic_product(
                self.matrix, moved, missed[moved], indices, self.stop
            )
        self.parked.pop()
        self.active = np.flatnonzero(self._mask(self.active) | self._mask(indices))

    def unpark(self):
        """Make everything active."""
        while self.parked:
            self.unpark_last()

    def gradient_in_double(self, rows):
        """The gradient at `rows` from kernel entries in double precision."""
        return gradient_in_double(self.problem, self.matrix, self.beta, rows)

    def rounding_error(self, level, apart):
        """As the function of this name, where the solver stands; `level` is its bias."""
        return rounding_error(self.problem, self.matrix, self.beta, self.gradient, level, apart)

    def switch_to_double(self):
        """Go on with a matrix in double precision; everything becomes active."""
        self.matrix = self.matrix.in_double()
        self.gradient = self.problem.gradient(self.matrix, self.beta, self.stop)
        self.parked, self.active = [], np.arange(len(self.problem))

    def balance(self):
        """Take the rounding errors of many steps out of the sum of beta, where there is room."""
        self.beta = self.problem.balanced(self.beta)


def gradient_in_double(problem, matrix, beta, rows):
    """g at `rows` from kernel entries in double precision."""
    support = np.flatnonzero(beta)
    product = matrix.product_in_double(support, beta[support], rows)
    product += problem.shift * beta.sum()
    if problem.ridge is not None:
        product += problem.ridge[rows] * beta[rows]
    return problem.linear[rows] - product


def rounding_error(problem, matrix, beta, gradient, level, apart=()):
    """How much single precision disturbs the gradient, on some free coordinates, or on those whose
    gradient is nearest to `level`; those that stand `apart` are not among them."""
    candidates = np.setdiff1d(np.flatnonzero(problem.is_free(beta)), apart, assume_unique=True)
    if len(candidates) == 0:
        distances = np.abs(gradient - problem.thresholds(level))
        distances[apart] = np.inf
        candidates = np.argsort(distances, kind="stable")[: matrix.rows_to_compare]
    sample = candidates[:: max(1, len(candidates) // matrix.rows_to_compare)]
    # Entries of long rows lose most: a sample that misses those would say that all is well.
    sample = np.union1d(sample, matrix.longest(candidates, matrix.rows_to_compare // 4))
    return float(np.abs(gradient_in_double(problem, matrix, beta, sample) - gradient[sample]).max(initial=0.0))
