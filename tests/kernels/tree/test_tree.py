"""The value: building, comparing, printing and reading back."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import DataError, Tree

trees = st.recursive(
    st.builds(Tree, st.text(max_size=3)),
    lambda inner: st.builds(Tree, st.text(max_size=3), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=10,
)


@given(trees)
def test_what_is_printed_can_be_read(tree):
    assert Tree.parse(str(tree)) == tree
    assert hash(Tree.parse(str(tree))) == hash(tree)
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301 - made here


@given(trees)
def test_a_tree_is_its_label_and_its_children(tree):
    assert Tree(tree.label, tree.children) == tree
    assert len(tree) == 1 + sum(len(child) for child in tree.children)
    assert tree.depth == 1 + max((child.depth for child in tree.children), default=0)


def test_order_and_labels_matter():
    assert Tree("a", ["b", "c"]) != Tree("a", ["c", "b"])
    assert Tree("a", ["b", "c"]) != Tree("a", [Tree("b", ["c"])])
    assert Tree("a") != "(a)"


def test_the_tree_of_no_nodes():
    empty = Tree.parse("  ")
    assert len(empty) == 0
    assert empty.depth == 0
    with pytest.raises(DataError, match="no label"):
        _ = empty.label
    with pytest.raises(DataError, match="child 0 of 'a' must be a tree with a node"):
        Tree("a", [empty])


def test_what_is_no_tree():
    with pytest.raises(DataError, match="label of a node must be a str, got 3"):
        Tree(3)
    with pytest.raises(DataError, match="child 1 of 'a' must be"):
        Tree("a", ["b", 4])
    with pytest.raises(DataError, match="1 children are missing"):
        Tree.from_preorder(["a", "b"], [2, 0])
    with pytest.raises(DataError, match="node 1 has no parent"):
        Tree.from_preorder(["a", "b"], [0, 0])
    with pytest.raises(DataError, match="same length"):
        Tree.from_preorder(["a"], [])
    with pytest.raises(DataError, match="expected one tree, got 2"):
        Tree.parse("(a) (b)")
    with pytest.raises(AttributeError, match="cannot be changed"):
        Tree("a").labels = ()


def test_long_trees_are_shortened_in_repr():
    assert repr(Tree("a", ["b"])) == "Tree.parse('(a b)')"
    assert len(repr(Tree("a", ["b"] * 500))) < 230
