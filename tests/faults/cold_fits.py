"""A process whose code has never been compiled: fits that are ended meanwhile, and one that is not.

Run as ``python -m tests.faults.cold_fits`` with an empty MERCER_CACHE_DIR. The parent presses Ctrl-C in the second.
"""

import json
import signal
import time
import warnings

import numpy as np

from mercer import SVC, TimeLimitError

LIMIT = 0.4


def say(**what):
    print(json.dumps(what), flush=True)  # noqa: T201 - the parent reads it


def ended(model, X, y):
    say(begun=time.monotonic())
    try:
        model.fit(X, y)
        outcome = model.status_.name
    except (KeyboardInterrupt, TimeLimitError) as error:
        outcome = f"{type(error).__name__}: {error}"
    say(outcome=outcome, used=time.process_time(), is_fitted=hasattr(model, "status_"))


def main():
    # Inherited from whoever started the tests, it might be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    X = np.random.default_rng(0).normal(size=(600, 5))
    y = X[:, 0] > 0
    ended(SVC(time_limit=LIMIT), X, y)
    ended(SVC(), X, y)
    ended(SVC(), X, y)


if __name__ == "__main__":
    main()
