"""Whether a model answers what its coefficients say, at training rows and at new ones."""

import numpy as np

from mercer.estimators.fitting.tasks import strategy_of
from tests.campaign.functions import values
from tests.oracles.exact_conditions import PREDICTION, rounding
from tests.oracles.exact_kernels import LONG

LEAST = float(np.finfo(np.float64).tiny)
REGRESSORS = ("SVRCV", "SVR", "NuSVR", "KernelMachine", "MKLRegressor", "RankSVM")
DETECTORS = ("OneClassSVM", "MKLOneClassSVM")
EQUATIONS = ("KernelRidge", "KernelLeastSquares", "KernelFisherDiscriminant")
CLASSIFIERS = (
    "SVCCV",
    "SVC",
    "NuSVC",
    "HardMarginSVC",
    "RampSVC",
    "KernelPerceptron",
    "KernelLogisticRegression",
    "KernelMachine",
    "BayesPointMachine",
    "AnalyticCenterMachine",
    "MKLClassifier",
)


def _difference(told, exact, allowed, what):
    told = np.asarray(told, LONG)
    if not np.isfinite(told).all():
        yield f"{what}: not finite"
        return
    off = np.abs(told - exact)
    ratio = np.max(off / np.maximum(np.asarray(allowed, float), 1e-300), initial=0.0)
    if ratio > 1.0:
        place = np.unravel_index(int(np.argmax(off - allowed)), off.shape)
        yield (
            f"{what}: {float(told[place]):.10g} where its coefficients say {float(exact[place]):.10g}, "
            f"allowed {float(np.asarray(allowed)[place]):.1e}"
        )


def judge(problem, model):
    """Sentences on what is wrong with the answers of a model."""
    for is_new, rows in ((False, problem.X), (True, problem.new)):
        where = "new rows" if is_new else "training rows"
        if problem.name in ("LinearSVC", "LinearSVR", "Perceptron"):
            yield from _linear(problem, model, rows, is_new, where)
        elif problem.name in CLASSIFIERS and hasattr(model, "classes_"):
            yield from _classifier(problem, model, rows, is_new, where)
        elif problem.name in EQUATIONS:
            yield from _equations(problem, model, rows, is_new, where)
        elif problem.name == "KernelPCA":
            yield from _components(problem, model, rows, is_new, where)
        elif problem.name in REGRESSORS + DETECTORS:
            exact, allowed = values(problem, model, is_new)
            told = model.decision_function(rows) if problem.name in DETECTORS else model.predict(rows)
            yield from _difference(told, exact[:, 0], allowed[:, 0], where)


def _classifier(problem, model, rows, is_new, where):
    exact, allowed = values(problem, model, is_new)
    told = model.decision_function(rows)
    if told.ndim == 1:
        yield from _difference(told, exact[:, 0], allowed[:, 0], where)
        # Below the least number of double precision, a value has no sign there.
        sure = np.abs(exact[:, 0]) > 2.0 * allowed[:, 0] + LEAST
        wanted = model.classes_[(exact[:, 0] > 0).astype(int)]
        if (model.predict(rows)[sure] != wanted[sure]).any():
            yield f"{where}: a label is not that of the sign"
    elif strategy_of(model) != "ovo" or model.decision_function_shape == "ovo":
        yield from _difference(told, exact, allowed, where)


def _of(problem, is_new):
    return (problem.K_new, problem.doubt_new) if is_new else (problem.K, problem.doubt)


def _equations(problem, model, rows, is_new, where):
    """Sums over all training rows."""
    K, doubt = _of(problem, is_new)
    coefficients = np.asarray(model.dual_coef_).reshape(K.shape[1], -1)
    intercepts = np.ravel(getattr(model, "intercept_", np.zeros(coefficients.shape[1])))
    told = model.transform(rows) if hasattr(model, "transform") else np.reshape(model.predict(rows), (len(K), -1))
    exact = K @ coefficients.astype(LONG) + intercepts.astype(LONG)
    allowed = np.stack([rounding(beta, doubt, K, problem.eps, PREDICTION) for beta in coefficients.T], axis=1)
    yield from _difference(told, exact, allowed + 8.0 * problem.eps * np.abs(intercepts), where)


def _components(problem, model, rows, is_new, where):
    """Coordinates along eigenvectors of the centred matrix."""
    K, doubt = _of(problem, is_new)
    values, vectors = model.eigenvalues_, model.eigenvectors_
    roots = np.sqrt(np.where(values > 0, values, np.inf))
    directions = vectors / roots
    means = problem.K.mean(axis=0)
    centred = K - K.mean(axis=1, keepdims=True) - means + means.mean()
    sizes, unsure = np.abs(np.asarray(problem.K, float)).mean(axis=0), problem.doubt.mean(axis=0)
    K_size = np.abs(np.asarray(K, float)) + np.abs(np.asarray(K, float)).mean(axis=1, keepdims=True)
    doubt = doubt + doubt.mean(axis=1, keepdims=True) + unsure + unsure.mean()
    allowed = np.stack(
        [rounding(a, doubt, K_size + sizes + sizes.mean(), problem.eps, PREDICTION) for a in directions.T], axis=1
    )
    yield from _difference(model.transform(rows), centred @ directions.astype(LONG), allowed, where)


def _linear(problem, model, rows, is_new, where):
    w, b = np.atleast_2d(model.coef_), np.ravel(model.intercept_)
    X = problem.items[1 if is_new else 0]
    exact = X @ w.astype(LONG).T + b.astype(LONG)
    sizes = np.asarray(np.abs(X) @ np.abs(w).astype(LONG).T, float) * (8.0 + X.shape[1]) + 8.0 * np.abs(b)
    told = model.predict(rows) if problem.name == "LinearSVR" else model.decision_function(rows)
    exact = exact[:, 0] if np.ndim(told) == 1 else exact
    allowed = problem.eps * (sizes[:, 0] if np.ndim(told) == 1 else sizes)
    yield from _difference(told, exact, allowed, where)
