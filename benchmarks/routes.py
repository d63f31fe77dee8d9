"""What each route brings: ``python -m benchmarks.routes``, or ``--routes exact pairs`` for some of them.

A route is a way in which a dual is solved, a precision chosen or a product computed. It is raced against what would
happen without it, in one process, taking turns, on three data sets; the minimum counts. Both fits are OPTIMAL at the
same tolerance, and the table says so where they are not. ``python -m tests.processors haswell python -m
benchmarks.routes`` is the same as on a processor with AVX2 and nothing beyond.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from unittest import mock

from sklearn.datasets import load_breast_cancer

import mercer
from benchmarks.forms import SETS
from benchmarks.forms import load as load_form
from benchmarks.harness.environment import environment, headline
from benchmarks.sets.data import load
from mercer import SVC, Status
from mercer.estimators.fitting import all_pairs, training
from mercer.kernels.items import sparse_rows
from mercer.solvers.dual_qp import policy, solve, working_set

EARNED = 1.3
# Columns as they come, from thousandths to thousands: what steps of two coefficients are slowest at.
UNSCALED = "breast_cancer, unscaled"
# Sparse sets as most people have them: indicators of categories in an ordinary array.
DENSE = ", dense"


@dataclass(frozen=True)
class Route:
    """What is raced: the sets it is for, and how it is switched off.

    Sets of `benchmarks.forms` are fitted with the machine and the parameters that they have there.
    """

    sets: tuple[str, ...]
    without: Callable[[], AbstractContextManager]
    kernel: str = "rbf"
    C: float = 10.0
    has_forms: bool = False


def _off(place, name, value):
    return lambda: mock.patch.object(place, name, value)


ROUTES = {
    "exact": Route(("breast_cancer:300", "spambase:400", "made:400"), _off(policy, "EXACT_SIZE", 0)),
    "pairs": Route(("digits:1000", "letter:2000", "mnist10:1000"), _off(all_pairs, "are_small", lambda *_: False)),
    "pairs by blocks": Route(
        ("letter", "mnist10:5000", "mnist10:10000"), _off(all_pairs, "share_blocks", lambda *_: False)
    ),
    "whole matrix": Route(
        ("higgs11k:4000", "a9a:3500", "ijcnn1:4000"), _off(training, "is_stored_whole", lambda *_: False)
    ),
    "single precision": Route(("spambase", "higgs11k", "ijcnn1"), _off(policy, "FINEST_SINGLE_TOL", float("inf"))),
    "zeros": Route(("mnist2:5000", "a9a, dense", "w8a, dense"), _off(sparse_rows, "FEW_FILLED", float("inf"))),
    "Newton on a face": Route(
        (UNSCALED, "spambase:1500", "a9a:2000"),
        _off(working_set, "newton_on_face", lambda *_: 0.0),
        kernel="linear",
        C=100.0,
    ),
    "start from a sample": Route(
        ("mammography", "shuttle", "smtp"), _off(solve, "sampled_start", lambda *_: None), has_forms=True
    ),
    "start from least squares": Route(
        ("higgs11k", "cpusmall-nu", "california_housing-nu"),
        _off(solve, "sampled_start", lambda *_: None),
        has_forms=True,
    ),
}


def _fit(route, name):
    """A function that fits once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if route.has_forms:
            (kind, options), (X, y, *_) = SETS[name], load_form(name)
            return lambda: getattr(mercer, kind)(**options).fit(X, y)
        if name == UNSCALED:
            X, y = load_breast_cancer(return_X_y=True)
        else:
            data = load(name.removesuffix(DENSE))
            X, y = data.X.toarray() if name.endswith(DENSE) else data.X, data.y
    return lambda: SVC(C=route.C, kernel=route.kernel).fit(X, y)


def _seconds(fit):
    """(processor time of a fit, the model): both cores count, and other programs do not."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit()
    return time.process_time() - begin, model


def race(route, name, repeats):
    """(seconds with it, seconds without it, whether both fits are OPTIMAL)."""
    fit = _fit(route, name)
    best, is_optimal = {True: float("inf"), False: float("inf")}, True
    for turn in range(repeats + 1):
        for is_on in (True, False):
            if is_on:
                seconds, model = _seconds(fit)
            else:
                with route.without():
                    seconds, model = _seconds(fit)
            is_optimal &= model.status_ == Status.OPTIMAL
            if turn:  # the first one compiles
                best[is_on] = min(best[is_on], seconds)
    return best[True], best[False], is_optimal


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.routes", description="What each route brings.")
    parser.add_argument("--routes", nargs="*", choices=ROUTES, default=list(ROUTES))
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    print(headline(environment()))
    print("| route | set | with, s | without, s | times | |")
    print("|---|---|---|---|---|---|")
    for key in chosen.routes:
        for name in ROUTES[key].sets:
            own, other, is_optimal = race(ROUTES[key], name, chosen.repeats)
            said = "" if other >= EARNED * own else f"less than {EARNED}"
            said = said if is_optimal else "not both optimal"
            print(f"| {key} | {name} | {own:.4f} | {other:.4f} | {other / own:.2f} | {said} |", flush=True)


if __name__ == "__main__":
    main()
