r"""A feasible point of the dual, which bounds how far given weights are from the optimum.

Stochastic gradient descent gives no usable dual variables: how often a row was drawn is random,
and may exceed the box. So they are found afterwards. Method (Hsieh et al. 2008): coordinate
steps on the dual, from the better of two points, scaled: every row at its largest coefficient, or
every row that falls short of the margin. Every point on the way is feasible, so whenever the passes end, the dual
value is a bound.

Cost of a pass: the entries of all rows. Needs of a problem: the hinge loss, and no bias or
a penalised one.
"""

from typing import TYPE_CHECKING

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.row_products import RowProducts
from mercer._jit.row_views import row_add, row_dot, view_rows
from mercer._jit.vectors import vector_loop
from mercer._types import FloatArray, IndexArray, Rows
from mercer.solvers.stochastic.visit_order import Sampler

if TYPE_CHECKING:
    from mercer._jit.row_views import RowView
    from mercer.kernels._types import Stop
    from mercer.problems.svm.soft_margin import SoftMargin

MOST_PASSES = 200
# Stop after a pass that raises the dual by less than this share, or leaves a gap below this share of the primal.
WORTH_A_PASS = 1e-4
SMALL_GAP = 1e-6


@jit
def _pass(
    rows: "RowView",
    signs: FloatArray,
    C: FloatArray,
    bias: float,
    order: IndexArray,
    squares: FloatArray,
    alpha: FloatArray,
    v: FloatArray,
) -> None:
    """One coordinate step for each row of `order`; v = sum_i alpha_i y_i x_i, bias last."""
    vector_loop()
    last = v.shape[0] - 1
    for k in range(order.shape[0]):
        i = order[k]
        if squares[i] <= 0.0:
            alpha[i] = C[i]
            continue
        slope = signs[i] * (row_dot(rows, i, v) + bias * v[last]) - 1.0
        moved = min(max(alpha[i] - slope / squares[i], 0.0), C[i])
        step = (moved - alpha[i]) * signs[i]
        if step != 0.0:
            row_add(rows, i, step, v)
            v[last] += step * bias
            alpha[i] = moved


def _scaled(products: RowProducts, signs: FloatArray, bias: float, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best multiple of alpha in the box, and v = sum_i alpha_i y_i x_i."""
    v = np.zeros(products.n_features + 1)
    products.combination(alpha * signs, v[:-1])
    v[-1] = bias * float(alpha @ signs)
    square = float(v @ v)
    share = min(1.0, alpha.sum() / square) if square > 0.0 else 1.0
    return share * alpha, share * v


def raise_dual(
    X: Rows, problem: "SoftMargin", values: FloatArray, primal: float, stop: "Stop | None" = None
) -> FloatArray:
    """Signed dual coefficients whose value comes near that of the optimum.

    Parameters
    ----------
    X : ndarray or CSR matrix, checked
    problem : SoftMargin
    values : ndarray (n,)
        Predictions of the weights to be judged; they decide where to begin.
    primal : float
        Their objective, which decides when a further pass is worth it.
    stop : callable, optional
        Asked between passes.
    """
    products, signs, C = RowProducts(view_rows(X), X.shape[1]), problem.signs.astype(np.float64), problem.C
    bias = float(problem.bias == "penalized")
    squares = products.squares() + bias
    starts = [_scaled(products, signs, bias, where * C) for where in (signs * values < 1.0, np.ones(len(C)))]
    alpha, v = max(starts, key=lambda start: start[0].sum() - 0.5 * start[1] @ start[1])
    sampler = Sampler(len(signs), 0, "permutation")
    dual = best = alpha.sum() - 0.5 * v @ v
    for k in range(MOST_PASSES):
        _pass(products.rows, signs, C, bias, sampler.draw(k * len(signs), len(signs)), squares, alpha, v)
        dual, best = alpha.sum() - 0.5 * v @ v, dual
        is_near = primal - dual <= SMALL_GAP * primal or dual - best <= WORTH_A_PASS * dual
        if is_near or (stop is not None and stop()):
            break
    return alpha * signs
