"""Your data: a search for kernel and C by cross-validation, a map that fills in."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.report.model_words import final_estimator
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.training import TIME_LIMIT, assembled, chosen_data, share_held, told
from mercer.workflow.tune import Tuning, Wanted, setting_words

FOLDS = 5


def tune(request: Request, job: Job) -> Iterator[Answer]:
    """Search as `mercer tune` does, show the map as it fills in, then the best machine."""
    data = chosen_data(request, job)
    assembly = assembled(request, data)
    final_estimator(assembly.estimator).set_params(time_limit=TIME_LIMIT)
    run = Tuning(data, assembly, Wanted(FOLDS), holdout=share_held(assembly.y))
    heat = Heat(job, "accuracy" if assembly.task == "classification" else "R²")
    run.fit(heat.watching)
    if not job.cancelled:
        yield from told(job, run)


class Heat:
    """The map: a row for each kernel, a column for each C, the score on the most rows that judged it so far."""

    def __init__(self, job: Job, score: str) -> None:
        self.job, self.score, self.begin = job, score, time.monotonic()
        # (rows that judged it, score) of each kernel and C.
        self.cells: dict[tuple[str, float], tuple[int, float]] = {}

    @contextmanager
    def watching(self, _search: Any, _rows: int) -> Iterator[Any]:
        """For `Run.fit`: what the search calls as it goes on."""
        yield self._note

    def _note(self, point: Any) -> bool:
        before = dict(self.cells)
        for setting, score in getattr(point, "judged", ()):
            place = _kernel_of(setting), setting["C"]
            if point.rows >= self.cells.get(place, (0, 0.0))[0]:
                self.cells[place] = point.rows, score
        # As often as there is something new to see.
        if self.cells != before:
            self._send(point)
        return self.job.watch(point)

    def _send(self, point: Any) -> None:
        kernels, Cs = list(dict.fromkeys(kernel for kernel, _ in self.cells)), sorted({C for _, C in self.cells})
        scores, rows = np.full((len(kernels), len(Cs)), np.nan), np.zeros((len(kernels), len(Cs)))
        for (kernel, C), (judges, score) in self.cells.items():
            place = kernels.index(kernel), Cs.index(C)
            scores[place], rows[place] = score, judges
        # A score on few rows may be higher by luck: only those on the most are rivals.
        (best, C), (most, score) = max(self.cells.items(), key=lambda cell: cell[1])
        heat = {
            "Cs": Cs,
            "kernels": kernels,
            "done": point.done,
            "total": point.total,
            "score": self.score,
            "rows": most,
            "best": [score, kernels.index(best), Cs.index(C)],
            "seconds": time.monotonic() - self.begin,
        }
        self.job.send({"heat": heat}, {"scores": scores, "rows": rows})


def _kernel_of(setting: Mapping[str, Any]) -> str:
    """The kernel of a setting in the least of words."""
    own = {name: value for name, value in setting.items() if name not in ("C", "epsilon", "family")}
    return " ".join(filter(None, [str(setting.get("family", "kernel")), setting_words(own)]))


ACTIONS: dict[str, Action] = {"tune": tune}
