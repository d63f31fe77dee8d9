import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from mercer import SVC, LinearSVC, LinearSVR, ParameterError, compare_solvers
from mercer.selection.compare import SolverRow
from mercer.solvers.registry import SOLVERS

TOY = np.array([[0.0, 0], [2, 2], [2, 0], [3, 0]]), np.array([-1, -1, 1, 1])


def iris():
    return load_iris(return_X_y=True)


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize(
    ("data", "parameters"),
    [
        (lambda: TOY, {"kernel": "linear", "C": 10.0}),
        (iris, {"kernel": "rbf"}),
        (iris, {"kernel": "linear", "loss": "squared_hinge"}),
        (breast_cancer, {"kernel": "linear"}),
        (breast_cancer, {"kernel": "rbf"}),
    ],
    ids=["toy", "iris", "iris squared", "breast cancer linear", "breast cancer"],
)
def test_every_solver_comes_to_the_same_objective(data, parameters, bias):
    X, y = data()
    table = compare_solvers(SVC(tol=1e-7, bias=bias, **parameters), X, y, repeats=1)
    assert {row.solver for row in table} == set(SOLVERS) - {"auto"}
    for row in table:
        assert row.status == "OPTIMAL" or row.reason
        assert row.reason or row.relative_gap <= 1e-6
    assert table.spread <= 1e-6
    assert max(row.difference for row in table if not row.reason) <= 1e-3


def test_the_toy_set_at_a_hard_margin():
    table = compare_solvers(SVC(kernel="linear", C=1e6, tol=1e-8), *TOY, repeats=1)
    assert table.spread <= 1e-6
    for model in table.models.values():
        np.testing.assert_allclose(model.coef_[0], [1.0, -1.0], atol=1e-6)
        np.testing.assert_allclose(model.intercept_[0], -1.0, atol=1e-6)


def test_what_cannot_be_solved_is_said_and_the_rest_goes_on():
    X, y = breast_cancer()
    with pytest.warns(ConvergenceWarning, match="NOT_CONVEX"):
        table = compare_solvers(SVC(kernel="sigmoid", gamma=1.0), X[:80], y[:80], solvers=["qp", "smo"], repeats=1)
    assert table["smo"].status == "NOT_CONVEX"
    assert "positive semidefinite" in table["qp"].reason
    assert table["smo"].reason == ""
    assert "qp          cannot solve it: " in str(table)


def test_as_a_table():
    table = compare_solvers(SVC(), *iris(), solvers=["smo", "qp"], repeats=1)
    assert [row["solver"] for row in table.as_dicts()] == ["smo", "qp"]
    lines = str(table).splitlines()
    assert lines[0] == "solver         objective     gap     KKT time s   SVs differs status"
    assert len(lines) == 4
    assert len(table) == 2
    with pytest.raises(KeyError, match="no solver 'sgd'"):
        table["sgd"]


def test_a_row_fits_a_terminal_of_80_columns():
    row = SolverRow("chunking:qp", 1.2345678e-15, 1e-10, 1e-10, 99.9, 12345, 1e-10, "OPTIMAL_INACCURATE")
    assert len(str(row)) <= 80


def test_an_estimator_without_solvers_of_ours():
    with pytest.raises(ParameterError, match="has no solver to choose"):
        compare_solvers(StandardScaler(), *iris())
    with pytest.raises(ParameterError, match="LogisticRegression"):
        compare_solvers(LogisticRegression(), *iris())


@pytest.mark.parametrize(
    "estimator",
    [LinearSVC(), LinearSVC(loss="hinge"), LinearSVR(loss="squared_epsilon_insensitive", C=0.1)],
    ids=["squared hinge", "hinge", "regression"],
)
def test_linear_machines(estimator):
    table = compare_solvers(estimator.set_params(max_iter=-1, gap_tol=1e-8), *breast_cancer(), repeats=1)
    assert [row.solver for row in table] == ["dual_cd", "newton"]
    assert table.spread <= 1e-6
    assert all(row.n_support > 0 for row in table)


@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear"}])
def test_without_a_word_on_tolerances_solvers_agree_and_with_none_they_keep_their_rules(parameters):
    X, y = breast_cancer()
    assert compare_solvers(SVC(**parameters), X, y, repeats=1).spread < 1e-6
    loose = compare_solvers(SVC(**parameters), X, y, solvers=["smo", "chunking"], repeats=1, gap_tol=None)
    assert loose["smo"].relative_gap > 1e-6
    own = compare_solvers(SVC(gap_tol=1e-2, **parameters), X, y, solvers=["smo"], repeats=1)
    assert own["smo"].relative_gap > 1e-6
