"""Kernels of graphs: Gram matrices against GraKeL, and error rates on the TU sets.

``python -m benchmarks.structures.graphs race MUTAG PTC_MR`` times the Gram matrices of four kernels; with GraKeL
installed it times that too and compares the values. ``python -m benchmarks.structures.graphs accuracy MUTAG``
prints accuracies of ten-fold cross-validation, with the kernel's depth and C chosen inside each training part. The
zip files are looked for where the races look.
"""

import argparse
import time
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.sets.data import NO_FOLDER, SEED, data_folder
from mercer import SVC
from mercer.io import read_graphs
from mercer.kernels import RBF, LabelPath, RandomWalk, ShortestPath, WeisfeilerLehman

SETS = ("MUTAG", "PTC_MR", "ENZYMES", "NCI1")
# GraKeL's random walks take hours on the larger sets.
SMALL = ("MUTAG", "PTC_MR")
DECAY = 0.01
CHOICES = {
    "WL": [WeisfeilerLehman(h) for h in (2, 4, 6)],
    "WL, edge labels": [WeisfeilerLehman(h, edge_labels=True) for h in (2, 4, 6)],
    "label paths": [LabelPath(p) for p in (3, 5)],
    "shortest paths": [ShortestPath()],
    "shortest paths, attributes": [ShortestPath(attributes=RBF(gamma)) for gamma in (0.01, 0.1, 1.0)],
}
COSTS = (1.0, 10.0, 100.0, 1000.0)


def load(name):
    """The graphs of a TU set and their classes."""
    folder = data_folder()
    if folder is None:
        raise SystemExit(NO_FOLDER)
    return read_graphs(folder / "graphs" / f"{name}.zip")


def contestants(name):
    """(what, Mercer's kernel, GraKeL's kernel or None)."""
    grakel = import_module("grakel") if find_spec("grakel") else None

    def peer(kind, **parameters):
        return None if grakel is None else getattr(grakel, kind)(**parameters)

    base = None if grakel is None else grakel.VertexHistogram
    rows = [
        (
            "Weisfeiler-Lehman, 5 rounds",
            WeisfeilerLehman(5),
            peer("WeisfeilerLehman", n_iter=5, base_graph_kernel=base),
        ),
        ("shortest paths", ShortestPath(), peer("ShortestPath", with_labels=True)),
    ]
    if name in SMALL:
        unlabelled = RandomWalk(DECAY, labeled=False)
        rows.append(("random walks", unlabelled, peer("RandomWalk", lamda=DECAY)))
        rows.append(("random walks, labelled", RandomWalk(DECAY), peer("RandomWalkLabeled", lamda=DECAY)))
    return rows


def as_grakel(graphs):
    """Edges and labels as GraKeL takes them."""
    for graph in graphs:
        edges = {tuple(edge) for edge in graph.ends.tolist()}
        yield [edges | {(v, u) for u, v in edges}, dict(enumerate(graph.node_labels))]


def unlike_pairs(graphs):
    """Pairs of nodes with different labels: GraKeL counts a walk of length 0 for them, we do not."""
    labels = sorted({label for graph in graphs for label in graph.node_labels})
    counts = np.array([[graph.node_labels.count(label) for label in labels] for graph in graphs], float)
    return np.outer(counts.sum(axis=1), counts.sum(axis=1)) - counts @ counts.T


def timed(work, repeats):
    """(seconds of the fastest run, CPU seconds of it, what it returned)."""
    best = None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        spent = time.perf_counter() - wall, time.process_time() - cpu
        best = spent if best is None or spent < best else best
    return *best, result


def race(names, repeats):
    """A line for each set and kernel."""
    head = f"{'set':8} {'kernel':28} {'mercer s':>9} {'cpu s':>7} {'GraKeL s':>9} {'cpu s':>7} {'ratio':>6}"
    print(head, "difference")
    for name in names:
        graphs = load(name).graphs
        theirs = list(as_grakel(graphs))
        for what, kernel, peer in contestants(name):
            kernel(graphs[:20])
            ours = timed(lambda kernel=kernel, graphs=graphs: kernel(graphs), repeats)
            line = f"{name:8} {what:28} {ours[0]:9.4f} {ours[1]:7.3f}"
            if peer is not None:
                other = timed(lambda peer=peer, theirs=theirs: peer.fit_transform(theirs), repeats)
                values = ours[2] + unlike_pairs(graphs) if what.endswith("labelled") else ours[2]
                difference = np.abs(values - other[2]).max() / np.abs(other[2]).max()
                line += f" {other[0]:9.4f} {other[1]:7.3f} {other[0] / ours[0]:6.1f} {difference:10.1e}"
            print(line, flush=True)


def accuracy_of(grams, y, folds=10, inner=3):
    """Correct share of each of ten folds; the Gram matrix and C are chosen on the other nine."""
    shares = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=SEED).split(y, y):
        parts = list(StratifiedKFold(inner, shuffle=True, random_state=SEED).split(train, y[train]))
        scores = {
            (number, C): np.mean([_share(gram, y, train[fit], train[check], C) for fit, check in parts])
            for number, gram in enumerate(grams)
            for C in COSTS
        }
        number, C = max(scores, key=scores.get)
        shares.append(_share(grams[number], y, train, test, C))
    return np.array(shares)


def _share(gram, y, train, test, C):
    model = SVC(kernel="precomputed", C=C).fit(gram[np.ix_(train, train)], y[train])
    return model.score(gram[np.ix_(test, train)], y[test])


def accuracy(names, kinds):
    """A line for each set and kind of kernel."""
    for name in names:
        data = load(name)
        for kind in kinds:
            if "edge" in kind and data.graphs[0].edge_labels is None:
                continue
            if "attributes" in kind and data.graphs[0].node_attributes is None:
                continue
            begin = time.perf_counter()
            grams = [kernel.normalized()(data.graphs) for kernel in CHOICES[kind]]
            shares = accuracy_of(grams, data.labels)
            spread = f"{100 * shares.mean():5.1f} ± {100 * shares.std():4.1f} %"
            print(f"{name:8} {kind:28} {spread}  {time.perf_counter() - begin:6.1f} s", flush=True)


def main(arguments=None):
    """Run a race or measure accuracies."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.structures.graphs", description=__doc__.split(":")[0])
    parser.add_argument("what", choices=("race", "accuracy"))
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"among {', '.join(SETS)} (default: all)")
    parser.add_argument("--kinds", nargs="+", default=list(CHOICES), help="kernels whose accuracy is measured")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    names = options.sets or SETS
    return race(names, options.repeats) if options.what == "race" else accuracy(names, options.kinds)


if __name__ == "__main__":
    main()
