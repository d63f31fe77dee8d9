"""Your data: a search for kernel and C by cross-validation, a map that fills in."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.report.model_words import machine_of
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.training import TIME_LIMIT, assembled, chosen_data, share_held, told
from mercer.workflow.tune import Tuning, Wanted, setting_words

FOLDS = 5


def tune(request: Request, job: Job) -> Iterator[Answer]:
    """Search as `mercer tune` does, show the map as it fills in, then the best machine."""
    data = chosen_data(request, job)
    assembly = assembled(request, data)
    machine_of(assembly.estimator).set_params(time_limit=TIME_LIMIT)
    run = Tuning(data, assembly, Wanted(FOLDS), holdout=share_held(assembly.y))
    heat = Heat(job, "accuracy" if assembly.task == "classification" else "R²")
    run.fit(heat.watching)
    if not job.cancelled:
        yield from told(job, run)


class Heat:
    """The map: a row for each kernel, a column for each C, the score on the most rows that judged it so far."""

    def __init__(self, job: Job, score: str) -> None:
        self.job, self.score, self.begin = job, score, time.monotonic()
        self.cells: dict[tuple[str, float], float] = {}
        self.sent = 0

    @contextmanager
    def watching(self, _search: Any, _rows: int) -> Iterator[Any]:
        """For `Run.fit`: what the search calls as it goes on."""
        yield self._note

    def _note(self, point: Any) -> bool:
        judged = getattr(point, "judged", ())
        for setting, score in judged:
            self.cells[_kernel_of(setting), setting["C"]] = score
        # As often as there is something new to see.
        if len(self.cells) > self.sent:
            self.sent = len(self.cells)
            self._send(point)
        return self.job.watch(point)

    def _send(self, point: Any) -> None:
        kernels, Cs = list(dict.fromkeys(kernel for kernel, _ in self.cells)), sorted({C for _, C in self.cells})
        scores = np.full((len(kernels), len(Cs)), np.nan)
        for (kernel, C), score in self.cells.items():
            scores[kernels.index(kernel), Cs.index(C)] = score
        row, column = kernels.index(_kernel_of(point.best_params)), Cs.index(point.best_params["C"])
        heat = {"Cs": Cs, "kernels": kernels, "done": point.done, "total": point.total, "score": self.score,
                "best": [point.best_score, row, column], "seconds": time.monotonic() - self.begin}  # fmt: skip
        self.job.send({"heat": heat}, {"scores": scores})


def _kernel_of(setting: Mapping[str, Any]) -> str:
    """The kernel of a setting in the least of words."""
    own = {name: value for name, value in setting.items() if name not in ("C", "epsilon", "family")}
    return " ".join(filter(None, [str(setting.get("family", "kernel")), setting_words(own)]))


ACTIONS: dict[str, Action] = {"tune": tune}
