"""Kernel weights: against MKLpy at equal objective, and what they are on digits in six views and on a mixed table.

``python -m benchmarks.mkl race`` times what both have on the same kernel matrices as MKLpy, where that is installed:
EasyMKL, centred alignment, and all kernels alike; each must come to the other's objective. MKLpy is given the matrices
as arrays, and as its own tensors, which take it less time. SimpleMKL, which MKLpy has not, is timed with its gap.
``python -m benchmarks.mkl views`` prints weights and errors on multiple_features, by method, and draws them with
``--picture FILE``; ``table`` on a table of numbers, categories and a text. The data are looked for where the races
look; without them, the digits that scikit-learn carries are cut into four views, and raced with its breast cancer.
"""

import argparse
import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks.sets.data import SEED, data_folder
from mercer import SVC, MKLClassifier
from mercer.kernels import RBF, Linear, On
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.mkl.easy_mkl import distributions, hull_problem
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits

C, LAM = 10.0, 0.1
REPEATS = 3
LEAST_SECONDS = 0.5
VECTORS = {"sonar": "sonar.npz", "splice": "splice_libsvm.npz"}
SETS = ("sonar", "breast_cancer", "splice:1000", "views:1000", "digits:500")
NO_FOLDER = (
    "The races' data were not found: set MERCER_DATA to their folder. "
    "Racing on what scikit-learn carries: breast_cancer, and digits cut into four views."
)
# (method, what MKLpy's machine is, whether it is given tensors)
CONTESTS = (
    ("easy", "its own", False),
    ("easy", "SVC", False),
    ("easy", "SVC", True),
    ("centered_alignment", "SVC", True),
    ("average", "SVC", False),
    ("average", "SVC", True),
)
METHODS = ("simple", "lp-norm", "easy", "centered_alignment", "alignment", "average")


def six_views():
    """(names of the views, their columns, rows, digits): multiple_features, or four views of the bundled digits."""
    folder = data_folder()
    if folder is None:
        X, y = load_digits(return_X_y=True)
        corners = {"upper left": (0, 0), "upper right": (0, 4), "lower left": (4, 0), "lower right": (4, 4)}
        images = X.reshape(-1, 8, 8)
        parts = {name: images[:, r : r + 4, c : c + 4].reshape(len(X), 16) for name, (r, c) in corners.items()}
    else:
        with np.load(folder / "mkl" / "multiple_features.npz") as file:
            y, parts = file["y"], {name: file[name] for name in file if name != "y"}
    scaled = [(part - part.mean(axis=0)) / np.maximum(part.std(axis=0), 1e-12) for part in parts.values()]
    ends = np.cumsum([0, *(part.shape[1] for part in scaled)])
    columns = [list(range(*span)) for span in pairwise(ends)]
    return list(parts), columns, np.hstack(scaled), y


