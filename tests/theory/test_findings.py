import json

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Perceptron as LinearPerceptron

from mercer import SVC, DataError, ParameterError, Regularization, theory
from mercer.kernels import RBF, Custom
from mercer.theory import findings
from mercer.theory.machine import read_machine


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, "benign", "malignant")


@pytest.fixture
def line():
    """Homogeneous, separable: margin 1 at x = ±1, largest norm 2; many rows."""
    x = np.linspace(1.0, 2.0, 500)
    return np.concatenate([x, -x])[:, None], np.repeat([1, -1], 500)


def test_the_toy_set_by_hand(toy):
    X, y = toy
    found = theory.report(SVC(kernel="linear", C=10.0, tol=1e-9).fit(X, y), X, y)
    assert found.norm == pytest.approx(np.sqrt(2.0))
    assert found.intercept == pytest.approx(-1.0)
    assert found.gamma == pytest.approx(np.sqrt(0.5))
    assert found.rho == 3.0
    # (0,0), (2,2) and (3,0): the circle through them has its centre at (1.5, 0.5).
    assert found.ball.radius == pytest.approx(np.sqrt(2.5))
    assert "min(ceil(R^2 / gamma^2), d) + 1 = 3" in found["margin_vc"].says
    assert found["support_vectors"].value == 0.75
    assert found.is_separated


def test_theorem_15_4_where_all_its_conditions_hold(line):
    X, y = line
    found = theory.report(SVC(kernel="linear", C=100.0, bias="none", tol=1e-9).fit(X, y), X, y)
    finding = found["theorem_15_4"]
    assert finding.applies
    assert not finding.is_vacuous
    assert finding.value == pytest.approx(theory.hard_svm_bound(1000, 1.0, 2.0))
    assert "theorem_15_4" in found.holding
    assert found.training_error == found.hinge == 0.0


def test_a_soft_solution_is_not_that_of_hard_svm(line):
    X, y = line
    found = theory.report(SVC(kernel="linear", C=1e-4, bias="none", tol=1e-9).fit(X, y), X, y)
    assert found.is_separated
    assert not found["theorem_15_4"].applies
    assert "not the Hard-SVM solution" in found["theorem_15_4"].unmet[0]


def test_a_free_bias_becomes_the_weight_of_a_constant_feature(toy):
    """The number of Theorem 15.4 is that of the sample with the constant r, and no r gives a smaller one."""
    X, y = toy
    found = theory.report(SVC(kernel="linear", C=10.0, tol=1e-9).fit(X, y), X, y)
    w, b = np.array([1.0, -1.0]), -1.0

    def with_constant(r):
        wide = np.hstack([X, np.full((4, 1), r)])
        v = np.append(w, b / r)
        return theory.hard_svm_bound(4, theory.geometric_margin(wide, y, v), theory.radius_about_origin(wide))

    best = min(with_constant(r) for r in np.geomspace(0.1, 10.0, 1_001))
    assert found["theorem_15_4"].value == pytest.approx(best, rel=1e-4)
    assert not found["theorem_15_4"].applies


def test_a_penalised_bias_is_a_constant_feature_of_one(rng):
    X = rng.normal(size=(60, 3)) + 1.0
    y = np.where(X[:, 0] > 1.0, 1, -1)
    wide = np.hstack([X, np.ones((60, 1))])
    with_bias = theory.report(SVC(kernel="linear", bias="penalized", tol=1e-9).fit(X, y), X, y)
    without = theory.report(SVC(kernel="linear", bias="none", tol=1e-9).fit(wide, y), wide, y)
    for key in ("corollary_15_7", "norm", "vc", "support_vectors", "xi_alpha"):
        assert with_bias[key].value == pytest.approx(without[key].value, rel=1e-6)
        assert with_bias[key].applies == without[key].applies == (key != "norm")


def test_corollary_15_7_for_a_norm_is_about_the_machine_with_its_lambda(rng):
    """Go to the lambda whose machine has the norm B that lambda is for, and the bound applies."""
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1, -1)
    rho, lam = theory.radius_about_origin(X), 0.1
    for _ in range(200):
        model = SVC(C=Regularization.from_lambda(lam), kernel="linear", bias="none", tol=1e-10).fit(X, y)
        found = theory.report(model, X, y)
        lam = 0.5 * (lam + theory.soft_svm_lambda(200, rho, found.norm))
        if found["norm"].applies:
            break
        assert "it is about a different model" in found["norm"].unmet[0]
    assert found["norm"].value == pytest.approx(theory.soft_svm_bound_for_norm(200, rho, found.norm, found.hinge))


@pytest.mark.parametrize("C", [0.5, Regularization.from_lambda(0.01)])
def test_corollary_15_7_uses_the_lambda_of_the_fit(C, rng):
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=100) > 0, 1, -1)
    found = theory.report(SVC(C=C, kernel="linear", bias="none", tol=1e-8).fit(X, y), X, y)
    rho = np.linalg.norm(X, axis=1).max()
    value = theory.soft_svm_bound(100, 0.01, rho, found.norm, found.hinge)
    assert found["corollary_15_7"].value == pytest.approx(value)
    assert found["corollary_15_7"].is_vacuous
    assert "corollary_15_7" in found.vacuous


