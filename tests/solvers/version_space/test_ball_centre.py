import numpy as np
import pytest

from mercer import SVC, DataError, Status
from mercer.solvers.limits import Limits
from mercer.solvers.version_space.ball_centre import ball_centre


def separable(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    return X, np.where(X @ w > 0, 1, -1)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_direction_of_the_hard_margin_of_rows_of_length_one(seed):
    X, y = separable(seed)
    normals = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]
    found = ball_centre(normals @ normals.T, tol=1e-10, limits=Limits())
    w = normals.T @ found.alpha
    svm = SVC(C=np.inf, kernel="linear", bias="none", tol=1e-10)
    svm.fit(X / np.linalg.norm(X, axis=1)[:, None], y)
    hard = svm.coef_[0]
    np.testing.assert_allclose(w, hard / np.linalg.norm(hard), atol=1e-8)
    assert np.linalg.norm(w) == pytest.approx(1.0)
    assert found.radius == pytest.approx(1.0 / np.linalg.norm(hard))
    assert found.radius == pytest.approx((normals @ w).min())


def test_no_other_direction_is_farther_from_the_nearest_wall():
    X, y = separable(9)
    normals = y[:, None] * X / np.linalg.norm(X, axis=1)[:, None]
    found = ball_centre(normals @ normals.T, tol=1e-10, limits=Limits())
    w, rng = normals.T @ found.alpha, np.random.default_rng(0)
    others = w + 0.05 * rng.normal(size=(5000, 3))
    others /= np.linalg.norm(others, axis=1)[:, None]
    assert (others @ normals.T).min(axis=1).max() <= found.radius + 1e-9


def test_an_empty_version_space_is_an_error_with_its_proof():
    normals = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(DataError, match=r"the version space is empty: .* has length [\d.]+e-1\d\); slack=1.0 softens"):
        ball_centre(normals @ normals.T, limits=Limits())


def test_data_that_cannot_be_separated_have_none():
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(60, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    with pytest.raises(DataError, match="the version space is empty"):
        ball_centre(normals @ normals.T, limits=Limits())


def test_without_time_there_is_no_verdict():
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(600, 300))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    found = ball_centre(normals @ normals.T, limits=Limits(time_limit=1e-9))
    assert found.status is Status.TIME_LIMIT
