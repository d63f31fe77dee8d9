import re
import tracemalloc

import numpy as np
import pytest
import sklearn.kernel_ridge
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import (
    DataError,
    KernelFisherDiscriminant,
    KernelLeastSquares,
    KernelPCA,
    KernelRidge,
    KernelSVD,
    ParameterError,
    Status,
)
from mercer.kernels import RBF, Custom, Laplacian, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(120, 2))
WEIGHTS = np.where(np.arange(120) < 5, 0.0, rng.uniform(0.1, 2.0, 120))
RBF_ = {"kernel": "rbf", "gamma": 0.3}


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "laplacian", "cosine"])
@pytest.mark.parametrize("alpha", [1.0, [0.1, 3.0]])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_same_as_scikit_learn(kernel, alpha, weights, convert):
    mine, theirs = (
        kind(alpha=alpha, kernel=kernel).fit(convert(X), Y, weights)
        for kind in (KernelRidge, sklearn.kernel_ridge.KernelRidge)
    )
    np.testing.assert_allclose(mine.predict(convert(X)), theirs.predict(convert(X)), atol=1e-7)
    assert mine.certificate_.is_optimal(1e-8)
    assert mine.certificate_.gap >= 0


@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-11])
def test_iterations_on_whole_numbers_end_at_the_same_residual(tol):
    rows = rng.normal(size=(3100, 4))
    target = np.c_[np.sin(rows).sum(axis=1), rows[:, 0] > 0.5]
    model = KernelRidge(alpha=0.1, tol=tol, **RBF_).fit(rows, target)
    factored = KernelRidge(alpha=0.1, solver="cholesky", **RBF_).fit(rows, target)
    assert model.status_ == Status.OPTIMAL
    assert model.solver_ == "cg"
    assert model.certificate_.residual <= 1.01 * tol
    np.testing.assert_allclose(model.dual_coef_, factored.dual_coef_, atol=200 * tol + 1e-7)


@pytest.mark.parametrize(
    ("alpha", "kernel"), [(1e-6, RBF(gamma=0.3)), (1.0, RBF(gamma=1e-9)), (1.0, Laplacian(gamma=0.3))]
)
def test_a_factor_where_iterations_are_not_worth_it(alpha, kernel):
    rows = rng.normal(size=(3100, 4))
    model = KernelRidge(alpha=alpha, kernel=kernel).fit(rows, np.sin(rows[:, 0]))
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.residual <= 1e-8
    if alpha < 1.0:
        assert model.solver_ == "cholesky"


def test_limits_end_iterations_on_whole_numbers():
    rows = rng.normal(size=(3100, 4))
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = KernelRidge(alpha=0.1, max_iter=2, **RBF_).fit(rows, np.sin(rows[:, 0]))
    assert model.n_iter_ == 2


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_single_precision_with_refinement_is_double_precision(solver):
    rows = rng.normal(size=(2300, 4))
    target = np.sin(rows).sum(axis=1)
    model = KernelRidge(alpha=0.1, solver=solver, **RBF_).fit(rows, target)
    K = RBF(gamma=0.3)(rows)
    exact = np.linalg.solve(K + 0.1 * np.eye(2300), target)
    np.testing.assert_allclose(model.dual_coef_, exact, atol=1e-6)
    assert model.status_ == Status.OPTIMAL
    assert model.certificate_.residual <= 1e-8
    assert model.solver_ == solver


@pytest.mark.parametrize("preconditioner", ["pivoted", "nystroem"])
def test_preconditioners_save_iterations(preconditioner):
    settings = {"alpha": 1e-2, "solver": "cg", "preconditioner": preconditioner, "random_state": 0, **RBF_}
    few, many = (KernelRidge(rank=rank, **settings).fit(X, Y) for rank in (1, 60))
    assert many.n_iter_ < few.n_iter_
    np.testing.assert_allclose(many.dual_coef_, few.dual_coef_, atol=1e-4)


