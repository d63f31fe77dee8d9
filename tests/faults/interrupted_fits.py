"""A process that fits long problems, one for each line it reads, and tells what came of it.

Run as ``python -m tests.faults.interrupted_fits``. A line of input says after how many seconds of work Ctrl-C is
pressed, and names a problem; the answer is a line of JSON when the fit is over.
"""

import json
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC
from tests.faults.own_time import CtrlC


def noise(n, d, n_classes=2):
    """Labels that no rule gives: with a large C, more work than anyone waits for."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)).astype(np.float32), rng.integers(0, n_classes, n)


PROBLEMS = {
    "one working set": (noise(1500, 10), {"C": 1e6, "gamma": 0.02, "tol": 1e-8}),
    "rounds": (noise(15_000, 20), {"C": 1e4, "gamma": 0.01}),
    "pairs of classes": (noise(6000, 20, n_classes=8), {"C": 1e6, "gamma": 0.01}),
    "no bias": (noise(15_000, 20), {"C": 1e4, "gamma": 0.01, "bias": "none"}),
}


def compile_all():
    """Fit every problem for a few steps, so that code is compiled, or found in the cache, before time counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for (X, y), parameters in PROBLEMS.values():
            SVC(**parameters, max_iter=10).fit(X, y)


def say(**what):
    print(json.dumps(what), flush=True)  # noqa: T201 - the parent reads it


def small_fit():
    """What a fit gives when nothing disturbs it."""
    X, y = noise(200, 3)
    return SVC().fit(X, y).dual_coef_.tolist()


def interrupted(name, after):
    (X, y), parameters = PROBLEMS[name]
    model, key = SVC(**parameters), CtrlC(after)
    try:
        with key:
            model.fit(X, y)
    except KeyboardInterrupt:
        return {"raised": True}
    certificates = model.certificate_ if isinstance(model.certificate_, list) else [model.certificate_]
    return {
        "waited": key.waited,
        "status": model.status_.name,
        "dual": [certificate.dual for certificate in certificates],
        "gap": [certificate.gap for certificate in certificates],
        "box": max(certificate.box_violation for certificate in certificates),
        "equality": max(certificate.equality_residual for certificate in certificates),
        "finite": bool(np.isfinite(model.decision_function(X[:50])).all()),
    }


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    before = small_fit()
    compile_all()
    say(ready=True)
    for line in sys.stdin:
        after, name = line.strip().split(" ", 1)
        answer = interrupted(name, float(after))
        say(**answer, next_fit_is_right=small_fit() == before)


if __name__ == "__main__":
    main()
