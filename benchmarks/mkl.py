"""Kernel weights: against MKLpy at equal objective, and what they are on digits in six views and on a mixed table.

``python -m benchmarks.mkl race`` times EasyMKL and centred alignment on the same kernel matrices as MKLpy, where that
is installed; each must come to the other's objective. SimpleMKL, which MKLpy has not, is timed too, with its gap.
``python -m benchmarks.mkl views`` prints weights and errors on multiple_features, by method; ``table`` on a table of
numbers, categories and a text. The data are looked for where the races look; without them, views of scikit-learn's digits.
"""

import argparse
import time
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.svm import SVC as PlainSVC

from benchmarks.data import SEED, data_folder
from mercer import SVC, MKLClassifier
from mercer.kernels import RBF, Linear, On
from mercer.problems.easy_mkl import squared_distance

C, LAM = 10.0, 0.1
REPEATS = 3
METHODS = ("simple", "lp-norm", "easy", "centred_alignment", "alignment", "average")


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
    columns = [list(range(*span)) for span in zip(ends[:-1], ends[1:], strict=True)]
    return list(parts), columns, np.hstack(scaled), y


def halves(y):
    order = np.random.default_rng(SEED).permutation(len(y))
    return order[: len(y) // 2], order[len(y) // 2 :]


def matrices(name):
    """Kernel matrices of a race, brought to unit trace, and labels of two classes."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        kernels = [Linear(), *(RBF(gamma=gamma) for gamma in np.logspace(-3, 0, 9))]
    else:
        _, columns, X, digits = six_views()
        y = (np.asarray(digits).astype(int) % 2).astype(int)
        kernels = [On(part, RBF(gamma=scale / len(part))) for part in columns for scale in (0.25, 1.0, 4.0)]
        if name == "views:1000":
            X, y = X[::2], y[::2]
    grams = [kernel(X) for kernel in kernels]
    return [gram / gram.diagonal().mean() for gram in grams], y


def fastest(work, repeats=REPEATS):
    """(what it gives, seconds of the first, of the fastest)."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - begin)
    return found, times[0], min(times)


def ours(grams, y, method, **parameters):
    """Weights and machine of Mercer."""
    return MKLClassifier("precomputed", method=method, C=C, lam=LAM, normalize=None, **parameters).fit(grams, y)


def theirs(grams, y, method):
    """Weights and machine of MKLpy, with scikit-learn's SVC for the machine, which is the faster of its learners."""
    algorithms = import_module("MKLpy.algorithms")
    if method == "easy":
        return algorithms.EasyMKL(learner=PlainSVC(C=C), lam=LAM).fit(grams, y)
    return algorithms.CKA(learner=PlainSVC(C=C)).fit(grams, y)


def objective(grams, y, weights, method):
    """What the method minimises, for weights of either: the distance of hulls that they imply, or minus the alignment."""
    weights = np.asarray(weights) / np.sum(weights)
    total = sum(w * K for w, K in zip(weights, grams, strict=True))
    if method == "easy":
        return None
    centred = total - total.mean(axis=0) - total.mean(axis=1)[:, None] + total.mean()
    signs = np.where(y == y.max(), 1.0, -1.0)
    signs = signs - signs.mean()
    return -float(signs @ centred @ signs) / (np.linalg.norm(centred) * float(signs @ signs))


def easy_objective(grams, y, tol):
    """The squared distance of the hulls, solved independently by scikit-learn (the squared hinge is a ridge)."""
    total = (1.0 - LAM) * sum(grams) + LAM * np.eye(len(y))
    machine = PlainSVC(C=1e7, kernel="precomputed", tol=tol).fit(total, y)
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    beta /= np.maximum(beta, 0.0).sum()
    return beta, squared_distance(beta, sum(grams) @ beta, LAM, np.ones(len(y)))


def race(names):
    """A line for each set and method."""
    print(f"{'set':<14} {'n':>5} {'kernels':>7} {'method':<18} {'first s':>8} {'best s':>8} {'MKLpy s':>8} {'ratio':>6}  check")
    for name in names:
        grams, y = matrices(name)
        for method in ("easy", "centred_alignment"):
            model, first, best = fastest(lambda method=method: ours(grams, y, method))  # noqa: B023 - called at once
            peer, check = np.nan, "MKLpy is not installed"
            if find_spec("MKLpy"):
                found, _, peer = fastest(lambda method=method: theirs(grams, y, method))  # noqa: B023 - the same
                check = agreement(grams, y, model, np.asarray(found.solution.weights), method)
            show(name, y, grams, method, first, best, peer, check)
        model, first, best = fastest(lambda: ours(grams, y, "simple", gap_tol=1e-4))  # noqa: B023 - the same
        gap = model.certificate_.relative_gap
        show(name, y, grams, "simple", first, best, np.nan, f"gap {gap:.1e}, {len(model.trace_)} machines")


def agreement(grams, y, model, weights, method):
    """How far the weights, and where it is defined the objective, are from the peer's."""
    difference = np.abs(model.weights_ - weights / weights.sum()).max()
    if method == "easy":
        return f"weights differ by {difference:.1e}"
    own, other = (objective(grams, y, each, method) for each in (model.weights_, weights))
    lowest = "" if weights.min() >= 0 else f" (with a weight of {weights.min() / weights.sum():.2f})"
    return f"alignment {-own:.6f}, MKLpy {-other:.6f}{lowest}"


def show(name, y, grams, method, first, best, peer, check):
    ratio = f"{peer / best:6.1f}" if np.isfinite(peer) else f"{'':>6}"
    print(f"{name:<14} {len(y):>5} {len(grams):>7} {method:<18} {first:8.3f} {best:8.3f} {peer:8.3f} {ratio}  {check}")


def views():
    """Weights and held-out error by method, and of each view alone."""
    names, columns, X, y = six_views()
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
    parser.add_argument("--sets", nargs="*", default=["breast_cancer", "views:1000", "views"])
    options = parser.parse_args(arguments)
    {"race": lambda: race(options.sets), "views": views, "table": table}[options.what]()


if __name__ == "__main__":
    main()
