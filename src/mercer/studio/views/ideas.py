"""See the idea: the lift, the version space, the dual's box, the losses, the bounds, the hulls."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from mercer import SVC, HardMarginSVC, NotSeparableError, theory
from mercer._errors import DataError
from mercer.kernels import Linear, Polynomial
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.problems.version_space.spherical_polygon import SphericalPolygon, tangents
from mercer.solvers.limits import Limits
from mercer.solvers.version_space.analytic_centre import analytic_centre
from mercer.solvers.version_space.ball_centre import ball_centre
from mercer.studio.playground.recording import record_smo
from mercer.studio.playground.scene import Scene
from mercer.studio.server.worker import Action, Answer, Job, Request
from mercer.studio.views.playground import COARSE

# With slack at this price a set that cannot be separated has a machine all the same.
PRICE = 10.0
MOST_WALLS = 40
# Points of a great circle, of an edge of the polygon, of a curve.
CIRCLE, EDGE, CURVE = 181, 24, 301
# Columns and rows of the dual's field.
BOX_GRID = (81, 81)
# Angles and radii of the plane, drawn as the sheet that it becomes.
SHEET = (41, 13)
LOSSES = ("zero_one", "perceptron", "hinge", "ramp", "squared_hinge", "logistic")
CENTRES = ("ball centre", "analytic centre", "centre of mass")
CENTRE_TOL = 1e-8


def _two_classes(scene: Scene) -> NDArray[Any]:
    """Signs of the points; the larger label is +1."""
    classes = np.unique(scene.labels)
    if len(classes) != 2:
        raise DataError(f"This needs points of two classes, and there are {len(classes)} here.")
    return np.where(scene.labels == classes[1], 1.0, -1.0)


def _separated(X: NDArray[Any], signs: NDArray[Any], kernel: Any) -> tuple[Any, bool]:
    """The hard-margin machine, or where there is none a soft one; and whether it is hard."""
    try:
        return HardMarginSVC(kernel=kernel).fit(X, signs), True
    except NotSeparableError:
        return SVC(kernel=kernel, C=PRICE).fit(X, signs), False


# --- the lift ---------------------------------------------------------------------------------


def lift_line(request: Request, _job: Job) -> Iterator[Answer]:
    """x to (x, x^2): the machine there, and where it changes its mind on the line."""
    scene = Scene.of(request)
    signs, x = _two_classes(scene), scene.points[:, 0]
    lifted = np.column_stack([x, x**2])
    model, is_hard = _separated(lifted, signs, Linear())
    (w1, w2), b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    on_line, _ = _separated(x[:, None], signs, Linear())
    flat = int(np.sum(on_line.predict(x[:, None]) != signs))
    along = np.linspace(*scene.window[:2], CURVE)
    values = np.asarray(model.decision_function(np.column_stack([along, along**2])))
    roots = [] if w2 == 0 else [float(r.real) for r in np.roots([w2, w1, b]) if abs(r.imag) < 1e-12]
    header = {
        "weights": [w1, w2, b],
        "hard": is_hard,
        "roots": sorted(roots),
        "margin": 1.0 / float(np.hypot(w1, w2)),
        "flat_errors": flat,
        "support": model.support_,
    }
    yield header, {"lifted": lifted, "along": along, "values": values}


def lift_plane(request: Request, _job: Job) -> Iterator[Answer]:
    """The plane to (x1^2, sqrt2 x1 x2, x2^2), the features of (x . x')^2, with the plane that separates."""
    scene = Scene.of(request)
    signs, kernel = _two_classes(scene), Polynomial(degree=2, gamma=1.0, coef0=0.0)
    model, is_hard = _separated(scene.points, signs, kernel)
    features = kernel.feature_map(scene.points)
    w = np.ravel(model.dual_coef_) @ kernel.feature_map(model.support_vectors_)
    columns, rows = COARSE
    field = np.asarray(model.decision_function(scene.grid(columns, rows))).reshape(rows, columns)
    sheet = kernel.feature_map(_disc(float(np.linalg.norm(scene.points, axis=1).max())))
    header = {
        "weights": w,
        "bias": float(np.ravel(model.intercept_)[0]),
        "hard": is_hard,
        "margin": 1.0 / float(np.linalg.norm(w)) if np.any(w) else None,
        "support": model.support_,
        "grid": COARSE,
        "sheet_grid": SHEET,
    }
    yield header, {"features": features, "field": field, "sheet": sheet}


def _disc(radius: float) -> NDArray[Any]:
    """Half of a disc, by angle and radius: x and -x have the same features."""
    angles, radii = np.meshgrid(np.linspace(0.0, np.pi, SHEET[0]), np.linspace(0.0, 1.04 * radius, SHEET[1]))
    return np.column_stack([(radii * np.cos(angles)).ravel(), (radii * np.sin(angles)).ravel()])


# --- the version space ------------------------------------------------------------------------


def version_space(request: Request, _job: Job) -> Iterator[Answer]:
    """All lines that classify the points correctly, as a polygon on the sphere, and its centres."""
    scene = Scene.of(request)
    signs = _two_classes(scene)
    if len(signs) > MOST_WALLS:
        raise DataError(f"The version space is drawn for at most {MOST_WALLS} points, and there are {len(signs)} here.")
    rows = np.column_stack([scene.points, np.ones(len(signs))])
    normals = signs[:, None] * rows / np.linalg.norm(rows, axis=1)[:, None]
    gram, limits = normals @ normals.T, Limits()
    ball = ball_centre(gram, tol=CENTRE_TOL, limits=limits)
    analytic = analytic_centre(gram, np.ones(len(gram)), ball.alpha, tol=CENTRE_TOL, limits=limits)
    middle = _unit(normals.T @ analytic.alpha)
    polygon = SphericalPolygon.of_walls(normals, middle)
    centres = dict(zip(CENTRES, (_unit(normals.T @ ball.alpha), middle, polygon.centre_of_mass), strict=True))
    header = {
        "signs": signs,
        "area": polygon.area / (4.0 * np.pi),
        "corners": len(polygon.corners),
        "radius": ball.radius,
        "centres": centres,
    }
    yield (
        header,
        {
            "outline": _outline(polygon.corners),
            "walls": np.stack([_great_circle(normal) for normal in normals]),
            "ball": _rim(centres["ball centre"], ball.radius),
        },
    )


def _unit(vector: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vector / np.linalg.norm(vector))


def _great_circle(normal: NDArray[Any]) -> NDArray[Any]:
    angles = np.linspace(0.0, 2.0 * np.pi, CIRCLE)
    return np.column_stack([np.cos(angles), np.sin(angles)]) @ tangents(normal)


def _rim(centre: NDArray[Any], radius: float) -> NDArray[Any]:
    return np.sqrt(max(0.0, 1.0 - radius**2)) * centre + radius * _great_circle(centre)


def _outline(corners: NDArray[Any]) -> NDArray[Any]:
    """Points along the edges of the polygon."""
    shares = np.linspace(0.0, 1.0, EDGE, endpoint=False)[:, None]
    edges = []
    for begin, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        chord = (1.0 - shares) * begin + shares * end
        edges.append(chord / np.linalg.norm(chord, axis=1)[:, None])
    return np.concatenate(edges)


# --- the dual's box ---------------------------------------------------------------------------


def dual_box(request: Request, _job: Job) -> Iterator[Answer]:
    """The dual of two points over its box: the field, the optimum, and the steps that lead there.

    The bias is none, so that the box is all that bounds the two alphas.
    """
    scene = Scene.of(request)
    signs = _two_classes(scene)
    if len(signs) != 2:
        raise DataError(f"The box of two alphas is drawn for two points, and there are {len(signs)} here.")
    C = scene.numbers["C"]
    problem = SoftMargin(signs, np.full(2, C), "hinge", "none")
    dual, K = problem.dual(), scene.points @ scene.points.T
    columns, rows = BOX_GRID
    reach = 1.25 * C
    first, second = np.meshgrid(np.linspace(0.0, reach, columns), np.linspace(0.0, reach, rows))
    betas = np.column_stack([signs[0] * first.ravel(), signs[1] * second.ravel()])
    field = np.array([dual.objective(beta, dual.linear - K @ beta) for beta in betas]).reshape(rows, columns)
    steps = record_smo(problem, K, 60, tol=1e-6).steps
    best = steps[-1]
    at_bound = ["at 0" if a == 0 else ("at C" if a >= C else "free") for a in np.abs(best.beta)]
    header = {
        "grid": BOX_GRID,
        "reach": reach,
        "C": C,
        "alpha": np.abs(best.beta),
        "where": at_bound,
        "primal": best.primal,
        "dual": best.dual,
        "path": [np.abs(step.beta) for step in steps],
        "weights": best.beta @ scene.points,
    }
    yield header, {"field": field}


# --- losses, bounds, hulls --------------------------------------------------------------------


def losses(_request: Request, _job: Job) -> Iterator[Answer]:
    """The losses of the margin z = y f(x)."""
    z = np.arange(-250, 301) / 100
    formulas = [[name, theory.LOSSES[name].formula, bool(theory.LOSSES[name].is_convex)] for name in LOSSES]
    curves = np.stack([np.asarray(theory.LOSSES[name].value(z), dtype=float) for name in LOSSES])
    yield {"losses": formulas}, {"z": z, "curves": curves}


def bounds(request: Request, job: Job) -> Iterator[Answer]:
    """Every bound of the theory, applied to a soft-margin machine on the points."""
    scene = Scene.of(request)
    signs = _two_classes(scene)
    model = SVC(C=scene.numbers["C"], kernel=scene.kernel, bias=scene.bias, callbacks=[job.watch])
    found = theory.report(model.fit(scene.points, signs), scene.points, signs).as_dict()
    columns, rows = COARSE
    field = np.asarray(model.decision_function(scene.grid(columns, rows))).reshape(rows, columns)
    yield {**found, "grid": COARSE, "support": model.support_}, {"field": field}


def hulls(request: Request, _job: Job) -> Iterator[Answer]:
    """The convex hulls of two classes: their nearest points, or the point that they share."""
    scene = Scene.of(request)
    signs = _two_classes(scene)
    shapes = [_hull(scene.points[signs == sign]) for sign in (-1.0, 1.0)]
    try:
        model = HardMarginSVC(kernel=Linear()).fit(scene.points, signs)
    except NotSeparableError as error:
        proof = error.proof
        yield (
            {
                "separable": False,
                "hulls": shapes,
                "point": proof.point,
                "indices": proof.indices,
                "weights": proof.weights,
                "signs": proof.signs,
                "says": str(proof),
                "distance": proof.distance,
            },
            {},
        )
        return
    nearest = []
    for sign in (-1.0, 1.0):
        own = np.sign(np.ravel(model.dual_coef_)) == sign
        weights = np.abs(np.ravel(model.dual_coef_))[own]
        nearest.append(weights / weights.sum() @ model.support_vectors_[own])
    header = {
        "separable": True,
        "hulls": shapes,
        "nearest": nearest,
        "margin": float(model.margin_),
        "weights": np.ravel(model.coef_),
        "bias": float(np.ravel(model.intercept_)[0]),
        "support": model.support_,
    }
    yield header, {}


def _hull(points: NDArray[Any]) -> NDArray[Any]:
    """Corners of the hull, in order; the points themselves where they have none."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        order = np.lexsort((points[:, 1], points[:, 0]))
        return np.asarray(points[[order[0], order[-1]]])


ACTIONS: dict[str, Action] = {
    "lift_line": lift_line,
    "lift_plane": lift_plane,
    "version_space": version_space,
    "dual_box": dual_box,
    "losses": losses,
    "bounds": bounds,
    "hulls": hulls,
}
