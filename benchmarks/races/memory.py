"""Does `memory_limit` hold? The peak that a fit adds, against the limit and ten per cent."""

from benchmarks.harness.peers import MERCER
from benchmarks.harness.protocol import tell_failure
from benchmarks.harness.report import megabytes, seconds, table
from benchmarks.harness.worker import Worker, WorkerError
from benchmarks.sets.data import SETTINGS, base_name

LIMITS = (128_000_000, 256_000_000, 512_000_000, 1_000_000_000)
SETS = ("made:20000",)
SLACK = 0.10
HEADINGS = ("data", "limit MB", "before MB", "peak MB", "added MB", "added/limit", "fit s", "status", "holds")


def memory_race(options):
    """Fit under each limit, each in a fresh process whose compiled code is loaded."""
    records = []
    for name in options.sets or SETS:
        C, gamma = SETTINGS[base_name(name)][1]
        for limit in LIMITS:
            try:
                records.append(measure(name, C, gamma, limit))
            except WorkerError as error:
                tell_failure(error)
    print(table(HEADINGS, [_row(record) for record in records]))
    return records


def measure(name, C, gamma, limit):
    """Peak and time of one fit under `limit` bytes."""
    with Worker(MERCER, name) as worker:
        worker.warm_up(C, gamma)
        worker.reset_peak()
        before, _ = worker.memory()
        (taken,) = worker.fit(C, gamma, 1, {"memory_limit": limit})
        _, peak = worker.memory()
        status = worker.status()
    added = max(0, peak - before)
    return {
        "data": name, "C": C, "gamma": gamma, "limit": limit, "before": before, "peak": peak,
        "added": added, "seconds": taken, "status": status, "holds": added <= (1 + SLACK) * limit,
    }  # fmt: skip


def _row(record):
    sizes = [megabytes(record[key]) for key in ("limit", "before", "peak", "added")]
    share = f"{record['added'] / record['limit']:.2f}"
    holds = "yes" if record["holds"] else "NO"
    return (record["data"], *sizes, share, seconds(record["seconds"]), record["status"] or "", holds)
