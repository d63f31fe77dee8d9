r"""Stop settings that can no longer win, with a proof.

Two bounds, both on the mean score over K folds. Let `best` be the best value that a score can have,
and let the most promising setting after the first fold be judged on all folds first; its mean score
is the mark to reach.

1. *Folds.* A setting with scores s_1..s_k so far has a mean of at most (s_1 + .. + s_k + (K - k) best) / K.
   Below the mark, it is not tried on the folds that are left.
2. *Duality gap*, for the accuracy of two classes (the idea is that of Shibagaki et al. 2015; the free
   bias is treated here as follows). In the middle of a fit, let w be the current weight vector, b in
   [b_1, b_2] the biases that are best for it, and G the gap between their primal value and the
   current dual one. The primal is strongly convex in w, so the solution has
   \|w* - w\| <= r = sqrt(2 G). The best bias for w* is a zero of a monotone sum of steps, whose places
   move by at most r sqrt(k(x_i, x_i)); hence b* lies in [b_1 - r rho, b_2 + r rho] with rho^2 the
   largest k(x_i, x_i). So at a held-out x

       |f*(x) - f(x)| <= r (sqrt(k(x, x)) + rho),

   and a row on the wrong side by more than that will be wrong when the fit is done. They bound the
   fold's score; where the mean then stays below the mark, the fit is cut.

What is proven concerns exact solutions; those within `tol` differ from them by as much as `tol` allows.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import BoolArray, FloatArray, IndexArray
from mercer.selection.tuning.results import CUT, DONE, UNTRIED

if TYPE_CHECKING:
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.svm.soft_margin import SoftMargin
    from mercer.selection.tuning.search import Search


# A mean score within this of the mark is not below it.
ROUNDING = 1e-12


def race(search: "Search", best_possible: float, word: str | None) -> None:
    """Judge all settings of a search, leaving out what is proven not to win."""
    table, scores = search.table, search.table.test[search.scores.judge]
    search.keeps_grams = True
    everything, n_folds = list(range(len(search.models))), scores.shape[1]
    search.run(everything, [0])
    first = np.where((table.state[:, 0] == DONE) & np.isfinite(scores[:, 0]), scores[:, 0], -np.inf)
    if not np.isfinite(first).any():
        search.run(everything, list(range(1, n_folds)))
        return
    leader = int(np.argmax(first))
    search.run([leader], list(range(1, n_folds)))
    # What fails on a fold cannot win, whatever its `error_score`: there is no mark then.
    mark = float(scores[leader].mean()) if (table.state[leader] == DONE).all() else -np.inf
    if not np.isfinite(mark):
        mark = -np.inf
    for fold in range(1, n_folds):
        known = scores[:, :fold].sum(axis=1)
        hopeless = (known + (n_folds - fold) * best_possible) / n_folds < mark - ROUNDING
        open_ = (table.state[:, fold] == UNTRIED) & ~(table.state == CUT).any(axis=1)
        _cut(search, np.flatnonzero(open_ & hopeless), fold)
        needed = n_folds * (mark - ROUNDING) - known - (n_folds - fold - 1) * best_possible
        watch = Watch(search, needed) if word == "accuracy" else None
        search.run(np.flatnonzero(open_ & ~hopeless).tolist(), [fold], watch)
        _cut(search, np.flatnonzero(table.state[:, fold] == CUT), fold)


def _cut(search: "Search", numbers: IndexArray, fold: int) -> None:
    """Drop settings from a fold on, and tell watchers that there is less to do."""
    rest = search.table.state[numbers, fold:]
    if (rest == UNTRIED).any():
        search.table.state[numbers, fold:] = np.where(rest == UNTRIED, CUT, rest)
        search.report()


class Watch:
    """Makes the function that says, between rounds of a fit, whether its fold's score is proven too low.

    Parameters
    ----------
    search : Search
    needed : ndarray
        The score of this fold below which a setting cannot win.
    """

    def __init__(self, search: "Search", needed: FloatArray) -> None:
        self.search, self.needed = search, needed

    def __call__(
        self, number: int, fold: int, setup: Any, places: IndexArray, matrix: "KernelMatrix"
    ) -> Callable[[FloatArray, FloatArray], bool] | None:
        """None where the bound does not apply."""
        is_plain = len(setup.problems) == 1 and setup.loss == "hinge" and setup.bias == "free"
        if not is_plain or len(setup.classes) != 2 or self.needed[number] <= 0.0:
            return None
        train, test = self.search.task.folds[fold]
        problem, used = setup.problems[0], places[train[setup.tasks[0].indices]]
        y, weights = self.search.task.y[test], self.search.task.weights_at(test)
        is_positive = y == setup.classes[1]
        widths = np.sqrt(np.maximum(matrix.diag, 0.0))
        rho, rows = float(widths[used].max()), places[test]
        # A row that is learnt from more than once has one coefficient, of which each time has its share.
        times = np.bincount(used)[used]

        def is_hopeless(beta: FloatArray, product: FloatArray) -> bool:
            bound = accuracy_bound(
                problem, beta[used] / times, product[used], product[rows], widths[rows], rho, is_positive, weights
            )
            return bound < self.needed[number]

        return is_hopeless


def accuracy_bound(
    problem: "SoftMargin",
    beta: FloatArray,
    projections: FloatArray,
    held_out: FloatArray,
    widths: FloatArray,
    rho: float,
    is_positive: BoolArray,
    weights: FloatArray | None = None,
) -> float:
    """An upper bound on the accuracy of the exact solution of a `SoftMargin` on held-out rows.

    Parameters
    ----------
    problem : SoftMargin
        With the hinge loss and a free bias.
    beta : ndarray (n,)
        Any point of the dual's box whose sum is zero.
    projections, held_out : ndarray
        K beta at the training rows and at the held-out rows.
    widths : ndarray
        sqrt(k(x, x)) of the held-out rows; `rho` is the largest of the training rows.
    is_positive : ndarray of bool
        The labels of the held-out rows.
    weights : ndarray, optional
        Of the held-out rows.
    """
    low, high = best_biases(problem, projections)
    primal = problem.primal(beta, projections, low)
    dual = float(problem.signs @ beta) - 0.5 * float(beta @ projections)
    reach = np.sqrt(2.0 * max(0.0, primal - dual)) * (widths + rho)
    wrong = np.where(is_positive, held_out + high + reach < 0.0, held_out + low - reach > 0.0)
    return 1.0 - float(np.average(wrong, weights=weights))


def best_biases(problem: "SoftMargin", projections: FloatArray) -> tuple[float, float]:
    """(b_1, b_2), the ends of the interval of biases that are best for a weight vector.

    The loss as a function of b has slope -C_i for positive rows with b < t_i and +C_i for negative rows
    with b > t_i, where t_i = y_i - <w, psi(x_i)>; it is least where the sum of slopes changes sign.
    """
    places = problem.signs - projections
    order = np.argsort(places, kind="stable")
    # Passing t_i, a positive row's slope ends and a negative row's begins: the sum rises by C_i.
    slopes = np.cumsum(problem.C[order]) - float(problem.C[problem.signs > 0].sum())
    rounding = 1e-12 * float(problem.C.sum())
    first = int(np.argmax(slopes >= -rounding))
    last = int(np.argmax(slopes > rounding)) if (slopes > rounding).any() else len(slopes) - 1
    return float(places[order[first]]), float(places[order[last]])
