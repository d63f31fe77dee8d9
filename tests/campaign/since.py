"""Options that came after the first hundred thousand problems, for seeds from a million on.

They are drawn by a generator of their own, so that a smaller seed is the problem that it always was.
"""

import warnings
from contextlib import suppress
from itertools import pairwise

import numpy as np
from scipy import sparse

import mercer
from mercer import Conformal, DataError, LowRank, Status
from mercer.kernels import RBF, Linear
from tests.campaign import tables
from tests.campaign.kernel_draws import KernelDraw
from tests.campaign.rows import choose
from tests.oracles import exact_conditions as conditions
from tests.oracles.exact_kernels import LONG, linear, rbf

FROM = 1_000_000
RESTRICTED = ("SVC", "SVR", "KernelRidge")
CONFORMAL = ("SVC", "NuSVC", "KernelLogisticRegression", "SVR", "NuSVR", "KernelRidge", "KernelLeastSquares")
AUTO = ("SVC", "SVR", "NuSVC", "OneClassSVM")
COVERAGES = (0.5, 0.8, 0.95)
# Refitted without each of so many rows, a ridge regression is judged row by row.
FEW = 40


def _generator(seed):
    return np.random.default_rng([18, seed])


def row_count(seed):
    """How many rows there are, where it is more than single precision begins with; None for the usual number."""
    rng = _generator(seed)
    return int(rng.integers(401, 900)) if seed >= FROM and rng.random() < 0.04 else None


def add(problem):
    """Options of `problem` that are new, and what they are about; None where there are none."""
    rng, name, options = _generator(problem.seed).spawn(1)[0], problem.name, problem.options
    if problem.seed < FROM or problem.kernel.form != "rows" or problem.X is None or not hasattr(problem.X, "shape"):
        return None
    kind = choose(rng, nothing=2, approximation=2, conformal=2, auto=1)
    is_usual = options.get("solver", "auto") == "auto" and options.get("multi_class") != "crammer_singer"
    if kind == "approximation" and name in RESTRICTED and is_usual:
        most, choice = problem.X.shape[0], choose(rng, uniform=2, rpcholesky=1)
        options["approximation"] = LowRank(landmarks=int(rng.integers(1, most + 1)), choice=choice)
        return kind
    if kind == "conformal" and name in CONFORMAL and problem.weights is None:
        is_ridge = name in ("KernelRidge", "KernelLeastSquares") and rng.random() < 0.5
        options["conformal"] = Conformal("leave_one_out") if is_ridge else Conformal("cross", folds=3)
        return kind
    if kind == "auto" and name in AUTO:
        for each in ("gamma", "degree", "coef0"):
            options.pop(each, None)
        options["kernel"] = "auto"
        return kind
    return None


def resolve(problem, model):
    """Take the kernel that a fit has chosen or measured for the oracle's; False where that has none of its kind."""
    if problem.about == "table":
        if problem.options["kernel"] == "auto":
            problem.kernel = tables.resolved(model.kernel_, problem.items[0], problem.weights)
        return problem.kernel is not None
    kernel = model.kernel_
    if isinstance(kernel, RBF):
        problem.kernel = KernelDraw({}, rbf(float(kernel.gamma), problem.items[0].mean(axis=0)))
    elif isinstance(kernel, Linear):
        problem.kernel = KernelDraw({}, linear())
    else:
        return False
    return True


