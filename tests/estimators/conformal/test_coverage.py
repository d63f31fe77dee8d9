"""Sets and intervals cover as often as they promise, and are what their definitions say."""

import math

import numpy as np
import pytest
import sklearn.kernel_ridge
from sklearn.base import clone
from sklearn.datasets import load_iris

from mercer import SVC, SVR, Conformal, DataError, KernelLeastSquares, KernelLogisticRegression, KernelRidge, LinearSVC
from mercer.kernels import RBF

# Averages of SEEDS coverages, each of TEST rows after 60 rows or more were left out. One coverage has a deviation of at
# most 0.039 by the draw of the scores (a beta distribution) and 0.03 by that of the test rows, and the mean of 120 one
# of 0.0045. The draws are always these; others would fail a case whose mean is 0.9 once in a hundred thousand times.
SEEDS, TEST = 120, 100


def waves(rng, n):
    X = rng.uniform(-3, 3, size=(n, 1))
    return X, np.sin(2 * X[:, 0]) + (0.1 + 0.2 * np.abs(X[:, 0])) * rng.normal(size=n)


def three_clouds(rng, n):
    y = rng.choice(3, size=n, p=[0.5, 0.3, 0.2])
    centres = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
    return centres[y] + rng.normal(size=(n, 2)), y


def share_in(interval, y):
    return np.mean((interval[:, 0] <= y) & (y <= interval[:, 1]))


