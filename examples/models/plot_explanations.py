"""
Why? A text, a tree, a graph and a row explained
================================================

A decision value is a sum, and a sum can be taken apart. `ExplanationDisplay` draws the parts on the item itself:
letters, words, nodes, or bars for the columns of a row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from mercer import SVC, Graph, Tree
from mercer.kernels import Spectrum, Subsequence, SubsetTree, WeisfeilerLehman
from mercer.plot import ExplanationDisplay

# %%
# A text, word by word
# --------------------
# Short reviews, classified by words and pairs of words. Words that did not occur in training contribute nothing.

GOOD = (
    "a wonderful little film with a great cast|the story is moving and the music is great|"
    "I loved every minute of it|great acting and a clever plot|a clever and moving story|"
    "the cast is wonderful and I loved the music|not a dull minute in this clever film"
)
BAD = (
    "a dull film with a weak plot|the story is boring and the acting is weak|"
    "I hated every minute of it|weak acting and a boring plot|a dull and boring story|"
    "the cast is dull and I hated the music|not a clever minute in this boring film"
)
reviews = GOOD.split("|") + BAD.split("|")
verdict = np.repeat(["good", "bad"], 7)
words = SVC(kernel=Spectrum(length=(1, 2), tokenizer="words").normalized(), C=10.0).fit(reviews, verdict)
ExplanationDisplay.from_estimator(
    words, "the plot is weak and the first half dull , but I loved the cast and the great music"
)
plt.show()

# %%
# A text, letter by letter
# ------------------------
# Subsequences with gaps have too many features to list, but every occurrence still has positions in the text.

german = "wo ist der Bahnhof|das Brot ist auf dem Tisch|wie spät ist es jetzt|wir gehen heute auf den Markt"
english = "where is the station|the bread is on the table|what time is it now|we are going to the market today"
letters = SVC(kernel=Subsequence(length=3, decay=0.5).normalized(), C=10.0)
letters.fit(german.split("|") + english.split("|"), np.repeat(["German", "English"], 4))
ExplanationDisplay.from_estimator(letters, "the Bahnhof is on the other side of the street")
plt.show()

# %%
# A tree, node by node
# --------------------
# Is it a question? Subset trees count fragments, of which a tree has thousands. A node is judged by hiding its label:
# what the decision value loses is everything the node took part in.

QUESTIONS = (
    "(SQ (VBD did) (NP (DT the) (NN dog)) (VP (VB bark)))",
    "(SQ (VBZ does) (NP (PRP she)) (VP (VB sing) (ADVP (RB well))))",
    "(SQ (VBD did) (NP (PRP they)) (VP (VB find) (NP (DT a) (NN cat))))",
    "(SQ (VBZ is) (NP (DT the) (NN cat)) (ADJP (JJ old)))",
)
STATEMENTS = (
    "(S (NP (DT the) (NN dog)) (VP (VBD barked)))",
    "(S (NP (PRP she)) (VP (VBZ sings) (ADVP (RB well))))",
    "(S (NP (PRP they)) (VP (VBD found) (NP (DT a) (NN cat))))",
    "(S (NP (DT the) (NN cat)) (VP (VBZ is) (ADJP (JJ old))))",
)
trees = [Tree.parse(text) for text in QUESTIONS + STATEMENTS]
asks = SVC(kernel=SubsetTree(decay=0.4).normalized(), C=10.0).fit(trees, np.repeat(["question", "statement"], 4))
ExplanationDisplay.from_estimator(asks, "(SQ (VBD did) (NP (PRP she)) (VP (VB find) (NP (DT the) (NN dog))))")
plt.show()

# %%
# A graph, node by node
# ---------------------
# Small molecules, with and without a nitro group, NO2. The Weisfeiler-Lehman kernel counts neighbourhoods. In training,
# only the class of each molecule was given.

rng = np.random.default_rng(5)


def molecule(has_group):
    """A ring of carbon with arms; one of them, in half of the molecules, is the group."""
    size = int(rng.integers(5, 7))
    labels, edges = ["C"] * size, [(k, (k + 1) % size) for k in range(size)]
    for place in range(0, size, 2):
        labels.append(str(rng.choice(list("CON"))))
        edges.append((place, len(labels) - 1))
    if has_group:
        n = len(labels)
        labels += ["N", "O", "O"]
        edges += [(1, n), (n, n + 1), (n, n + 2)]
    return Graph(edges, len(labels), node_labels=labels)


kinds = np.arange(60) % 2
molecules = [molecule(bool(kind)) for kind in kinds]
groups = SVC(kernel=WeisfeilerLehman(iterations=2).normalized(), C=10.0)
groups.fit(molecules, np.where(kinds, "with the group", "without"))
ExplanationDisplay.from_estimator(groups, molecule(True))
plt.show()

# %%
# A row, column by column
# -----------------------
# For rows of numbers and for tables, the parts are columns.

wine = load_wine(as_frame=True)
two = wine.target > 0
table = (wine.data - wine.data.mean()) / wine.data.std()
wines = SVC(kernel="linear", C=1.0).fit(table[two], wine.target_names[wine.target[two]])
ExplanationDisplay.from_estimator(wines, table[two].iloc[[70]], max_bars=8)
plt.show()