@pytest.mark.parametrize("weights", [None, WEIGHTS + 0.1])
def test_leave_one_out_is_what_leaving_out_gives(weights):
    model = KernelRidge(alpha=0.3, leave_one_out=True, **RBF_).fit(X, Y, weights)
    for i in (0, 7, 119):
        kept = np.delete(np.arange(120), i)
        part = KernelRidge(alpha=0.3, **RBF_).fit(X[kept], Y[kept], None if weights is None else weights[kept])
        np.testing.assert_allclose(model.loo_.predictions[i], part.predict(X[[i]])[0], atol=1e-8)


def test_generalised_cross_validation_is_its_formula():
    model = KernelRidge(alpha=0.3, leave_one_out=True, **RBF_).fit(X, Y[:, 0])
    K = RBF(gamma=0.3)(X)
    hat = K @ np.linalg.inv(K + 0.3 * np.eye(120))
    errors = Y[:, 0] - hat @ Y[:, 0]
    expected = (errors**2).mean() / (1 - np.trace(hat) / 120) ** 2
    assert model.loo_.generalized == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ["loo", "gcv"])
def test_the_chosen_penalty_has_the_least_error(criterion):
    alphas = np.logspace(-4, 2, 7)
    model = KernelRidge(alphas=alphas, criterion=criterion, leave_one_out=True, **RBF_).fit(X, Y)
    name = "mean_squared_error" if criterion == "loo" else "generalized"
    each = [getattr(KernelRidge(alpha=a, leave_one_out=True, **RBF_).fit(X, Y).loo_, name) for a in alphas]
    np.testing.assert_allclose(model.alpha_errors_, each, rtol=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(each))]


def test_a_singular_matrix_is_solved_with_a_stated_jitter():
    rows, target = np.r_[X, X], np.r_[Y, Y + 1.0]
    with pytest.warns(ConvergenceWarning, match="jitter_"):
        model = KernelRidge(alpha=0, **RBF_).fit(rows, target)
    assert model.status_ == Status.OPTIMAL_INACCURATE
    assert 0 < model.jitter_ < 1e-6
    np.testing.assert_allclose(model.predict(X), Y + 0.5, atol=1e-3)


@pytest.mark.parametrize("solver", ["auto", "cholesky", "cg"])
def test_a_matrix_of_zeros_has_coefficients_zero(solver):
    model = KernelRidge(alpha=0, kernel="precomputed", solver=solver)
    with pytest.warns(ConvergenceWarning, match="OPTIMAL_INACCURATE: .*a larger alpha needs none"):
        model.fit(np.zeros((5, 5)), np.ones(5))
    assert model.jitter_ == 0.0
    np.testing.assert_array_equal(model.dual_coef_, np.zeros(5))
    assert model.certificate_.primal == 2.5  # half of |y|^2: there is no other function
    assert model.fit(np.zeros((5, 5)), np.zeros(5)).status_ == Status.OPTIMAL
    ridge = model.set_params(alpha=0.5).fit(np.zeros((5, 5)), np.ones(5))
    assert ridge.status_ == Status.OPTIMAL
    np.testing.assert_allclose(ridge.dual_coef_, np.full(5, 2.0))


def test_a_diagonal_of_zeros_alone_is_not_positive_semidefinite():
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model = KernelRidge(alpha=0, kernel="precomputed").fit([[0.0, 2.0], [2.0, 0.0]], [1.0, 2.0])
    np.testing.assert_allclose(model.dual_coef_, [1.0, 0.5])


def test_leaving_out_what_a_singular_matrix_leaves_open_is_not_a_number():
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model = KernelRidge(leave_one_out=True, kernel="precomputed").fit(-np.eye(30), np.ones(30))
    assert np.isnan(model.loo_.predictions).all()
    assert np.isnan(model.loo_.mean_squared_error)


def test_a_fit_removes_what_it_does_not_find():
    model = KernelRidge(leave_one_out=True, alphas=[1.0, 2.0], **RBF_).fit(X, Y)
    model.set_params(leave_one_out=False, alphas=None).fit(X[:50], Y[:50])
    assert not hasattr(model, "loo_")
    assert not hasattr(model, "alpha_errors_")
    assert sorted(vars(model)) == sorted(vars(KernelRidge(**RBF_).fit(X[:50], Y[:50])))


