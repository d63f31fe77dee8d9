"""Rows held out: those of scikit-learn's train_test_split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from mercer.workflow.hold_out import hold_out


@given(
    st.lists(st.integers(2, 30), min_size=1, max_size=8),
    st.sampled_from([0.1, 0.2, 0.25, 0.4, 0.5, 0.9]),
    st.integers(0, 5),
    st.booleans(),
)
def test_the_rows_are_those_of_scikit_learn(sizes, share, seed, is_stratified):
    y = np.random.RandomState(seed + 1).permutation(np.repeat([f"c{k}" for k in range(len(sizes))], sizes))
    n_held = int(np.ceil(share * len(y)))
    if not 0 < n_held < len(y):
        return
    fits = is_stratified and len(sizes) <= min(n_held, len(y) - n_held)
    everything = np.arange(len(y))
    expected = train_test_split(everything, test_size=share, random_state=seed, stratify=y if fits else None)
    learnt, held = hold_out(y, share, seed, is_stratified)
    assert learnt.tolist() == sorted(expected[0])
    assert held.tolist() == sorted(expected[1])


def test_a_class_of_one_row_is_on_one_side():
    learnt, held = hold_out(np.array(["a", "b", "b", "b", "b"]), 0.4, 0)
    assert len(held) == 2
    assert sorted([*learnt, *held]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_decides(seed):
    y = np.zeros(50)
    assert hold_out(y, 0.2, seed)[1].tolist() == hold_out(y, 0.2, seed)[1].tolist()
    assert hold_out(y, 0.2, seed)[1].tolist() != hold_out(y, 0.2, seed + 1)[1].tolist()
