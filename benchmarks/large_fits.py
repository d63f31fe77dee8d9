"""Fits of 10^5 rows and more, each in a process of its own: what `python -m benchmarks.growth` runs."""

import argparse
import gc
import json
import multiprocessing
import time
import traceback
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.growth import slope
from benchmarks.harness.environment import environment, headline
from benchmarks.harness.report import megabytes, seconds, table
from benchmarks.harness.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.sets.data import LARGE, load_large
from benchmarks.sets.made import MADE, teacher_values

SIZES = (25_000, 50_000, 100_000)
MACHINES = ("SVC", "SVR", "OneClassSVM")
# C and gamma for each set; the share of support vectors of "disc" does not move with its size.
SETTINGS = {
    "disc": (10.0, 0.2),
    "teacher": (1.0, 0.1),
    "digits": (10.0, 0.1),
    "isotropic": (1.0, 0.02),
    "clustered": (1.0, 0.1),
    "imbalanced": (1.0, 0.1),
    "heavy-tailed": (1.0, 0.1),
    "donors": (1.0, 0.1),
    "celeba": (1.0, 0.02),
}
NU, EPSILON = 0.05, 0.5
WARM_UP_ROWS = 3000
GOALS = {"slope": 1.8, "certificate": 0.2, "oneDAL": 2.0}
# What a fit may take beyond its limit: the system's own share, which nobody counts.
SLACK = 0.10
PEER = {"SVC": "sklearnex.svm", "SVR": "sklearnex.svm"}
HEADINGS = (
    "machine", "data", "rows", "contestant", "fit s", "core s", "cert. core s", "share", "added MB", "SVs", "SVs %",
    "rel. gap", "KKT", "status", "full s",
)  # fmt: skip


def rows_of(name, n, machine):
    """(X, y) for a machine: labels, or for a regression a value to learn; None where there is nothing to learn."""
    if machine == "SVR" and name == "teacher":
        return teacher_values(n)
    X, y = load_large(name, n) if name in LARGE else MADE[name](n)
    if machine == "SVR":
        return np.ascontiguousarray(X[:, 1:]), X[:, 0].astype(np.float64)
    return X, y if machine == "SVC" else None


def machine_of(machine, module, C, gamma, **parameters):
    """An unfitted machine of Mercer's or a peer's."""
    own = {"SVC": {"C": C}, "SVR": {"C": C, "epsilon": EPSILON}, "OneClassSVM": {"nu": NU}}[machine]
    return getattr(import_module(module), machine)(kernel="rbf", gamma=gamma, tol=1e-3, **own, **parameters)


def measure(machine, name, n, module, memory_limit, full):
    """What one fit takes, in this process."""
    X, y = rows_of(name, n, machine)
    C, gamma = SETTINGS[name]
    parameters = {"memory_limit": memory_limit} if module == "mercer" else {"cache_size": 1000}
    part = None if y is None else y[:WARM_UP_ROWS]
    if machine == "SVC" and len(np.unique(part)) < 2:
        part[0] = -part[0]
    warnings.simplefilter("ignore")
    machine_of(machine, module, C, gamma, **parameters).fit(X[:WARM_UP_ROWS], part)
    certifying = _watch_certificates() if module == "mercer" else [0.0]
    gc.collect()
    reset_peak()
    before, begin, used = resident_bytes(), time.perf_counter(), time.process_time()
    model = machine_of(machine, module, C, gamma, **parameters).fit(X, y)
    took, used = time.perf_counter() - begin, time.process_time() - used
    found = {
        "machine": machine, "data": name, "rows": n, "contestant": "mercer" if module == "mercer" else "oneDAL",
        "seconds": took, "core_seconds": used, "added": peak_bytes() - before, "support": len(model.support_),
        "certificate": certifying[0],
    }  # fmt: skip
    if module != "mercer":
        return found
    begin = time.process_time()
    certificate = model.certificate_
    found["certificate"] += time.process_time() - begin
    found |= {"status": model.status_.name, "gap": certificate.relative_gap, "kkt": certificate.kkt_violation}
    found |= {"basis": certificate.basis, "is_full": certificate.is_full}
    if full:
        begin = time.perf_counter()
        everything = model.certificate(full=True)
        found |= {"full": time.perf_counter() - begin, "full_gap": everything.relative_gap}
        found |= {"full_kkt": everything.kkt_violation}
    return found


def _watch_certificates():
    """A list whose only entry is the processor time that certificates have taken within fits."""
    from mercer.estimators.fitting.certificate import CertifiedLazily

    spent, certify = [0.0], CertifiedLazily._decide_status

    def timed(self):
        begin = time.process_time()
        certify(self)
        spent[0] += time.process_time() - begin

    CertifiedLazily._decide_status = timed
    return spent