def test_parameters_that_are_refused_leave_the_model_as_it_was():
    model = KernelRidge(**RBF_).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ParameterError, match="tol must be"):
        model.set_params(tol=-1.0).fit(X[:50], Y[:50])
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_kernel_that_is_not_positive_semidefinite_says_so():
    K = np.array([[0.0, 2.0], [2.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        model = KernelRidge(alpha=1.0, kernel="precomputed").fit(K, [1.0, 2.0])
    np.testing.assert_allclose((K + np.eye(2)) @ model.dual_coef_, [1.0, 2.0], atol=1e-10)


def test_precomputed_custom_and_items():
    K = Laplacian(gamma=0.2)(X)
    given = KernelRidge(kernel="precomputed").fit(K, Y)
    direct = KernelRidge(kernel=Laplacian(gamma=0.2)).fit(X, Y)
    np.testing.assert_allclose(given.predict(K[:7]), direct.predict(X[:7]), atol=1e-10)

    def shared(a, b, weight=1.0):
        return weight * len(set(a) & set(b))

    words, values = ["cat", "car", "dog", "cog"], [1.0, 2.0, 3.0, 4.0]
    model = KernelRidge(kernel=shared, kernel_params={"weight": 2.0}).fit(words, values)
    other = KernelRidge(kernel=2.0 * Custom(shared, pairwise=True)).fit(words, values)
    np.testing.assert_allclose(model.predict(["cow"]), other.predict(["cow"]))


def test_limits_leave_a_model():
    rows = rng.normal(size=(2500, 3))
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        model = KernelRidge(alpha=1e-3, solver="cg", rank=1, max_iter=2, **RBF_).fit(rows, rows[:, 0])
    assert np.isfinite(model.predict(rows[:3])).all()
    with pytest.warns(ConvergenceWarning, match="TIME_LIMIT"):
        KernelRidge(time_limit=1e-9, **RBF_).fit(rows, rows[:, 0])
    seen = []
    with pytest.warns(ConvergenceWarning, match="INTERRUPTED"):
        KernelRidge(solver="cg", rank=1, callbacks=[lambda p: seen.append(p) or True], **RBF_).fit(rows, rows[:, 0])
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "alpha must be a finite number, 0 or more, got -1.0"),
        ({"alpha": np.nan}, "alpha must be"),
        ({"alpha": [1.0, 2.0, 3.0]}, "one for each of the 2 targets"),
        ({"alpha": ["a", "b"]}, r"alpha must be numbers, got \['a', 'b'\]"),
        ({"alphas": [0.0]}, "alphas must be positive"),
        ({"alphas": ["a"]}, r"alphas must be numbers, got \['a'\]"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"rank": 0}, "rank must be"),
        ({"solver": "lu"}, "solver must be one of"),
        ({"solver": "cg", "leave_one_out": True}, "needs the factor"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelRidge(**parameters).fit(X, Y)


@pytest.mark.parametrize("scale", [1e200, 1e300])
def test_values_that_overflow_are_refused(scale):
    with pytest.raises(ValueError, match=r"overflow|too large|infinity"):
        KernelRidge(kernel="poly").fit(X * scale, Y)


@pytest.mark.parametrize("kind", [KernelRidge, KernelLeastSquares])
@pytest.mark.parametrize("kernel", ["linear", lambda a, b: float(a @ b)], ids=["rows", "items"])
@pytest.mark.parametrize("targets", [Y, Y[:, 0]], ids=["two", "one"])
def test_targets_whose_squares_overflow_are_refused(kind, kernel, targets):
    huge = targets.copy()
    huge[2] = -1e160
    with pytest.raises(DataError, match=r"y must be below 1e\+100 in absolute value, got -1e\+160; scale the targets"):
        kind(kernel=kernel).fit(X, huge)


@pytest.mark.parametrize("kind", [KernelRidge, KernelLeastSquares, KernelFisherDiscriminant, KernelPCA, KernelSVD])
@pytest.mark.parametrize("limit", [0, -1, np.nan, "much"])
def test_a_memory_limit_that_is_none_is_refused(kind, limit):
    with pytest.raises(ParameterError, match="memory_limit must be"):
        kind(memory_limit=limit).fit(X, Y[:, 0] > 0)


@pytest.mark.parametrize(
    ("model", "needs"),
    [
        (KernelLeastSquares(**RBF_), "KernelLeastSquares needs 68.7 MiB"),
        (KernelRidge(alphas=[0.1, 1.0], **RBF_), "alphas needs 51.5 MiB"),
        (KernelRidge(leave_one_out=True, **RBF_), "leave_one_out=True needs 8.58 MiB"),
        (KernelRidge(solver="cholesky", **RBF_), 'solver="cholesky" needs 4.29 MiB'),
        (KernelFisherDiscriminant(solver="cholesky"), 'solver="cholesky" needs 4.29 MiB'),
        (KernelPCA(eigen_solver="dense", **RBF_), 'eigen_solver="dense" with 1500 components needs 85.8 MiB'),
    ],
)
def test_a_matrix_that_has_no_room_is_refused_and_room_that_is_asked_for_is_enough(model, needs):
    rows = np.random.default_rng(0).normal(size=(1500, 3))
    labels = (rows[:, 0] > 0).astype(int)
    with pytest.raises(DataError, match=needs + " .*memory_limit='4MiB' leaves 0 MiB; set memory_limit=") as told:
        model.set_params(memory_limit="4MiB").fit(rows, labels)
    enough = re.search(r'set memory_limit="(\d+MiB)"', str(told.value))[1]
    assert model.set_params(memory_limit=enough).fit(rows, labels).status_ == Status.OPTIMAL


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Laplacian(gamma=0.3)])
def test_where_the_matrix_has_no_room_it_is_not_kept(kernel):
    rows = np.random.default_rng(0).normal(size=(1200, 3))
    narrow, roomy = (KernelRidge(kernel=kernel, memory_limit=limit, rank=50) for limit in ("4MiB", None))
    tracemalloc.start()
    narrow.fit(rows, rows[:, 0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 1200**2
    assert narrow.solver_ == "cg"
    np.testing.assert_allclose(narrow.predict(rows[:9]), roomy.fit(rows, rows[:, 0]).predict(rows[:9]), atol=1e-6)


def test_same_bits_for_any_number_of_threads():
    rows = rng.normal(size=(2100, 3))
    one, two = (KernelRidge(n_jobs=jobs, **RBF_).fit(rows, rows[:, 0]).dual_coef_ for jobs in (1, 2))
    assert (one == two).all()


def test_least_squares_is_the_limit_of_ridge():
    flat = KernelLeastSquares(kernel="poly", degree=2).fit(X, Y, WEIGHTS)
    ridge = KernelRidge(alpha=1e-4, kernel="poly", degree=2).fit(X, Y, WEIGHTS)
    assert flat.rank_ == 15
    np.testing.assert_allclose(flat.predict(X), ridge.predict(X), atol=1e-3)
    assert flat.certificate_.is_optimal()
    assert flat.certificate_.rank == 15


def test_least_squares_has_the_least_norm():
    flat = KernelLeastSquares().fit(X[:3], Y[:3, 0])
    w = flat.dual_coef_ @ X[:3]
    np.testing.assert_allclose(w, np.linalg.pinv(X[:3]) @ Y[:3, 0])
    assert flat.rank_ == 3
    assert flat.certificate_.norm == pytest.approx(np.linalg.norm(w))


def test_a_cutoff_lowers_the_rank():
    fine, coarse = (KernelLeastSquares(rcond=rcond, **RBF_).fit(X, Y) for rcond in (None, 0.05))
    assert coarse.rank_ < fine.rank_
    assert clone(coarse).get_params()["rcond"] == 0.05


def test_kernels_add_up():
    both = KernelRidge(kernel=Linear() + RBF(gamma=0.3)).fit(X, Y)
    K = Linear()(X) + RBF(gamma=0.3)(X)
    np.testing.assert_allclose(both.dual_coef_, np.linalg.solve(K + np.eye(120), Y), atol=1e-8)
