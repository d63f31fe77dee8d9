"""The playground: fit what is on the screen, and say how every point stands."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._errors import DataError
from mercer.plot.drawing.kkt_cases import free_support
from mercer.solvers.result import Status
from mercer.studio.playground.methods import TIME_LIMIT, Method, method_of
from mercer.studio.playground.presets import PRESETS, preset, preset_list
from mercer.studio.playground.scene import Scene
from mercer.studio.playground.script import script
from mercer.studio.server.worker import Action, Answer, Job, Request

# Columns and rows of the field of decision values: while things move, and once they rest.
COARSE, FINE = (96, 72), (288, 216)
# Seconds without a newer request after which the field is worth refining.
REST = 0.12
# Points of a curve.
CURVE = 400
# How a point stands (Karush, Kuhn & Tucker): no support vector; on the margin, 0 < alpha < C; at the
# bound, inside the margin; at the bound, on the wrong side. Or simply a support vector.
ZERO, FREE, INSIDE, WRONG, SUPPORT = range(5)


def fit(request: Request, job: Job) -> Iterator[Answer]:
    """Fit the scene: first what can be drawn at once, then the field in more detail."""
    scene = Scene.of(request)
    method = method_of(scene)
    X, y = _training(scene, method)
    begin = time.perf_counter()
    model = method.estimator(scene, callbacks=[job.watch], time_limit=TIME_LIMIT).fit(X, y)
    seconds = time.perf_counter() - begin
    if job.cancelled:
        return
    header = {"kind": method.kind, "ms": 1e3 * seconds, **_status(model)}
    standing, arrays = _standing(scene, method, model, X, y)
    header |= standing
    if method.kind == "curve":
        yield header, {**arrays, "curve": _curve(scene, model)}
        return
    header["classes"] = [int(label) for label in getattr(model, "classes_", [])]
    yield {**header, "grid": COARSE}, {**arrays, "field": _field(scene, model, *COARSE)}
    if not job.is_cancelled_within(REST):
        yield {"refined": True, "grid": FINE}, {"field": _field(scene, model, *FINE)}


def _training(scene: Scene, method: Method) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """What the estimator learns from."""
    if len(scene.points) == 0:
        raise DataError("There are no points yet: click into the plane to place some.")
    if method.kind == "curve":
        return scene.points[:, :1], scene.points[:, 1]
    if method.kind == "region":
        return scene.points, None
    if len(np.unique(scene.labels)) < 2:
        raise DataError(
            f"{method.title} needs points of at least two classes, and all {len(scene.points)} here are of one; "
            "place some of another, or choose One-class SVM."
        )
    return scene.points, scene.labels


def _status(model: Any) -> dict[str, Any]:
    status = Status(getattr(model, "status_", Status.OPTIMAL))
    return {"status": status.name, "meaning": status.meaning}


def _field(scene: Scene, model: Any, columns: int, rows: int) -> NDArray[Any]:
    """Decision values of the window, or for more than two classes the place of the predicted one."""
    grid = scene.grid(columns, rows)
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) > 2:
        return np.searchsorted(classes, model.predict(grid)).reshape(rows, columns)
    return np.asarray(model.decision_function(grid)).reshape(rows, columns)


def _curve(scene: Scene, model: Any) -> NDArray[Any]:
    left, right, *_ = scene.window
    x = np.linspace(left, right, CURVE)
    return np.stack([x, model.predict(x[:, None])])


def _standing(scene: Scene, method: Method, model: Any, X: Any, y: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers of the model, and how every point stands."""
    alpha = _alpha(model, len(X))
    if method.kind == "curve":
        values = np.asarray(model.predict(X))
        cases = _curve_cases(scene, alpha, np.abs(values - y)) if method.title == "SVR" else _no_cases(len(X))
        error = {"error_rms": float(np.sqrt(np.mean((values - y) ** 2)))}
    elif method.kind == "region":
        values = np.asarray(model.decision_function(X))
        cases = _region_cases(model, values)
        error = {"outside": int(np.sum(values < 0))}
    else:
        values = _own_values(model, X, y)
        cases = _class_cases(model, alpha, values)
        error = {"training_errors": int(np.sum(model.predict(X) != y))}
    numbers = {**error, **_numbers(model), **_counts(cases)}
    arrays = {"alpha": np.zeros(0) if alpha is None else alpha, "values": values}
    return {"numbers": numbers, "cases": cases}, arrays