def _child(pipe, job):
    try:
        pipe.send(measure(*job))
    except BaseException:  # noqa: BLE001 - the parent tells what it was
        pipe.send(traceback.format_exc())


def in_a_process(*job):
    """`measure` in a process of its own, or an error with what it said."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_child, args=(there, job))
    process.start()
    there.close()
    try:
        answer = here.recv()
    except EOFError:
        answer = f"the process ended with code {process.exitcode}"
    process.join()
    if isinstance(answer, str):
        raise RuntimeError(answer)
    return answer


def _row(record):
    is_ours = record["contestant"] == "mercer"
    share = f"{100 * record['certificate'] / record['core_seconds']:.0f} %" if is_ours else "-"
    return (
        record["machine"], record["data"], record["rows"], record["contestant"], seconds(record["seconds"]),
        seconds(record["core_seconds"]),
        seconds(record["certificate"]) if is_ours else "-", share, megabytes(record["added"]), record["support"],
        f"{100 * record['support'] / record['rows']:.1f}", f"{record['gap']:.1e}" if is_ours else "-",
        f"{record['kkt']:.1e}" if is_ours else "-", record.get("status", ""), seconds(record.get("full")),
    )  # fmt: skip


def print_growth(records, limit):
    """The table, then slopes, certificates, memory and peers beside their goals."""
    print(table(HEADINGS, [_row(record) for record in records]))
    ours = [record for record in records if record["contestant"] == "mercer"]
    for machine, name in dict.fromkeys((record["machine"], record["data"]) for record in ours):
        curve = [record for record in ours if (record["machine"], record["data"]) == (machine, name)]
        if len(curve) > 1:
            sizes = [each["rows"] for each in curve]
            clock, cores = (slope(sizes, [each[key] for each in curve]) for key in ("seconds", "core_seconds"))
            goal = f"goal at most {GOALS['slope']} where the share of support vectors is fixed"
            print(f"{machine} on {name}: slope of fit on n {clock:.2f}, of core seconds {cores:.2f} ({goal})")
    # Those of small fits are recomputed in full, when they are read.
    shares = [record["certificate"] / record["core_seconds"] for record in ours if not record["is_full"]]
    if shares:
        goal = f"goal {100 * GOALS['certificate']:.0f} %"
        print(f"certificate: at most {100 * max(shares):.0f} % of a large fit ({goal})")
    over = [record for record in ours if record["added"] > (1 + SLACK) * limit]
    print(f"memory: {len(over)} of {len(ours)} fits add more than memory_limit + {100 * SLACK:.0f} %")
    _print_peer(records, ours)


def _print_peer(records, ours):
    theirs = {(each["machine"], each["data"], each["rows"]): each for each in records if each["contestant"] == "oneDAL"}
    for record in ours:
        peer = theirs.get((record["machine"], record["data"], record["rows"]))
        if peer is not None:
            times, cores = (peer[key] / record[key] for key in ("seconds", "core_seconds"))
            memory = peer["added"] / max(1, record["added"])
            print(
                f"{record['machine']} on {record['data']}, {record['rows']} rows: {times:.2f} times oneDAL's speed "
                f"(goal {GOALS['oneDAL']:g}; {cores:.2f} by core seconds), which adds {memory:.1f} times the memory"
            )


def _parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--machines", nargs="+", choices=MACHINES, default=["SVC"])
    parser.add_argument("--data", nargs="+", choices=SETTINGS, default=["disc"])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--memory-limit", default="2GiB", help="of each fit (default 2GiB)")
    parser.add_argument("--peer", action="store_true", help="oneDAL too, where it is installed")
    parser.add_argument("--full", action="store_true", help="recompute every certificate in full too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    return parser


def main(arguments=None):
    """Fit every machine to every set at every size."""
    from mercer._jit.memory import parse_bytes

    options = _parser().parse_args(arguments)
    found = environment()
    print(headline(found), flush=True)
    has_peer = options.peer and find_spec("sklearnex") is not None
    if options.peer and not has_peer:
        print("oneDAL (scikit-learn-intelex) is not installed; running without it.")
    records = []
    for machine in options.machines:
        for name in options.data:
            for n in sorted(options.sizes):
                modules = ["mercer", *([PEER[machine]] if has_peer and machine in PEER else [])]
                for module in modules:
                    records.append(in_a_process(machine, name, n, module, options.memory_limit, options.full))
                    print("  ".join(map(str, _row(records[-1]))), flush=True)
                if options.json:
                    report = {"environment": found, "rows": records}
                    options.json.write_text(json.dumps(report, indent=1, default=float) + "\n")
    print_growth(records, parse_bytes(options.memory_limit))
    return records


if __name__ == "__main__":
    main()
