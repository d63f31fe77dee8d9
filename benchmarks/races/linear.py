"""The race of linear machines: `mercer.LinearSVC` against LIBLINEAR (scikit-learn) and Snap ML.

Mercer runs with its defaults, to a relative duality gap of 1e-4. A peer has no such rule, so it is given
the loosest tolerance at which its primal objective is at most `EQUAL` (that gap) above Mercer's,
which is found before anything is timed: on a ladder first, then between its last two rungs; scikit-learn
also gets the better of its two algorithms. Then all take turns in one process each. Objectives are
summed over the classes against the rest, computed by NumPy.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from benchmarks.growth import slope
from benchmarks.harness.goals import GOALS, LARGE, spread
from benchmarks.harness.protocol import alternate
from benchmarks.harness.report import seconds, table
from benchmarks.harness.verdict import geometric_mean
from benchmarks.harness.worker import Worker
from benchmarks.sets.linear_data import LINEAR_SETS, linear_data

EQUAL = 1e-4
LADDER = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)
# Where between two rungs, as shares of the looser one, the loosest tolerance is looked for.
BETWEEN = (2 / 3, 1 / 3)
LOSSES = ("squared_hinge", "hinge")
# A peer that takes longer than this at one rung is not asked for the next.
PATIENCE = 20.0


@dataclass(frozen=True)
class LinearContestant:
    """A linear SVC to race, and the form of data in which it is fastest."""

    name: str

    def prepare(self, X):
        """X in this contestant's form: scikit-learn takes float64 only."""
        if self.name == "mercer":
            return X
        return X.astype(np.float64 if self.name == "sklearn" else np.float32)

    def estimator(self, loss, C, tol=None, dual="auto"):
        """An unfitted estimator."""
        if self.name == "mercer":
            from mercer import LinearSVC

            return LinearSVC(loss=loss, C=C)
        if self.name == "sklearn":
            from sklearn.svm import LinearSVC as Peer

            return Peer(loss=loss, C=C, tol=tol, dual=dual, random_state=0, max_iter=1_000_000)
        from snapml import SupportVectorMachine

        return SupportVectorMachine(
            loss=loss, regularizer=1.0 / C, tol=tol, fit_intercept=True, n_jobs=2, max_iter=10_000, random_state=0
        )


class LinearBench:
    """What runs inside a contestant's process."""

    def __init__(self, contestant, data):
        X, self.y = data
        self.contestant, self.X = contestant, contestant.prepare(X)
        self.classes = np.unique(self.y)

    def ready(self):
        """Answered when data and imports are loaded."""
        return True

    def fit(self, parameters, count=1):
        """Seconds of each of `count` fits."""
        taken = []
        for _ in range(count):
            estimator = self.contestant.estimator(**parameters)
            start = time.perf_counter()
            estimator.fit(self.X, self.y)
            taken.append(time.perf_counter() - start)
        self.model = estimator
        return taken

    def coefficients(self):
        """(weights, biases), a row for each problem."""
        model = self.model
        return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)

    def gap(self):
        """The largest relative gap that the model certifies, or None."""
        found = getattr(self.model, "certificate_", None)
        if found is None:
            return None
        return max(each.relative_gap for each in (found if isinstance(found, list) else [found]))


def primal(X, y, C, loss, weights, biases):
    """The sum of the primal objectives of all classes against the rest."""
    classes, total = np.unique(y), 0.0
    for k, (w, b) in enumerate(zip(weights, biases, strict=True)):
        signs = np.where(y == classes[1 if len(weights) == 1 else k], 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - signs * (X @ w + b))
        total += 0.5 * (w @ w + b * b) + C * np.sum(slack if loss == "hinge" else slack**2)
    return float(total)


def linear_race(options):
    """Every set with both losses."""
    rows = []
    for name in options.sets or LINEAR_SETS:
        data = linear_data(name)
        with ExitStack() as stack:
            workers = {
                each: stack.enter_context(Worker(LinearContestant(each), data, LinearBench))
                for each in ("mercer", *_peers())
            }
            for loss in LOSSES:
                rows.append(_row(name, data, loss, 1.0, workers, options))
                print(_line(rows[-1]), flush=True)
    _print(rows)
    options.missed += _missed(rows)
    return rows


def _missed(rows):
    """Sentences for the rows that miss the goal by more than their noise; they are printed too."""
    sentences = []
    for row in rows:
        goal = GOALS["linear"].large if row["entries"] >= LARGE else GOALS["linear"].least
        peers = {key: row[f"{key} s"] for key in ("sklearn", "snapml") if f"{key} s" in row}
        if peers:
            peer = min(peers, key=peers.get)
            ratio, noise = peers[peer] / row["mercer s"], np.hypot(row["mercer noise"], row[f"{peer} noise"])
            if ratio * (1 + noise) < goal:
                where = f"{row['data']}, {row['loss']}: {ratio:.2f} times {peer}"
                sentences.append(f"linear: {where}, goal {goal:g}; noise {100 * noise:.0f} %")
    for sentence in sentences:
        print(f"missed  {sentence}")
    return sentences


