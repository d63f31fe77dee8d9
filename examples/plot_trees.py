"""
Trees: the parts that sentences share
=====================================

Two sentences can have the same words and say different things. Their parse trees tell them apart. Three tree
kernels differ in which parts of a tree they count, and the picture shows what that does to small formulas: trees
whose meaning depends on their shape.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from mercer import SVC, Tree
from mercer.kernels import PartialTree, Spectrum, SubsetTree, Subtree

# %%
# The trees
# ---------
# Random sentences from a small grammar. The one question: who acts, the first noun or, in a passive sentence, the
# second? Adjectives, articles and relative clauses come and go.

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


def sentence(is_passive):
    """Somebody did something to somebody, or it was done by somebody."""
    verb = rng.choice(VERBS).item()
    by = Tree("PP", [Tree("IN", ["by" if is_passive or rng.random() < 0.5 else "with"]), phrase()])
    helper = Tree("VBD", ["was"] if is_passive or rng.random() < 0.5 else ["had"])
    if is_passive:
        return Tree("S", [phrase(), Tree("VP", [helper, Tree("VP", [Tree("VBN", [verb]), by])])])
    return Tree("S", [phrase(), Tree("VP", [helper, Tree("VP", [Tree("VBN", [verb]), phrase(), by])])])


passive = np.arange(120) % 2
trees = [sentence(bool(one)) for one in passive]
print(trees[0], trees[1], sep="\n")

# %%
# Who acts?
# ---------
# The bag of words knows nothing of who stands where. Complete subtrees hardly recur in sentences that are
# all different. Fragments recur, and the more freely children may be left out, the more they do.

words = [" ".join(label for label, count in zip(tree.labels, tree.counts, strict=True) if count == 0) for tree in trees]
cases = {
    "words": (Spectrum(length=1, tokenizer="words"), words),
    "Subtree": (Subtree(), trees),
    "SubsetTree": (SubsetTree(decay=0.4), trees),
    "PartialTree": (PartialTree(decay=0.4, height_decay=0.4), trees),
}
scores = {
    name: cross_val_score(SVC(kernel=kernel.normalized(), C=10.0), X, passive, cv=10)
    for name, (kernel, X) in cases.items()
}

order = np.argsort(passive, kind="stable")
figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), layout="constrained")
for axis, (name, (kernel, X)) in zip(axes, cases.items(), strict=True):
    gram = kernel.normalized()([X[k] for k in order])
    np.fill_diagonal(gram, np.nan)
    axis.imshow(gram, cmap="magma", vmin=0, vmax=np.nanquantile(gram, 0.99))
    axis.axhline(59.5, color="white", linewidth=0.8)
    axis.axvline(59.5, color="white", linewidth=0.8)
    axis.set(title=f"{name}\n{scores[name].mean():.0%} right in ten folds", xticks=[29.5, 89.5], yticks=[29.5, 89.5])
    axis.set_xticklabels(["active", "passive"])
    axis.set_yticklabels(["active", "passive"], rotation=90, va="center")
plt.show()