def test_corollary_15_7_counts_the_norm(line):
    """hinge + 2 rho^2 / (lambda m) alone would be another, smaller number."""
    X, y = line
    found = theory.report(SVC(C=Regularization.from_lambda(0.4), kernel="linear", bias="none").fit(X, y), X, y)
    finding, without = found["corollary_15_7"], theory.soft_svm_bound(1000, 0.4, 2.0, hinge=found.hinge)
    assert finding.value == pytest.approx(without + 0.4 * found.norm**2)
    assert "lambda |w|^2" in finding.says


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"loss": "squared_hinge"}, "squared_hinge"),
        ({"bias": "free"}, "homogeneous"),
        ({"class_weight": "balanced"}, "class_weight"),
        ({"C": np.inf}, "C is infinite"),
    ],
)
def test_corollary_15_7_says_which_condition_fails(change, reason, line):
    X, y = line
    model = SVC(**({"kernel": "linear", "bias": "none"} | change)).fit(X, y)
    finding = theory.report(model, X, y)["corollary_15_7"]
    assert not finding.applies
    assert any(reason in condition for condition in finding.unmet)


def test_a_fit_that_was_stopped_proves_less(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match="ITERATION_LIMIT"):
        model = SVC(max_iter=3, bias="none").fit(X, y)
    found = theory.report(model, X, y)
    for key in ("corollary_15_7", "support_vectors", "xi_alpha"):
        assert "the fit did not reach the optimum" in found[key].unmet


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_the_gap_is_that_of_the_certificate(loss, bias, cancer):
    X, y = cancer
    model = SVC(loss=loss, bias=bias).fit(X, y)
    machine = read_machine(model, X, y)
    certificate = model.certificate_
    assert machine.relative_gap == pytest.approx(certificate.gap / certificate.primal, rel=1e-3, abs=1e-9)
    assert machine.is_solved


def test_rows_that_had_weights_solve_another_problem(cancer):
    X, y = cancer
    weights = np.where(np.arange(len(X)) % 2, 3.0, 0.1)
    found = theory.report(SVC(bias="none").fit(X, y, sample_weight=weights), X, y)
    assert not found["corollary_15_7"].applies
    assert not found["xi_alpha"].applies


def test_the_norm_is_that_of_the_features(cancer):
    X, y = cancer
    model = SVC(kernel=RBF(gamma=0.05), tol=1e-6).fit(X, y)
    beta = model.dual_coef_[0]
    K = RBF(gamma=0.05)(model.support_vectors_)
    found = theory.report(model, X, y)
    assert found.norm == pytest.approx(np.sqrt(beta @ K @ beta), rel=1e-6)
    assert np.isinf(found.dimension)
    assert found["vc"].value is None
    assert "infinitely many dimensions" in str(found)


def test_finite_features_are_counted(rng):
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    found = theory.report(SVC(kernel="poly", degree=2, coef0=1.0, gamma=1.0).fit(X, y), X, y)
    assert found.dimension == 10  # monomials of degree at most 2 in 3 variables


def every_way_to_give_rows(X, kernel):
    yield X, {"kernel": kernel}
    yield sparse.csr_matrix(X), {"kernel": kernel}
    yield X.astype(np.float32), {"kernel": kernel}
    yield kernel(X), {"kernel": "precomputed"}
    yield X, {"kernel": kernel.__call__}


def test_every_kind_of_rows_and_kernel(rng):
    X = np.maximum(0.0, rng.normal(size=(50, 3)))
    y = np.where(X[:, 0] > 0.5, 1, -1)
    found = [
        theory.report(SVC(**parameters, tol=1e-8).fit(rows, y), rows, y)
        for rows, parameters in every_way_to_give_rows(X, RBF(gamma=0.5))
    ]
    for other in found[1:]:
        assert other.rho == pytest.approx(found[0].rho)
        assert other.norm == pytest.approx(found[0].norm, rel=1e-4)
        assert other.ball.radius == pytest.approx(found[0].ball.radius, rel=1e-5)
        assert other["xi_alpha"].value == pytest.approx(found[0]["xi_alpha"].value)


def test_items_that_are_no_vectors():
    words = ["cat", "cart", "car", "dog", "dig", "dug"]
    shared = Custom(lambda s, t: float(len(set(s) & set(t))), pairwise=True)
    y = [1, 1, 1, 0, 0, 0]
    found = theory.report(SVC(kernel=shared, C=10.0).fit(words, y), words, y)
    assert found.rho == 2.0
    assert found.is_separated


