"""One row of a race: every contestant on one data set at one (C, gamma)."""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field

from benchmarks.harness.environment import thread_count
from benchmarks.harness.floor import floor_seconds
from benchmarks.harness.objective import judge
from benchmarks.harness.peers import MERCER
from benchmarks.harness.protocol import CAP, alternate, open_workers, surviving
from benchmarks.sets.data import load

# The larger floor of predictions: entries, and their products with coefficients by BLAS.
WITH_SUMS = "predict with sums"


@dataclass
class Result:
    """What one contestant did; times are `Timing`, `optimality` is our own judgement."""

    fit: object
    predict: object
    n_support: int
    error: float
    peak_bytes: int
    status: str | None = None
    optimality: object = None


@dataclass
class Entry:
    """All results of a row; floors in seconds by measure, none where Mercer did not run."""

    data: str
    n: int
    d: int
    C: float
    gamma: float
    threads: int
    results: dict = field(default_factory=dict)
    floors: dict = field(default_factory=dict)

    def over_floor(self, measure, floor=None):
        """What Mercer takes, in units of the floor of a measure, or of another; None where that is not known."""
        ours, floor = self.results.get(MERCER.name), self.floors.get(floor or measure)
        return getattr(ours, measure).best / floor if ours and floor else None


@dataclass(frozen=True)
class Plan:
    """How often each thing is done: rounds, runs in a row within a round, and the cap."""

    fits: int = 3
    predictions: int = 3
    in_a_row: int = 1
    cap: float = CAP
    certify: bool = True


def run_entry(data_name, C, gamma, contestants, plan):
    """Race `contestants` on one row."""
    data = load(data_name)
    entry = Entry(data_name, *data.X.shape, C, gamma, thread_count())
    with ExitStack() as stack:
        workers = open_workers(stack, contestants, data_name)
        models = _race(workers, entry, plan)
        entry.floors = _floors(workers, entry, data.X_test.shape[0])
    if plan.certify:  # after the processes have ended: judging takes every core
        for name, model in models.items():
            entry.results[name].optimality = judge(data.X, data.y, C, gamma, model)
    return entry


def _race(workers, entry, plan):
    """Time fits, then predictions; fills `entry.results` and returns the coefficients."""
    C, gamma = entry.C, entry.gamma
    fits = _timed(workers, lambda worker: worker.fit(C, gamma, plan.in_a_row), plan.fits, plan.cap)
    peaks = surviving(workers, lambda worker: worker.memory()[1])
    predictions = _timed(workers, lambda worker: worker.predict(plan.in_a_row), plan.predictions, plan.cap)
    errors = surviving(workers, lambda worker: worker.error())
    statuses = surviving(workers, lambda worker: worker.status())
    models = surviving(workers, lambda worker: worker.coefficients())
    for name in workers:
        n_support = len(models[name].support)
        entry.results[name] = Result(
            fits[name], predictions[name], n_support, errors[name], peaks[name], statuses[name]
        )
    return models


def _timed(workers, action, repeats, cap):
    """Times by `alternate`; workers that failed are dropped."""
    runners = {name: lambda worker=worker: action(worker) for name, worker in workers.items()}
    timings = alternate(runners, repeats, cap)
    for name in runners.keys() - timings.keys():
        del workers[name]
    return timings


def _floors(workers, entry, n_test):
    """Seconds that the entries of support vectors take, beside the rows learnt from and beside those predicted."""
    if MERCER.name not in workers:
        return {}
    only = {MERCER.name: workers[MERCER.name]}
    seconds = surviving(only, lambda worker: worker.seconds_per_entry(entry.gamma)).get(MERCER.name)
    if seconds is None:
        return {}
    support = entry.results[MERCER.name].n_support
    floors = {"fit": floor_seconds(entry.n, support, seconds), "predict": floor_seconds(n_test, support, seconds)}
    sums = surviving(only, lambda worker: worker.seconds_per_sum()).get(MERCER.name)
    if sums is not None:
        floors[WITH_SUMS] = floor_seconds(n_test, support, seconds + sums)
    return floors


def as_record(entry):
    """The row as plain numbers, for JSON."""
    record = asdict(entry)
    for name, result in entry.results.items():
        optimality = result.optimality
        if optimality is not None:
            record["results"][name]["optimality"] |= {"gap": optimality.gap, "relative_gap": optimality.relative_gap}
    return record
