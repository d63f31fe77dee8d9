"""Every loss, bias, layout, precision and way of solving, before the one judge.

The ways of solving are chosen by size; lowering the sizes sends small data through all of them.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from mercer import SVC, Status
from mercer.estimators.fitting import training
from mercer.kernels import RBF, Custom, Laplacian, Linear, Polynomial
from mercer.kernels.gram import evaluated
from mercer.solvers.dual_qp import decomposition, policy
from tests.kernels.formulas import dots, laplacian, squared
from tests.oracles.kkt import assert_solved, judge, verdicts

TOL = 1e-4
GAMMA = 0.2


@dataclass(frozen=True)
class Path:
    """Sizes that lead a fit of a few hundred points one way, and the memory that it is given."""

    direct_size: int = policy.DIRECT_SIZE
    stored_size: int = policy.STORED_SIZE
    worth_keeping: float = evaluated.WORTH_KEEPING
    worth_fetching: float = evaluated.WORTH_FETCHING
    small: int = 0  # up to so many points, double precision from the start
    budget: training.Budget | None = None

    def take(self, monkeypatch):
        monkeypatch.setattr(policy, "DIRECT_SIZE", self.direct_size)
        monkeypatch.setattr(decomposition, "WORKING_SIZE", 40)
        monkeypatch.setattr(policy, "STORED_SIZE", self.stored_size)
        monkeypatch.setattr(policy, "EXACT_SIZE", self.small)
        monkeypatch.setattr(policy, "STORED_COST", self.worth_keeping)
        monkeypatch.setattr(evaluated, "WORTH_KEEPING", self.worth_keeping)
        monkeypatch.setattr(evaluated, "WORTH_FETCHING", self.worth_fetching)
        if self.budget is not None:
            monkeypatch.setattr(training.Budget, "resolve", lambda *_: self.budget)


# Room for a hundred points in a working set, or for all that may be free; for the whole matrix, or 20 rows.
LITTLE = training.Budget(cache=500_000, working=225_000)
ENOUGH = training.Budget(cache=500_000, working=1_000_000)
FEW_ROWS = training.Budget(cache=20_000, working=1_000_000)
PATHS = {
    "direct": Path(),
    "direct in double": Path(small=policy.EXACT_SIZE),
    "stored": Path(direct_size=16, budget=LITTLE),
    "evaluated": Path(direct_size=16, stored_size=0, budget=ENOUGH),
    "little memory": Path(direct_size=16, stored_size=0, budget=LITTLE),
    "row cache": Path(16, 0, worth_keeping=0.0, worth_fetching=0.0, budget=ENOUGH),
    "rows kept for products": Path(16, 0, worth_keeping=0.0, budget=ENOUGH),
    "small row cache": Path(16, 0, worth_keeping=0.0, worth_fetching=0.0, budget=FEW_ROWS),
}


def made(n_classes=2, n=240, seed=3):
    """Overlapping classes, so that points are free, bounded and zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.8)
    score = X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)
    return X, np.array(["ant", "bee", "cat", "dog"])[y], rng.uniform(0.5, 2.0, n)


def gram(X):
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    return np.exp(-GAMMA * squared(dense, dense))


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    PATHS[request.param].take(monkeypatch)
    return PATHS[request.param]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_two_classes(loss, bias, layout, dtype, path):
    X, y, weight = made()
    X = layout(X.astype(dtype))
    model = SVC(C=3.0, gamma=GAMMA, tol=TOL, loss=loss, bias=bias).fit(X, y, weight)
    assert model.status_ is Status.OPTIMAL
    (verdict,) = verdicts(model, gram(X), y, weight)
    assert_solved(verdict, TOL)
    assert_certificate_agrees(model.certificate_, verdict)


def assert_certificate_agrees(certificate, verdict):
    """What the library says of itself is what the judge found."""
    assert certificate.primal == pytest.approx(verdict.primal, rel=1e-9)
    assert certificate.dual == pytest.approx(verdict.dual, rel=1e-9)
    assert certificate.gap == pytest.approx(verdict.gap, abs=1e-9 * verdict.primal)
    assert certificate.kkt_violation <= TOL
    assert certificate.is_optimal(TOL)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_four_classes(loss, bias, layout, multi_class, path):
    X, y, weight = made(n_classes=4)
    X = layout(X)
    model = SVC(C=3.0, gamma=GAMMA, tol=TOL, loss=loss, bias=bias, multi_class=multi_class)
    model.fit(X, y, weight)
    found = verdicts(model, gram(X), y, weight)
    assert len(found) == len(model.certificate_) == {"ovo": 6, "ovr": 4}[multi_class]
    for certificate, verdict in zip(model.certificate_, found, strict=True):
        assert_solved(verdict, TOL)
        assert_certificate_agrees(certificate, verdict)


