"""The base of perceptrons on rows and on kernel values: parameters, words, and the bound on updates."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from mercer._errors import DataError
from mercer._types import FloatArray, IndexArray, Rows
from mercer.estimators.bases.fits import Fits
from mercer.estimators.fitting.certificate import KeptData
from mercer.estimators.fitting.inputs import require_fitted
from mercer.estimators.fitting.parameters import (
    require_callbacks,
    require_choice,
    require_count,
    require_flag,
    require_max_iter,
    require_number,
    require_optional_number,
)
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.svm.separation import margin_and_radius
from mercer.problems.version_space.perceptron import MistakeBound, PerceptronProgram
from mercer.solvers.result import Status
from mercer.solvers.stochastic.perceptron_lp import residual

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.problems.certificate import Certificate
    from mercer.solvers.stochastic.perceptron import Schedule


class LearnsByMistakes(Fits):
    """The mistake-related attributes of perceptrons, with kernels and without."""

    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: (
            "A point was on the wrong side in the last of max_iter={max_iter} epochs. Perhaps no hyperplane separates "
            "the data: HardMarginSVC can tell, and another kernel may allow one."
        ),
        Status.STALLED: (
            "The loss fell by less than tol; perhaps no hyperplane separates the data (HardMarginSVC can tell)."
        ),
        Status.TIME_LIMIT: "To continue, raise time_limit, or set warm_start=True and fit again.",
    }

    if TYPE_CHECKING:
        method: str
        _mistakes: "MistakeEvidence | None"

    @property
    def multipliers_(self) -> FloatArray:
        """The dual vector of each linear program."""
        require_fitted(cast("BaseEstimator", self))
        found = vars(self).get("_multipliers")
        if found is None:
            raise AttributeError(f'multipliers_ is only available after a fit with method="lp", got {self.method!r}')
        return one_or_all(found)

    @property
    def mistake_bound_(self) -> Any:
        """The number of updates beside its bound; computed when first read."""
        require_fitted(cast("BaseEstimator", self))
        if self._mistakes is None:
            raise AttributeError("mistake_bound_ is only available after a fit that starts from zero, by updates")
        return one_or_all(self._mistakes.bounds())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(cast(Any, super()).__getstate__())
        # The training data are not part of a model.
        if state.get("_mistakes") is not None:
            state["_mistakes"] = state["_mistakes"].without_data()
        return state


def check_parameters(estimator: "BaseEstimator", methods: Collection[str]) -> None:
    """The parameters common to all perceptrons."""
    require_choice("method", estimator.method, methods)
    for name in ("fit_intercept", "shuffle", "warm_start"):
        require_flag(name, getattr(estimator, name))
    require_max_iter(estimator.max_iter)
    require_count("n_iter_no_change", estimator.n_iter_no_change)
    require_number("eta0", estimator.eta0, above=0.0)
    require_optional_number("tol", estimator.tol, above=0.0)
    require_optional_number("time_limit", estimator.time_limit, above=0.0)
    require_callbacks(estimator.callbacks)


def row_certificate(X: Rows, signs: FloatArray, plan: "Schedule", learnt: Any, with_bias: bool) -> "Certificate":
    """The certificate of a linear function, and of multipliers if there are any."""
    visited = plan.order
    program = PerceptronProgram(signs[visited], plan.copies[visited])
    margins = (signs * (X @ learnt.coefficients + learnt.bias))[visited]
    if learnt.multipliers is None:
        return program.certificate(margins)
    left_over = residual(X[visited], program.signs, learnt.multipliers, with_bias)
    return program.certificate(margins, learnt.multipliers, left_over)


class MistakeEvidence(KeptData):
    """Held by a fitted perceptron until the bound on its updates is read; then the data are dropped.

    The bound needs the maximal margin, which may take longer than the fit.
    """

    if TYPE_CHECKING:
        _found: Any

    def __init__(
        self, estimator: "BaseEstimator", data: Any, rows: IndexArray, tasks: "Sequence[BinaryTask]", plan: "Schedule"
    ) -> None:
        super().__init__(data)
        self.rows = rows
        self.signs = [task.signs[plan.order] for task in tasks]
        self.updates = estimator.n_updates_
        self.bias = "penalized" if estimator.fit_intercept else "none"
        self.step = _smallest_step(plan.copies[plan.order])
        self._found = None

    def bounds(self) -> list[MistakeBound]:
        """A `MistakeBound` for each two-class problem."""
        if self._found is None:
            if not self._is_same():
                raise DataError("the bound needs the training data unchanged since fit; fit again")
            self._found = [self._bound(signs, n) for signs, n in zip(self.signs, self.updates, strict=True)]
            self.data = None
        return self._found

    def _bound(self, signs: FloatArray, updates: int) -> MistakeBound:
        margin, radius = margin_and_radius(self.data, self.rows, signs, self.bias)
        return MistakeBound(int(updates), radius, margin, self.step)

    def without_data(self) -> "MistakeEvidence":
        """The same for a model that does not keep its training data."""
        copy = object.__new__(MistakeEvidence)
        copy.__dict__ = {**self.__dict__, "data": None, "rows": None, "signs": None}
        return copy


def _smallest_step(copies: FloatArray) -> float:
    """The smallest fraction of an update that the weights require."""
    parts = np.modf(copies)[0]
    return float(parts[parts > 0].min(initial=1.0))
