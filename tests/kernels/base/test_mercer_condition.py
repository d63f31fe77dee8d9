import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer._errors import DataError, ParameterError
from mercer.kernels import RBF, Custom, Linear, Polynomial, Precomputed, Sigmoid, mercer_check, repair

X = np.random.default_rng(6).normal(size=(12, 3))


@pytest.mark.parametrize("kernel", [RBF(), RBF("scale"), (Linear() + RBF()).normalized() ** 2])
def test_by_construction_needs_no_rows(kernel):
    verdict = mercer_check(kernel)
    assert verdict
    assert verdict.kind == "by_construction"
    assert verdict.smallest_eigenvalue is None
    assert str(verdict) == f"{kernel!r} is positive semidefinite by construction"


def test_checked_speaks_for_the_rows():
    verdict = mercer_check(Custom(lambda left, right: left @ right.T), X)
    assert verdict
    assert verdict.kind == "checked"
    assert verdict.matrix_size == 12
    assert verdict.witness is None
    # A Gram matrix of rank 3: nine eigenvalues are zero, up to rounding.
    assert abs(verdict.smallest_eigenvalue) < 1e-12
    assert "positive semidefinite on these 12 rows" in str(verdict)


@pytest.mark.parametrize(
    "kernel",
    [Sigmoid(1.0, -1.0), Sigmoid("auto", -0.5), Polynomial(3, 1.0, -2.0), Custom(lambda a, b: -(a @ b.T))],
)
def test_an_invalid_kernel_is_proved_invalid_by_a_witness(kernel):
    verdict = mercer_check(kernel, X)
    assert not verdict
    assert verdict.kind == "invalid"
    assert verdict.pair is None
    bound = kernel.bind(X)
    value = verdict.witness @ bound(X) @ verdict.witness
    assert np.linalg.norm(verdict.witness) == pytest.approx(1.0)
    assert value < 0
    assert value == pytest.approx(verdict.smallest_eigenvalue)
    assert "is not positive semidefinite on these 12 rows: smallest eigenvalue -" in str(verdict)


def test_an_asymmetric_function_is_proved_so_by_a_pair():
    def lopsided(left, right):
        return left @ right.T + 0.5 * (left[:, :1] - right[:, 0])

    verdict = mercer_check(Custom(lopsided), X)
    i, j = verdict.pair
    forth, back = lopsided(X[[i]], X[[j]])[0, 0], lopsided(X[[j]], X[[i]])[0, 0]
    assert not verdict
    assert abs(forth - back) > 0.1
    assert f"is not symmetric: k(x{i}, x{j}) = {forth:.6g}, but k(x{j}, x{i}) = {back:.6g}" in str(verdict)


def test_a_given_matrix_is_checked():
    assert mercer_check(Precomputed(), RBF()(X)).kind == "checked"
    verdict = mercer_check(Precomputed(), [[0.0, 1.0], [1.0, 0.0]])
    assert verdict.smallest_eigenvalue == pytest.approx(-1.0)
    np.testing.assert_allclose(np.abs(verdict.witness), np.sqrt(0.5))
    assert mercer_check(Precomputed(), [[1.0, 2.0], [3.0, 1.0]]).pair in {(0, 1), (1, 0)}


def test_the_tolerance_decides():
    slightly = [[1.0, 1.0], [1.0, 0.999]]
    assert not mercer_check(Precomputed(), slightly)
    assert mercer_check(Precomputed(), slightly, tol=1e-3)


def test_rows_are_needed_where_construction_says_nothing():
    with pytest.raises(ParameterError, match=r"X must be given to check Sigmoid\(gamma=1.0, coef0=0.0\)"):
        mercer_check(Sigmoid())


def test_no_rows_prove_nothing_wrong():
    verdict = mercer_check(Precomputed(), np.empty((0, 0)))
    assert (verdict.kind, verdict.matrix_size) == ("checked", 0)


# ---- repair


def indefinite(seed, n):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
@given(seed=st.integers(0, 2**31), n=st.integers(1, 8))
def test_a_repaired_matrix_is_symmetric_and_positive_semidefinite(how, seed, n):
    gram = repair(indefinite(seed, n), how)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram)[0] >= -1e-12 * n * np.abs(gram).max()


def test_each_repair_does_what_its_name_says():
    G = indefinite(1, 6)
    values, vectors = np.linalg.eigh(G)
    assert values[0] < 0
    np.testing.assert_allclose(repair(G, "clip"), vectors @ np.diag(np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    np.testing.assert_allclose(repair(G, "flip"), vectors @ np.diag(np.abs(values)) @ vectors.T, atol=1e-12)
    np.testing.assert_allclose(repair(G, "shift"), G - values[0] * np.eye(6), atol=1e-12)


def test_clip_is_nearest():
    G = indefinite(2, 5)
    distances = {how: np.linalg.norm(repair(G, how) - G) for how in ("clip", "flip", "shift")}
    assert distances["clip"] < min(distances["flip"], distances["shift"])


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_valid_matrix_is_left_alone(how):
    G = RBF()(X)
    repaired = repair(G, how)
    np.testing.assert_array_equal(repaired, G)
    assert not np.shares_memory(repaired, G)
    assert repair(np.empty((0, 0)), how).shape == (0, 0)


@pytest.mark.parametrize(
    ("gram", "how", "error", "message"),
    [
        (np.eye(2), "fix", ParameterError, 'how must be "clip", "flip" or "shift", got \'fix\''),
        (np.ones((2, 3)), "clip", DataError, r"gram must be square, got shape \(2, 3\)"),
        ([[1.0, 2.0], [0.0, 1.0]], "clip", DataError, r"gram must be symmetric; pass \(G \+ G.T\) / 2"),
        ([[np.nan]], "clip", DataError, "gram must be finite"),
    ],
)
def test_a_repair_refuses_what_is_no_gram_matrix(gram, how, error, message):
    with pytest.raises(error, match=message):
        repair(gram, how)
