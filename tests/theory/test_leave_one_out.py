import numpy as np
import pytest

from mercer import SVC, DataError, theory


def left_out_errors(make, X, y):
    """The leave-one-out error itself: a fit for each row."""
    wrong = 0
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        wrong += y[i] * make().fit(X[others], y[others]).decision_function(X[i : i + 1])[0] <= 0
    return wrong / len(X)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("kernel", "C"), [("linear", 0.3), ("rbf", 1.0), ("rbf", 30.0)])
def test_no_estimate_is_below_the_leave_one_out_error(bias, loss, kernel, C, rng):
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=30) > 0, 1, -1)

    def make():
        return SVC(C=C, kernel=kernel, gamma=0.5, bias=bias, loss=loss, tol=1e-9)

    found = theory.report(make().fit(X, y), X, y)
    exact = left_out_errors(make, X, y)
    assert found["xi_alpha"].applies
    assert exact <= found["xi_alpha"].value <= found["support_vectors"].value <= 1.0
    assert exact < found["support_vectors"].value  # the data leave room: the test can tell


def test_a_machine_without_free_support_vectors_is_not_stable(rng):
    X = rng.normal(size=(20, 2))
    y = np.where(np.arange(20) % 2, 1, -1)
    found = theory.report(SVC(C=1e-3, kernel="linear").fit(X, y), X, y)
    assert not found["xi_alpha"].applies
    assert "not stable" in found["xi_alpha"].unmet[0]


def test_xi_alpha_by_hand():
    alpha, slack = np.array([0.0, 0.1, 0.5, 2.0]), np.array([0.0, 0.0, 0.0, 1.5])
    assert theory.xi_alpha_bound(alpha, slack, spread=1.0) == 0.5
    assert theory.xi_alpha_bound(alpha, slack, spread=0.9) == 0.25
    assert theory.xi_alpha_bound(alpha, slack, spread=1.0, bias="none") == 0.25
    assert theory.xi_alpha_bound(alpha, slack, spread=np.array([9.0, 9.0, 2.0, 9.0]), bias="none") == 0.5


def test_a_row_without_alpha_is_never_counted():
    assert theory.xi_alpha_bound(np.zeros(3), np.full(3, 2.0), spread=1.0) == 0.0


@pytest.mark.parametrize(
    "arguments",
    [([0.1], [0.1, 0.2], 1.0), ([], [], 1.0), ([-0.1], [0.0], 1.0), ([0.1], [np.nan], 1.0), ([0.1], [0.0], -1.0)],
)
def test_what_xi_alpha_needs(arguments):
    with pytest.raises(DataError):
        theory.xi_alpha_bound(*arguments)


def test_there_are_no_more_support_vectors_than_rows():
    assert theory.support_vector_bound(0, 10) == 0.0
    with pytest.raises(DataError, match="at most m = 10, got 11"):
        theory.support_vector_bound(11, 10)


def test_spans_are_distances_from_the_other_margin_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4))
    free = np.array([0, 1, 2])
    spans = theory.squared_spans(X @ X.T, free, np.arange(6))
    for p in range(6):
        others = X[np.setdiff1d(free, [p])]
        directions = others[1:] - others[0]
        rest = X[p] - others[0]
        rest = rest - directions.T @ np.linalg.lstsq(directions.T, rest, rcond=None)[0]
        assert spans[p] == pytest.approx(rest @ rest)
    without = theory.squared_spans(X @ X.T, free, [5], bias="none")
    rest = X[5] - X[free].T @ np.linalg.lstsq(X[free].T, X[5], rcond=None)[0]
    assert without[0] == pytest.approx(rest @ rest)


def test_spans_take_masks_for_what_they_are(rng):
    A = rng.normal(size=(6, 3))
    K, free, support = A @ A.T + np.eye(6), np.array([1, 4]), np.array([1, 2, 4])
    masks = [np.isin(np.arange(6), places) for places in (free, support)]
    np.testing.assert_array_equal(theory.squared_spans(K, *masks), theory.squared_spans(K, free, support))
    np.testing.assert_array_equal(
        theory.squared_spans(K, [], support), theory.squared_spans(K, np.zeros(6, bool), support)
    )


@pytest.mark.parametrize("wrong", [[True, False], [0.0, 1.0], [0, 6], [-1, 2], [1, 1], [[0], [1]]])
def test_spans_refuse_what_are_no_rows(wrong):
    with pytest.raises(DataError, match="free must be different rows from 0 to 5, or a mask of 6 Booleans"):
        theory.squared_spans(np.eye(6), wrong, [0, 1])
