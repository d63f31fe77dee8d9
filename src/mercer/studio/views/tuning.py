"""Your data: C against gamma by cross-validation, a map that fills in."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mercer._errors import DataError
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.report.figures import taken
from mercer.report.model_words import machine_of
from mercer.selection.tuning.estimators import SVCCV, SVRCV
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.training import TIME_LIMIT, assembled, chosen_data, split, told

CS = tuple(4.0**k for k in range(-3, 6))
GAMMAS = tuple(4.0**k for k in range(-5, 3))
FOLDS = 5


def tune(request: Request, job: Job) -> Iterator[Answer]:
    """Cross-validate C against gamma, one value of gamma after the other, then fit the best."""
    data = chosen_data(request, job)
    begin = time.monotonic()
    assembly = assembled(request, data)
    learnt, held = split(assembly.y, assembly.task)
    machine, y = machine_of(assembly.estimator), assembly.y[learnt]
    X = taken(assembly.X, learnt)
    steps = assembly.estimator.steps[:-1] if hasattr(assembly.estimator, "steps") else []
    for _, step in steps:
        X = step.fit_transform(X)
    if is_data_frame(X):
        X = as_frame(X).rows()
    gammas = _gammas(machine.kernel, X)
    units = 1.0 if assembly.task == "classification" else float(np.std(y)) or 1.0
    scores, best = np.full((len(gammas), len(CS)), np.nan), (-np.inf, 0, 0)
    for row, gamma in enumerate(gammas):
        search = _search(machine, gamma, units, job).fit(X, y)
        if job.cancelled:
            return
        scores[row] = np.asarray(search.cv_results_["mean_test_score"], dtype=float)
        for column, value in enumerate(scores[row]):
            if value > best[0]:
                best = (float(value), row, column)
        heat = {"Cs": CS, "gammas": gammas, "done": row + 1, "best": [best[0], best[1], best[2]],
                "score": "accuracy" if assembly.task == "classification" else "R²"}  # fmt: skip
        job.send({"heat": {**heat, "seconds": time.monotonic() - begin}}, {"scores": scores})
        if job.stopped:
            break
    if not np.isfinite(best[0]):
        raise DataError("no setting could be scored; there may be too few rows of a class for five folds")
    chosen: dict[str, Any] = {
        "C": CS[best[2]] * units,
        **({} if gammas[best[1]] is None else {"gamma": gammas[best[1]]}),
    }
    machine_of(assembly.estimator).set_params(**_settings(machine.kernel, chosen), time_limit=TIME_LIMIT)
    model = assembly.estimator.fit(taken(assembly.X, learnt), y)
    notes = (*assembly.notes, f"chosen in {FOLDS} folds: {', '.join(f'{k} = {v:.4g}' for k, v in chosen.items())}")
    yield from told(job, data, replace(assembly, notes=notes), model, (learnt, held), time.monotonic() - begin)


def _gammas(kernel: Any, X: Any) -> list[float | None]:
    """Values around the usual one for a kernel that has a gamma; else only the one that it has."""
    if isinstance(kernel, str):
        return [float(gamma) / X.shape[1] for gamma in GAMMAS] if kernel in ("rbf", "poly", "sigmoid") else [None]
    return list(GAMMAS) if hasattr(kernel, "gamma") else [None]


def _settings(kernel: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    if isinstance(kernel, str) or "gamma" not in chosen:
        return chosen
    return {"C": chosen["C"], "kernel": kernel.replace(gamma=chosen["gamma"])}


def _search(machine: Any, gamma: float | None, units: float, job: Job) -> Any:
    own = machine.get_params(deep=False)
    kind = SVCCV if hasattr(machine, "class_weight") else SVRCV
    more = {"epsilon": own["epsilon"]} if kind is SVRCV else {}
    return kind(
        Cs=[units * C for C in CS],
        gammas=None if gamma is None else [gamma],
        kernel=own["kernel"],
        cv=FOLDS,
        refit=False,
        callbacks=[job.watch],
        **more,
    )


ACTIONS: dict[str, Action] = {"tune": tune}
