"""The base of linear machines: parameters, limits and fitted attributes."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mercer._errors import ParameterError
from mercer._jit.memory import parse_bytes
from mercer._types import FloatArray, Rows
from mercer.estimators.bases.by_score import PredictsByScore, linear_scores
from mercer.estimators.bases.fits import Fits
from mercer.estimators.fitting.certificate import Certified
from mercer.estimators.fitting.inputs import prediction_rows
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_choice,
    require_flag,
    require_max_iter,
    require_n_jobs,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.progress import round_line, watchers
from mercer.estimators.fitting.seeds import seed_of
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.linear.solve import row_products, solve_each, usable_starts
from mercer.estimators.notebook.fit_html import ShowsFit
from mercer.estimators.out_of_core.predicting import ClassifiesBlocks, rows_of
from mercer.io.blocks.blocks import Blocks
from mercer.problems.regularization import resolve_C
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.limits import Limits
from mercer.solvers.linear import solve as linear_machine
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mercer._jit.row_products import RowProducts
    from mercer.problems.certificate import Certificate
    from mercer.solvers.linear_result import LinearSolution


class LinearEstimator(Fits, Certified, ShowsFit):
    """The common part of both estimators: parameters, limits and fitted attributes."""

    # Values of `solver`.
    solvers = linear_machine.SOLVERS

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_shared(self, losses: Collection[str]) -> None:
        require_choice("loss", self.loss, losses)
        require_number("tol", self.tol, above=0.0)
        require_number("intercept_scaling", self.intercept_scaling, above=0.0)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        if self.memory_limit is not None:
            parse_bytes(self.memory_limit)
        require_max_iter(self.max_iter)
        require_n_jobs(self.n_jobs)
        require_callbacks(self.callbacks)
        require_flag("fit_intercept", self.fit_intercept)
        require_flag("warm_start", self.warm_start)
        require_choice("bias", self.bias, BIASES)
        require_choice("solver", self.solver, linear_machine.SOLVERS)
        if not self.fit_intercept and self.bias == "free":
            raise ParameterError(
                "bias='free' contradicts fit_intercept=False, which asks for no intercept; change one of them"
            )

    @property
    def _bias(self) -> str:
        """The kind of bias: `fit_intercept` decides whether there is one, `bias` which."""
        return self.bias if self.fit_intercept else "none"

    def _method(self, primal_exists: bool) -> str:
        """The solver that `dual` and `solver` select together."""
        if self.dual not in (True, False, "auto"):
            raise ParameterError(f"dual must be True, False or 'auto', got {self.dual!r}")
        wanted = "auto" if isinstance(self.dual, str) else ("dual_cd" if self.dual else "newton")
        if wanted == "newton" and not primal_exists:
            # The text is LIBLINEAR's, by way of scikit-learn: programs look for it.
            raise ParameterError(
                "Unsupported set of arguments: The combination of "
                f"penalty='{getattr(self, 'penalty', 'l2')}' and loss='{self.loss}' is not supported when "
                f"dual={self.dual}; dual='auto' chooses one that is"
            )
        if "auto" not in (wanted, self.solver) and wanted != self.solver:
            raise ParameterError(f"solver={self.solver!r} contradicts dual={self.dual!r}; set one of them to 'auto'")
        return self.solver if wanted == "auto" else wanted

    def _limits(self) -> Limits:
        return Limits(self.max_iter, self.time_limit, watchers(self, round_line(self)))

    def _finite_C(self, n: float) -> float:
        C = resolve_C(self.C, n)
        if not np.isfinite(C):
            raise ParameterError(f"C must be finite here, got {C}; SVC(kernel='linear', C=inf) is the hard margin")
        return C

    def _C_of_rows(self, n: float, factors: FloatArray | float) -> Any:
        """C times the weight of each row, or of all."""
        with np.errstate(over="ignore"):
            C = self._finite_C(n) * factors
            if not np.isfinite(np.sum(C)):
                raise ParameterError(
                    f"C times sample_weight and class_weight must add up to a finite number, got C={self.C!r} and "
                    f"weights up to {np.max(factors):g}; lower C, or divide the weights by the largest"
                )
        return C

    @property
    def _goal(self) -> float:
        return self.tol if self.gap_tol is None else self.gap_tol

    def _is_reached(self, certificate: "Certificate") -> bool:
        return certificate.relative_gap <= self._goal

    def _solve(
        self, X: Rows, problems: Sequence[Any], solve: "Callable[..., LinearSolution]"
    ) -> "list[LinearSolution]":
        """Solve all problems; solve(products, problem, start) for each."""
        starts = usable_starts(
            getattr(self, "_last", None) if self.warm_start else None, *cast(tuple[int, int], X.shape), len(problems)
        )
        for name in ("n_passes_", "rows_read_"):  # of an earlier fit to blocks
            self.__dict__.pop(name, None)
        products = row_products(X, self.n_jobs)
        fits = solve_each(products, problems, solve, starts, self.n_jobs)
        self.status_ = Status.worst([fit.solution.status for fit in fits])
        self.n_iter_ = max(fit.solution.iterations for fit in fits)
        found = [fit.certificate for fit in fits]
        self._heed(found)
        self.certificate_ = one_or_all(found)
        self.trace_ = one_or_all([fit.solution.trace for fit in fits])
        self._last = [fit.solution for fit in fits] if self.warm_start else None
        return [fit.solution for fit in fits]

    def _by_machine(self, method: str, limits: Limits, goal: float) -> "Callable[..., LinearSolution]":
        """How a problem with an L2 penalty is solved."""
        seed = seed_of(self.random_state)

        def solve(products: "RowProducts", problem: Any, start: "LinearSolution | None") -> "LinearSolution":
            return linear_machine.solve(
                products, problem.dual(), gap_tol=goal, limits=limits, solver=method, start=start, seed=seed
            )

        return solve


class LinearClassifier(PredictsByScore, ClassifiesBlocks, ClassifierMixin, LinearEstimator):
    """Scores and labels from `coef_` and `intercept_`."""

    if TYPE_CHECKING:
        coef_: Any

    def _values(self, X: Rows) -> FloatArray:
        """The score of each machine, shape (n, n_machines)."""
        check_is_fitted(self)
        if isinstance(X, Blocks):
            return np.concatenate([self._values(rows) for rows in rows_of(self, X)])
        return linear_scores(prediction_rows(self, X), self.coef_, self.intercept_)

    def decision_function(self, X: Rows) -> FloatArray:
        """Signed scores: above 0 for the second of two classes, otherwise one column for each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks
            Of `Blocks` the scores of all rows are in memory; `predict_blocks` gives them block by block.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        scores = self._values(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, which an L1 penalty makes small; returns self."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Undo `sparsify`; returns self."""
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


def stacked(solutions: "Sequence[LinearSolution]") -> tuple[FloatArray, FloatArray]:
    """(weights, intercepts) of several machines, one row each; a joint machine has them already."""
    weights = np.concatenate([np.atleast_2d(each.w) for each in solutions])
    return weights, np.concatenate([np.atleast_1d(each.bias) for each in solutions])
