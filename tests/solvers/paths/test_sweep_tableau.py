"""Sweeps that wait are sweeps."""

import numpy as np
import pytest

from mercer.solvers.paths.sweep_tableau import SMALL_ROOM, Tableau, carry_out, read_column, sweep


def definite(n=30, seed=0):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n + 3))
    return half @ half.T


def dense(tableau, m):
    """T column by column."""
    return np.stack([read_column(tableau, i) * 0 + tableau.column[:m] for i in range(m)], axis=1)


def by_hand(A, inside):
    F, R = np.flatnonzero(inside), np.flatnonzero(~inside)
    inverse, out = np.linalg.inv(A[np.ix_(F, F)]), np.empty_like(A)
    out[np.ix_(F, F)] = -inverse
    out[np.ix_(R, F)] = A[np.ix_(R, F)] @ inverse
    out[np.ix_(F, R)] = out[np.ix_(R, F)].T
    out[np.ix_(R, R)] = A[np.ix_(R, R)] - A[np.ix_(R, F)] @ inverse @ A[np.ix_(F, R)]
    return out


@pytest.mark.parametrize("carried_out_every", [1, 5, SMALL_ROOM])
def test_sweeps_in_and_out_are_the_tableau_by_hand(carried_out_every):
    n = 30
    A = definite(n)
    bordered = np.block([[A + 0.5, np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    tableau, inside = Tableau.of(A, n, 0.5, True), np.zeros(n + 1, bool)
    rng = np.random.default_rng(1)
    for turn, index in enumerate([4, n, *rng.integers(0, n, 50)]):
        read_column(tableau, index)
        sweep(tableau, index, not inside[index])
        inside[index] = not inside[index]
        if (turn + 1) % carried_out_every == 0:
            tableau = carry_out(tableau)
    expected = by_hand(bordered, inside)
    assert np.allclose(dense(tableau, n + 1), expected, atol=1e-9 * np.abs(expected).max())


def test_a_branch_leaves_what_it_came_from():
    n = 12
    tableau = Tableau.of(definite(n), n, 0.0, False)
    before, other = dense(tableau, n), tableau.branch()
    read_column(other, 3)
    sweep(other, 3, True)
    other = carry_out(other, in_place=False)
    assert np.array_equal(dense(tableau, n), before)
    assert not np.allclose(dense(other, n), before)
    assert np.allclose(other.times(np.arange(16.0))[:n], dense(other, n) @ np.arange(12.0))