def test_scikit_learns_machines_are_read_by_the_same_attributes(cancer):
    X, y = cancer
    ours = theory.report(SVC(tol=1e-6).fit(X, y), X, y)
    theirs = theory.report(sklearn.svm.SVC(tol=1e-6).fit(X, y), X, y)
    assert theirs.norm == pytest.approx(ours.norm, rel=1e-4)
    assert theirs.gamma == pytest.approx(ours.gamma, rel=1e-3)
    for key in ("corollary_15_7", "support_vectors", "xi_alpha"):
        assert theirs[key].value == pytest.approx(ours[key].value, rel=1e-3)


def test_a_linear_machine_has_weights_only(cancer):
    X, y = cancer
    model = sklearn.svm.LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=100_000).fit(X, y)
    found = theory.report(model, X, y)
    assert found.bias == "penalized"
    assert found.norm == pytest.approx(np.linalg.norm(model.coef_))
    assert found["corollary_15_7"].applies
    assert found["xi_alpha"].unmet == ("the model keeps no dual variables",)
    # Rows with margin at most 1 are at least all support vectors of the same problem.
    exact = theory.report(SVC(kernel="linear", C=0.1, bias="penalized", tol=1e-8).fit(X, y), X, y)
    assert exact["support_vectors"].value <= found["support_vectors"].value <= exact["support_vectors"].value + 0.01


@pytest.mark.parametrize("model", [LogisticRegression(), LinearPerceptron(fit_intercept=False)])
def test_what_is_no_support_vector_machine_gets_no_bound_of_one(model, line):
    X, y = line
    found = theory.report(model.fit(X, y), X, y)
    for key in ("theorem_15_4", "corollary_15_7", "support_vectors", "xi_alpha"):
        assert not found[key].applies
    assert found["vc"].applies


def test_bags_of_words_are_recognised():
    X, _ = theory.bag_of_words(["the ball and the goal", "a vote and a law", "goal and ball", "law or vote"])
    y = [1, 0, 1, 0]
    found = theory.report(SVC(kernel="linear", bias="none").fit(X, y), X, y)
    assert found.rho**2 == pytest.approx(4.0)
    assert "distinct words of the longest document" in str(found)
    assert "rho^2 |w|^2" in str(found)


def test_it_prints_what_holds_and_what_is_vacuous(cancer):
    X, y = cancer
    text = str(theory.report(SVC(kernel="linear", bias="penalized").fit(X, y), X, y))
    assert "holds and is informative: support_vectors, xi_alpha" in text
    assert "vacuous: corollary_15_7, vc" in text
    assert "does not apply  Theorem 15.4" in text
    assert max(map(len, text.splitlines())) <= 130


def test_it_is_ready_for_json(cancer):
    X, y = cancer
    found = theory.report(SVC().fit(X, y), X, y)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["m"] == len(X)
    assert plain["dimension"] is None
    assert {finding["key"] for finding in plain["findings"]} == {finding.key for finding in found.findings}


def test_an_unknown_bound_is_a_key_error(toy):
    X, y = toy
    with pytest.raises(KeyError, match="there are theorem_15_4"):
        theory.report(SVC(kernel="linear").fit(X, y), X, y)["theorem_26_13"]


def test_other_rows_than_those_of_the_fit_are_refused(toy):
    X, y = toy
    model = SVC(kernel="linear", C=10.0).fit(X, y)
    for rows, labels in ((X + 1.0, y), (X, -y), (X[:2], y[:2]), (X[::-1], y[::-1])):
        with pytest.raises(DataError, match="that the model was fitted to"):
            theory.report(model, rows, labels)


def test_classes_learnt_together_are_refused_with_a_remedy(petals):
    X, y = petals
    model = SVC(multi_class="crammer_singer", bias="penalized").fit(X, y)
    with pytest.raises(
        ParameterError, match="in pairs or each against the rest, got multi_class='crammer_singer'; fit it"
    ):
        theory.report(model, X, y)


def test_many_rows_are_judged_by_a_ball_that_encloses_them(monkeypatch, rng):
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, 1, -1)
    model = SVC(C=0.3).fit(X, y)
    exact = theory.report(model, X, y)
    monkeypatch.setattr(findings, "EVERY_PAIR", 100)
    found = theory.report(model, X, y)
    assert exact.ball.radius - 1e-9 <= found.ball.radius <= 1.02 * exact.ball.radius
    assert exact["xi_alpha"].value <= found["xi_alpha"].value <= found["support_vectors"].value


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan"), "0.1"])
def test_delta_is_a_probability(delta, toy):
    X, y = toy
    with pytest.raises(ParameterError, match="delta must lie strictly between 0 and 1"):
        theory.report(SVC(kernel="linear").fit(X, y), X, y, delta=delta)


def test_a_model_must_be_fitted(toy):
    with pytest.raises(ParameterError, match="fit it first"):
        theory.report(SVC(), *toy)
    with pytest.raises(DataError, match=r"y must hold the labels \[-1, 1\]"):
        theory.report(SVC(kernel="linear").fit(*toy), toy[0], ["a", "b", "a", "b"])
