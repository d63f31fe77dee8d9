"""Sums over blocks: in an order that follows from their number alone."""

import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.solvers.blocks.source import LocalBlocks, tree_sum


class Written:
    """Adds up to the order of additions, in brackets."""

    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Written(f"({self.text}{other.text})")


@pytest.mark.parametrize(
    ("count", "order"),
    [(1, "0"), (2, "(01)"), (3, "((01)2)"), (4, "((01)(23))"), (5, "(((01)(23))4)"), (7, "(((01)(23))((45)6))")],
)
def test_neighbours_are_added_first(count, order):
    assert tree_sum(Written(str(k)) for k in range(count)).text == order


def test_answers_come_in_the_order_of_the_blocks():
    blocks = LocalBlocks(lambda i, dtype: np.full((2, 3), i, dtype), [2] * 7, 3)
    found = list(
        blocks.map(
            lambda features, plus, own: features[0, 0] + plus + own,
            (10.0,),
            [(100.0 * k,) for k in range(7)],
            np.float32,
        )
    )
    assert found == [10.0 + 101.0 * k for k in range(7)]


def test_whoever_says_stop_is_heard_between_blocks():
    read = []
    blocks = LocalBlocks(lambda i, dtype: read.append(i), [1] * 9, 1, n_jobs=1, stop=lambda: len(read) >= 3)
    with pytest.raises(Stopped):
        list(blocks.map(lambda _: None, (), [()] * 9, np.float64))
    assert read == [0, 1, 2]
