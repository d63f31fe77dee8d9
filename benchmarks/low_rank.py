"""A machine over landmarks against scikit-learn's Nystroem with a linear machine after it: time, objective, error.

    python -m benchmarks.low_rank --rows 100000 --landmarks 1000
    python -m benchmarks.low_rank --rows 20000 --landmarks 500 --exact --repeats 3

All minimise |w|^2 / 2 + C sum of hinge losses over the same landmarks (the same seed draws the same ones), with a bias
that is not penalised; the objective is computed for each from its own features, in double precision. Contestants take
turns, and processor seconds are compared, which hold on computers that are not idle too. `--exact` adds the exact
machine: by how much it is better, and by how much gap and distance said at most.
"""

import argparse
import time

import numpy as np
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC as SklearnLinearSVC

from benchmarks.harness.report import table
from benchmarks.sets.made import teacher_values
from mercer import SVC, LowRank, Nystroem

TEST_ROWS = 20_000


def hinge_objective(w, margins, C):
    """|w|^2 / 2 + C sum max(0, 1 - margin)."""
    return 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - margins).sum())


def with_sklearn(make):
    """A contestant: scikit-learn's features, then a linear machine on them."""

    def run(X, y, test, options):
        begin, processor = time.perf_counter(), time.process_time()
        features = SklearnNystroem(gamma=options.gamma, n_components=options.landmarks, random_state=0).fit(X)
        rows = features.transform(X)
        middle = time.process_time() - processor
        machine = make(options, len(y)).fit(rows, y)
        end, processor = time.perf_counter(), time.process_time() - processor
        w, b = machine.coef_[0].astype(np.float64), float(machine.intercept_[0])
        objective = hinge_objective(w, y * (rows.astype(np.float64) @ w + b), options.C)
        error = float(np.mean(machine.predict(features.transform(test[0])) != test[1]))
        return {
            "features": middle,
            "total": end - begin,
            "processor": processor,
            "objective": objective,
            "error": error,
        }

    return run


def sgd(options, n):
    return SGDClassifier(loss="hinge", alpha=1.0 / (n * options.C), random_state=0)


def liblinear(options, _n):
    return SklearnLinearSVC(loss="hinge", C=options.C, max_iter=options.liblinear_iterations)


def landmarks(X, y, test, options):
    """Mercer's machine over landmarks."""
    begin, processor = time.perf_counter(), time.process_time()
    model = SVC(
        C=options.C, gamma=options.gamma, gap_tol=options.gap, approximation=LowRank(options.landmarks, random_state=0)
    ).fit(X, y)
    end, processor = time.perf_counter(), time.process_time() - processor
    error = float(np.mean(model.predict(test[0]) != test[1]))
    print(f"    mercer: {model.certificate_.relative_gap:.1e} own gap, {model.distance_}, {model.status_}", flush=True)
    return {
        "total": end - begin,
        "processor": processor,
        "objective": model.certificate_.primal,
        "error": error,
        "model": model,
    }


def features_alone(X, _y, _test, options):
    """Mercer's features, for those who want them."""
    begin, processor = time.perf_counter(), time.process_time()
    Nystroem(gamma=options.gamma, n_components=options.landmarks, random_state=0).fit(X).transform(X)
    end, processor = time.perf_counter(), time.process_time() - processor
    return {"features": processor, "total": end - begin, "processor": processor}


CONTESTANTS = {
    "mercer": landmarks,
    "mercer Nystroem": features_alone,
    "sgd": with_sklearn(sgd),
    "liblinear": with_sklearn(liblinear),
}


def race(options):
    """Turns of all contestants; the quickest turn of each counts."""
    X, values = teacher_values(options.rows + TEST_ROWS, options.features, seed=options.seed)
    y = np.where(values > 0, 1, -1)
    X = X.astype(np.float32 if options.single else np.float64)
    test = X[options.rows :], y[options.rows :]
    X, y = X[: options.rows], y[: options.rows]
    # What is compiled for such data is compiled once.
    few = slice(0, 6000)
    small = argparse.Namespace(**{**vars(options), "landmarks": min(options.landmarks, 200)})
    landmarks(X[few], y[few], test, small)
    best = {}
    for turn in range(options.repeats):
        for name in options.contestants:
            found = CONTESTANTS[name](X, y, test, options)
            print(f"turn {turn + 1}: {name} {found['total']:.2f} s", flush=True)
            if name not in best or found["processor"] < best[name]["processor"]:
                best[name] = found
    show(best)
    if options.exact and "mercer" in best:
        compare_with_exact(X, y, test, options, best["mercer"])
    return best


def show(best):
    """A row for each contestant."""
    mine = best.get("mercer", {}).get("processor")
    rows = [
        (
            name,
            f"{found['features']:.2f}" if "features" in found else "-",
            f"{found['total']:.2f}",
            f"{found['processor']:.2f}",
            f"{found['processor'] / mine:.2f}" if mine else "-",
            f"{found['objective']:.1f}" if "objective" in found else "-",
            f"{100 * found['error']:.2f}" if "error" in found else "-",
        )
        for name, found in best.items()
    ]
    print(
        table(("contestant", "features, processor s", "s", "processor s", "times mercer", "objective", "error %"), rows)
    )


def compare_with_exact(X, y, test, options, mine):
    """By how much the exact machine is better, and what gap and distance said."""
    begin = time.perf_counter()
    exact = SVC(C=options.C, gamma=options.gamma).fit(X, y)
    seconds = time.perf_counter() - begin
    best, model = exact.certificate_, mine["model"]
    excess, said = model.certificate_.primal - best.primal, model.certificate_.gap + model.distance_.value
    error = 100 * np.mean(exact.predict(test[0]) != test[1])
    print(f"exact: {seconds:.2f} s, objective {best.primal:.1f}, error {error:.2f} %, {len(exact.support_)} vectors")
    print(f"excess {excess:.1f} ({excess / best.primal:.1%}), said at most {said:.1f}: {said / excess:.2f} times")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--landmarks", type=int, default=1000)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=0.1)
    parser.add_argument("--gap", type=float, default=1e-3, help="relative duality gap at which Mercer stops")
    parser.add_argument("--single", action="store_true", help="rows in single precision")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--liblinear-iterations", type=int, default=1000)
    parser.add_argument(
        "--contestants", nargs="*", choices=list(CONTESTANTS), default=["mercer", "mercer Nystroem", "sgd"]
    )
    parser.add_argument("--exact", action="store_true")
    race(parser.parse_args())


if __name__ == "__main__":
    main()
