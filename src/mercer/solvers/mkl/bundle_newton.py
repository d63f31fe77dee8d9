r"""Sparse kernel weights: Newton steps on the simplex, safeguarded by cuts.

The objective :math:`J(\mu)` of the best model is convex. Its gradient is :math:`-q/2`
(Rakotomamonjy et al. 2008), and as long as the free support vectors F stay the same its second
derivatives are

.. math:: H_{ml} = (K_m\beta)_F^T\, A\, (K_l\beta)_F

with A the inverse of :math:`\sum_m\mu_m K_m` on F, projected if the bias is free (Chapelle &
Rakotomamonjy 2008). Every solution visited bounds J from below everywhere, by a cut; a step
minimises the largest cut plus the Newton term around the best point (a bundle method in the metric of
the second derivatives). A point that is no better than predicted only adds its cut. If the model
has no unique beta, none of them may prove the weights to be best, but a mixture does, and the
multipliers of the cuts say which. The first steps are those of the closed form for a fixed model
(`Judged.better_weights`), which are slow at the end, but reliable at the beginning.

Cost of a step: one solution of the models from the last one, M products of a kernel matrix with
beta, a factorisation of the free support vectors and a quadratic program of M + 1 variables. Needs
p = 1.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from mercer._types import FloatArray
from mercer.solvers.linalg.clarabel_qp import solve_quadratic_program

if TYPE_CHECKING:
    from mercer.problems.mkl.weighted_kernels import Judged
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.solvers.mkl.search import WeightSearch
    from mercer.solvers.result import Status

# Weight of the majorant in the Newton term: initial, smallest, largest.
DAMPING, LEAST_DAMPING, MOST_DAMPING = 0.1, 1e-9, 1.0
# A step must achieve this share of the predicted decrease or is rejected; with that share the next is bolder.
ENOUGH, MUCH = 0.1, 0.7
# Weights below this count as zero.
NO_WEIGHT = 1e-7
MOST_CUTS = 40
# Initial closed-form steps: at most this many, while each lowers the objective by this share.
MOST_APPROACH, SLOW = 12, 0.02
# If a step predicts less than this share of the required gap, a mixture of cuts may prove the weights optimal.
SMALL_GAIN = 0.05
# A mixture whose other cuts weigh less than this is not a mixture.
ONE_ALONE = 1e-6
# A machine gap below this, relative to the objective, is rounding.
NO_GAP = 1e-13
# Predicted decreases below this, relative to the objective, are rounding; then this many points are tried without a
# smaller gap, and this many in any case.
NO_GAIN, FEW_TRIES, MANY_TRIES = 1e-11, 4, 60


def curvature_of(
    dual: "DualProblem", beta: FloatArray, free_block: FloatArray, free_products: FloatArray
) -> FloatArray:
    """Second derivatives of the best value of one machine by the weights.

    Parameters
    ----------
    dual : DualProblem
    beta : ndarray (n,)
    free_block : ndarray (f, f)
        The weighted kernel matrix of the free points; changed.
    free_products : ndarray (f, M)
        (K_m beta) at the free points.
    """
    free = np.flatnonzero(dual.is_free(beta))
    places = np.arange(len(free))
    free_block += dual.shift
    if dual.ridge is not None:
        free_block[places, places] += dual.ridge[free]
    # Enough to factor a singular matrix; the damping of the step covers the rest.
    free_block[places, places] += 1e-9 * max(1e-300, float(np.trace(free_block)) / max(1, len(free)))
    try:
        factor = linalg.cho_factor(free_block, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return np.zeros((free_products.shape[1], free_products.shape[1]))
    ones = np.ones((len(free), 1))
    solved = linalg.cho_solve(factor, np.hstack([free_products, ones]), check_finite=False)
    H = free_products.T @ solved[:, :-1]
    if dual.has_equality:
        sums = ones.T @ solved
        H -= sums[:, :-1].T @ sums[:, :-1] / sums[0, -1]
    return 0.5 * (H + H.T)


def minimise(search: "WeightSearch", n_kernels: int) -> "Status | None":
    """Search the simplex for the weights of the smallest gap; returns a status, None at a limit."""
    cuts: list[Any] = _approach(search, n_kernels)
    centre = min(cuts, key=lambda cut: cut.primal, default=None)
    machines, damping, H = search.machines, DAMPING, None
    while centre is not None and (status := search.ended()) is None:
        H = _bounded(machines.curvature(centre), _majorant(centre)) if H is None else H
        scale = centre.scale
        weights, promised, shares = _step(centre, cuts, H + damping * np.diag(_majorant(centre)))
        gain = centre.primal - promised
        if max(gain, NO_GAP * scale) < centre.machines_gap and machines.tighten():
            # The predicted decrease is below the machines' accuracy: solve them more accurately.
            centre, H = search.visit(centre.weights), None
            cuts = [*cuts, centre]
            continue
        if gain <= SMALL_GAIN * search.gap_tol * scale:
            if (status := _mixed(search, centre, cuts, shares)) is not None:
                return status
            weights = _newton(centre, H, weights) if search.best is centre else weights
        if search.since_best >= (FEW_TRIES if gain <= NO_GAIN * scale else MANY_TRIES):
            return search.short_of()
        found = search.visit(weights)
        if found is None:
            return None
        cuts = _kept(cuts, shares, centre, found)
        if found.primal <= centre.primal - ENOUGH * gain:
            is_trusted = found.primal <= centre.primal - MUCH * gain
            centre, H, damping = found, None, max(LEAST_DAMPING, damping / 6.0) if is_trusted else damping
        else:
            damping = min(MOST_DAMPING, 4.0 * damping)
    return status if centre is not None else None


def _approach(search: "WeightSearch", n_kernels: int) -> "list[Judged]":
    """The points of a few monotone steps: far from the optimum Newton steps are unreliable."""
    points: list[Any] = [search.visit(search.allowed.equal(n_kernels))]
    while points[-1] is not None and search.ended() is None and len(points) < MOST_APPROACH:
        points.append(search.visit(points[-1].better_weights(search.allowed)))
        if points[-1] is not None and points[-1].primal > (1.0 - SLOW) * points[-2].primal:
            break
    return [point for point in points if point is not None] if points[-1] is not None else []


def _majorant(centre: "Judged") -> FloatArray:
    r"""Second derivatives of the majorant :math:`\tfrac12\sum_m\|w_m\|^2/\mu_m`: with its full weight a step can hardly
    fail. Kernels of zero weight get that of a small one, so that they can return."""
    least = 0.05 / len(centre.weights)
    sizes = np.maximum(centre.q, 1e-3 * max(centre.q.max(), 1e-300))
    return sizes / np.maximum(centre.weights, least) + 1e-9 * centre.scale


def _bounded(H: FloatArray, majorant: FloatArray) -> FloatArray:
    """H, with rows and columns shrunk until its diagonal is nowhere above the majorant's.

    Where beta is not unique the objective has a kink, and H is large but meaningless.
    """
    sizes = np.diag(H)
    shrink = np.sqrt(np.divide(majorant, sizes, out=np.ones(len(sizes)), where=sizes > majorant))
    return H * np.outer(shrink, shrink)


def _step(centre: "Judged", cuts: "list[Judged]", H: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """(weights, predicted objective there, multipliers of the cuts)."""
    M = len(centre.weights)
    scale = centre.scale
    # Relative to the objective, and offset by its value at the centre.
    Q = np.zeros((M + 1, M + 1))
    Q[:M, :M] = H / scale
    p = np.append(-H @ centre.weights / scale, 1.0)
    heights = np.array([cut.constant - centre.primal for cut in cuts]) / scale
    slopes = np.array([-0.5 * cut.q for cut in cuts]) / scale
    A = np.vstack([np.append(np.ones(M), 0.0), np.eye(M, M + 1), np.hstack([-slopes, np.ones((len(cuts), 1))])])
    c = np.concatenate([[1.0], np.zeros(M), heights])
    found = solve_quadratic_program(Q, p, A, c, n_equalities=1)
    weights = np.where(found.u[:M] < NO_WEIGHT, 0.0, found.u[:M])
    weights /= weights.sum()
    change = found.u[:M] - centre.weights
    promised = centre.primal + scale * (found.u[M] + 0.5 * change @ Q[:M, :M] @ change)
    shares = np.maximum(found.multipliers[1 + M :], 0.0)
    return weights, float(promised), shares / max(shares.sum(), 1e-300)


def _newton(centre: "Judged", H: FloatArray, weights: FloatArray) -> FloatArray:
    """The Newton step over the kernels of non-zero weight, to full accuracy; `weights` if it leaves the simplex.

    The quadratic program is accurate only to the square root of its tolerance.
    """
    active = np.flatnonzero(weights)
    m = len(active)
    # Kernels that lose their weight take their share with them.
    moved = np.where(weights > 0, 0.0, -centre.weights)
    system = np.ones((m + 1, m + 1))
    system[:m, :m], system[m, m] = H[np.ix_(active, active)] + LEAST_DAMPING * np.trace(H) * np.eye(m), 0.0
    right = np.append(0.5 * centre.q[active] - H[active] @ moved, -moved.sum())
    step = np.linalg.lstsq(system, right, rcond=1e-14)[0][:m]
    found = np.zeros_like(weights)
    found[active] = centre.weights[active] + step
    return found / found.sum() if found[active].min() > 0 else weights


def _kept(cuts: "list[Judged]", shares: FloatArray, centre: "Judged", found: "Judged") -> "list[Judged]":
    """The cuts with positive multipliers, the centre's and the new one."""
    used = [cut for cut, share in zip(cuts, shares, strict=True) if share > 1e-8 or cut is centre]
    return [*used[-MOST_CUTS:], found]


def _mixed(search: "WeightSearch", centre: "Judged", cuts: "list[Judged]", shares: FloatArray) -> "Status | None":
    """Mix the solutions by the multipliers of the cuts, and check whether that proves the weights optimal."""
    if shares.max() > 1.0 - ONE_ALONE:
        return None
    betas = [
        sum(share * cut.solutions[k].beta for cut, share in zip(cuts, shares, strict=True))
        for k in range(len(centre.solutions))
    ]
    search.note(search.machines.judge(centre.weights, betas))
    return search.ended()
