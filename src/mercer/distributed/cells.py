r"""The exact machine, begun by divide and conquer (Hsieh, Si & Dhillon 2014).

Rows are divided into cells of rows that are alike (kernel k-means on a sample). Each cell is a problem of its own,
solved by a worker; where entries between cells are small, the coefficients are nearly those of the whole. Put together
they are in the box and keep their sum, so that the exact solver continues from them here. The result is the machine
that ``fit`` gives, solved and certified as usual: the cells decide only where it begins. As a rule they gain little
(docs/scale.md has the figures): finishing takes most of the time that a cold start takes.
"""

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer._errors import ParameterError
from mercer._types import ArrayLike, FloatArray, IndexArray, Rows
from mercer.distributed.connection import crew_in_force
from mercer.distributed.matrix_blocks import count_of
from mercer.estimators.fitting.fitted_parts import part, set_parts
from mercer.estimators.svm.svc import SVC
from mercer.estimators.svm.svr import SVR
from mercer.kernels.notation.sklearn_names import resolve
from mercer.selection.tuning.shared_matrix import take

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

Machine = TypeVar("Machine", SVC, SVR)

# Rows of the sample that is divided, how often centres move, and rows for which kernel values are held at a time.
SAMPLE, ROUNDS, PANEL = 512, 12, 4096
# A cell with fewer rows than this is not worth sending; cells are solved more coarsely than the whole.
FEWEST, COARSER = 200, 10.0


def fit_by_cells(model: Machine, X: Rows, y: ArrayLike, *, cells: int | None = None) -> Machine:
    """Fit an `SVC` of two classes, or an `SVR`, from a start that the active cluster finds.

    Parameters
    ----------
    model : SVC or SVR
        With a kernel of rows and a C that is a number; fitted in place.
    X : rows or items
    y : array-like of shape (n,)
    cells : int, optional
        Number of cells; by default one for each thread of the cluster, of 200 rows or more.

    Returns
    -------
    model
        The same object.

    Examples
    --------
    >>> import numpy as np
    >>> from distributed import LocalCluster
    >>> from mercer import SVC, distributed
    >>> X = np.random.default_rng(0).normal(size=(600, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as local:
    ...     with distributed.cluster(local):
    ...         model = distributed.fit_by_cells(SVC(), X, y, cells=2)
    >>> model.status_.name
    'OPTIMAL'
    """
    crew = crew_in_force()
    targets = np.asarray(y)
    _require(model, targets)
    n = count_of(X)
    count = min(crew.patience.threads(), max(1, n // FEWEST)) if cells is None else cells
    if not isinstance(count, int) or not 1 <= count <= n:
        raise ParameterError(f"cells must be an integer from 1 to the number of rows, {n}, got {cells!r}")
    plan = Cells(model, X, targets)
    members = plan.divide(count)
    answers = crew.each(_solve_cell, (plan,), [(rows,) for rows in members], name="cell {}".format)
    start: FloatArray = np.zeros(n)
    for rows, beta in zip(members, answers, strict=True):
        start[rows] = beta
    return finish(model, X, y, start)


def finish(model: Machine, X: Rows, y: ArrayLike, start: FloatArray) -> Machine:
    """The exact solver, from a start."""
    warm = model.warm_start
    set_parts(model, last_betas=[start])
    model.set_params(warm_start=True)
    try:
        return model.fit(X, y)
    finally:
        model.set_params(warm_start=warm)
        if not warm:
            set_parts(model, last_betas=None)


def _require(model: Any, y: Any) -> None:
    if not isinstance(model, SVC | SVR):
        raise ParameterError(f"model must be an SVC or an SVR, got {type(model).__name__}")
    if isinstance(model.C, str) or not np.isscalar(model.C):
        raise ParameterError(f"C must be a number for cells, whose own rows cannot decide it, got {model.C!r}")
    is_word = isinstance(model.kernel, str)
    if model.kernel in ("precomputed", "auto") if is_word else not hasattr(model.kernel, "bind"):
        raise ParameterError(f"kernel must be a kernel of rows, got {model.kernel!r}")
    if isinstance(model, SVC) and (len(np.unique(y)) != 2 or model.class_weight is not None):
        raise ParameterError(
            f"fit_by_cells takes two classes without class_weight, got {len(np.unique(y))} classes and "
            f"class_weight={model.class_weight!r}; SVC().fit takes any"
        )


class Cells:
    """A problem as the workers have it: they solve cells of its rows more coarsely than the whole.

    Parameters
    ----------
    model : SVC or SVR
    X : rows or items
    y : ndarray (n,)
    """

    def __init__(self, model: Any, X: Rows, y: Any) -> None:
        self.kernel = resolve(model.kernel, model.gamma, model.degree, model.coef0).bind(X)
        self.X, self.y = X, y
        self.model = clone(model).set_params(
            kernel=self.kernel, warm_start=True, tol=COARSER * model.tol, gap_tol=None, callbacks=None, verbose=False
        )

    def divide(self, count: int) -> list[IndexArray]:
        """Rows of each cell: those nearest to its centre in feature space."""
        return _divide(self.kernel, self.X, count)

    def solve(self, rows: IndexArray) -> FloatArray:
        """Signed dual coefficients of the rows of a cell; those of one class alone have none."""
        own = self.y[rows]
        if isinstance(self.model, SVC) and len(np.unique(own)) < 2:
            return np.zeros(len(rows))
        with warnings.catch_warnings():
            # A start need not be a solution.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = clone(self.model).fit(take(self.X, rows), own)
        return np.asarray(part(fitted, "last_betas")[0])


def _solve_cell(plan: Cells, rows: IndexArray) -> FloatArray:
    return plan.solve(rows)


def _divide(kernel: "Kernel", X: Rows, count: int) -> list[IndexArray]:
    n = count_of(X)
    if count == 1:
        return [np.arange(n)]
    sample = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    chosen = take(X, sample)
    K = np.asarray(kernel(chosen), dtype=np.float64)
    weights = _centres(K, count)
    norms = np.einsum("cs,st,ct->c", weights, K, weights)
    nearest = []
    for begin in range(0, n, PANEL):
        between = np.asarray(kernel(take(X, np.arange(begin, min(n, begin + PANEL))), chosen), dtype=np.float64)
        nearest.append(np.argmin(norms - 2.0 * between @ weights.T, axis=1))
    place = np.concatenate(nearest)
    return [rows for rows in (np.flatnonzero(place == cell) for cell in range(count)) if len(rows)]


def _centres(K: FloatArray, count: int) -> FloatArray:
    """Centres of kernel k-means, as weights of the sample: a row for each."""
    # Farthest first, from the first row: no seed is needed.
    first, distance = [0], np.diag(K) - 2.0 * K[0] + K[0, 0]
    while len(first) < count:
        first.append(int(np.argmax(distance)))
        new = first[-1]
        distance = np.minimum(distance, np.diag(K) - 2.0 * K[new] + K[new, new])
    weights = np.eye(len(K))[first]
    for _ in range(ROUNDS):
        norms = np.einsum("cs,st,ct->c", weights, K, weights)
        place = np.argmin(norms - 2.0 * K @ weights.T, axis=1)
        members = np.equal.outer(np.arange(count), place).astype(np.float64)
        full = members.sum(axis=1) > 0
        weights[full] = members[full] / members[full].sum(axis=1)[:, None]
    return weights
