"""Optimal values by others: Clarabel for linear machines, and LIBSVM for two classes."""

import numpy as np
from sklearn.svm import SVC as LIBSVM

from mercer import Status
from tests.campaign.functions import machines, row_weights
from tests.oracles import linear_primal
from tests.oracles.exact_kernels import LONG

# Interior points of badly scaled programs are not to be trusted: only tame problems are compared.
LARGEST_C, SMALLEST, LARGEST, MOST_ROWS = 1e4, 1e-2, 1e2, 60


def _is_tame(problem, C):
    sizes = np.abs(np.asarray(problem.items[0], float))
    return (
        sizes.shape[0] <= MOST_ROWS and SMALLEST <= sizes.max() <= LARGEST and 1e-4 <= C.min() <= C.max() <= LARGEST_C
    )


def linear(problem, model):
    """The primal objective of a linear machine is within its tolerance of Clarabel's optimum."""
    C = model.C * row_weights(problem)
    is_regression = problem.name == "LinearSVR"
    several = not is_regression and (len(model.classes_) > 2 or model.multi_class == "crammer_singer")
    if model.status_ != Status.OPTIMAL or several or not (C > 0).all() or not _is_tame(problem, C):
        return
    signs = problem.y if is_regression else np.where(problem.y == model.classes_[1], 1.0, -1.0)
    options = {"epsilon": model.epsilon} if is_regression else {"penalty": model.penalty}
    try:
        best = linear_primal.optimum(
            problem.X, signs, C, model.loss, bias=model.bias, scale=model.intercept_scaling, **options
        )
    except AssertionError:  # Clarabel did not solve it
        return
    value = _linear_value(problem, model, signs, C, is_regression)
    if value - best > 2.0 * model.tol * max(1.0, abs(best)) + 1e-7 * abs(best):
        yield f"OPTIMAL with the objective {value:.10g}, Clarabel has {best:.10g}, tol {model.tol:.1e}"


def _linear_value(problem, model, targets, C, is_regression):
    w, b = np.ravel(model.coef_).astype(LONG), LONG(np.ravel(model.intercept_)[0])
    f = problem.items[0] @ w + b
    losses = np.abs(targets - f) - model.epsilon if is_regression else 1 - targets * f
    losses = np.maximum(losses, 0) ** (2 if "squared" in model.loss else 1)
    if getattr(model, "penalty", "l2") == "l1":
        penalty = np.abs(w).sum() + (abs(b / LONG(model.intercept_scaling)) if model.bias == "penalized" else 0)
    else:
        own = (b / LONG(model.intercept_scaling)) ** 2 if model.bias == "penalized" else 0
        penalty = 0.5 * (w @ w + own)
    return float(penalty + C.astype(LONG) @ losses)


def libsvm(problem, model):
    """The dual objective of a two-class machine is no worse than LIBSVM's, but for the tolerances."""
    is_like_it = model.bias == "free" and model.loss == "hinge" and len(model.classes_) == 2
    C = model.C * row_weights(problem)
    n = len(C)
    if not is_like_it or model.status_ != Status.OPTIMAL or not 1e-3 <= model.C <= LARGEST_C or n > MOST_ROWS:
        return
    if model.get_params().get("class_weight") is not None or model.multi_class == "crammer_singer":
        return
    if model.gap_tol is not None or not problem.kernel.is_psd or C.max() > LARGEST_C:
        return
    K = np.asarray(problem.K, float)
    if not 1e-2 <= np.abs(K).max() <= 1e2:
        return
    other = LIBSVM(C=model.C, kernel="precomputed", tol=1e-6, max_iter=200_000, cache_size=10)
    # It leaves out rows without a weight, and numbers its support vectors among those that are left.
    used = np.flatnonzero(C > 0)
    other.fit(K[np.ix_(used, used)], problem.y[used], sample_weight=row_weights(problem)[used])
    beta = np.zeros(n)
    beta[used[other.support_]] = other.dual_coef_[0]
    (machine,) = machines(problem, model)
    ours, theirs = (float(machine.signs @ b - 0.5 * b @ K @ b) for b in (machine.beta, beta))
    allowed = model.tol * float(C.sum()) + 1e-6 * max(1.0, abs(theirs))
    if theirs - ours > allowed:
        yield f"OPTIMAL with the dual value {ours:.10g}, LIBSVM has {theirs:.10g}, allowed {allowed:.1e}"
