"""Sums over blocks: in an order that follows from their number alone."""

import numpy as np
import pytest

from mercer._jit.threads import Stopped
from mercer.solvers.blocks.passes import Answers, Evaluation, Response
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


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_parts_that_belong_to_others_stay_as_they_are(count):
    # A worker of a cluster keeps them, and may be asked for them again.
    parts = [Response(*[np.full(2, float(k))] * 5, k, k, k, k, np.full((3, 3), float(k))) for k in range(count)]
    evaluations = [
        Answers([Evaluation(1.0, np.ones(2), part, None), np.full(2, float(k)), None]) for k, part in enumerate(parts)
    ]
    found = tree_sum(evaluations)
    for k, (part, answers) in enumerate(zip(parts, evaluations, strict=True)):
        np.testing.assert_array_equal(part.H, np.full((3, 3), float(k)))
        np.testing.assert_array_equal(answers[1], np.full(2, float(k)))
    again = tree_sum(evaluations, owns=True)
    np.testing.assert_array_equal(again[0].now.H, found[0].now.H)
    np.testing.assert_array_equal(found[0].now.H, np.full((3, 3), sum(range(count))))
    np.testing.assert_array_equal(again[1], found[1])
