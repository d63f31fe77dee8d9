"""
Trees: the parts that sentences share
=====================================

Two sentences can have the same words and say different things. Their parse trees tell them apart. Three tree kernels
differ in which parts of a tree they count.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from mercer import SVC, Tree
from mercer.kernels import PartialTree, Spectrum, SubsetTree, Subtree

# %%
# The trees
# ---------
# Random sentences from a small grammar, in pairs with the same kinds of words: "the old dog was seen by a king", and
# "by a king the old dog was seen". The task is to tell the two forms apart. Adjectives and relative clauses are added
# at random.

rng = np.random.default_rng(3)
NOUNS, ADJECTIVES = ["dog", "man", "cat", "king", "child"], ["old", "hot", "small", "red"]
VERBS = ["chased", "seen", "found", "bitten"]


def phrase():
    """Article, adjectives, noun, and now and then a relative clause."""
    parts = [Tree("DT", [rng.choice(["the", "a"]).item()])]
    parts += [Tree("JJ", [rng.choice(ADJECTIVES).item()]) for _ in range(rng.integers(0, 3))]
    parts += [Tree("NN", [rng.choice(NOUNS).item()])]
    if rng.random() < 0.25:
        parts += [Tree("SBAR", [Tree("WP", ["who"]), Tree("VBD", ["slept"])])]
    return Tree("NP", parts)


def sentence(is_fronted):
    """Something was done by somebody, who stands first or last."""
    by, verb = Tree("PP", [Tree("IN", ["by"]), phrase()]), Tree("VBN", [rng.choice(VERBS).item()])
    was = Tree("VBD", ["was"])
    if is_fronted:
        return Tree("S", [by, phrase(), Tree("VP", [was, Tree("VP", [verb])])])
    return Tree("S", [phrase(), Tree("VP", [was, Tree("VP", [verb, by])])])


fronted = np.arange(120) % 2
trees = [sentence(bool(one)) for one in fronted]
print(trees[0], trees[1], sep="\n")

# %%
# What the kernels see
# --------------------
# The bag of words knows nothing about word order, so it can only guess. Trees know. In the plots, each point compares
# two sentences; fragments of whole productions (`SubsetTree`) show the two kinds as blocks.

words = [" ".join(label for label, count in zip(tree.labels, tree.counts, strict=True) if count == 0) for tree in trees]
cases = {
    "words": (Spectrum(length=1, tokenizer="words"), words),
    "Subtree": (Subtree(), trees),
    "SubsetTree": (SubsetTree(decay=0.4), trees),
    "PartialTree": (PartialTree(decay=0.4, height_decay=0.4), trees),
}
scores = {
    name: cross_val_score(SVC(kernel=kernel.normalized(), C=10.0), X, fronted, cv=10)
    for name, (kernel, X) in cases.items()
}

order = np.argsort(fronted, kind="stable")
figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), layout="constrained")
for axis, (name, (kernel, X)) in zip(axes, cases.items(), strict=True):
    gram = kernel.normalized()([X[k] for k in order])
    np.fill_diagonal(gram, np.nan)
    axis.imshow(gram, cmap="magma", vmin=0, vmax=np.nanquantile(gram, 0.99))
    axis.axhline(59.5, color="white", linewidth=0.8)
    axis.axvline(59.5, color="white", linewidth=0.8)
    axis.set(title=f"{name}\n{scores[name].mean():.0%} right in ten folds", xticks=[29.5, 89.5], yticks=[29.5, 89.5])
    axis.set_xticklabels(["last", "first"])
    axis.set_yticklabels(["last", "first"], rotation=90, va="center")
plt.show()