def linear_growth_race(options):
    """Made rows and made texts of growing number; the slope of log time on log n (goal: at most 1.05)."""
    rows = []
    for base in ("made_rows", "made_text"):
        for loss in LOSSES:
            sizes = options.sizes or (20_000, 40_000, 80_000, 160_000, 320_000)
            times = [_alone(f"{base}:{size}", loss, options.repeats) for size in sizes]
            found = slope(sizes, times)
            rows.append({"data": base, "loss": loss, "sizes": list(sizes), "seconds": times, "slope": found})
            print(f"{base} {loss}: {', '.join(map(seconds, times))} s; slope {found:.2f}", flush=True)
    return rows


def _alone(name, loss, repeats):
    with Worker(LinearContestant("mercer"), linear_data(name), LinearBench) as worker:
        return min(worker.fit({"loss": loss, "C": 1.0}, repeats + 1))


def _row(name, data, loss, C, workers, options):
    X, y = data
    judge = lambda worker: primal(X, y, C, loss, *worker.coefficients())  # noqa: E731
    entries = X.nnz if hasattr(X, "nnz") else int(np.count_nonzero(X))
    row = {"data": name, "n": X.shape[0], "d": X.shape[1], "entries": entries, "loss": loss, "C": C}
    ours = workers["mercer"]
    ours.fit({"loss": loss, "C": C})
    row["primal"], row["gap"] = judge(ours), ours.gap()
    fits = {"mercer": (ours, {"loss": loss, "C": C})}
    for peer, worker in workers.items():
        found = None if peer == "mercer" else _equal_setting(worker, peer, loss, C, row["primal"], judge)
        if found is not None:
            parameters, row[f"{peer} primal"] = found
            row[f"{peer} setting"] = {k: v for k, v in parameters.items() if k in ("tol", "dual")}
            fits[peer] = worker, parameters
    count = 1 if entries > 100_000 else 10
    runners = {each: lambda w=w, p=p: w.fit(p, count) for each, (w, p) in fits.items()}
    for each, timing in alternate(runners, options.repeats, options.cap).items():
        row[f"{each} s"], row[f"{each} noise"] = timing.best, spread(timing)
    return row


def _peers():
    from importlib.util import find_spec

    wanted = ["sklearn", *(["snapml"] if find_spec("snapml") else [])]
    if "snapml" not in wanted:
        print("snapml is not installed; racing without it.")
    return wanted


def _equal_setting(worker, peer, loss, C, goal, judge):
    """The fastest setting of a peer whose objective is as good, and that objective; None if there is none."""
    duals = (True, False) if peer == "sklearn" and loss == "squared_hinge" else ("auto",)
    found = [_loosest(worker, peer, {"loss": loss, "C": C, "dual": dual}, goal, judge) for dual in duals]
    found = [each for each in found if each is not None]
    return min(found, key=lambda each: each[0])[1:] if found else None


def _loosest(worker, peer, parameters, goal, judge):
    """(seconds, parameters, objective) at the loosest tolerance whose objective is as good, or None."""

    def tried(tol):
        setting = {**parameters, "tol": tol}
        taken = min(worker.fit(setting, 2))
        return taken, setting, judge(worker)

    before = None
    for tol in LADDER:
        found = tried(tol)
        if found[2] <= goal * (1.0 + EQUAL):
            break
        if found[0] > PATIENCE:
            print(f"  {peer}: {found[0]:.0f} s at tol={tol:g} and still {found[2] / goal - 1:.1e} above; given up")
            return None
        before = tol
    else:
        return None
    for share in () if before is None else BETWEEN:
        finer = tried(before**share * tol ** (1.0 - share))
        if finer[2] <= goal * (1.0 + EQUAL):
            return finer
    return found


def _line(row):
    peers = [key.removesuffix(" s") for key in row if key.endswith(" s") and key != "mercer s"]
    parts = [
        f"{peer} {seconds(row[f'{peer} s'])} s (ratio {row[f'{peer} s'] / row['mercer s']:.2f}, "
        f"excess {row['primal'] / row[f'{peer} primal'] - 1:+.1e}, {row[f'{peer} setting']})"
        for peer in peers
    ]
    return f"{row['data']} {row['loss']}: mercer {seconds(row['mercer s'])} s, gap {row['gap']:.1e}; " + "; ".join(
        parts
    )


def _print(rows):
    peers = sorted({key.removesuffix(" s") for row in rows for key in row if key.endswith(" s")} - {"mercer"})
    headings = ("data", "n", "d", "entries", "loss", "gap", "mercer s")
    headings += tuple(text for peer in peers for text in (f"{peer} s", "ratio", "excess"))
    body = []
    for row in rows:
        cells = [
            row["data"],
            row["n"],
            row["d"],
            row["entries"],
            row["loss"],
            f"{row['gap']:.1e}",
            seconds(row["mercer s"]),
        ]
        for peer in peers:
            taken = row.get(f"{peer} s")
            ratio = "-" if taken is None else f"{taken / row['mercer s']:.2f}"
            excess = "-" if taken is None else f"{row['primal'] / row[f'{peer} primal'] - 1:+.1e}"
            cells += [seconds(taken), ratio, excess]
        body.append(cells)
    print("\n" + table(headings, body))
    for peer in peers:
        for label, chosen in (("large", lambda r: r["entries"] >= LARGE), ("small", lambda r: r["entries"] < LARGE)):
            ratios = [r[f"{peer} s"] / r["mercer s"] for r in rows if chosen(r) and f"{peer} s" in r]
            if ratios:
                print(f"{peer}, {label} sets: geometric mean {geometric_mean(ratios):.2f}, minimum {min(ratios):.2f}")