def _alpha(model: Any, n: int) -> NDArray[Any] | None:
    """|beta_i| of every point, the largest over the machines where there are several."""
    coefficients = getattr(model, "dual_coef_", None)
    if coefficients is None:
        return None
    sizes = np.abs(np.atleast_2d(coefficients))
    if not hasattr(model, "support_"):
        return sizes.max(axis=0 if sizes.shape[1] == n else 1)
    alpha = np.zeros(n)
    alpha[model.support_] = sizes.max(axis=0)
    return alpha


def _own_values(model: Any, X: Any, y: Any) -> NDArray[Any]:
    """y f(x) for two classes; for more, the value of the point's own class less the best of the others."""
    values, codes = np.asarray(model.decision_function(X)), np.searchsorted(model.classes_, y)
    if values.ndim == 1:
        return np.where(codes == 1, values, -values)
    rows = np.arange(len(y))
    own, others = values[rows, codes], values.copy()
    others[rows, codes] = -np.inf
    return own - others.max(axis=1)


def _no_cases(n: int) -> list[int]:
    return [ZERO] * n


def _class_cases(model: Any, alpha: NDArray[Any] | None, margins: NDArray[Any]) -> list[int]:
    n = len(margins)
    if alpha is None or not hasattr(model, "support_"):
        return _no_cases(n)
    free = free_support(model) if type(model).__name__ in _WITH_BOX else None
    cases = np.where(alpha > 0, SUPPORT, ZERO)
    if free is not None:
        cases[model.support_] = np.where(free, FREE, np.where(margins[model.support_] > 0, INSIDE, WRONG))
    return [int(case) for case in cases]


_WITH_BOX = ("SVC", "NuSVC", "HardMarginSVC")


def _region_cases(model: Any, values: NDArray[Any]) -> list[int]:
    """Of the support vectors, as many as the certificate counts at their bound, those outermost, are."""
    cases = np.zeros(len(values), np.intp)
    order = model.support_[np.argsort(values[model.support_], kind="stable")]
    cases[order] = FREE
    cases[order[: model.certificate_.n_bounded]] = WRONG
    return [int(case) for case in cases]


def _curve_cases(scene: Scene, alpha: NDArray[Any] | None, distances: NDArray[Any]) -> list[int]:
    if alpha is None:
        return _no_cases(len(distances))
    cases = np.where(alpha >= scene.numbers["C"] * (1 - 1e-9), WRONG, np.where(alpha > 0, FREE, ZERO))
    return [int(case) for case in cases]


def _counts(cases: list[int]) -> dict[str, int]:
    return {
        "support": sum(case != ZERO for case in cases),
        "free": cases.count(FREE),
        "bounded": cases.count(INSIDE) + cases.count(WRONG),
    }


def _numbers(model: Any) -> dict[str, Any]:
    """Margin, norm and bias of one machine, and its certificate."""
    certificate = getattr(model, "certificate_", None)
    if isinstance(certificate, list | tuple):
        certificate = certificate[0] if len(certificate) == 1 else None
    numbers: dict[str, Any] = {}
    name = type(model).__name__
    if certificate is not None and name != "KernelPerceptron":
        numbers |= {"primal": certificate.primal, "dual": certificate.dual, "gap": certificate.gap}
    intercept = np.ravel(getattr(model, "intercept_", []))
    if len(intercept) == 1:
        numbers["bias"] = float(intercept[0])
        norm = _norm(model)
        numbers["norm"] = norm
        if name in _WITH_BOX and norm:
            numbers["margin"] = 1.0 / norm
    if hasattr(model, "n_updates_"):
        numbers["updates"] = int(np.sum(model.n_updates_))
    return numbers


def _norm(model: Any) -> float:
    """|w|, from the expansion that is the model: |w|^2 = sum_j c_j <w, psi(x_j)>."""
    expansion = model.expansion_
    if len(expansion.groups) != 1 or expansion.n_functions != 1:
        return 0.0
    values = expansion.values(expansion.vectors)[:, 0] - expansion.intercepts[0]
    return float(np.sqrt(max(0.0, float(expansion.groups[0].coefficients[:, 0] @ values))))


def start(_request: Request, _job: Job) -> Iterator[Answer]:
    """What the page needs to begin: the presets."""
    yield {"presets": preset_list(), "first": preset("toy")}, {}


def load_preset(request: Request, _job: Job) -> Iterator[Answer]:
    """The points of a preset and with what a lesson would begin."""
    key = str(request.get("key"))
    if key not in PRESETS:
        raise DataError(f"there is no preset named {key!r}")
    yield {"state": preset(key)}, {}


def code(request: Request, _job: Job) -> Iterator[Answer]:
    """The Python code that reproduces what is on the screen."""
    yield {"code": script(Scene.of(request))}, {}


ACTIONS: dict[str, Action] = {"start": start, "preset": load_preset, "fit": fit, "code": code}