REGRESSIONS = {
    "split": (SVR(kernel=RBF(1.0), conformal=Conformal("split", share=0.6225)), 159),
    "cross": (SVR(kernel=RBF(1.0), conformal="cross"), 120),
    "leave one out": (KernelRidge(kernel="rbf", gamma=1.0, alpha=0.5, conformal="leave_one_out"), 60),
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_intervals_of_90_per_cent_cover_88_to_92_on_average(name):
    model, n = REGRESSIONS[name]
    covered = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        model.fit(*waves(rng, n))
        X, y = waves(rng, TEST)
        covered.append(share_in(model.predict_interval(X, coverage=0.9), y))
    assert 0.88 <= np.mean(covered) <= 0.92


CLASSIFIERS = {
    "split": (SVC(kernel=RBF(0.5), conformal=Conformal("split", share=0.6225)), 159),
    "cross": (SVC(kernel=RBF(0.5), conformal="cross"), 120),
    "linear": (LinearSVC(conformal=Conformal("split", share=0.6225)), 159),
    "adaptive": (
        KernelLogisticRegression(kernel=RBF(0.5), conformal=Conformal("split", share=0.6225, score="aps")),
        159,
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sets_of_90_per_cent_cover_88_to_92_on_average(name):
    model, n = CLASSIFIERS[name]
    covered = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        model.fit(*three_clouds(rng, n))
        X, y = three_clouds(rng, TEST)
        covered.append(model.predict_set(X, coverage=0.9)[np.arange(TEST), y].mean())
    assert 0.88 <= np.mean(covered) <= 0.92


def test_by_class_each_class_is_covered_and_otherwise_the_rare_one_pays():
    means = {}
    for by_class in (False, True):
        model = SVC(kernel=RBF(0.5), conformal=Conformal("split", share=0.7, by_class=by_class))
        hits = np.zeros((3, 2))
        for seed in range(60):
            rng = np.random.default_rng(seed)
            model.fit(*three_clouds(rng, 400))
            X, y = three_clouds(rng, 200)
            is_in = model.predict_set(X, coverage=0.9)[np.arange(200), y]
            for c in range(3):
                hits[c] += is_in[y == c].sum(), (y == c).sum()
        means[by_class] = hits[:, 0] / hits[:, 1]
    # At least 0.9 for each, up to chance; at most what 56 rows of the rarest class round up to, and predict adds.
    assert (means[True] >= 0.88).all()
    assert means[False].min() < 0.86


# --- the definitions, written out --------------------------------------------------------------


def folds_seen(model, X, y, n_folds):
    """The fold of each row, found by asking which machine of the model has not learnt from it."""
    kept = model._conformity
    assert len(kept.scores) == len(y)
    sizes = np.bincount(kept.columns, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    return kept.columns


def test_cross_intervals_are_those_of_machines_fitted_without_each_fold():
    rng = np.random.default_rng(5)
    X, y = waves(rng, 40)
    new = waves(rng, 15)[0]
    model = SVR(conformal=Conformal("cross", folds=4, random_state=7)).fit(X, y)
    folds = folds_seen(model, X, y, 4)
    # gamma="scale" is that of the rows without the fold.
    parts = [SVR().fit(X[folds != k], y[folds != k]) for k in range(4)]
    residuals = np.array([abs(y[i] - parts[folds[i]].predict(X[[i]])[0]) for i in range(40)])
    values = np.array([part.predict(new) for part in parts])
    found = model.predict_interval(new, coverage=0.8)
    for j in range(len(new)):
        low = sorted(values[folds[i], j] - residuals[i] for i in range(40))
        high = sorted(values[folds[i], j] + residuals[i] for i in range(40))
        # floor(0.2 * 41) = 8, ceil(0.8 * 41) = 33
        np.testing.assert_allclose(found[j], (low[7], high[32]), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 1.0), (1e-3, 0.2)])
def test_leave_one_out_intervals_are_the_jackknife_plus_of_as_many_fits(alpha, gamma):
    rng = np.random.default_rng(6)
    X, y = waves(rng, 30)
    new = waves(rng, 12)[0]
    model = KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma, conformal="leave_one_out").fit(X, y)
    low, high = np.empty((30, 12)), np.empty((30, 12))
    for i in range(30):
        others = np.arange(30) != i
        part = sklearn.kernel_ridge.KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma).fit(X[others], y[others])
        residual = abs(y[i] - part.predict(X[[i]])[0])
        low[i], high[i] = part.predict(new) - residual, part.predict(new) + residual
    expected = np.column_stack([np.sort(low, axis=0)[2], np.sort(high, axis=0)[27]])  # floor(3.1), ceil(27.9)
    np.testing.assert_allclose(model.predict_interval(new, coverage=0.9), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("columns", [2, 45])
def test_leave_one_out_of_least_squares_is_that_of_as_many_fits(columns):
    # With fewer columns than rows there is a residual, with more the function goes through every target.
    rng = np.random.default_rng(8)
    X, new = rng.normal(size=(30, columns)), rng.normal(size=(7, columns))
    y = X[:, 0] + 0.5 * rng.normal(size=30)
    model = KernelLeastSquares(conformal="leave_one_out").fit(X, y)
    low, high = np.empty((30, 7)), np.empty((30, 7))
    for i in range(30):
        others = np.arange(30) != i
        w = np.linalg.lstsq(X[others], y[others], rcond=None)[0]
        residual = abs(y[i] - X[i] @ w)
        low[i], high[i] = new @ w - residual, new @ w + residual
    expected = np.column_stack([np.sort(low, axis=0)[2], np.sort(high, axis=0)[27]])
    np.testing.assert_allclose(model.predict_interval(new, coverage=0.9), expected, rtol=1e-6, atol=1e-8)


def test_split_sets_are_those_of_a_threshold_on_rows_set_aside():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    model = KernelLogisticRegression(conformal=Conformal("split", share=0.3)).fit(X, y)
    m = len(model._conformity.scores)
    assert m == 45
    # conform() with the same rows is the same: they are found as those with the scores that were kept.
    scores = 1.0 - model.predict_proba(X)[np.arange(150), y]
    threshold = np.sort(model._conformity.scores)[math.ceil(0.85 * 46) - 1]
    assert np.isin(model._conformity.scores.round(9), scores.round(9)).all()
    expected = 1.0 - model.predict_proba(X) <= threshold
    expected[np.arange(150), model.predict(X)] = True
    np.testing.assert_array_equal(model.predict_set(X, coverage=0.85), expected)


def test_cross_sets_count_scores_of_every_fold():
    rng = np.random.default_rng(2)
    X, y = three_clouds(rng, 60)
    new = three_clouds(rng, 20)[0]
    machine = SVC(kernel=RBF(0.7), multi_class="ovr", tol=1e-9)
    model = clone(machine).set_params(conformal=Conformal("cross", folds=3, random_state=1)).fit(X, y)
    folds = folds_seen(model, X, y, 3)
    parts = [clone(machine).fit(X[folds != k], y[folds != k]) for k in range(3)]
    own = np.array([-parts[folds[i]].decision_function(X[[i]])[0, y[i]] for i in range(60)])
    candidates = np.array([-part.decision_function(new) for part in parts])
    predicted = model.predict(new)
    # (classes, new rows, scores): how much worse a class suits a new row than its own class a row that was left out.
    worse = candidates[folds].transpose(2, 1, 0) - own
    assert np.abs(worse).min() > 1e-7
    expected = ((worse > 0).sum(axis=2) < 0.9 * 61).T
    expected[np.arange(20), predicted] = True
    assert 0 < expected.sum() < 60
    np.testing.assert_array_equal(model.predict_set(new, coverage=0.9), expected)


def test_conform_promises_for_rows_that_the_machine_has_not_seen():
    rng = np.random.default_rng(4)
    model = SVR(kernel=RBF(1.0)).fit(*waves(rng, 60))
    assert not hasattr(model, "predict_interval")
    X, y = waves(rng, 19)
    model.conform(X, y)
    half = np.sort(np.abs(y - model.predict(X)))[17]  # ceil(0.9 * 20) = 18
    np.testing.assert_allclose(model.predict_interval(X), model.predict(X)[:, None] + np.array([-half, half]))
    with pytest.raises(DataError, match="needs at least 99 left-out rows, but there are only 19"):
        model.predict_interval(X, coverage=0.99)
    model.fit(X, y)
    assert not hasattr(model, "predict_interval")
