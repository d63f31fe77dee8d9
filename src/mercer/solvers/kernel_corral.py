"""A corral of points known by their inner products only, kept as a Cholesky factorisation.

See `feature_corral` for what a corral is. With E_ig = 1 where point i is in group g and
G = M + c E E', M the inner products of the members, the weights at the point of smallest norm are
G^-1 E l, where l makes the weights of each group sum to one.

Cost of a step: s^2 for s members, and n s for the scores of all points.
"""

import numpy as np

from mercer._jit.compile import jit

EPSILON = float(np.finfo(np.float64).eps)
# A pivot below this share of its diagonal is rounding.
DEPENDENT = 64.0 * EPSILON
# Errors of a score, in units of the last place.
SCORE_ERROR = 2.0
FIRST_CAPACITY = 64


@jit
def _forward(factor, s, values):
    """Solve L x = values in place."""
    for i in range(s):
        row = factor[i]
        total = values[i]
        for k in range(i):
            total -= row[k] * values[k]
        values[i] = total / row[i]


@jit
def _backward(factor, s, values):
    """Solve L' x = values in place."""
    for i in range(s - 1, -1, -1):
        row = factor[i]
        values[i] /= row[i]
        for k in range(i):
            values[k] -= row[k] * values[i]


@jit
def _delete(factor, s, place):
    """The factor of the matrix without one row and column."""
    for i in range(place, s - 1):
        for k in range(i + 2):
            factor[i, k] = factor[i + 1, k]
    # What is now below one step above the diagonal goes by rotations of columns.
    for i in range(place, s - 1):
        a, b = factor[i, i], factor[i, i + 1]
        length = np.hypot(a, b)
        cosine, sine = a / length, b / length
        for row in range(i, s - 1):
            first, second = factor[row, i], factor[row, i + 1]
            factor[row, i] = cosine * first + sine * second
            factor[row, i + 1] = cosine * second - sine * first


class KernelCorral:
    """Points of a kernel matrix.

    Parameters
    ----------
    matrix : KernelMatrix
        In double precision.
    signs : ndarray (n,)
        z_i = y_i psi(x_i).
    groups : ndarray of int (n,)
        Which weights sum to one together.
    shift : float
        Added to every kernel value.
    memory : int
        Bytes of kernel rows that may be kept; one more raises MemoryError.
    """

    # There are no coordinates.
    nearest = None

    def __init__(self, matrix, signs, groups, shift=0.0, memory=2**40):
        self.matrix, self.signs, self.groups, self.shift = matrix, signs, groups, shift
        self.n, self.n_groups = len(signs), int(groups.max()) + 1
        self.squares = matrix.diag + shift
        self.radius = float(np.sqrt(max(0.0, self.squares.max(initial=0.0))))
        self._weight = self.radius**2 if self.radius > 0.0 else 1.0
        self.members = []
        self._largest = max(2, memory // (8 * max(1, self.n)))
        self._factor = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY))
        self._rows = np.empty((FIRST_CAPACITY, self.n))

    def noise(self, _square):
        """About the error of a score z_i.z."""
        return SCORE_ERROR * EPSILON * self.radius**2

    def start(self, members):
        """Begin with these points; those that depend on others are left out."""
        for j in members:
            self.add(j)

    def add(self, j):
        """Take a point in; False where it lies in the affine hull of the others."""
        s = len(self.members)
        self._make_room(s + 1)
        row = self.signs[j] * self.signs * (self.matrix.rows(np.array([j]))[0] + self.shift)
        column = row[self.members] + self._weight * (self.groups[self.members] == self.groups[j])
        _forward(self._factor, s, column)
        own = row[j] + self._weight
        pivot = own - column @ column
        if not pivot > DEPENDENT * own:
            return False
        self._factor[s, :s], self._factor[s, s] = column, np.sqrt(pivot)
        self._rows[s] = row
        self.members.append(j)
        return True

    def remove(self, place):
        """Let the member at a place go."""
        s = len(self.members)
        _delete(self._factor, s, place)
        self._rows[place : s - 1] = self._rows[place + 1 : s]
        del self.members[place]

    def minimiser(self):
        """Weights of the members at the point of smallest norm in their affine hull."""
        s = len(self.members)
        solved = self._solved_groups()
        weights = solved @ np.linalg.solve(self._sums(solved), np.ones(self.n_groups))
        # What the factorisation has lost: the scores of a group must be equal.
        uneven = -(weights @ self._rows[:s])[self.members]
        step = self._solve(uneven)
        step -= solved @ np.linalg.solve(self._sums(solved), self._sums(step[:, None])[:, 0])
        return weights + step

    def _solved_groups(self):
        groups = self.groups[self.members]
        return np.stack([self._solve((groups == g).astype(np.float64)) for g in range(self.n_groups)], axis=1)

    def _sums(self, columns):
        """Sums of each column over the members of each group."""
        groups = self.groups[self.members]
        return np.stack([columns[groups == g].sum(axis=0) for g in range(self.n_groups)])

    def _solve(self, values):
        values = values.copy()
        _forward(self._factor, len(self.members), values)
        _backward(self._factor, len(self.members), values)
        return values

    def scores(self, weights):
        """(z_i.z for every point, |z|^2)."""
        found = weights @ self._rows[: len(self.members)]
        return found, float(weights @ found[self.members])

    def distance(self, weights):
        """|sum_i weight_i z_i|, in extended precision."""
        long = weights.astype(np.longdouble)
        square = long @ self._rows[: len(weights), self.members].astype(np.longdouble) @ long
        return float(np.sqrt(max(square, 0.0)))

    def _make_room(self, s):
        capacity = len(self._factor)
        if s > self._largest:
            raise MemoryError
        if s <= capacity:
            return
        factor, rows = np.zeros((2 * capacity, 2 * capacity)), np.empty((2 * capacity, self.n))
        factor[:capacity, :capacity], rows[:capacity] = self._factor, self._rows
        self._factor, self._rows = factor, rows
