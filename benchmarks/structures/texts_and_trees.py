"""Races and error rates of kernels on texts and trees.

    python -m benchmarks.structures.texts_and_trees strings     # Gram of kernlab's Reuters texts, against its stringdot
    python -m benchmarks.structures.texts_and_trees trees       # Gram of questions and sentences, against a recursion
    python -m benchmarks.structures.texts_and_trees large       # a fit of 5000 texts of 1000 characters
    python -m benchmarks.structures.texts_and_trees errors      # ten-fold cross-validation

kernlab is an R package (Debian's r-cran-kernlab). Only Mercer is timed where there is no R.
"""

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.report import table
from benchmarks.sets import structured_data as data

_KERNLAB = """
suppressMessages(library(kernlab))
x <- as.list(readLines("{path}", encoding = "UTF-8"))
k <- stringdot(type = "sequence", length = {length}, lambda = {decay}, normalized = FALSE)
t <- proc.time()
K <- kernelMatrix(k, x)
cat((proc.time() - t)[["user.self"]], "\\n")
write.table(format(as.matrix(K), digits = 15), "{out}", quote = FALSE, row.names = FALSE, col.names = FALSE)
"""


def _best(action, repeats=3):
    """(value, least seconds on the clock, least processor seconds)."""
    clock, processor = [], []
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        value = action()
        clock.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    return value, min(clock), min(processor)


