"""Machines of a fold that begin with the solution for all rows."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVCCV
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.part_of_dual import widened
from mercer.selection.tuning import fold_series
from mercer.selection.tuning.fold_series import MANY_ROWS, FoldSeries
from mercer.solvers.class_pairs import pairs_along_path
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status

N = 1700


@pytest.fixture(scope="module")
def data():
    """Labels, kernel matrix, and the rows that the fold learns from and holds out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=N) > 0, 1, -1)
    held = np.arange(N) % 5 == 0
    return y, StoredMatrix.of(RBF(0.5)(X)), np.flatnonzero(~held), np.flatnonzero(held)


def series(matrix, train, rows):
    return FoldSeries(matrix, True, train, rows, 1e-3, Limits(), 2**30)


def setup(y, C):
    return SVC(C=C)._setup(y, None)[0]


def seed_of(data, C):
    y, matrix, _, held = data
    return series(matrix, np.arange(N), held).seed(setup(y, C))


def test_a_fold_has_the_same_values_wherever_it_begins(data):
    y, matrix, train, held = data
    setups = [setup(y[train], C) for C in (0.1, 1.0)]
    fold = series(matrix, train, held)
    for seeded, plain in zip(fold.solve(setups, seed=seed_of(data, 0.1)), fold.solve(setups), strict=True):
        assert seeded.status == plain.status == Status.OPTIMAL
        assert np.allclose(seeded.values, plain.values, atol=0.01)


def test_a_fold_begins_with_the_coefficients_of_its_own_rows(data):
    y, matrix, train, held = data
    seed = seed_of(data, 0.1)
    dual = widened(setup(y[train], 0.1).problems[0].dual(), train, N)
    state = seed.state_for(dual, matrix)
    assert not state.beta[held].any()
    assert abs(state.beta.sum()) < 1e-9
    assert ((state.beta >= dual.lower) & (state.beta <= dual.upper)).all()
    assert np.count_nonzero(state.beta[train] != seed.state.beta[train]) < 0.1 * len(train)
    assert np.allclose(state.product, matrix.values[:N, :N] @ state.beta, atol=1e-9)


def test_a_seed_of_another_box_is_not_used(data):
    y, matrix, train, _ = data
    dual = widened(setup(y[train], 0.2).problems[0].dual(), train, N)
    assert not seed_of(data, 0.1).state_for(dual, matrix).beta.any()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("is_convex", [True, False])
def test_pairs_of_few_rows_have_the_values_of_fits(loss, is_convex):
    X, y = load_iris(return_X_y=True)
    train, held = np.flatnonzero(np.arange(150) % 5 > 0), np.arange(0, 150, 5)
    models = [SVC(C=C, gamma=0.5, loss=loss) for C in (0.05, 1.0, 200.0)]
    fold = FoldSeries(StoredMatrix.of(RBF(0.5)(X)), is_convex, train, held, 1e-3, Limits(), 2**30)
    fits = fold.solve([model._setup(y[train], None)[0] for model in models])
    for model, fit in zip(models, fits, strict=True):
        model.set_params(decision_function_shape="ovo").fit(X[train], y[train])
        assert fit.status == Status.OPTIMAL
        assert np.allclose(fit.values, model.decision_function(X[held]), atol=1e-9)


def test_a_pair_that_does_not_end_is_told():
    X, y = load_iris(return_X_y=True)
    train, held = np.flatnonzero(np.arange(150) % 5 > 0), np.arange(0, 150, 5)
    fold = FoldSeries(StoredMatrix.of(RBF(0.5)(X)), True, train, held, 1e-3, Limits(max_iter=1), 2**30)
    (fit,) = fold.solve([SVC(C=1.0)._setup(y[train], None)[0]])
    assert fit.status == Status.ITERATION_LIMIT


def overlapping(n_classes):
    """Rows whose classes cannot be told apart, so that a large C takes hundreds of steps a row."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(MANY_ROWS, 4))
    return X, rng.integers(n_classes, size=MANY_ROWS), [(np.arange(500, MANY_ROWS), np.arange(500))]


@pytest.mark.parametrize("n_classes", [2, 8])  # in place, and as pairs of classes
def test_many_rows_are_judged_after_some_steps_each_unless_a_limit_is_given(n_classes):
    X, y, cv = overlapping(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        capped = SVCCV([0.1, 1e5], [0.1], cv=cv, refit=False).fit(X, y)
    assert capped.cv_results_["unfinished"].tolist() == [0, 1]
    whole = SVCCV([0.1], [0.1], cv=cv, refit=False, max_iter=10**8).fit(X, y)
    assert whole.cv_results_["unfinished"].tolist() == [0]
    assert whole.cv_results_["mean_test_score"][0] == capped.cv_results_["mean_test_score"][0]


def test_the_refit_of_an_unfinished_setting_is_optimal():
    X, y, cv = overlapping(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = SVCCV([1000.0], [0.1], cv=cv).fit(X, y)
    assert model.cv_results_["unfinished"].tolist() == [1]
    assert model.status_ == Status.OPTIMAL


def test_values_of_pairs_lose_nothing_in_single_precision_where_all_entries_are_nearly_one(rng):
    """Coefficients in the hundreds times entries near one nearly cancel: sums of those would err by a hundredth."""
    n, classes = 900, 3
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 4)) + y[:, None]
    matrix = StoredMatrix.of(RBF(1e-4)(X).astype(np.float32))
    train, held = np.flatnonzero(np.arange(n) % 5 > 0), np.arange(0, n, 5)
    fold = series(matrix, train, held)
    paths = fold_series._PairPaths(fold, [setup(y[train], C) for C in (64.0, 512.0)])
    paths.run()
    K, order = matrix.values.astype(np.float64), train[paths.order]
    for c, values in enumerate(paths.values()):
        for p, (i, j) in enumerate(paths.pairs):
            expected = np.full(len(held), paths.report[c, p, pairs_along_path.BIAS])
            for own, row in ((i, j - 1), (j, i)):
                span = slice(paths.edges[own], paths.edges[own + 1])
                expected += K[np.ix_(held, order[span])] @ paths.tables[c, row, span]
            np.testing.assert_allclose(values[:, p], expected, atol=1e-3)
