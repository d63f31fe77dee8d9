"""The perceptron's convex program, solved as a linear program by HiGHS.

Method (Huangfu & Hall 2018): the dual simplex method on the dual program, which has a column for each
point and a row for each feature; the multipliers of its rows are (w, b). Needs: rows, weights. For a kernel,
the features are the eigenvectors of its matrix times the square roots of the eigenvalues that exceed rounding.

HiGHS cannot be paused or stopped, so a large program goes to another process (`other_process`).
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from mercer._jit.threads import Stopped
from mercer._types import FloatArray, Rows
from mercer.problems.version_space.perceptron import PerceptronProgram
from mercer.solvers import other_process
from mercer.solvers.hard_margin.solve import column_units
from mercer.solvers.linalg.dense_eigen import eigenpairs
from mercer.solvers.result import Status
from mercer.solvers.stochastic.perceptron import Trained

if TYPE_CHECKING:
    from mercer.kernels._types import Features
    from mercer.solvers.limits import Limits
    from mercer.solvers.other_process import Arrays

# SciPy's words for how HiGHS ended.
SOLVED, INACCURATE = 0, 4
# A program of this many numbers takes a few hundredths of a second.
AT_ONCE = 20_000
# The gap, relative to the primal value where that is above 1, up to which a program is solved.
SOLVED_GAP = 1e-6
# Relative distance from a bound that the simplex method may leave.
ROUNDING = 1e-12


def solve_program(X: Rows, signs: FloatArray, weights: FloatArray, with_bias: bool, limits: "Limits") -> Trained:
    """Minimise sum_i c_i s_i subject to y_i (<w, x_i> + b) + s_i >= 1, s >= 0.

    Parameters
    ----------
    X : ndarray or CSR matrix (n, d)
    signs, weights : ndarray (n,)
        y and c.
    with_bias : bool
    limits : Limits

    Returns
    -------
    Trained
    """
    units = column_units(X)
    columns = _columns(X, signs, with_bias, units)
    arrays = {"weights": weights, **other_process.matrix_arrays("columns", columns)}
    try:
        is_small = other_process.numbers_in(columns) <= AT_ONCE
        found = find(**arrays) if is_small else other_process.call(find, limits.stop, arrays)
    except Stopped:
        found = {}
    if not found:
        return _nothing(X.shape[1], len(signs), limits)
    normal = -found["marginals"]
    w, b = normal[: len(units)] / units, float(normal[-1]) if with_bias else 0.0
    multipliers = _at_bounds(found["multipliers"], weights)
    status = judged(signs * (X @ w + b), signs, weights, multipliers)
    return Trained(w, b, status, updates=0, iterations=int(found["iterations"]), multipliers=multipliers)


def solve_kernel_program(
    K: FloatArray, signs: FloatArray, weights: FloatArray, shift: float, limits: "Limits"
) -> Trained:
    """The same in the features of a kernel: w is the sum of beta_j psi(x_j), and b that of shift beta_j.

    Parameters
    ----------
    K : ndarray (n, n)
        Kernel matrix in double precision.
    signs, weights : ndarray (n,)
    shift : float
        1 for a bias, else 0.
    limits : Limits

    Returns
    -------
    Trained
        Its coefficients are beta.
    """
    try:
        values, vectors = eigenpairs(K + shift, limits.stop)
    except Stopped:
        return _nothing(len(signs), len(signs), limits)
    kept = values > len(K) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    roots = np.sqrt(values[kept])
    features, back = vectors[:, kept] * roots, vectors[:, kept] / roots
    found = solve_program(features, signs, weights, False, limits)
    found.coefficients = back @ found.coefficients
    found.bias = shift * float(found.coefficients.sum())
    if found.status in (Status.OPTIMAL, Status.OPTIMAL_INACCURATE):
        # Evaluated on the function itself, so that rounding in the features counts too.
        margins = signs * (K @ found.coefficients + found.bias)
        found.status = judged(margins, signs, weights, found.multipliers)
    return found


def _at_bounds(a: FloatArray, weights: FloatArray) -> FloatArray:
    """Dual variables clipped to their box, and snapped to a bound within rounding."""
    a = np.where(a >= (1.0 - ROUNDING) * weights, weights, a)
    return np.where(a <= ROUNDING * weights, 0.0, a)


def judged(margins: FloatArray, signs: FloatArray, weights: FloatArray, multipliers: FloatArray) -> Status:
    """OPTIMAL if both programs have the same value."""
    gap = PerceptronProgram(signs, weights).certificate(margins, multipliers).relative_gap
    return Status.OPTIMAL if abs(gap) <= SOLVED_GAP else Status.OPTIMAL_INACCURATE


def _columns(X: Rows, signs: FloatArray, with_bias: bool, units: FloatArray) -> "Features":
    """The equality matrix: columns z_i, scaled so that no entry underflows the solver's tolerance, and y_i."""
    if not sparse.issparse(X):
        scaled = (X / units * signs[:, None]).T
        return np.vstack([scaled, signs]) if with_bias else scaled
    scaled = (sparse.diags_array(signs) @ X @ sparse.diags_array(1.0 / units)).T
    return sparse.vstack([scaled, sparse.csr_array(signs[None, :])], format="csc") if with_bias else scaled


def find(weights: FloatArray, **arrays: FloatArray) -> "Arrays":
    """What HiGHS finds, nothing where it does not solve the program; `arrays` are the columns of `matrix_arrays`."""
    columns, n = other_process.matrix_of("columns", arrays), len(weights)
    bounds = np.stack([np.zeros(n), weights], axis=1)
    found = linprog(-np.ones(n), A_eq=columns, b_eq=np.zeros(columns.shape[0]), bounds=bounds, method="highs")
    if found.x is None or found.status not in (SOLVED, INACCURATE):
        return {}
    marginals = np.asarray(found.eqlin.marginals)
    return {"multipliers": found.x, "marginals": marginals, "iterations": np.array(found.nit)}


def _nothing(n_features: int, n: int, limits: "Limits") -> Trained:
    """The result if there is none (yet)."""
    status = limits.reached() or Status.STALLED
    return Trained(np.zeros(n_features), 0.0, status, 0, 0, multipliers=np.zeros(n))


def residual(X: Rows, signs: FloatArray, multipliers: FloatArray, with_bias: bool) -> float:
    """Largest absolute value of sum_i a_i z_i, and of sum_i a_i y_i where there is a bias."""
    coefficients = signs * multipliers
    largest = float(np.abs(coefficients @ X).max(initial=0.0))
    return max(largest, abs(float(coefficients.sum()))) if with_bias else largest
