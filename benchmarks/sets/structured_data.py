"""Texts and trees of the data folder: promoters, splice junctions, SCOP, questions, sentiment, Reuters."""

import gzip
import json
import lzma
import re

import numpy as np

from benchmarks.sets.data import NO_FOLDER, SEED, data_folder


def _path(*parts):
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(NO_FOLDER)
    return folder.joinpath(*parts)


def _tsv(*parts):
    with gzip.open(_path(*parts), "rt", encoding="utf8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def _questions():
    with lzma.open(_path("trees", "trec_qc.jsonl.xz"), "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def promoters():
    rows = _tsv("strings", "promoters.tsv.gz")
    return [row[2] for row in rows], np.array([row[0] for row in rows])


def splice():
    rows = _tsv("strings", "splice_junction.tsv.gz")
    return [row[2] for row in rows], np.array([row[0] for row in rows])


def scop():
    """The superfamily of the family with most training proteins against the rest, all proteins that it uses."""
    rows = _tsv("strings", "scop153_remote_homology.tsv.gz")[1:]
    membership = np.array([list(row[2]) for row in rows])
    family = int(np.argmax((membership == "1").sum(axis=0)))
    used = membership[:, family] != "0"
    y = np.isin(membership[:, family], ["1", "3"]).astype(int)
    return [row[3] for row, keep in zip(rows, used, strict=True) if keep], y[used]


def question_texts():
    rows = [row for row in _questions() if row["split"] == "train"]
    return [row["question"] for row in rows], np.array([row["coarse"] for row in rows])


def questions(form="cst"):
    """Parse trees of the training questions: constituents, or dependencies ("grct", "lct", "loct")."""
    rows = [row for row in _questions() if row["split"] == "train"]
    return [row[form] for row in rows], np.array([row["coarse"] for row in rows])


def sentiment():
    """Sentences whose root is negative (0, 1) or positive (3, 4); the root's label is hidden."""
    with gzip.open(_path("trees", "sst_train.ptb.gz"), "rt", encoding="utf8") as file:
        trees = [line.strip() for line in file]
    kept = [tree for tree in trees if tree[1] != "2"]
    return ["(?" + tree[2:] for tree in kept], np.array([int(tree[1] in "34") for tree in kept])


def reuters():
    """The 40 texts that come with kernlab."""
    rows = _tsv("text", "kernlab_reuters.tsv.gz")
    return [row[1] for row in rows], np.array([row[0] for row in rows])


def newsgroups(n, length):
    """n posts as lower-case letters and blanks, cut to `length` characters; ten groups against ten."""
    with lzma.open(_path("text", "20newsgroups_bydate.jsonl.xz"), "rt", encoding="utf8") as file:
        rows = [json.loads(line) for line in file]
    groups = sorted({row["group"] for row in rows})
    cleaned = [(" ".join(re.findall("[a-z]+", row["text"].lower())), row["group"]) for row in rows]
    long_enough = [(text[:length], groups.index(group) < 10) for text, group in cleaned if len(text) >= length]
    order = np.random.default_rng(SEED).permutation(len(long_enough))[:n]
    return [long_enough[k][0] for k in order], np.array([int(long_enough[k][1]) for k in order])


def sampled(data, n):
    """At most n items, drawn at random."""
    X, y = data
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(X))[:n])
    return [X[k] for k in chosen], y[chosen]