def _kernlab(texts, length, decay):
    """(Gram matrix, processor seconds) of kernlab, or None where it is not installed."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path, out, script = (Path(folder) / name for name in ("texts", "gram", "run.R"))
        path.write_text("\n".join(texts) + "\n", encoding="utf8")
        script.write_text(_KERNLAB.format(path=path, out=out, length=length, decay=decay))
        done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True, check=False)  # noqa: S603, S607
        return (np.loadtxt(out), float(done.stdout)) if done.returncode == 0 else None


def strings(options):
    from mercer.kernels import Subsequence

    texts, _ = data.reuters()
    texts = [text.encode("ascii", "replace").decode()[: options.characters] for text in texts[: options.texts]]
    kernel = Subsequence(length=4, decay=0.5)
    gram, clock, processor = _best(lambda: kernel(texts))
    peer = _kernlab(texts, 4, 0.5)
    rows = [("mercer", f"{clock:.4f}", f"{processor:.4f}", "", "")]
    if peer:
        difference = np.abs(peer[0] / gram - 1).max()
        rows.append(("kernlab", "", f"{peer[1]:.3f}", f"{peer[1] / processor:.0f}", f"{difference:.1e}"))
    print(f"{len(texts)} texts of at most {options.characters} characters, length 4, decay 0.5")
    print(table(("", "clock s", "processor s", "ratio (processor)", "largest relative difference"), rows))


def trees(options):
    from benchmarks.harness.plain_recursion import recursive_gram
    from mercer import Tree
    from mercer.kernels import PartialTree, SubsetTree

    rows = []
    for name, loaded in (("TREC", data.questions()), ("SST", data.sentiment())):
        X = [Tree.parse(text) for text in data.sampled(loaded, options.trees)[0]]
        recursive_gram(X[:3], 0.4)
        reference, _, slow = _best(lambda X=X: recursive_gram(X, 0.4))
        gram, clock, processor = _best(lambda X=X: SubsetTree(decay=0.4)(X))
        _, _, partial = _best(lambda X=X: PartialTree()(X))
        np.testing.assert_allclose(gram, reference, rtol=1e-10)
        rows.append(
            (
                name,
                str(len(X)),
                f"{slow:.3f}",
                f"{processor:.3f}",
                f"{slow / processor:.1f}",
                f"{clock:.3f}",
                f"{partial:.3f}",
            )
        )
    print(
        table(("data", "trees", "recursion s", "SubsetTree s", "ratio (processor)", "clock s", "PartialTree s"), rows)
    )


def large(options):
    from mercer import SVC
    from mercer.kernels import Subsequence

    X, y = data.newsgroups(options.texts, 1000)
    begin = time.perf_counter()
    model = SVC(kernel=Subsequence(length=options.length).normalized(), C=10.0, memory_limit="2GiB").fit(X, y)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(
        f"{len(X)} texts of 1000 characters, length {options.length}: {seconds:.1f} s, {model.status_.name}, "
        f"{len(model.support_)} support vectors, peak {peak:.0f} MB, gap {model.certificate_.relative_gap:.1e}"
    )


def placed(text):
    """A text's symbols with their places: substrings of them are compared place by place, as in the weighted
    degree kernel (Ratsch and Sonnenburg 2004)."""
    return list(enumerate(text))


def cases(options):
    """(items, labels, kernels by what is said of them) of each set."""
    from mercer import Tree
    from mercer.kernels import Mismatch, PartialTree, Spectrum, Subsequence, SubsetTree, Subtree

    def parsed(loaded):
        return [Tree.parse(text) for text in loaded[0]], loaded[1]

    few = lambda loaded: data.sampled(loaded, options.rows)  # noqa: E731
    dna = {
        "subsequences of 1 to 4": Subsequence(length=(1, 4)),
        "substrings of 1 to 4": Spectrum(length=(1, 4)),
        "substrings of 5, one mismatch": Mismatch(length=5),
        "substrings of 1 to 4 at their places": Spectrum(length=(1, 4), tokenizer=placed),
    }
    proteins = {
        "subsequences of 3, decay 0.7": Subsequence(length=3, decay=0.7),
        "substrings of 3": Spectrum(length=3),
        "substrings of 4, one mismatch": Mismatch(length=4),
    }
    subtrees = {"subtrees and words": Subtree(leaves="fragments"), "subset trees": SubsetTree(leaves="fragments")}
    return {
        "promoters": (data.promoters, dna),
        "splice": (lambda: few(data.splice()), dna),
        "SCOP": (lambda: few(data.scop()), proteins),
        "TREC words": (
            lambda: few(data.question_texts()),
            {"subsequences of 1 or 2 words": Subsequence(length=(1, 2), tokenizer="words")},
        ),
        "TREC": (lambda: parsed(few(data.questions())), subtrees),
        "TREC grct": (lambda: parsed(few(data.questions("grct"))), {"partial trees": PartialTree()}),
        "SST": (
            lambda: parsed(few(data.sentiment())),
            subtrees | {"subset trees": SubsetTree(), "partial trees": PartialTree()},
        ),
    }


def errors(options):
    from sklearn.model_selection import StratifiedKFold, cross_validate

    from mercer import SVC

    rows = []
    for name, (load, kernels) in cases(options).items():
        if options.sets and name not in options.sets:
            continue
        X, y = load()
        folds = StratifiedKFold(10, shuffle=True, random_state=0)
        asked = ["accuracy", "balanced_accuracy", *(["roc_auc"] if len(np.unique(y)) == 2 else [])]
        for said, kernel in kernels.items():
            begin = time.perf_counter()
            model = SVC(kernel=kernel.normalized(), C=10.0, class_weight="balanced")
            found = cross_validate(model, X, y, cv=folds, scoring=asked, error_score="raise")
            score, balanced = found["test_accuracy"], found["test_balanced_accuracy"]
            area = f"{found['test_roc_auc'].mean():.3f}" if "test_roc_auc" in found else ""
            error, deviation = f"{100 * (1 - score.mean()):.1f}", f"{100 * score.std():.1f}"
            taken = f"{time.perf_counter() - begin:.1f}"
            rows.append((name, str(len(X)), said, error, deviation, f"{100 * (1 - balanced.mean()):.1f}", area, taken))
            print(*rows[-1], flush=True)
    head = ("data", "rows", "kernel, normalised", "error %", "deviation", "balanced error %", "area", "seconds")
    print(table(head, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("race", choices=("strings", "trees", "large", "errors"))
    parser.add_argument("--texts", type=int, default=None)
    parser.add_argument("--characters", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--length", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000, help="items drawn from larger sets, for errors")
    parser.add_argument("--sets", nargs="*")
    options = parser.parse_args()
    options.texts = options.texts or (5000 if options.race == "large" else 40)
    {"strings": strings, "trees": trees, "large": large, "errors": errors}[options.race](options)


if __name__ == "__main__":
    main()
