"""Watch it solve: every step of a solver, with the boundary that it stands for."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError, ParameterError
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.studio.playground.recording import RECORDERS, Recording, record_perceptron
from mercer.studio.playground.scene import Scene
from mercer.studio.server.worker import Action, Answer, Job, Request

# Columns and rows of the field of each step.
GRID = (64, 48)
MOST_STEPS = 400
# Violation of the KKT conditions at which nothing moves on the screen any more.
TOL = 1e-2
# Points of which every step is worth watching.
MOST_POINTS = 300
# Points of which even visits without an update are worth watching.
FEW_POINTS = 20


def record(request: Request, job: Job) -> Iterator[Answer]:
    """All steps of a solver on the scene: coefficients, gradient, objectives, and the field of each."""
    scene = Scene.of(request)
    solver = str(request.get("solver", "smo"))
    if solver not in RECORDERS:
        raise ParameterError(f"solver must be one of {', '.join(RECORDERS)}, got {solver!r}")
    signs = _signs(scene)
    K = np.ascontiguousarray(scene.kernel(scene.points, scene.points), dtype=np.float64)
    recording, C = _record(solver, scene, signs, K)
    if job.cancelled:
        return
    betas = np.array([step.beta for step in recording.steps])
    biases = np.array([step.bias for step in recording.steps])
    around = np.asarray(scene.kernel(scene.grid(*GRID), scene.points))
    fields = betas @ around.T + biases[:, None]
    header = {
        "solver": solver,
        "grid": GRID,
        "finished": recording.is_finished,
        "C": C,
        "notes": [step.note for step in recording.steps],
        "working": [list(step.working) for step in recording.steps],
        "updates": _updates(recording),
        "bound": _perceptron_bound(scene, signs) if solver == "perceptron" else None,
    }
    yield (
        header,
        {
            "alpha": np.abs(betas),
            "gradient": np.array([step.gradient for step in recording.steps]),
            "values": signs * (betas @ K + biases[:, None]),
            "bias": biases,
            "primal": np.array([step.primal for step in recording.steps]),
            "dual": np.array([step.dual for step in recording.steps]),
            "fields": fields.reshape(-1, GRID[1], GRID[0]),
        },
    )


def _signs(scene: Scene) -> NDArray[Any]:
    classes = np.unique(scene.labels)
    if len(classes) != 2:
        raise DataError(f"Solvers are watched on two classes, and there are {len(classes)} here.")
    if len(scene.points) > MOST_POINTS:
        raise DataError(f"Steps are shown for at most {MOST_POINTS} points, and there are {len(scene.points)} here.")
    return np.where(scene.labels == classes[1], 1.0, -1.0)


def _record(solver: str, scene: Scene, signs: NDArray[Any], K: NDArray[Any]) -> tuple[Recording, float | None]:
    if solver == "perceptron":
        every = len(signs) <= FEW_POINTS
        return record_perceptron(signs, K, MOST_STEPS, with_bias=scene.bias != "none", each_visit=every), None
    bias = scene.bias
    if solver == "pegasos" and bias == "free":
        bias = "penalized"  # a free bias is not strongly convex; the page says so
    C = scene.numbers["C"]
    problem = SoftMargin(signs, np.full(len(signs), C), "hinge", bias)
    options = {"tol": TOL} if solver != "pegasos" else {}
    return RECORDERS[solver](problem, K, MOST_STEPS, **options), C


def _updates(recording: Recording) -> list[int]:
    """Steps up to each one at which a coefficient changed."""
    betas = [step.beta for step in recording.steps]
    changed = [0, *(int(not np.array_equal(a, b)) for a, b in pairwise(betas))]
    return np.cumsum(changed).tolist()


def _perceptron_bound(scene: Scene, signs: NDArray[Any]) -> float | None:
    """(rho / gamma)^2, which bounds the updates on data that can be separated; None on others."""
    from mercer import HardMarginSVC, NotSeparableError, theory

    bias = "none" if scene.bias == "none" else "penalized"
    try:
        model = HardMarginSVC(kernel=scene.kernel, bias=bias).fit(scene.points, signs)
    except NotSeparableError:
        return None
    found = theory.report(model, scene.points, signs)
    lift = 1.0 if bias == "penalized" else 0.0
    return float((found.rho**2 + lift) * (found.norm**2 + lift * found.intercept**2))


ACTIONS: dict[str, Action] = {"record": record}