KERNELS = {
    "linear": (Linear(), dots),
    "polynomial": (Polynomial(3, 0.3, 1.0), lambda X, Y: (0.3 * dots(X, Y) + 1.0) ** 3),
    "pairwise": (Laplacian(0.3), lambda X, Y: laplacian(X, Y, 0.3)),
    "function": (Custom(lambda X, Y: dots(X, Y) + 1.0), lambda X, Y: dots(X, Y) + 1.0),
    "scikit-learn's function": (lambda X, Y: dots(X, Y) + 1.0, lambda X, Y: dots(X, Y) + 1.0),
    "sum": (0.5 * RBF(0.3) + Linear(), lambda X, Y: 0.5 * np.exp(-0.3 * squared(X, Y)) + dots(X, Y)),
}


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_form_of_kernel(kernel, bias, path):
    X, y, _ = made(n=160)
    given, formula = KERNELS[kernel]
    model = SVC(C=0.5, kernel=given, tol=TOL, bias=bias).fit(X, y)
    (verdict,) = verdicts(model, formula(X, X), y)
    assert_solved(verdict, TOL)
    assert_certificate_agrees(model.certificate_, verdict)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_precomputed_matrix(dtype, path):
    X, y, weight = made()
    K = gram(X).astype(dtype)
    model = SVC(C=3.0, kernel="precomputed", tol=TOL).fit(K, y, weight)
    (verdict,) = verdicts(model, K.astype(np.float64), y, weight)
    assert_solved(verdict, TOL)


def test_rows_of_weight_zero_are_left_out(path):
    X, y, weight = made()
    weight[::3] = 0.0
    model = SVC(C=3.0, gamma=GAMMA, tol=TOL).fit(X, y, weight)
    assert not np.isin(model.support_, np.arange(0, len(y), 3)).any()
    kept = weight > 0
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    verdict = judge(
        gram(X[kept]), np.where(y[kept] == "bee", 1.0, -1.0), 3.0 * weight[kept], beta[kept], model.intercept_[0]
    )
    assert_solved(verdict, TOL)


# --- the paths are what their names say -----------------------------------------------------


def fitted_on(name, monkeypatch, **parameters):
    PATHS[name].take(monkeypatch)
    X, y, _ = made(n=400)
    return SVC(**{"C": 3.0, "gamma": GAMMA, "tol": TOL} | parameters).fit(X, y)


def test_the_direct_path_is_one_round_over_everything(monkeypatch):
    (point,) = fitted_on("direct", monkeypatch).trace_
    assert point.working_set == point.active == 400


@pytest.mark.parametrize("name", ["evaluated", "little memory", "row cache", "small row cache"])
def test_the_other_paths_take_rounds_with_working_sets(name, monkeypatch):
    trace = fitted_on(name, monkeypatch).trace_
    assert len(trace) > 3
    assert max(point.working_set for point in trace) < 400


def test_shrinking_makes_no_difference(monkeypatch):
    """The parameter is scikit-learn's, and every round looks at every row."""
    models = [fitted_on("evaluated", monkeypatch, C=100.0, shrinking=shrinking) for shrinking in (True, False)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    for model in models:
        assert {point.active for point in model.trace_} == {400}


@pytest.mark.parametrize("refinements", [0, decomposition.MOST_REFINEMENTS])
def test_a_solution_that_single_precision_cannot_hold_is_finished_in_double(refinements, monkeypatch):
    """At C = 1e5, sums of products with single-precision entries have lost what tol asks for.

    Either the gradient is refined in double precision, or the whole matrix is.
    """
    switched = []
    in_double = evaluated.EvaluatedMatrix.in_double
    monkeypatch.setattr(evaluated.EvaluatedMatrix, "in_double", lambda self: switched.append(1) or in_double(self))
    monkeypatch.setattr(decomposition, "MOST_REFINEMENTS", refinements)
    model = fitted_on("evaluated", monkeypatch, C=1e5)
    assert switched or refinements
    X, y, _ = made(n=400)
    (verdict,) = verdicts(model, gram(X), y)
    assert_solved(verdict, TOL)
