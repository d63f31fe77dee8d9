"""Kernels on the nodes of one graph: Cora's citations and WebKB's hyperlinks, with and without the words.

``python -m benchmarks.structures.nodes cora`` (or ``webkb``) prints accuracies in ten-fold cross-validation, and
on the split that others publish for: Cora's public one with 140 labelled papers; for WebKB (course, faculty,
project and student pages) one university left out after the other. The files are looked for where the races look.
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
from sklearn.model_selection import StratifiedKFold

from benchmarks.sets.data import NO_FOLDER, SEED, data_folder
from mercer import SVC, Graph
from mercer.kernels import AtNodes, CoCitation, Cosine, Diffusion, RegularizedLaplacian

CLASSES = ("course", "faculty", "project", "student")
UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


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
    train, test = (np.flatnonzero(split[known] == part) for part in (0, 2))
    compare(kernels_of(graph, words), known, y, "public split", [(train, test)])


def compare(kernels, nodes, y, title, published):
    """A line for each kernel: the share of right answers in ten folds, and on the published splits.

    Nothing of a kernel on the nodes of one graph depends on which of them are labelled, so one matrix serves all.
    """
    y = y[nodes]
    folds = list(StratifiedKFold(10, shuffle=True, random_state=SEED).split(y, y))
    for name, kernel in kernels.items():
        begin, gram = time.perf_counter(), kernel(nodes)
        shares = [share(gram, y, [fold]) for fold in folds]
        other = share(gram, y, published)
        print(
            f"{name:30} 10-fold {100 * np.mean(shares):5.1f} % ± {100 * np.std(shares):3.1f}   "
            f"{title} {100 * other:5.1f} %   {time.perf_counter() - begin:5.1f} s",
            flush=True,
        )


def share(gram, y, splits):
    """The share of right answers over the test parts of all splits."""
    right, total = 0, 0
    for train, test in splits:
        model = SVC(kernel="precomputed", C=10.0).fit(gram[np.ix_(train, train)], y[train])
        right += (model.predict(gram[np.ix_(test, train)]) == y[test]).sum()
        total += len(test)
    return right / total


def _text(raw):
    """The words of a page: without its header, scripts and tags."""
    body = raw.split("\n\n", 1)[-1]
    return re.sub(r"<[^>]*>|[^a-zA-Z]+", " ", body)


def webkb():
    """Pages of four universities, and of others; their links and their words."""
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
    nodes, where = np.flatnonzero(used), where[used]
    left_out = [(np.flatnonzero(where != name), np.flatnonzero(where == name)) for name in UNIVERSITIES]
    compare(kernels_of(graph, words), nodes, y, "a university left out", left_out)


def main(arguments=None):
    """Print the accuracies of one set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structures.nodes", description=__doc__.split(":")[0])
    parser.add_argument("set", choices=("cora", "webkb"))
    {"cora": cora, "webkb": webkb}[parser.parse_args(arguments).set]()


if __name__ == "__main__":
    main()
