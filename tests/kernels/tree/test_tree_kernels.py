"""Tree kernels against fragments listed one by one, and trees that are deep, wide, empty or none."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DataError, ParameterError, Tree, mercer_check
from mercer.kernels import PartialTree, SubsetTree, Subtree

trees = st.recursive(
    st.builds(Tree, st.sampled_from("ab")),
    lambda inner: st.builds(Tree, st.sampled_from("AB"), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=5,
).filter(lambda tree: len(tree) <= 9)  # a tree of n nodes has up to 2^n fragments
forests = st.lists(trees, min_size=1, max_size=3)
LEAVES = ["lexical", "ignored", "fragments"]


def nodes_of(tree):
    return [tree] + [node for child in tree.children for node in nodes_of(child)]


def cut(tree):
    """The tree without its leaves; the tree of no nodes if there is nothing else."""
    if not tree.children:
        return None
    return Tree(tree.label, [cut(child) for child in tree.children if child.children])


def inner(tree):
    return sum(bool(node.children) for node in nodes_of(tree))


def prepared(tree, leaves):
    return tree if leaves != "ignored" else cut(tree)


def subtree_features(tree, decay, leaves):
    features = Counter()
    tree = prepared(tree, leaves)
    for node in nodes_of(tree) if tree else []:
        if node.children or leaves == "fragments":
            features[node] += decay ** (max(1, inner(node)) / 2)
    return features


def fragments_at(node):
    """(fragment, how many of its nodes have children), rooted at a node that has children."""
    choices = [[(child.label, 0), *(fragments_at(child) if child.children else [])] for child in node.children]
    return [
        ((node.label, tuple(part for part, _ in chosen)), 1 + sum(size for _, size in chosen))
        for chosen in product(*choices)
    ]


def subset_features(tree, decay, leaves):
    features = Counter()
    tree = prepared(tree, leaves)
    for node in nodes_of(tree) if tree else []:
        if node.children:
            for fragment, size in fragments_at(node):
                features[fragment] += decay ** (size / 2)
        elif leaves == "fragments":
            features[node.label, "leaf"] += decay**0.5
    return features


def partial_fragments_at(node, decay, height_decay):
    """(fragment, weight) of all partial trees rooted at a node."""
    found = [((node.label, ()), height_decay**0.5 * decay)]
    for count in range(1, len(node.children) + 1):
        for places in combinations(range(len(node.children)), count):
            weight = height_decay**0.5 * decay ** (places[-1] - places[0] + 1)
            parts = [partial_fragments_at(node.children[i], decay, height_decay) for i in places]
            found += [
                ((node.label, tuple(part for part, _ in chosen)), weight * np.prod([w for _, w in chosen]))
                for chosen in product(*parts)
            ]
    return found


def partial_features(tree, decay, height_decay, leaves):
    features = Counter()
    tree = prepared(tree, leaves)
    for node in nodes_of(tree) if tree else []:
        for fragment, weight in partial_fragments_at(node, decay, height_decay):
            features[fragment] += weight
    return features


def inner_products(left, right):
    return np.array([[sum(value * y[u] for u, value in x.items()) for y in right] for x in left], dtype=float)


@settings(max_examples=100, deadline=None)
@given(forests, forests, st.floats(0.1, 1.0), st.sampled_from(LEAVES))
def test_subtree_counts_complete_subtrees(X, Y, decay, leaves):
    x, y = ([subtree_features(tree, decay, leaves) for tree in part] for part in (X, Y))
    kernel = Subtree(decay=decay, leaves=leaves)
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-12)
    features, names = kernel.feature_map(X), kernel.feature_names(X)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(X), rtol=1e-12)
    assert set(names) == {str(tree) for one in x for tree in one}
    assert len(names) == features.shape[1]


@settings(max_examples=150, deadline=None)
@given(forests, forests, st.floats(0.1, 1.0), st.sampled_from(LEAVES))
def test_subset_tree_sums_over_fragments(X, Y, decay, leaves):
    x, y = ([subset_features(tree, decay, leaves) for tree in part] for part in (X, Y))
    kernel = SubsetTree(decay=decay, leaves=leaves)
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), np.diag(inner_products(x, x)), rtol=1e-10)


@settings(max_examples=100, deadline=None)
@given(forests, forests, st.floats(0.1, 1.0), st.floats(0.1, 1.0), st.sampled_from(LEAVES[:2]))
def test_partial_tree_sums_over_fragments(X, Y, decay, height_decay, leaves):
    x, y = ([partial_features(tree, decay, height_decay, leaves) for tree in part] for part in (X, Y))
    kernel = PartialTree(decay=decay, height_decay=height_decay, leaves=leaves)
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-10)


KERNELS = [Subtree(), SubsetTree(), SubsetTree(leaves="fragments"), PartialTree(), PartialTree(leaves="ignored")]
SENTENCES = [
    "(S (NP (DT the) (NN dog)) (VP (V barks)))",
    "(S (NP (DT a) (NN dog)) (VP (V bites) (NP (DT the) (NN man))))",
    "(NP (DT the) (JJ hot) (NN dog))",
    "",
    "(S (NP (PN Mary)) (VP (V barks)))",
] * 4


@pytest.mark.parametrize("kernel", KERNELS)
def test_laws(kernel):
    gram = kernel(SENTENCES)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram)[0] > -1e-9 * np.abs(gram).max()
    np.testing.assert_allclose(kernel(SENTENCES[3:6], SENTENCES), gram[3:6], rtol=1e-12)
    np.testing.assert_allclose(kernel(SENTENCES[::2], SENTENCES[::3]), gram[::2, ::3], rtol=1e-12)
    parsed = [Tree.parse(sentence) for sentence in SENTENCES]
    np.testing.assert_array_equal(kernel(parsed), gram)
    np.testing.assert_allclose(kernel(SENTENCES, dtype=np.float32), gram, rtol=1e-6)
    np.testing.assert_allclose(np.diag(kernel.normalized()(SENTENCES)), np.diag(gram) > 0, rtol=1e-12)
    assert mercer_check(kernel).kind == "by_construction"


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_empty_tree_is_like_nothing(kernel):
    np.testing.assert_array_equal(kernel(["", Tree.parse(" "), "(a b)"])[:2], 0.0)
    assert kernel.normalized()([""], ["", "(a b)"]).tolist() == [[0.0, 0.0]]


def test_collins_and_duffy_count_six_fragments():
    tree = "(NP (D the) (N apple))"
    assert SubsetTree(decay=1.0)([tree])[0, 0] == 6.0


def test_deep_trees():
    n, decay = 3000, 0.5
    chain = Tree.from_preorder(["a"] * n, [1] * (n - 1) + [0])
    # D(a, b) = decay (1 + D) over the shorter of the ways down to the leaves.
    values, value = [], 0.0
    for _ in range(n - 1):
        value = decay * (1.0 + value)
        values.append(value)
    expected = sum(value * (2 * (n - 1 - k) - 1) for k, value in enumerate(values))
    assert SubsetTree(decay=decay)([chain])[0, 0] == pytest.approx(expected)
    assert Subtree()([chain])[0, 0] == n - 1
    deep = Tree.from_preorder(["a"] * 10_000, [1] * 9_999 + [0])
    assert SubsetTree()([deep], [chain]).shape == (1, 1)


def test_wide_trees():
    wide = Tree("r", ["a"] * 2000)
    assert SubsetTree(decay=1.0)([wide])[0, 0] == 1.0
    one, other = Tree("r", ["a"] * 2000), Tree("r", ["b"] * 1999 + ["a"])
    square = 0.4**2
    leaf = 0.4 * square
    assert PartialTree()([one], [other])[0, 0] == pytest.approx(0.4 * (square + 2000 * leaf * square) + 2000 * leaf)


def test_overflow_is_an_error():
    full = Tree("a", ["b"])
    for _ in range(12):
        full = Tree("a", [full, full])
    with pytest.raises(DataError, match="overflows on these trees; lower decay"):
        SubsetTree(decay=1.0)([full])
    assert np.isfinite(SubsetTree(decay=0.1)([full])[0, 0])


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("(a b)", "X must be a sequence of trees, got one str"),
        (["(a b)", 3], "item 1 of X must be a Tree or a tree in brackets, got int"),
        (["(a b)", "(a (b)"], r"item 1 of X: unbalanced brackets: the \( at position 0 is never closed"),
        (["(a b))"], r"item 0 of X: unbalanced brackets: the \) at position 5"),
        (["a plain sentence"], r"item 0 of X: a tree must begin with \(, got 'a' at position 0"),
    ],
)
@pytest.mark.parametrize("kernel", [Subtree(), SubsetTree(), PartialTree()])
def test_what_is_no_tree(kernel, items, message):
    with pytest.raises(DataError, match=message):
        kernel(items)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Subtree(decay=0.0), "decay must be positive, got 0.0"),
        (lambda: SubsetTree(decay=1.1), "decay must be at most 1, got 1.1"),
        (lambda: PartialTree(height_decay=2.0), "height_decay must be at most 1"),
        (lambda: SubsetTree(leaves="words"), "leaves must be one of 'lexical', 'ignored', 'fragments', got 'words'"),
        (lambda: PartialTree(leaves="fragments"), "leaves must be one of 'lexical', 'ignored', got 'fragments'"),
        (lambda: SubsetTree().feature_map(["(a b)"]), "SubsetTree"),
    ],
)
def test_parameters_that_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
