"""Race model selection: ``python -m benchmarks.tune --sets spambase letter:5000``.

Five folds, eight values of C, six of gamma: `SVCCV` against scikit-learn's `GridSearchCV` over its own SVC
and over scikit-learn-intelex's, with two jobs. Each contestant has its own process, which has fitted
something small before it is timed; `SVCCV` counts with its refit, and `GridSearchCV` does too. Beside the
times stand the best setting, its score, and the largest difference from the peer's scores, of all settings
and of the best one. The floor is what the entries of one kernel matrix for each gamma take, on one core.

``--peer-folds 1`` gives the peers one of the five folds, without a refit, and multiplies their time by five, for a
look that does not take ten minutes; the line says so.
"""

import argparse
import multiprocessing
import time
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.harness.environment import environment, headline
from benchmarks.harness.floor import floor_seconds, seconds_per_entry
from benchmarks.harness.peers import LIBSVM, MERCER, ONEDAL
from benchmarks.sets.data import base_name, load

CONTESTANTS = {each.name: each for each in (MERCER, LIBSVM, ONEDAL)}
SETS = ("spambase", "a9a:5000", "letter:5000")
FOLDS = 5
CS = 2.0 ** np.arange(-5, 11, 2)
# Around 1 / (features times variance) of each set.
GAMMAS = {"letter": 2.0 ** np.arange(-7, 5, 2)}
USUAL_GAMMAS = 2.0 ** np.arange(-11, 1, 2)


def gammas_of(name):
    """The six widths raced on a set."""
    return GAMMAS.get(base_name(name), USUAL_GAMMAS)


def searcher(contestant, name, folds, early_stop):
    """The search of a contestant, over the folds given."""
    if contestant == MERCER:
        from mercer import SVCCV

        return SVCCV(CS, gammas_of(name), cv=folds, early_stop=early_stop)
    grid = {"C": CS, "gamma": gammas_of(name)}
    # What is given some of the folds counts several times, and refits not at all.
    refit = folds is None or len(folds) == FOLDS
    return GridSearchCV(contestant.estimator(1.0, 1.0), grid, cv=folds, n_jobs=2, refit=refit)


def serve(connection, contestant, name, peer_folds, early_stop):
    """Search as often as asked; each time tell the seconds and the scores."""
    warnings.simplefilter("ignore")
    data = load(name)
    X, y = contestant.prepare(data.X), data.y
    folds = list(StratifiedKFold(FOLDS).split(np.zeros(len(y)), y))
    if contestant != MERCER:
        folds = folds[:peer_folds]
    few = np.random.default_rng(0).permutation(len(y))[:1000]
    small = searcher(contestant, name, None, early_stop)
    (small.set_params(Cs=[1.0], gammas=[0.1]) if contestant == MERCER else small.set_params(param_grid={"C": [1.0]}))
    small.fit(X[few], y[few])  # imports, workers and compiled code are there before anything is timed
    connection.send("ready")
    while connection.recv() == "search":
        search = searcher(contestant, name, folds, early_stop)
        begin = time.perf_counter()
        search.fit(X, y)
        seconds = time.perf_counter() - begin
        scores = [search.cv_results_[f"split{k}_test_score"] for k in range(len(folds))]
        connection.send((seconds * FOLDS / len(folds), np.stack(scores, axis=1), search.cv_results_["params"]))


def race(name, names, options):
    """{contestant: (seconds of each search, scores of settings and folds, settings)}."""
    context, lines = multiprocessing.get_context("spawn"), {}
    for each in names:
        ours, theirs = context.Pipe()
        arguments = (theirs, CONTESTANTS[each], name, options.peer_folds, options.early_stop)
        context.Process(target=serve, args=arguments).start()
        theirs.close()
        ours.recv()
        lines[each] = ours
    found = {}
    for _ in range(options.repeats):
        for each, line in lines.items():
            line.send("search")
            seconds, scores, settings = line.recv()
            found.setdefault(each, ([], scores, settings))[0].append(seconds)
    for line in lines.values():
        line.send("end")
    return found


def _as_given(scores, settings):
    """Scores in the order of C and gamma, whatever the order of the settings."""
    order = sorted(range(len(settings)), key=lambda k: (settings[k]["C"], settings[k]["gamma"]))
    return scores[order]


def report(name, found, floor):
    """A line for each contestant."""
    (own, scores, settings), rows = found["mercer"], []
    best = settings[int(np.nanargmax(scores.mean(axis=1)))]
    print(f"{name}: {len(settings)} settings x {FOLDS} folds; floor {floor:.2f} s")
    print(f"  mercer   {min(own):8.2f} s  best {np.nanmax(scores.mean(axis=1)):.4f} with {best}")
    for each, (seconds, theirs, their_settings) in found.items():
        if each == "mercer":
            continue
        ours = _as_given(scores, settings)[:, : theirs.shape[1]]
        apart = np.abs(ours - _as_given(theirs, their_settings))
        leader = int(np.nanargmax(ours.mean(axis=1)))
        estimated = "" if theirs.shape[1] == FOLDS else f" (from {theirs.shape[1]} of {FOLDS} folds)"
        print(
            f"  {each:8s} {min(seconds):8.2f} s  {min(seconds) / min(own):5.1f} times as long; scores differ by "
            f"at most {np.nanmax(apart):.4f} in a fold, {apart[leader].mean():.4f} in the mean of the best{estimated}",
            flush=True,
        )
        rows.append((each, min(seconds), float(np.nanmax(apart))))
    return rows


def main(arguments=None):
    """Race the sets asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune", description=__doc__.split(":")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--peers", nargs="*", choices=("sklearn", "intelex"), default=["sklearn", "intelex"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--peer-folds", type=int, default=FOLDS, choices=range(1, FOLDS + 1))
    parser.add_argument("--early-stop", action="store_true")
    options = parser.parse_args(arguments)
    print(headline(environment()))
    names = [each for each in ("mercer", *options.peers) if CONTESTANTS[each].is_installed()]
    for name in options.sets:
        X = load(name).X
        entry = seconds_per_entry(X, float(gammas_of(name)[2]))
        floor = len(gammas_of(name)) * floor_seconds(X.shape[0], X.shape[0], entry) / 2
        report(name, race(name, names, options), floor)


if __name__ == "__main__":
    main()