def restricted(problem, model):
    """The objective lies above that of the exact machine, by no more than the distance and the gap."""
    exact = getattr(mercer, problem.name)(**{**problem.options, "approximation": None})
    arguments = {} if problem.weights is None else {"sample_weight": problem.weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact.fit(problem.X, problem.y, **arguments)
    if Status.OPTIMAL not in (model.status_, exact.status_) or model.status_ != exact.status_:
        return
    listed = [each if isinstance(each, list) else [each] for each in (model.certificate_, exact.certificate_)]
    distances = model.distance_ if isinstance(model.distance_, list) else [model.distance_]
    for own, other, distance in zip(*listed, distances, strict=True):
        rounding = 1e-9 * max(1.0, abs(own.primal), abs(other.primal))
        if own.primal < other.dual - rounding:
            yield f"restricted to landmarks {own.primal:.10g}, and the exact optimum is at least {other.dual:.10g}"
        allowed = own.gap + distance.value + rounding
        if distance.method == "exact" and own.primal - other.primal > allowed:
            yield f"{own.primal - other.primal:.3e} above the exact machine, the distance allows {allowed:.3e}"


def restricted_values(problem, model):
    """The functions of a machine over landmarks are what their coefficients say: a row of these for each function."""
    if problem.name == "KernelRidge":
        return  # its landmarks are not told by their places among the rows
    coefficients = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else np.asarray(model.dual_coef_)
    for whole, unsure, rows in ((problem.K, problem.doubt, problem.X), (problem.K_new, problem.doubt_new, problem.new)):
        K, doubt = whole[:, model.support_], unsure[:, model.support_]
        exact = K @ coefficients.astype(LONG).T + np.ravel(model.intercept_).astype(LONG)
        told = model.decision_function(rows) if hasattr(model, "classes_") else model.predict(rows)
        told = np.reshape(told, (len(told), -1))
        if told.shape != exact.shape:
            continue
        own = np.stack([conditions.rounding(b, doubt, K, stated=conditions.PREDICTION) for b in coefficients], axis=1)
        tolerated = 4.0 * model.tol if problem.eps > conditions.EPS else 0.0
        allowed = own + 4.0 * conditions.EPS * np.abs(np.ravel(model.intercept_)) + tolerated
        if not (np.abs(told - exact) <= allowed).all():
            yield f"off by {float(np.abs(told - exact).max()):.2e}, allowed {float(allowed.max()):.1e}"


def conformal(problem, model):
    """Sets grow with the coverage that is asked for; intervals of a ridge regression are those of its refits."""
    found = _answers(problem, model)
    if hasattr(model, "predict_set"):
        if any((small & ~large).any() for small, large in pairwise(found.values())):
            yield "a set for a larger coverage leaves a class out"
        return
    for small, large in pairwise(found.values()):
        if (large[:, 0] > small[:, 0]).any() or (large[:, 1] < small[:, 1]).any():
            yield "an interval for a larger coverage is shorter"
    if problem.name == "KernelRidge" and model.conformal.method == "leave_one_out" and len(problem.y) <= FEW:
        yield from _jackknife(problem, model, found)


def _answers(problem, model):
    """Sets or intervals by their coverage, as far as there are rows enough for it."""
    answer, found = getattr(model, "predict_set", None) or model.predict_interval, {}
    for each in COVERAGES:
        with suppress(DataError):
            found[each] = answer(problem.new, coverage=each)
    return found


def _jackknife(problem, model, found):
    """Barber et al. (2021): each row is left out, and its residual is put around what its machine says."""
    K, new, n = np.asarray(problem.K, float), np.asarray(problem.K_new, float), len(problem.y)
    whole = K + model.alpha_ * np.eye(n)
    if not np.linalg.cond(whole) < 1e8:
        return
    low, high = np.empty((len(new), n)), np.empty((len(new), n))
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        alpha = np.linalg.solve(whole[np.ix_(rest, rest)], problem.y[rest])
        residual, values = abs(problem.y[i] - K[i, rest] @ alpha), new[:, rest] @ alpha
        low[:, i], high[:, i] = values - residual, values + residual
    unsure = 1e-6 * (1.0 + float(np.abs(high).max()))
    for coverage, told in found.items():
        rank = int(np.ceil(coverage * (n + 1) - 1e-9))
        if rank > n:
            continue
        ends = -np.sort(-low, axis=1)[:, rank - 1], np.sort(high, axis=1)[:, rank - 1]
        if np.abs(told - np.stack(ends, axis=1)).max() > unsure:
            yield f"an interval of coverage {coverage} is not that of the rows left out"
