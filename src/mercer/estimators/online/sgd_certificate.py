"""How good the weights of stochastic gradient descent are, on given data.

The primal value of any w is an upper bound of the minimum of f. A lower bound needs a feasible
point of the dual, which SGD does not have: `solvers.dual_bound` finds one for linear weights,
the solver of `SVC` one for kernels. Both values are then computed anew, in double precision.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._errors import DataError
from mercer._types import FloatArray, Rows
from mercer.estimators.fitting.certificate import CHANGED, KeptData
from mercer.estimators.fitting.training import Budget, TrainingData, stored_if_small
from mercer.estimators.online.sgd_forms import WeightForm
from mercer.kernels.evaluation import tiles
from mercer.problems.svm.regularised_risk import RegularisedRisk
from mercer.solvers.dual_qp.solve import solve_dual
from mercer.solvers.limits import Limits
from mercer.solvers.stochastic.feasible_dual import raise_dual
from mercer.solvers.tolerances import IN_DOUBLE

if TYPE_CHECKING:
    from mercer.estimators.online.sgd_forms import KernelForm
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.certificate import Certificate


# Pair steps for the bound of a kernel problem, in addition to two per item; and their tolerance.
FEWEST_PAIR_STEPS = 10_000
BOUND_TOL = 1e-4


class SGDEvidence(KeptData):
    """The training data of a fit, kept until its certificates and its radius are read."""

    if TYPE_CHECKING:
        _rho: Any
        _found: Any

    def __init__(self, form: Any, data: "WeightedRows", lam: float, bias: str, n_jobs: int | None) -> None:
        super().__init__(data)
        self.form, self.lam, self.bias, self.n_jobs = form, lam, bias, n_jobs
        self._rho, self._found = None, None

    def rho(self) -> float:
        """The largest c |psi(x_i)|, which bounds the length of a step."""
        if self._rho is None:
            self._require_same_data()
            self._rho = self.data.rho(self.form, self.data.step_weights())
        return self._rho

    def certificates(self) -> "list[Certificate]":
        """One certificate for each two-class problem."""
        if self._found is None:
            self.rho()
            self._require_same_data()
            self._found = certificates(self.form, self.data, self.lam, self.bias, self.n_jobs)
            self.data = None
        return self._found

    def settle(self) -> None:
        """Measure rho, if the data are unchanged, and drop them: a copy has none."""
        if self._rho is None and self._is_same():
            self._rho = self.data.rho(self.form, self.data.step_weights())
        self.data = None

    def _require_same_data(self) -> None:
        if self.data is None:
            raise DataError("a copy of a model has no training data; pass them to certify(X, y)")
        if not self._is_same():
            raise DataError(CHANGED)


class WeightedRows:
    """Rows with their sides, multiplicities and loss weights."""

    def __init__(self, X: Rows, sides: FloatArray, loss_weights: FloatArray, counts: FloatArray | None = None) -> None:
        self.X, self.sides, self.loss_weights = X, sides, loss_weights
        self._counts = counts

    @property
    def counts(self) -> FloatArray:
        """The multiplicity of each row."""
        return np.ones(len(self.loss_weights)) if self._counts is None else self._counts

    def mean_weight(self) -> float:
        """Mean weight c of the losses."""
        return float(np.average(self.loss_weights, weights=self._counts))

    def draw_weights(self) -> FloatArray | None:
        """The probability of drawing each row, or None if uniform: s_i c_i / c."""
        if self._counts is None and (self.loss_weights == self.loss_weights[0]).all():
            return None
        return self.counts * (self.loss_weights / self.mean_weight())

    def step_weights(self) -> FloatArray:
        """The step factor of a row drawn in proportion to its own weight: c."""
        return np.full(len(self.loss_weights), self.mean_weight())

    def rho(self, form: Any, factors: FloatArray) -> float:
        """The largest factor_i |psi(x_i)| of the rows of positive weight."""
        sizes = factors * np.sqrt(form.squares(self.X))
        return float(np.max(sizes, initial=0.0, where=self.counts * self.loss_weights > 0))


def certificates(form: Any, rows: WeightedRows, lam: float, bias: str, n_jobs: int | None) -> "list[Certificate]":
    """One certificate for each two-class problem of `form` on `rows`."""
    judge = _certify_weights if isinstance(form, WeightForm) else _certify_coefficients
    risks = [RegularisedRisk(side, lam, rows.loss_weights, rows.counts, bias) for side in rows.sides]
    with np.errstate(over="ignore", invalid="ignore"):  # weights may be huge, and the certificate says so
        return judge(form, rows.X, risks, n_jobs)


def _certify_weights(
    form: WeightForm, X: Rows, risks: Sequence[RegularisedRisk], _n_jobs: int | None
) -> "list[Certificate]":
    weights, intercepts = form.coefficients()
    found = []
    for w, b, risk in zip(weights, intercepts, risks, strict=True):
        values = np.asarray(X @ w, dtype=np.float64) + b
        squared_norm = float(w @ w) + b**2
        primal = risk.primal(squared_norm, values) / risk.lam
        beta = raise_dual(X, risk.soft_margin(), values, primal)
        v = np.asarray(X.T @ beta, dtype=np.float64)
        dual_values = np.asarray(X @ v, dtype=np.float64) + float(form.has_bias) * beta.sum()
        found.append(risk.certificate(squared_norm, values, beta, dual_values))
    return found


def _certify_coefficients(
    form: "KernelForm", X: Rows, risks: Sequence[RegularisedRisk], n_jobs: int | None
) -> "list[Certificate]":
    data, budget = TrainingData(form.kernel, X), Budget.resolve(form.memory_limit, None, X)
    matrix = stored_if_small(data.matrix(IN_DOUBLE, None, budget, n_jobs), budget)
    values = form.expansion().values(X, n_jobs=n_jobs)
    coefficients, intercepts = form.coefficients()
    at_support = _values_at_support(form, X, coefficients, n_jobs)
    found = []
    for k, risk in enumerate(risks):
        squared_norm = float(coefficients[k] @ at_support[:, k]) + intercepts[k] ** 2
        beta = _dual_point(risk, matrix, values[:, k], budget, form.kernel)
        support = np.flatnonzero(beta)
        dual_values = matrix.product(support, beta[support]) + float(form.has_bias) * beta.sum()
        found.append(risk.certificate(squared_norm, values[:, k], beta, dual_values))
    return found


def _values_at_support(form: "KernelForm", X: Rows, coefficients: FloatArray, n_jobs: int | None) -> FloatArray:
    """sum_l coefficient_l k(x_l, x_j) at each support vector j, for each problem."""
    if form.is_precomputed:
        return X[np.ix_(form.support, form.support)].astype(np.float64) @ coefficients.T
    vectors = form.kernel.prepare(form.vectors, np.float64, origin=form.origin, check=False)
    return tiles.product(form.kernel, vectors, vectors, coefficients.T, n_jobs)


def _dual_point(
    risk: RegularisedRisk, matrix: "KernelMatrix", values: FloatArray, budget: Budget, kernel: "Kernel"
) -> FloatArray:
    """Feasible dual coefficients from SVC's solver, which need not converge."""
    problem = risk.soft_margin()
    used = np.flatnonzero(problem.C > 0)
    part = replace(problem, signs=problem.signs[used], C=problem.C[used])
    start = np.where(part.signs * values[used] < 1.0, part.signs * part.C, 0.0)
    limits = Limits(max_iter=FEWEST_PAIR_STEPS + 2 * len(used))
    solution = solve_dual(
        part.dual(),
        matrix if len(used) == matrix.n else matrix.view(used),
        tol=BOUND_TOL,
        limits=limits,
        start=start,
        memory=budget.working,
        convex=kernel.is_psd is True,
    )
    beta = np.zeros(matrix.n)
    beta[used] = np.clip(solution.beta, part.dual().lower, part.dual().upper)
    return beta
