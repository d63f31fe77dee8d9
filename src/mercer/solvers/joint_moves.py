"""Moves of the dual made apart, and joined by the best combination of them.

Two cores take half of the rows each, with a w of their own. Both correct what their rows have in common, so
the sum of their moves goes too far, and a safe step (Ma et al. 2015) not far enough. The dual is quadratic
along the moves: which multiple of each is best is a system of two equations, and one of three with the
move of the pass before, which makes it a step of conjugate gradients with a pass of coordinate descent as
preconditioner (Knyazev 2001 searches such spaces for eigenvalues). Coefficients that leave their box are put
back to its side; should the dual be lower for that than at the plain sum, the sum is taken.

Cost: two passes over the n coefficients, two over the d weights; rows that were put back are added to w.
"""

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_views import row_add
from mercer.solvers.coordinate_steps import BETA, LINEAR, LOWER, RIDGE, UPPER, WIDTH

# Of the trace: what is added to the diagonal, so that moves which are (nearly) the same do no harm.
DAMPING = 1e-12


@jit
def _weight_products(w, first, second, old, out):
    """Inner products of the moves first - w, second - w and w - old, with each other and with w."""
    aa = ab = ac = bb = bc = cc = wa = wb = wc = ww = 0.0
    for j in range(w.shape[0]):
        a, b, c = first[j] - w[j], second[j] - w[j], w[j] - old[j]
        aa += a * a
        ab += a * b
        ac += a * c
        bb += b * b
        bc += b * c
        cc += c * c
        wa += w[j] * a
        wb += w[j] * b
        wc += w[j] * c
        ww += w[j] * w[j]
    out[0], out[1], out[2], out[3], out[4], out[5] = aa, ab, ac, bb, bc, cc
    out[6], out[7], out[8], out[9] = wa, wb, wc, ww


@jit
def _coefficient_products(points, side, before, old, epsilon, G, g):
    """What the coefficients add to the matrix and the slopes along the moves; the separable dual at their sum."""
    value = 0.0
    for i in range(before.shape[0]):
        place = i * WIDTH
        beta, linear, ridge = points[place + BETA], points[place + LINEAR], points[place + RIDGE]
        value += (linear - 0.5 * ridge * beta) * beta - epsilon * abs(beta)
        move, earlier = beta - before[i], before[i] - old[i]
        if move == 0.0 and earlier == 0.0:
            continue
        slope = linear - ridge * before[i] - epsilon * np.sign(beta)
        k = side[i]
        G[k, k] += ridge * move * move
        G[k, 2] += ridge * move * earlier
        G[2, 2] += ridge * earlier * earlier
        g[k] += slope * move
        g[2] += slope * earlier
    return value


@jit
def _move_coefficients(points, side, before, old, factors, epsilon, rows, steps):
    """Move every coefficient; (how many were put back into their box, the separable dual).

    `rows` and `steps` receive which, and how far they were put back.
    """
    count, value = 0, 0.0
    for i in range(before.shape[0]):
        place = i * WIDTH
        linear, ridge = points[place + LINEAR], points[place + RIDGE]
        move, earlier = points[place + BETA] - before[i], before[i] - old[i]
        beta = before[i] + factors[side[i]] * move + factors[2] * earlier
        inside = min(max(beta, points[place + LOWER]), points[place + UPPER])
        if inside != beta:
            rows[count], steps[count] = i, inside - beta
            count += 1
        points[place + BETA] = inside
        value += (linear - 0.5 * ridge * inside) * inside - epsilon * abs(inside)
    return count, value


@jit
def _move_weights(w, first, second, old, a, b, c, out):
    for j in range(w.shape[0]):
        out[j] = w[j] + a * (first[j] - w[j]) + b * (second[j] - w[j]) + c * (w[j] - old[j])


@jit
def _add_rows(rows, which, steps, count, scale, w):
    last = w.shape[0] - 1
    for k in range(count):
        row_add(rows, which[k], steps[k], w)
        w[last] += scale * steps[k]


class JointMoves:
    """Joins the moves of one pass after the other.

    Parameters
    ----------
    products : RowProducts
    points : ndarray (n WIDTH,)
        As in `coordinate_steps`.
    epsilon, scale : float
    """

    def __init__(self, products, points, epsilon, scale):
        self.products, self.points, self.epsilon, self.scale = products, points, epsilon, scale
        n, d = products.n, products.n_features + 1
        self.before, self.old_beta = np.empty(n), np.empty(n)
        self.copies = [np.empty(d), np.empty(d)]
        self.old_w, self.new_w = np.empty(d), np.empty(d)
        self.rows, self.steps = np.empty(n, np.int64), np.empty(n)
        self.has_earlier = False

    def begin(self):
        """Remember the coefficients before a pass."""
        self.before[:] = self.points[BETA::WIDTH]

    def join(self, w, side, count, sigma, is_early):
        """The weights after a pass in which `count` copies of w were moved; `points` is changed too.

        Returns the new w; the old one is kept for the next pass.
        """
        if not self.has_earlier:
            self.old_w[:], self.old_beta[:] = w, self.before
        first, second = self.copies[0], self.copies[1] if count == 2 else w
        G, g, added, weight = self._products(w, first, second, side, sigma)
        plain = added - 0.5 * (weight[9] + 2.0 * (weight[6] + weight[7]) + weight[0] + 2.0 * weight[1] + weight[3])
        factors = np.linalg.solve(G, g)
        if is_early or not np.isfinite(factors).all():
            factors = np.array([*np.clip(factors[:2], 0.0, 1.0), 0.0])
        swept = self.points[BETA::WIDTH].copy()
        back, value = _move_coefficients(
            self.points, side, self.before, self.old_beta, factors, self.epsilon, self.rows, self.steps
        )
        a, b, c = factors
        _move_weights(w, first, second, self.old_w, a / sigma, b / sigma, c, self.new_w)
        if back:
            _add_rows(self.products.rows, self.rows, self.steps, back, self.scale, self.new_w)
        if value - 0.5 * float(self.new_w @ self.new_w) < plain:
            self.points[BETA::WIDTH] = swept
            _move_weights(w, first, second, self.old_w, 1.0 / sigma, 1.0 / sigma, 0.0, self.new_w)
        self.old_w, self.new_w, found = w, self.old_w, self.new_w
        self.before, self.old_beta, self.has_earlier = self.old_beta, self.before, True
        return found

    def _products(self, w, first, second, side, sigma):
        s = np.empty(10)
        _weight_products(w, first, second, self.old_w, s)
        # The copies moved sigma times as far as the coefficients say.
        s[[1, 0, 3]] /= sigma**2
        s[[2, 4, 6, 7]] /= sigma
        G = np.array([[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]])
        g = -s[6:9]
        added = _coefficient_products(self.points, side, self.before, self.old_beta, self.epsilon, G, g)
        G[2, :2] = G[:2, 2]
        G[np.diag_indices(3)] += DAMPING * np.trace(G) + 1e-300
        return G, g, added, s