def halves(y):
    order = np.random.default_rng(SEED).permutation(len(y))
    return order[: len(y) // 2], order[len(y) // 2 :]


def vectors(name):
    """Rows and labels of one of the sets that other races have too."""
    with np.load(data_folder() / "vectors" / VECTORS[name]) as file:
        return np.asarray(file["X"], np.float64), file["y"]


def matrices(name):
    """Kernel matrices of a race, brought to unit trace, and labels: even or odd, or for ``digits`` all ten."""
    base, _, rows = name.partition(":")
    if base in ("breast_cancer", *VECTORS):
        X, y = load_breast_cancer(return_X_y=True) if base == "breast_cancer" else vectors(base)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
        kernels = [Linear(), *(RBF(gamma=gamma) for gamma in np.logspace(-3, 0, 9))]
    else:
        _, columns, X, y = six_views()
        y = np.asarray(y).astype(int) if base == "digits" else np.asarray(y).astype(int) % 2
        kernels = [On(part, RBF(gamma=scale / len(part))) for part in columns for scale in (0.25, 1.0, 4.0)]
    if rows:
        kept = np.random.default_rng(SEED).permutation(len(y))[: int(rows)]
        X, y = X[kept], y[kept]
    grams = [kernel(X) for kernel in kernels]
    return [gram / gram.diagonal().mean() for gram in grams], y


def fastest(work, clock, repeats=REPEATS):
    """(what it gives, seconds of the first, of the fastest); what is short is repeated for longer."""
    times, least = [], time.perf_counter() + LEAST_SECONDS
    while len(times) < repeats or time.perf_counter() < least:
        begin = clock()
        found = work()
        times.append(clock() - begin)
    return found, times[0], min(times)


def ours(grams, y, method, **parameters):
    """Weights and machine of Mercer."""
    return MKLClassifier("precomputed", method=method, C=C, lam=LAM, normalize=None, **parameters).fit(grams, y)


def theirs(grams, y, method, as_shipped=False):
    """Weights and machine of MKLpy: with its own learner, or with scikit-learn's SVC, which is faster."""
    algorithms, options = import_module("MKLpy.algorithms"), {"multiclass_strategy": "ovo"}
    if not as_shipped:
        options["learner"] = svm.SVC(C=C)
    if method == "easy":
        return algorithms.EasyMKL(lam=LAM, **options).fit(grams, y)
    return {"centered_alignment": algorithms.CKA, "average": algorithms.AverageMKL}[method](**options).fit(grams, y)


def alignment(grams, y, weights):
    """Centred alignment with the labels of two classes."""
    total = sum(w * K for w, K in zip(weights, grams, strict=True))
    centred = total - total.mean(axis=0) - total.mean(axis=1)[:, None] + total.mean()
    signs = np.where(y == y.max(), 1.0, -1.0)
    signs -= signs.mean()
    return float(signs @ centred @ signs) / (np.linalg.norm(centred) * float(signs @ signs))


def squared_distances(grams, y, tol):
    """EasyMKL's objective at the tolerance of each side, by the problem both solve."""
    problem = hull_problem(np.where(y == y.max(), 1.0, -1.0), LAM, np.ones(len(y)))
    found = solve_dual(problem.dual(), StoredMatrix.of(sum(grams)), tol=tol, limits=Limits(), convex=True)
    beta = distributions(found.beta)
    return (1.0 - LAM) * float(beta @ sum(grams) @ beta) + LAM * float(beta @ beta)


def agreement(grams, y, model, found, method):
    """How far weights and objective are from the peer's."""
    if len(np.unique(y)) > 2:
        return "weights shared by all pairs, MKLpy's are each pair's own"
    weights = np.asarray(found.solution.weights)
    weights = weights / weights.sum()
    if method == "easy":
        excess = squared_distances(grams, y, model.tol) / squared_distances(grams, y, 1e-9) - 1.0
        return f"weights differ by {np.abs(model.weights_ - weights).max():.0e}, objective {excess:.0e} above the best"
    if method == "average":
        return f"weights differ by {np.abs(model.weights_ - weights).max():.0e}"
    negative = "" if weights.min() >= 0 else f", with {np.count_nonzero(weights < 0)} negative weights"
    own, other = alignment(grams, y, model.weights_), alignment(grams, y, weights)
    return f"alignment {own:.4f}, MKLpy {other:.4f}{negative}"


def can_be_raced(names):
    """The sets that are there: those asked for, or all; without a folder those that scikit-learn carries."""
    if data_folder() is not None:
        return names or list(SETS)
    missing = [name for name in names or () if name.partition(":")[0] in VECTORS]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: the races' data were not found; set MERCER_DATA to their folder")
    print(NO_FOLDER)
    return names or [name for name in SETS if name.partition(":")[0] not in VECTORS]


def race(names, clock):
    """A line for each set and method."""
    names = can_be_raced(names)
    heads = f"{'set':<14} {'n':>5} {'kernels':>7} {'method':<31} {'first s':>8} {'best s':>8}"
    print(f"{heads} {'MKLpy s':>8} {'ratio':>6}  check")
    for place, name in enumerate(names):
        grams, y = matrices(name)
        if place == 0 and find_spec("MKLpy"):
            warm_up([np.ascontiguousarray(gram[::4, ::4]) for gram in grams[:2]], y[::4])
        for terms in CONTESTS:
            contest(name, grams, y, *terms, clock)
        model, first, best = fastest(partial(ours, grams, y, "simple", gap_tol=1e-4), clock)
        gap = model.certificate_.relative_gap
        show(name, y, grams, "simple", first, best, np.nan, f"gap {gap:.1e}, {len(model.trace_)} weights visited")


def warm_up(grams, y):
    """What MKLpy imports when it is first used is not timed."""
    for as_shipped in (False, True):
        theirs(grams, y, "easy", as_shipped)


def contest(name, grams, y, method, machine, as_tensors, clock):
    """One line of the race."""
    model, first, best = fastest(partial(ours, grams, y, method), clock)
    peer, check = np.nan, "MKLpy is not installed"
    if find_spec("MKLpy"):
        given = [import_module("torch").tensor(gram) for gram in grams] if as_tensors else grams
        as_shipped = machine != "SVC"
        found, _, peer = fastest(partial(theirs, given, y, method, as_shipped), clock, 1 if as_shipped else REPEATS)
        check = agreement(grams, y, model, found, method)
    terms = f"{method}, {machine}{', tensors' if as_tensors else ''}"
    show(name, y, grams, terms, first, best, peer, check)


def show(name, y, grams, method, first, best, peer, check):
    """Print a line."""
    ratio = f"{peer / best:6.1f}" if np.isfinite(peer) else f"{'':>6}"
    print(f"{name:<14} {len(y):>5} {len(grams):>7} {method:<31} {first:8.3f} {best:8.3f} {peer:8.3f} {ratio}  {check}")


def views(picture=None):
    """Weights and held-out error by method, and of each view alone."""
    names, columns, X, y = six_views()
    found = {}
    train, test = halves(y)
    kernels = [On(part, RBF(gamma="scale")) for part in columns]
    print(f"{'method':<18} {'error %':>8} {'cpu s':>7} {'gap':>8}  " + " ".join(f"{name[:10]:>10}" for name in names))
    for method in METHODS:
        begin = time.process_time()
        model = MKLClassifier(kernels, method=method, C=C).fit(X[train], y[train])
        seconds = time.process_time() - begin
        error, gap = 100 * (1 - model.score(X[test], y[test])), model.certificate_.relative_gap
        weights = " ".join(f"{weight:10.3f}" for weight in model.weights_)
        print(f"{method:<18} {error:8.2f} {seconds:7.2f} {gap:8.1e}  {weights}")
        found[f"{method} ({error:.1f} %)"] = model.weights_ / model.weights_.sum()
    if picture is not None:
        display = import_module("mercer.plot").WeightsDisplay.from_weights(names, found)
        display.figure_.savefig(picture, bbox_inches="tight", dpi=120)
    for name, kernel in zip(names, kernels, strict=True):
        model = SVC(C=C, kernel=kernel).fit(X[train], y[train])
        print(f"{name + ' alone':<18} {100 * (1 - model.score(X[test], y[test])):8.2f}")


def mixed_table(n=600):
    """A made table: two columns of numbers, a category and a text that matter, and four that do not."""
    rng = np.random.default_rng(SEED)
    income, age = rng.normal(size=n), rng.normal(size=n)
    town = rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], n)
    polite = rng.random(n) < 0.5
    words = np.array(["please call me back soon", "this is the last reminder now"])
    score = 1.2 * income + age**2 + 1.5 * np.isin(town, ["Ulm", "Kiel"]) + 1.5 * polite
    y = np.where(score + 0.5 * rng.normal(size=n) > np.median(score), "yes", "no")
    rows = {
        "income": income,
        "age": age,
        "town": town,
        "letter": words[polite.astype(int)],
        **{f"noise {k}": rng.normal(size=n) for k in range(1, 4)},
        "colour": rng.choice(["red", "green", "blue"], n),
    }
    return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)], y


def table():
    """Weights of the columns, by method."""
    rows, y = mixed_table()
    train, test = halves(y)
    learnt, held = ([rows[i] for i in half] for half in (train, test))
    names = None
    for method in METHODS:
        model = MKLClassifier("columns", method=method, C=C).fit(learnt, y[train])
        if names is None:
            names = model.kernel_names_
            print(f"{'method':<18} {'error %':>8}  " + " ".join(f"{name:>8}" for name in names))
        error = 100 * (1 - model.score(held, y[test]))
        print(f"{method:<18} {error:8.2f}  " + " ".join(f"{weight:8.3f}" for weight in model.weights_))


def main(arguments=None):
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("race", "views", "table"))
    parser.add_argument("--sets", nargs="*", help=f"of race: {', '.join(SETS)}, or some of them")
    parser.add_argument("--cpu", action="store_true", help="processor seconds, for a machine that has other work")
    parser.add_argument("--picture", help="of views: a file to draw the weights to")
    options = parser.parse_args(arguments)
    clock = time.process_time if options.cpu else time.perf_counter
    {"race": lambda: race(options.sets, clock), "views": lambda: views(options.picture), "table": table}[options.what]()


if __name__ == "__main__":
    main()
