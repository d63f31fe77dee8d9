"""Kernels on the nodes of one graph: Cora's citations and WebKB's hyperlinks, with and without the words.

``python -m benchmarks.nodes cora`` (or ``webkb``) prints accuracies: Cora on the public split of 140 labelled papers,
and in ten-fold cross-validation; WebKB by leaving one university out, course against faculty, project and
student pages. The files are looked for where the races look.
"""

import argparse
import gzip
import json
import lzma
import re
import time

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from benchmarks.data import NO_FOLDER, SEED, data_folder
from mercer import SVC, Graph
from mercer.kernels import AtNodes, CoCitation, Cosine, Diffusion, RegularizedLaplacian

CLASSES = ("course", "faculty", "project", "student")


def _folder():
    folder = data_folder()
    if folder is None:
        raise SystemExit(NO_FOLDER)
    return folder / "relational"


def kernels_of(graph, words):
    """Words, links, and both."""
    text = AtNodes(graph, words, Cosine())
    links = {
        "diffusion": Diffusion(graph, beta=3.0, laplacian="normalized").normalized(),
        "regularised Laplacian": RegularizedLaplacian(graph, sigma=3.0, laplacian="normalized").normalized(),
        "co-citation": CoCitation(graph, links="both", self_links=True).normalized(),
    }
    return {"words": text, **links, **{f"words + {name}": text + kernel for name, kernel in links.items()}}


def cora():
    """Papers that cite each other."""
    with np.load(_folder() / "cora.npz") as file:
        shape = tuple(file["shape"])
        words = sparse.csr_array((np.ones(len(file["indices"])), file["indices"], file["indptr"]), shape=shape)
        y, edges, split = file["y"], file["edges"], file["split"]
    graph = Graph(edges, shape[0])
    words = TfidfTransformer().fit_transform(words)
    known = np.flatnonzero(y >= 0)
    print(f"Cora: {graph}, {len(known)} labelled")
    folds = StratifiedKFold(10, shuffle=True, random_state=SEED)
    for name, kernel in kernels_of(graph, words).items():
        begin, model = time.perf_counter(), SVC(kernel=kernel, C=10.0)
        train, test = np.flatnonzero(split == 0), np.flatnonzero(split == 2)
        public = model.fit(train, y[train]).score(test, y[test])
        shares = cross_val_score(model, known, y[known], cv=folds)
        took = time.perf_counter() - begin
        print(
            f"{name:30} public split {100 * public:5.1f} %   10-fold {100 * shares.mean():5.1f} %   {took:5.1f} s",
            flush=True,
        )


def _text(raw):
    """The words of a page: without its header, scripts and tags."""
    body = raw.split("\n\n", 1)[-1]
    return re.sub(r"<[^>]*>|[^a-zA-Z]+", " ", body)


def webkb():
    """Pages of four universities; the pages of one are predicted from those of the others."""
    with lzma.open(_folder() / "webkb_pages.jsonl.xz", "rt", encoding="utf8") as lines:
        pages = [json.loads(line) for line in lines]
    with gzip.open(_folder() / "webkb_links.tsv.gz", "rt", encoding="utf8") as lines:
        links = [tuple(map(int, line.split("\t")[:2])) for line in lines]
    graph = Graph(np.array(links), len(pages), directed=True)
    words = TfidfVectorizer(sublinear_tf=True, min_df=3).fit_transform(_text(page["raw"]) for page in pages)
    y = np.array([page["cls"] for page in pages])
    where = np.array([page["univ"] for page in pages])
    used = np.isin(y, CLASSES)
    print(f"WebKB: {graph}, {used.sum()} pages of four classes")
    universities = [name for name in np.unique(where) if name != "misc"]
    for name, kernel in kernels_of(graph, words).items():
        begin, right, total = time.perf_counter(), 0, 0
        for left_out in universities:
            train, test = np.flatnonzero(used & (where != left_out)), np.flatnonzero(used & (where == left_out))
            right += (SVC(kernel=kernel, C=10.0).fit(train, y[train]).predict(test) == y[test]).sum()
            total += len(test)
        print(f"{name:30} {100 * right / total:5.1f} % of {total}   {time.perf_counter() - begin:5.1f} s", flush=True)


def main(arguments=None):
    """Print the accuracies of one set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nodes", description=__doc__.split(":")[0])
    parser.add_argument("set", choices=("cora", "webkb"))
    {"cora": cora, "webkb": webkb}[parser.parse_args(arguments).set]()


if __name__ == "__main__":
    main()
