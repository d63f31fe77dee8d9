"""A process that makes a fit of every estimator under a limit on memory, and tells how much each took.

Run as ``python -m tests.faults.memory_fits``; a line of input is the name of a fit in `long_fits`, and the answer a
line of JSON. Limits of time end the fits: what they would take for longer, they have taken by then.
"""

import json
import sys
import warnings
from pathlib import Path

from numba.core import event

from mercer import MercerError
from tests.faults.limited_fit import memory
from tests.faults.long_fits import prepare, with_limits

LIMIT = 60 * 2**20


def taken(name):
    """(bytes beyond what there was before, how the fit ended, how many functions were compiled meanwhile)."""
    make, X, y = prepare(name)
    model = with_limits(make(), memory_limit=LIMIT, time_limit=2.0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begin the high-water mark anew
    before = memory("VmRSS")
    with event.install_recorder("numba:compile") as compiled:
        try:
            outcome = model.fit(X, y).status_.name
        except MercerError as error:
            outcome = str(error)
    return memory("VmHWM") - before, outcome, len(compiled.buffer)


def main():
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        bytes_taken, outcome, compiled = taken(line.strip())
        answer = {"taken": bytes_taken, "outcome": outcome, "compiled": compiled}
        print(json.dumps(answer), flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main()
