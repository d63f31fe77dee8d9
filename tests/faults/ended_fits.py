"""A process that makes long fits, one for each line it reads, until somebody or something ends them.

Run as ``python -m tests.faults.ended_fits``. A line of input is JSON: the name of a fit in `long_fits`, and its
time limit or none; the parent presses Ctrl-C. Answers are lines of JSON: one when the fit begins, one when it is over.
"""

import json
import signal
import sys
import time
import warnings

import numpy as np

from mercer import TimeLimitError
from tests.faults.long_fits import prepare, with_limits


def say(**what):
    print(json.dumps(what), flush=True)  # noqa: T201 - the parent reads it


def is_usable(model, X):
    """Whether a model that was ended early gives finite numbers."""
    if not getattr(model, "refit", True):
        return True  # a search that does not fit again
    names = ("decision_function", "predict", "transform")
    method = next(getattr(model, name) for name in names if hasattr(model, name))
    return bool(np.isfinite(np.asarray(method(X[:20]), dtype=np.float64)).all())


def ended(model, X, y):
    """Fit; what came of it, at which processor time."""
    say(begun=time.monotonic())
    before = dict(vars(model))
    try:
        model.fit(X, y)
        # A search that plans its time ends before the limit, and says so; its last fit is then whole.
        has_planned = getattr(model, "ending_", None) == "the remaining time was needed for the last fit"
        outcome = "IN_TIME" if has_planned else model.status_.name
    except (KeyboardInterrupt, TimeLimitError) as error:
        outcome = type(error).__name__
    used = time.process_time()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    is_model = "status_" in vars(model)
    sound = is_usable(model, X) if is_model else vars(model) == before
    return {"outcome": outcome, "used": used, "is_model": is_model, "sound": sound}


def main():
    warnings.simplefilter("ignore")
    prepared = {}
    for line in sys.stdin:
        wanted = json.loads(line)
        name = wanted["name"]
        if name not in prepared:
            prepared[name] = prepare(name)
        make, X, y = prepared[name]
        # Inherited from whoever started the tests, it might be ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        say(**ended(with_limits(make(), time_limit=wanted["time_limit"]), X, y))


if __name__ == "__main__":
    main()
