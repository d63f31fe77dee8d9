"""How a race is run: in turns, the minimum counts, the first is shown beside it."""

from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks.harness.worker import Worker, WorkerError

# A contestant whose first run takes longer than this many seconds is run once only.
CAP = 60.0


@dataclass(frozen=True)
class Timing:
    """Seconds of the repeats, in the order in which they ran."""

    seconds: tuple

    @property
    def best(self):
        """The minimum: the time without the machine's noise."""
        return min(self.seconds)

    @property
    def first(self):
        """The first run, cold: code and pages are touched for the first time."""
        return self.seconds[0]


def alternate(runners, repeats, cap=CAP):
    """Run every runner `repeats` times in turns; a slow one only once.

    Parameters
    ----------
    runners : dict of str to callable
        Each returns a list: the seconds of one run, or of several in a row.
    repeats : int
        Rounds; each round starts with another runner, so that none is always first.
    cap : float
        Seconds above which a first run is also the last.

    Returns
    -------
    dict of str to Timing
        Without those that failed.

    Examples
    --------
    >>> alternate({"a": lambda: [1.0], "b": lambda: [90.0]}, repeats=3)["b"].seconds
    (90.0,)
    """
    seconds = {name: [] for name in runners}
    for turn in range(repeats):
        for name in _rotated(list(seconds), turn):
            if not seconds[name] or seconds[name][0] <= cap:
                _run(name, runners[name], seconds)
    return {name: Timing(tuple(runs)) for name, runs in seconds.items()}


def _run(name, runner, seconds):
    """One run; a contestant that fails is told of and leaves the race."""
    try:
        seconds[name].extend(runner())
    except WorkerError as error:
        tell_failure(error)
        del seconds[name]


def _rotated(names, turn):
    shift = turn % len(names) if names else 0
    return names[shift:] + names[:shift]


def open_workers(stack: ExitStack, contestants, data_name):
    """A ready process for each contestant, one after another; failures are told and left out."""
    workers = {}
    for contestant in contestants:
        worker = stack.enter_context(Worker(contestant, data_name))
        try:
            worker.ready()
            workers[contestant.name] = worker
        except WorkerError as error:
            tell_failure(error)
    return workers


def surviving(workers, action):
    """action(worker) for each; a worker that fails is told of and dropped from the race."""
    answers = {}
    for name, worker in list(workers.items()):
        try:
            answers[name] = action(worker)
        except WorkerError as error:
            tell_failure(error)
            del workers[name]
    return answers


def tell_failure(error):
    """The last line of the traceback; the whole of it would drown the table."""
    name, _, rest = str(error).partition(":")
    print(f"  {name} failed: {rest.strip().splitlines()[-1]}")
