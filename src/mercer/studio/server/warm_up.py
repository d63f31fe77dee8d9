"""Compile, or load, what the playground uses, before somebody waits for it."""

import logging
import threading

from mercer._errors import TimeLimitError
from mercer.studio.playground.methods import METHODS
from mercer.studio.playground.presets import preset
from mercer.studio.playground.recording import RECORDERS
from mercer.studio.server.quiet_warnings import expected_warnings_ignored
from mercer.studio.server.worker import Action, Job, Request
from mercer.studio.views import ideas
from mercer.studio.views.playground import fit
from mercer.studio.views.solving import record

TWO = [[0.0, 1.0, 0], [1.0, 0.0, 1]]
# Set when everything that the page uses is compiled; a tab says so until then.
WARM = threading.Event()
_log = logging.getLogger("mercer.studio")


def warm_up() -> None:
    """Fit every method once, the usual ones first, and record every solver."""
    for name in sorted(METHODS, key=lambda name: name not in ("hard", "soft")):
        key = {"classes": "toy", "region": "blob", "curve": "curve"}[METHODS[name].kind]
        for kernel in ("linear", "rbf"):
            _try(fit, {**preset(key), "method": name, "kernel": kernel})
    for solver in RECORDERS:
        _try(record, {**preset("toy"), "solver": solver})
    for idea in ideas.ACTIONS.values():
        _try(idea, {**preset("toy"), "points": TWO if idea is ideas.dual_box else preset("toy")["points"]})
    WARM.set()


def _try(action: Action, request: Request) -> None:
    """The first answer only; what fails here will say so on the page."""
    try:
        with expected_warnings_ignored():
            next(iter(action(request, Job())))
    except TimeLimitError:
        _log.info("compiling took longer than a fit may take; it is done, and the next fit will be quick")
    except Exception:  # noqa: BLE001 - a failure here must not end the thread
        _log.exception("could not warm up")
