"""Hard-margin solutions of all two-class problems of a fit, or the error that proves there are none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, NotPositiveSemidefiniteError, NotSeparableError, ParameterError
from mercer._jit.threads import one_blas_thread
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.fitting.certifiers import ProblemCertifier
from mercer.estimators.fitting.equal_rows import comparable_rows, contradiction, row_keys
from mercer.estimators.fitting.training import Budget, require_no_overflow, solve_all, stored_if_small
from mercer.estimators.fitting.two_class import Solved
from mercer.kernels.base.expansion import Expansion
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.table.frame import as_frame, is_data_frame
from mercer.kernels.vector.linear import Linear
from mercer.problems.svm.hard_margin import HardMargin, NotSeparableProof
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.hard_margin.solve import MOST_FEATURES, Overlap, Separation, separate_features, separate_matrix
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status
from mercer.solvers.tolerances import IN_DOUBLE

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import Setup
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.estimators.fitting.training import TrainingData
    from mercer.estimators.fitting.two_class import TwoClassProblems
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.certificate import Certificate
    from mercer.solvers.result import Solution


# C times the mean of k(x, x) that replaces an infinite C if nothing separates; and the tolerance of that problem.
STIFF, SOFT_TOL = 1000.0, 1e-3
# Where the proof is found.
IN_THE_ERROR = "see error.proof"
# Endings that do not decide whether there is a hyperplane.
UNDECIDED = (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.INTERRUPTED)


class SeparationSolved(Solved):
    """`Solved`, with what only a hard margin has.

    Attributes
    ----------
    margins : ndarray (n_problems,)
        Distance of the nearest point from each hyperplane.
    normals : list of ndarray or None
        w_0 of each problem in the coordinates of the rows, for a linear kernel.
    overlaps : dict
        Of a problem that has no solution: the `NotSeparableError` that was not raised.
    """

    def __init__(
        self, setup: "Setup", solutions: "Sequence[Solution]", overlaps: Any, has_normals: bool = False
    ) -> None:
        super().__init__(setup, solutions)
        self.overlaps = overlaps
        self.intercepts = np.array([solution.bias for solution in solutions])
        self.margins = np.array([getattr(solution, "distance", 0.0) for solution in solutions])
        self.normals = [cast(Any, solution).normal if has_normals else None for solution in solutions]


class SeparationCertifier(ProblemCertifier):
    """Certificates of hard margins, in the coordinates of the rows if the kernel is linear."""

    def _certificate(self, problem: Any, task: "BinaryTask", beta: FloatArray, intercept: float) -> "Certificate":
        k = next(k for k, each in enumerate(self.setup.tasks) if each is task)
        problem, normal = HardMargin(task.signs, self.setup.bias), self.solved.normals[k]
        if normal is None:
            projections = self._projections(task, beta)
            square = float(beta @ projections)
            return problem.certificate(beta, projections, intercept, (square, square))
        support = np.flatnonzero(beta)
        total = beta[support] @ self.data.X[task.indices[support]].astype(np.float64)
        projections = self.data.X[task.indices] @ normal
        return problem.certificate(beta, projections, intercept, (float(normal @ normal), float(total @ total)))


def separate_all(
    data: "TrainingData",
    setup: "TwoClassProblems",
    budget: Budget,
    limits: Limits,
    tol: float,
    n_jobs: int | None,
    *,
    may_overlap: bool = False,
) -> SeparationSolved:
    """Separate the classes of every two-class problem, in coordinates where there are few.

    Where `may_overlap`, a problem that has no solution gets that of a soft margin so narrow that losses
    come first, and `overlaps` has the proof.

    Raises
    ------
    NotSeparableError
        With a proof, if two classes cannot be separated.
    """
    problems = [HardMargin(task.signs, setup.bias) for task in setup.tasks]
    features, overlaps = explicit_features(data), {}

    def answered(k: int, answer: Any) -> Any:
        if not isinstance(answer, Overlap):
            return answer
        where = "see proofs_; a soft margin took its place" if may_overlap else IN_THE_ERROR
        error = _not_separable(data, features, setup, setup.tasks[k], answer, where)
        if not may_overlap:
            raise error
        overlaps[k] = error
        return _softened(data, setup, setup.tasks[k], budget, limits, n_jobs)

    known = _contradictions(data, setup)
    for k in () if may_overlap else known:
        answered(k, known[k])
    if features is not None:
        with one_blas_thread():
            solutions = [
                answered(k, known.get(k) or separate_features(problem, _part(features, task.indices), limits, tol))
                for k, (problem, task) in enumerate(zip(problems, setup.tasks, strict=True))
            ]
        return SeparationSolved(setup, solutions, overlaps, isinstance(data.kernel, Linear))

    def solve(problem: Any, part: "KernelMatrix", k: int) -> Any:
        return answered(k, known.get(k) or separate_matrix(problem, part, limits, tol, budget.cache))

    matrix = data.matrix(IN_DOUBLE, None, budget, n_jobs)
    return SeparationSolved(setup, solve_all(problems, setup.tasks, matrix, budget, solve, limits, n_jobs), overlaps)


def is_hard(setup: "TwoClassProblems") -> bool:
    """Whether no participating row may be on the wrong side: every C is infinite."""
    return np.count_nonzero(setup.C) == np.count_nonzero(np.isinf(setup.C))


def refuse_contradictions(data: "TrainingData", setup: "TwoClassProblems") -> None:
    """Raise `NotSeparableError` if equal rows have different labels, before trying to solve."""
    for k, overlap in _contradictions(data, setup).items():
        raise _not_separable(data, explicit_features(data), setup, setup.tasks[k], overlap, IN_THE_ERROR)


def separated_where_unsolved(
    solved: Any,
    data: "TrainingData",
    setup: "TwoClassProblems",
    budget: Budget,
    limits: Limits,
    tol: float,
    n_jobs: int | None,
) -> Any:
    """Solutions of the soft-margin solver with C = inf, or better ones if it failed, or the proof.

    If nothing separates, the dual is unbounded, and that solver only reports that it stalled.
    """
    ending = Status.worst(solved.statuses)
    if ending == Status.OPTIMAL or ending in UNDECIDED:
        return solved
    try:
        found = separate_all(data, setup, budget, limits, tol, n_jobs)
    except NotPositiveSemidefiniteError:
        # There is no feature space in which to separate: the solver has a stationary point, and says so.
        return solved
    if any(status in UNDECIDED for status in found.statuses):
        solved.statuses = [Status.worst(status for status in found.statuses if status in UNDECIDED)]
        return solved
    return found if Status.worst(found.statuses) <= ending else solved


def keep_normals(model: Any, X: Rows, data: "TrainingData", solved: Any) -> None:
    """Store one normal vector per function of a linear kernel instead of a sum over support vectors, whose rounding
    errors could exceed a tiny margin."""
    if isinstance(data.kernel, Linear) and all(normal is not None for normal in solved.normals):
        normals = np.vstack(solved.normals)
        vectors = type(X)(normals) if sparse.issparse(X) else normals
        model.expansion_ = Expansion.single(data.kernel, vectors, np.eye(len(normals)), model.intercept_)


def sums_are_off(data: "TrainingData", setup: "Setup", solved: Any, tol: float) -> bool:
    """Whether decision values by support vectors would differ from those by the normals by more than `tol`."""
    for task, beta, normal in zip(setup.tasks, solved.betas(), solved.normals, strict=True):
        if normal is not None:
            rows = data.X[task.indices].astype(np.float64)
            if float(np.abs(rows @ (beta @ rows - normal)).max(initial=0.0)) > tol:
                return True
    return False


def _softened(
    data: "TrainingData",
    setup: "TwoClassProblems",
    task: "BinaryTask",
    budget: Budget,
    limits: Limits,
    n_jobs: int | None,
) -> Separation:
    """The soft margin of inseparable rows, with a C large enough that the norm of w hardly matters."""
    matrix = data.matrix(IN_DOUBLE, None, budget, n_jobs).view(task.indices)
    C = STIFF / max(float(np.mean(matrix.diag)), np.finfo(float).tiny ** 0.5)
    problem = SoftMargin(task.signs, np.full(len(task.signs), C), "hinge", setup.bias)
    convex = data.kernel.is_psd is True
    part = stored_if_small(matrix, budget)
    found = solve_dual(problem.dual(), part, tol=SOFT_TOL, limits=limits.unwatched(), convex=convex)
    intercept = problem.intercept(found.beta, found.bias)
    return Separation(found.beta, found.gradient, intercept, Status.STALLED, found.iterations, trace=found.trace)


def _part(features: Any, rows: IndexArray) -> Any:
    return features if len(rows) == features.shape[0] else features[rows]


def _contradictions(data: "TrainingData", setup: "TwoClassProblems") -> dict[int, Any]:
    """The problems in which equal rows have different labels: the shortest proof, valid for any kernel."""
    X = comparable_rows(data)
    if X is None:
        return {}
    keys, found = row_keys(X), {}
    for k, task in enumerate(setup.tasks):
        pair = contradiction(X, keys, task.indices, task.signs)
        if pair is not None:
            weights = np.ones(2) if setup.bias == "free" else np.full(2, 0.5)
            squares = data.kernel.diag_of(data.prepare(np.float64, task.indices[pair]))
            found[k] = Overlap(pair, weights, float(np.sqrt(max(0.0, squares.max()))))
    return found


def margin_and_radius(
    data: "TrainingData", rows: IndexArray, signs: FloatArray, bias: str, n_jobs: int | None = None
) -> tuple[float, float]:
    """(largest margin, largest norm) of some rows in the feature space; the margin is 0 if nothing separates."""
    problem, limits = HardMargin(signs, bias), Limits()
    features = explicit_features(data)
    if features is None:
        budget = Budget.resolve(None, None, data.X)
        matrix = data.matrix(IN_DOUBLE, None, budget, n_jobs).view(rows)
        squares = matrix.diag
        answer = separate_matrix(problem, stored_if_small(matrix, budget), limits, IN_DOUBLE, budget.cache)
    else:
        part = features[rows]
        squares = np.asarray((part * part).sum(axis=1)).ravel()
        answer = separate_features(problem, part, limits, IN_DOUBLE)
    margin = 0.0 if isinstance(answer, Overlap) else max(0.0, answer.margin)
    return margin, float(np.sqrt(max(0.0, squares.max() + problem.shift)))


def explicit_features(data: "TrainingData") -> Any:
    """psi of the rows in double precision if it has at most MOST_FEATURES coordinates; else None."""
    if data.kernel.takes_items or isinstance(data.kernel, Precomputed) or data.X.dtype.kind != "f":
        return None
    try:
        if not data.kernel.feature_map(data.X[:1]).shape[1] <= MOST_FEATURES:
            return None
        features = data.X if isinstance(data.kernel, Linear) else data.kernel.feature_map(data.X)
    except (ParameterError, DataError):
        return None
    if features.shape[1] > MOST_FEATURES:
        # `Delta` has as many as there are distinct rows.
        return None
    features = features.astype(np.float64, copy=False)
    # Certificate and predictions use inner products.
    require_no_overflow(features)
    return features


def _not_separable(
    data: "TrainingData",
    features: Any,
    setup: "TwoClassProblems",
    task: "BinaryTask",
    overlap: Any,
    where: str,
) -> NotSeparableError:
    """The error; `where` says where the proof is found."""
    bias, classes = setup.bias, setup.classes
    proof = _proof(data, features, bias, task, overlap)
    if len(task.label) == 2:
        second, first = (classes[code].item() for code in task.label)
        who = f"the classes {first!r} and {second!r}"
    else:
        who = f"the class {classes[task.label[0]].item()!r} and the others"
    plane = {"free": "hyperplane", "penalized": "hyperplane", "none": "hyperplane through the origin"}[bias]
    space = "" if isinstance(data.kernel, Linear) else f" in the feature space of {data.kernel!r}"
    if proof.is_exact:
        said, remedy = _met(bias, proof), "another kernel may separate them"
    else:
        said = _too_near(bias, proof)
        remedy = "features or a kernel that set these rows farther apart may separate them"
    soft = "SVC with a finite C allows violations"
    return NotSeparableError(f"no {plane}{space} separates {who}{said}; {where}. {soft}; {remedy}", proof)


def _met(bias: str, proof: NotSeparableProof) -> str:
    what = "their convex hulls have a point in common" if bias == "free" else "the origin is in the hull of y_i x_i"
    return f": {what}, a weighted mean of {len(proof.weights)} rows (to {proof.distance:.1e})"


def _too_near(bias: str, proof: NotSeparableProof) -> str:
    """What double precision can tell, which is less than a proof."""
    if proof.twins is not None:
        first, second = proof.twins
        return (
            f" in double precision: rows {first} and {second} have different labels and cannot be told apart in it "
            "(they are not equal, so exact arithmetic may well separate them)"
        )
    what = "their convex hulls are" if bias == "free" else "the origin and the hull of y_i x_i are"
    return (
        f" as far as double precision can tell: {what} {proof.distance:.1e} apart, measured at {len(proof.weights)} "
        f"rows, and kernel values cannot tell less than {proof.tolerance * proof.radius:.1e} from zero"
    )


def _proof(data: "TrainingData", features: Any, bias: str, task: "BinaryTask", overlap: Any) -> NotSeparableProof:
    rows = task.indices[overlap.members]
    shown = None if features is None else features[rows]
    items = data.prepare(np.float64, rows) if not isinstance(data.kernel, Precomputed) else None
    gram = np.empty((len(rows), len(rows)))
    if items is None:
        gram[:] = data.X[np.ix_(rows, rows)]
    else:
        data.kernel.tile(items, items, gram, 0, 0)
    # Items with equal rows of a given matrix are equal to every function of it.
    vectors = _listed(data.support_vectors(rows) if items is not None else data.X[rows])
    return NotSeparableProof(
        indices=rows,
        weights=overlap.weights,
        signs=task.signs[overlap.members],
        bias=bias,
        features=cast(Any, shown).toarray() if sparse.issparse(shown) else shown,
        gram=_same_for_same_items(gram, vectors),
        radius=overlap.radius,
        is_exact=_is_exact(vectors, task.signs[overlap.members], bias, shown is not None),
    )


def _listed(items: Any) -> Any:
    """Items that go by their position, and can be compared with each other."""
    if is_data_frame(items):
        return as_frame(items).rows()
    return items.toarray() if sparse.issparse(items) else items


def _is_exact(items: Any, signs: FloatArray, bias: str, has_coordinates: bool) -> bool:
    """Whether the rows of a proof are convincing by themselves: equal, or known by coordinates and more than a pair."""
    if len(signs) == 2 and signs[0] != signs[1] and np.array_equal(items[0], items[1]):
        return True
    return has_coordinates and (len(signs) > 2 or bias != "free")


def _same_for_same_items(gram: FloatArray, items: Any) -> FloatArray:
    """Rows and columns of equal items made identical, so that they cancel exactly."""
    for i in range(len(items)):
        for j in range(i):
            if np.array_equal(items[i], items[j]):
                gram[i], gram[:, i] = gram[j], gram[:, j]
                break
    return gram
