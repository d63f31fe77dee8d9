import numpy as np

from mercer import Tree
from mercer.plot.drawing.tree_layout import positions, width_of


def test_parents_stand_above_the_middle_of_their_children():
    tree = Tree.parse("(S (A a b) (B c))")
    places, parents = positions(tree)
    np.testing.assert_array_equal(parents, [-1, 0, 1, 1, 0, 4])
    np.testing.assert_array_equal(places[:, 1], [0, 1, 2, 2, 1, 2])
    x = places[:, 0]
    assert x[1] == (x[2] + x[3]) / 2
    assert x[4] == x[5]
    assert x[0] == (x[1] + x[4]) / 2
    assert x[2] < x[3] < x[5]


def test_long_leaves_take_more_room():
    assert width_of(Tree.parse("(S extraordinary)")) > width_of(Tree.parse("(S a)"))


def test_a_deep_tree_is_no_trouble():
    tree = Tree("leaf")
    for _ in range(3000):
        tree = Tree.from_preorder(["n", *tree.labels], [1, *tree.counts])
    places, _ = positions(tree)
    assert places[:, 1].max() == 3000


def test_a_label_above_an_only_leaf_has_room():
    assert width_of(Tree.parse("(S (PRONOUN a) (B b))")) == width_of(Tree.parse("(S (A pronoun) (B b))"))
    places, _ = positions(Tree.parse("(S (PRONOUN a) (PRONOUN b))"))
    assert places[3, 0] - places[1, 0] > 2.0
