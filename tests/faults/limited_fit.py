"""One fit under a limit on memory, in a process of its own, and how much memory it took.

Run as ``python -m tests.faults.limited_fit '{"n": ..., "parameters": {...}}'``; answers with JSON.
"""

import json
import resource
import sys
import warnings
from pathlib import Path

import numpy as np
from numba.core import event
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC


def memory(field):
    """Bytes of this process: "VmRSS" now, "VmHWM" at most so far, "VmSize" of address space."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def made(n, d, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)


def main(n, d=20, n_classes=2, address_space=None, parameters=None):
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = made(n, d, n_classes)
    # Threads, libraries and compiled code are there before anything is counted.
    few = np.arange(n) % (n // 600) == 0
    SVC(**parameters or {}).fit(X[few], y[few]).decision_function(X[:600])
    if address_space is not None:
        bound = memory("VmSize") + address_space
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # begin the high-water mark anew
    before = memory("VmRSS")
    with event.install_recorder("numba:compile") as compiled:
        model = SVC(**parameters or {}).fit(X, y)
    taken = memory("VmHWM") - before
    certificates = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    answer = {
        "taken": taken,
        "compiled": len(compiled.buffer),
        "status": model.status_.name,
        "violation": max(certificate.kkt_violation for certificate in certificates),
        "finite": bool(np.isfinite(model.decision_function(X[:100])).all()),
    }
    print(json.dumps(answer))  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
