"""Rows of small whole numbers in disguise: found, kept as bytes, and never mistaken."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC
from mercer.kernels import RBF, Laplacian, Linear, Polynomial
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.items import byte_rows
from mercer.kernels.items.byte_rows import FEWEST_FEATURES, FEWEST_ROWS, LARGEST, Ladder, LevelRows
from mercer.kernels.items.rows import Rows

N, D = FEWEST_ROWS + 13, FEWEST_FEATURES + 3


def pictures(rng, n=N, d=D, dtype=np.float32):
    """Numbers from 0 to 255 over 255, most of them zero, as in a picture of a digit."""
    X = rng.integers(0, 256, (n, d)) * (rng.random((n, d)) < 0.3)
    return (X / 255).astype(dtype)


@pytest.fixture(autouse=True)
def _bytes_anywhere(monkeypatch):
    """Not only on processors that are fast at it."""
    monkeypatch.setattr(byte_rows, "has_byte_products", lambda: True)


@given(
    st.integers(1, LARGEST),
    st.sampled_from([1.0, 1 / 255, 0.1, 2 / 15, 3.7, 1e-3]),
    st.sampled_from([0, 0, -1, 128]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_a_ladder_is_found_under_rounded_numbers(top, step, below, seed):
    rng = np.random.default_rng(seed)
    k = np.unique(np.append(rng.integers(0, top + 1, 40), [0, top]))
    numbers = np.unique((step * (k - below)).astype(np.float32)).astype(np.float64)
    ladder = Ladder.under(numbers)
    if ladder is None:  # only where the numbers are far from zero and close together
        assert numbers[-1] - numbers[0] < 1e-2 * np.abs(numbers).max()
        return
    found = (numbers - ladder.lowest) / ladder.step
    np.testing.assert_allclose(found, np.rint(found), atol=1e-3)
    rounding = 1e-6 * np.abs(numbers).max()
    np.testing.assert_allclose(ladder.lowest + ladder.step * np.rint(found), numbers, rtol=0, atol=rounding)


def test_steps_are_what_was_meant():
    assert Ladder.under(np.float32([0.0, 0.2, 1.0]).astype(np.float64)) == Ladder(0.0, 0.2)
    assert Ladder.under((np.arange(255) / np.float32(255)).astype(np.float64)).step == 1 / 255


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda X: X + 0, None),
        (lambda X: 255 * X, None),
        (lambda X: (X - 0.5) / 0.5, None),
        (lambda X: X.astype(np.float64), None),
        (lambda X: X[: FEWEST_ROWS - 1], "few rows"),
        (lambda X: X[:, : FEWEST_FEATURES - 1], "few features"),
        (lambda X: np.sqrt(X + 0.1), "no common step"),
        (lambda X: 300 * X, None),
        (lambda X: 0 * X, "one number only"),
        (lambda X: X + 1e6, "far from zero"),
    ],
)
def test_which_rows_stand_on_a_ladder(rng, change, why):
    found = LevelRows.of(change(pictures(rng)))
    assert (found is None) == (why is not None), why


@pytest.mark.parametrize("odd", [0.5 / 255, 256 / 255, -1 / 255, 0.3])
def test_one_odd_number_in_a_row_that_was_not_looked_at(rng, odd):
    X = pictures(rng)
    place = next(i for i in range(N) if i not in np.linspace(0, N - 1, byte_rows.SAMPLE).astype(int))
    X[place, -1] = odd
    assert Ladder.of(X) is not None
    assert LevelRows.of(X) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_numbers_come_back(rng, dtype):
    X, origin = pictures(rng, dtype=dtype), rng.normal(size=D)
    rows = LevelRows.of(X, origin)
    assert len(rows) == N
    assert rows.n_features == D
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows.values, X - origin, atol=1e-6)
    np.testing.assert_allclose(rows.norms, ((X - origin) ** 2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(rows.take(np.array([5, 2, 5])).values, (X - origin)[[5, 2, 5]], atol=1e-6)
    np.testing.assert_allclose(rows.slice(3, 9).dense(), (X - origin)[3:9], atol=1e-6)


def test_beside_other_rows_they_are_numbers(rng):
    X, Y = pictures(rng), rng.normal(size=(7, D)).astype(np.float32)
    for left, right in ((LevelRows.of(X), Rows(Y)), (Rows(Y), LevelRows.of(X)), (LevelRows.of(X), LevelRows.of(2 * X))):
        expected = left.values.astype(np.float64) @ right.values.astype(np.float64).T
        np.testing.assert_allclose(left.dots(right), expected, rtol=1e-5, atol=1e-4)


def test_products(rng):
    """In slices, taken, and whole."""
    X, origin = pictures(rng), rng.normal(size=D)
    rows = RBF(1.0).prepare(X, np.float32, origin=origin)
    assert isinstance(rows, LevelRows)
    exact = (X - origin) @ (X - origin).T
    np.testing.assert_allclose(rows.dots(rows), exact, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(rows.slice(40, 77).dots(rows.slice(0, 100)), exact[40:77, :100], rtol=1e-5, atol=1e-4)
    chosen = rng.permutation(N)[:50]
    np.testing.assert_allclose(rows.take(chosen).dots(rows.slice(0, 33)), exact[chosen, :33], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(degree=2, gamma=0.1, coef0=1.0), Linear(), Laplacian(0.1)])
def test_kernels_of_bytes_and_of_numbers_agree(rng, kernel, monkeypatch):
    X = pictures(rng)
    exact = kernel(X, dtype=np.float64)
    stated = kernel.entry_error((X.astype(np.float64) ** 2).sum(axis=1).max(), np.float32)
    for is_fast_at_bytes in (True, False):
        monkeypatch.setattr(byte_rows, "has_byte_products", lambda is_fast=is_fast_at_bytes: is_fast)
        found = kernel(X, dtype=np.float32)
        assert np.abs(found - exact).max() <= min(stated, 2e-6 * np.abs(exact).max())


def test_a_machine_is_the_same_either_way(rng, monkeypatch):
    X = pictures(rng, 1300)
    y = (X @ rng.normal(size=D) + 0.3 * rng.normal(size=1300) > 0).astype(int)
    model = SVC(C=10, gamma=0.02).fit(X[:1100], y[:1100])
    monkeypatch.setattr(byte_rows, "has_byte_products", lambda: False)
    other = SVC(C=10, gamma=0.02).fit(X[:1100], y[:1100])
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-4)
    np.testing.assert_allclose(model.decision_function(X[1100:]), other.decision_function(X[1100:]), atol=5e-3)


def test_predictions_for_rows_that_are_not_bytes(rng):
    """Vectors of bytes, new rows of any numbers: an expansion compares them all the same."""
    X, new, c = pictures(rng), rng.normal(size=(FEWEST_ROWS, D)).astype(np.float32), rng.normal(size=(N, 1))
    origin = X.mean(axis=0, dtype=np.float64)
    expansion = Expansion.single(RBF(0.01), X, c, [0.0], origin)
    exact = Expansion.single(RBF(0.01), X.astype(np.float64), c, [0.0], origin)
    np.testing.assert_allclose(expansion.values(new, 1e-4), exact.values(new.astype(np.float64)), atol=1e-4)
