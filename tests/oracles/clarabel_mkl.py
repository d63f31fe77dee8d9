"""The dual of machines with kernel weights handed to Clarabel as a cone program.

maximise p'β - ε|β| - s/2  where s is at least the dual norm of the t_m, and t_m >= β'K_m β,
over the box, with the sum of β fixed. Nothing is shared with the search for weights.

All cones are quadratic. Clarabel has a power cone, which would say t <= r^(1/q) s^(1 - 1/q) in one line, but whether
it gets anywhere near the solution with it depends on the last bit of the data.
"""

from fractions import Fraction

import clarabel
import numpy as np
from scipy import sparse


def solve(grams, dual, p):
    """(β, dual objective) of a `DualProblem` with a fixed sum, over kernel weights of p-norm 1."""
    n, M = len(dual), len(grams)
    program = _ConeProgram()
    beta, size = program.variables(n), program.variables(n)
    s, t = program.variables(1)[0], program.variables(M)
    program.objective.update(zip(beta, -dual.linear, strict=True))
    program.objective.update(dict.fromkeys(size, dual.kink))
    program.objective[s] = 0.5
    program.equal([dict.fromkeys(beta, 1.0)], [dual.total])
    for sign, bound in ((1.0, dual.upper), (-1.0, -dual.lower)):
        program.at_most([{v: sign} for v in beta], bound)
        program.at_most([{v: sign, a: -1.0} for v, a in zip(beta, size, strict=True)], np.zeros(n))
    for K, t_m in zip(grams, t, strict=True):
        values, vectors = np.linalg.eigh(K)
        factor = vectors * np.sqrt(np.maximum(values, 0.0))
        # |L'β|^2 <= t
        program.square([dict(zip(beta, column, strict=True)) for column in factor.T], t_m, None)
    if p == 1:
        program.at_most([{t_m: 1.0, s: -1.0} for t_m in t], np.zeros(M))
    else:
        # t_m <= r_m^(1/q) s^(1 - 1/q), and the r_m add up to at most s.
        r = program.variables(M)
        program.at_most([{**dict.fromkeys(r, 1.0), s: -1.0}], [0.0])
        for t_m, r_m in zip(t, r, strict=True):
            program.geometric_mean(t_m, r_m, s, 1 - 1 / Fraction(p))
    x, value = program.solve()
    return x[beta], -value


class _ConeProgram:
    """A linear objective under linear and quadratic conditions; a linear form is a dictionary {variable: factor}."""

    def __init__(self):
        self.width, self.objective = 0, {}
        self.forms, self.bounds, self.cones = [], [], []

    def variables(self, count):
        self.width += count
        return list(range(self.width - count, self.width))

    def equal(self, forms, bounds):
        self._add(forms, bounds, clarabel.ZeroConeT(len(forms)))

    def at_most(self, forms, bounds):
        self._add(forms, bounds, clarabel.NonnegativeConeT(len(forms)))

    def square(self, forms, left, right):
        """Squares of the forms add up to at most left · right, both variables; None stands for one."""
        # |(2 forms, left - right)| <= left + right
        one = 1.0 if right is None else 0.0
        other = {} if right is None else {right: 1.0}
        head = {left: -1.0, **{v: -a for v, a in other.items()}}
        difference = {left: -1.0, **other}
        doubled = [{v: -2.0 * a for v, a in form.items()} for form in forms]
        bounds = [one, -one, *np.zeros(len(forms))]
        self._add([head, difference, *doubled], bounds, clarabel.SecondOrderConeT(len(forms) + 2))

    def geometric_mean(self, t, r, s, share):
        """t <= r^share s^(1 - share) for a rational share, as a tower of conditions a^2 <= b c.

        With t itself filling up to a power of two: t^8 <= r s^4 t^3 says t^5 <= r s^4.
        """
        whole = share.denominator
        size = 1 << (whole - 1).bit_length()
        level = [r] * share.numerator + [t] * (size - whole) + [s] * (whole - share.numerator)
        while len(level) > 2:
            level = [self._mean(a, b) for a, b in zip(level[::2], level[1::2], strict=True)]
        self.square([{t: 1.0}], *level)

    def _mean(self, a, b):
        """A variable of which the square is at most a b."""
        if a == b:
            return a
        mean = self.variables(1)[0]
        self.square([{mean: 1.0}], a, b)
        return mean

    def _add(self, forms, bounds, cone):
        self.forms += forms
        self.bounds.append(np.asarray(bounds, dtype=float))
        self.cones.append(cone)

    def solve(self):
        """(x, value) of the minimum."""
        places = [(i, v, a) for i, form in enumerate(self.forms) for v, a in form.items()]
        rows, columns, factors = zip(*places, strict=True)
        linear = np.zeros(self.width)
        linear[list(self.objective)] = list(self.objective.values())
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-8
        found = clarabel.DefaultSolver(
            sparse.csc_matrix((self.width, self.width)),
            linear,
            sparse.csc_matrix((factors, (rows, columns)), shape=(len(self.forms), self.width)),
            np.concatenate(self.bounds),
            self.cones,
            settings,
        ).solve()
        # Its last step may end a little short of the tolerance: what counts is what values are compared to, 1e-6.
        assert abs(found.obj_val - found.obj_val_dual) <= 1e-7 * max(1.0, abs(found.obj_val)), found.status
        assert max(found.r_prim, found.r_dual) <= 1e-6, found.status
        return np.array(found.x), found.obj_val
