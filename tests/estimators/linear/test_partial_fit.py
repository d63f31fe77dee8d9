"""Linear machines that go on with more rows: each call solves a problem of its own, around the machine so far."""

import numpy as np
import pytest
from scipy import optimize, sparse

import mercer
from mercer import DataError, LinearSVC, LinearSVR, Nystroem, ParameterError, Regularization, Status
from mercer.io import Blocks


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(600, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + rng.normal(size=600)


LOSSES = {
    "squared_hinge": lambda f, y: np.maximum(0.0, 1.0 - y * f) ** 2,
    "hinge": lambda f, y: np.maximum(0.0, 1.0 - y * f),
    "logistic": lambda f, y: np.logaddexp(0.0, -y * f),
}


def step(w, before, X, y, loss, C):
    """|w - w0|^2 / 2 + C sum of losses, for rows with a constant feature."""
    return 0.5 * float((w - before) @ (w - before)) + C * float(LOSSES[loss](X @ w, y).sum())


@pytest.mark.parametrize("loss", list(LOSSES))
def test_a_call_minimises_the_losses_of_its_rows_around_the_machine_so_far(rows, loss):
    X, z = rows
    y, model = np.where(z > 0, 1, -1), LinearSVC(loss=loss, C=0.3, tol=1e-8, max_iter=10_000)
    with_constant, before = np.column_stack([X, np.ones(600)]), np.zeros(5)
    for k in range(3):
        part = slice(200 * k, 200 * (k + 1))
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        found = np.append(model.coef_[0], model.intercept_)
        own = step(found, before, with_constant[part], y[part], loss, 0.3)
        assert own == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert model.certificate_.gap <= 1e-7 * own
        # A minimiser of somebody else's finds nothing better than the certificate allows.
        best = optimize.minimize(
            step, found, (before, with_constant[part], y[part], loss, 0.3), "Powell", options={"maxiter": 20}
        )
        assert best.fun >= model.certificate_.dual - 1e-9 * own
        before = found


def test_the_first_call_is_the_fit(rows):
    X, z = rows
    y = np.select([z > 1, z < -1], ["a", "b"], "c")
    model, fitted = LinearSVC(tol=1e-9).partial_fit(X, y, classes=["a", "b", "c"]), LinearSVC(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-4)
    assert model.status_ == Status.OPTIMAL
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regressions_go_on_too_from_rows_and_from_blocks(rows, loss):
    X, z = rows
    model, again = LinearSVR(loss=loss, tol=1e-6), LinearSVR(loss=loss, tol=1e-6)
    for k in range(3):
        part = slice(200 * k, 200 * (k + 1))
        model.partial_fit(X[part], z[part])
        again.partial_fit(Blocks((X[part], z[part]), block_rows=70))
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-3)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 0.5, 0.0], atol=0.3)
    assert model.coef_.shape == (4,)


def test_what_is_proved_of_a_later_step_is_said_to_be_of_that_step_alone(rows):
    X, z = rows
    y = z > 0
    model = LinearSVC().fit(X[:300], y[:300])
    model.partial_fit(X[300:], y[300:])
    assert model.status_ == Status.ITERATION_LIMIT
    assert model.certificate_.relative_gap <= 1e-4
    assert "nothing is proved about earlier rows" in model.certificate_.basis


def test_all_parts_come_close_to_the_machine_of_all_rows(rows):
    X, z = rows
    y, model = np.where(z > 0, 1, -1), LinearSVC(loss="hinge", C=0.1)
    for k in range(6):
        model.partial_fit(X[k::6], y[k::6], classes=[-1, 1])
    whole = LinearSVC(loss="hinge", C=0.1).fit(X, y)
    w = np.append(model.coef_[0], model.intercept_)
    objective = step(w, np.zeros(5), np.column_stack([X, np.ones(600)]), y, "hinge", 0.1)
    assert whole.certificate_.dual <= objective <= 1.3 * whole.certificate_.primal


def test_parts_of_one_class_and_sparse_rows_are_fine(rows):
    X, z = rows
    y, order = z > 0, np.argsort(z > 0, kind="stable")
    for bias in ("penalized", "free"):
        model, others = LinearSVC(C=0.01, bias=bias), LinearSVC(C=0.01, bias=bias)
        for part in np.array_split(order, 4):
            model.partial_fit(X[part], y[part], classes=[False, True])
            others.partial_fit(sparse.csr_matrix(X[part]), y[part], classes=[False, True])
        assert np.isfinite(model.coef_).all()
        np.testing.assert_allclose(model.coef_, others.coef_, rtol=1e-3, atol=1e-4)


def test_weights_are_copies(rows):
    X, z = rows
    y, weights = z > 0, np.arange(100) % 3
    model, copied = LinearSVC(tol=1e-9), LinearSVC(tol=1e-9)
    for k in (0, 100):
        part, twice = slice(k, k + 100), k + np.repeat(np.arange(100), weights)
        model.partial_fit(X[part], y[part], [False, True], weights)
        copied.partial_fit(X[twice], y[twice], [False, True])
    np.testing.assert_allclose(model.coef_, copied.coef_, atol=1e-4)


def test_over_landmarks_it_goes_on_in_their_coordinates(rows):
    X, _ = rows
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    features = Nystroem(gamma=0.3, n_components=60).fit(X[:200])
    model = LinearSVC(loss="hinge", bias="free")
    for k in range(3):
        part = slice(200 * k, 200 * (k + 1))
        model.partial_fit(features.transform(X[part]), y[part], classes=[-1, 1])
    assert model.score(features.transform(X), y) > 0.85


def test_a_part_that_is_refused_changes_nothing(rows, tmp_path):
    X, z = rows
    y = np.where(z > 0, "yes", "no")
    with pytest.raises(ParameterError, match="classes must be passed"):
        LinearSVC().partial_fit(X, y)
    with pytest.raises(ParameterError, match="class_weight='balanced' needs all the labels"):
        LinearSVC(class_weight="balanced").partial_fit(X, y, ["no", "yes"])
    with pytest.raises(ParameterError, match="C must not depend on the number of rows"):
        LinearSVC(C=Regularization.from_lambda(0.1)).partial_fit(X, y, ["no", "yes"])
    assert not hasattr(LinearSVC(penalty="l1", dual=False), "partial_fit")
    assert not hasattr(LinearSVR(solver="newton"), "partial_fit")
    model = LinearSVC().partial_fit(X, y, ["no", "yes"])
    coef = model.coef_.copy()
    with pytest.raises(DataError, match="'maybe' of row 1 is not among"):
        model.partial_fit(X[:2], ["no", "maybe"])
    with pytest.raises(ParameterError, match="not the same as on the first call"):
        model.partial_fit(X, y, ["no", "yes", "maybe"])
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(DataError, match="expecting 4 features"):
        model.partial_fit(Blocks((X[:, :3], y)))
    np.testing.assert_array_equal(model.coef_, coef)
    mercer.save(model, tmp_path / "m.mercer")
    model.partial_fit(X[:100], y[:100])
    again = mercer.load(tmp_path / "m.mercer").partial_fit(X[:100], y[:100])
    np.testing.assert_array_equal(again.coef_, model.coef_)
