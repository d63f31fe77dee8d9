"""One fit over landmarks under a limit on memory, in a process of its own, and how much memory it took.

Run as ``python -m tests.estimators.low_rank.limited_landmarks '{"machine": ..., "limit": ...}'``; answers with JSON.
"""

import gc
import json
import sys
from pathlib import Path

import numpy as np
from numba.core import event

import mercer
from mercer import LowRank
from mercer._jit import lasting
from mercer.io import Blocks
from tests.faults.limited_fit import made, memory


def main(machine, limit, n=12_000, n_classes=2, landmarks=400, in_blocks=False, parameters=None):
    X, y = made(n, 20, n_classes)

    def fit(some, limit):
        model = getattr(mercer, machine)(kernel="rbf", n_jobs=1, memory_limit=limit, **parameters or {})
        model.set_params(approximation=LowRank(min(landmarks, some // 3)))
        return model.fit(Blocks((X[:some], y[:some]), block_rows=3000)) if in_blocks else model.fit(X[:some], y[:some])

    for some in (600, 4500):  # libraries and compiled code are there before anything is counted
        fit(some, None)
    gc.collect()
    lasting._waiting.clear()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begin the high-water mark anew
    before = memory("VmRSS")
    with event.install_recorder("numba:compile") as compiled:
        model = fit(n, limit)
    taken = memory("VmHWM") - before
    finite = bool(np.isfinite(model.distance_.value))
    answer = {"taken": taken, "compiled": len(compiled.buffer), "status": model.status_.name, "finite": finite}
    print(json.dumps(answer))  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
