"""Your data: C against gamma by cross-validation, a map that fills in."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer.report.model_words import machine_of
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.training import TIME_LIMIT, assembled, chosen_data, share_held, told
from mercer.workflow.run import Run, machine_and_rows
from mercer.workflow.tune import Grid, search_for

CS = tuple(4.0**k for k in range(-3, 6))
GAMMAS = tuple(4.0**k for k in range(-5, 3))
FOLDS = 5


def tune(request: Request, job: Job) -> Iterator[Answer]:
    """Cross-validate C against gamma, one value of gamma after the other, then fit the best."""
    data = chosen_data(request, job)
    begin = time.monotonic()
    assembly = assembled(request, data)
    run = Run(data, assembly, holdout=share_held(assembly.y))
    chosen = _chosen(run, job, begin)
    if job.cancelled:
        return
    machine = machine_of(assembly.estimator)
    machine.set_params(**_settings(machine.kernel, chosen), time_limit=TIME_LIMIT)
    words = f"chosen in {FOLDS} folds: {', '.join(f'{name} = {value:.4g}' for name, value in chosen.items())}"
    run.assembly = replace(assembly, notes=(*assembly.notes, words))
    run.fit()
    run.seconds["fit"] = time.monotonic() - begin
    yield from told(job, run)


def _chosen(run: Run, job: Job, begin: float) -> dict[str, float]:
    """The best C, and gamma where there is one, of as many as there was time for; the map is sent row by row."""
    X, y = run.rows(run.learnt)
    machine, X = machine_and_rows(run.assembly.estimator, X)
    gammas, unit = _gammas(machine.kernel, X), run.assembly.unit
    scores, best = np.full((len(gammas), len(CS)), np.nan), (-np.inf, 0, 0)
    for row, gamma in enumerate(gammas):
        grid = Grid(CS, None if gamma is None else [gamma], FOLDS)
        search = search_for(machine, unit, grid, refit=False, callbacks=[job.watch]).fit(X, y)
        if job.cancelled:
            return {}
        scores[row] = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
        found = [(float(value), row, column) for column, value in enumerate(scores[row]) if np.isfinite(value)]
        best = max([best, *found], key=lambda each: each[0])
        heat = {"Cs": CS, "gammas": gammas, "done": row + 1, "best": list(best),
                "score": "accuracy" if run.assembly.task == "classification" else "R²"}  # fmt: skip
        job.send({"heat": {**heat, "seconds": time.monotonic() - begin}}, {"scores": scores})
        if job.stopped:
            break
    if not np.isfinite(best[0]):
        raise DataError("no setting could be scored; there may be too few rows of a class for five folds")
    gamma = gammas[best[1]]
    return {"C": CS[best[2]] * unit, **({} if gamma is None else {"gamma": gamma})}


def _gammas(kernel: Any, X: Any) -> list[float | None]:
    """Values around the usual one for a kernel that has a gamma; else only the one that it has."""
    if isinstance(kernel, str):
        return [float(gamma) / X.shape[1] for gamma in GAMMAS] if kernel in ("rbf", "poly", "sigmoid") else [None]
    return list(GAMMAS) if hasattr(kernel, "gamma") else [None]


def _settings(kernel: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kernel, str) or "gamma" not in chosen:
        return chosen
    return {"C": chosen["C"], "kernel": kernel.replace(gamma=chosen["gamma"])}


ACTIONS: dict[str, Action] = {"tune": tune}
