r"""Linear machines that continue with more rows and keep none of the earlier ones.

A call minimises :math:`\tfrac12|w - w_0|^2 + \sum_i C_i \varphi(z_i)` over its own rows, where :math:`w_0` is the
machine so far: an implicit step (Kulis & Bartlett 2010). In the dual of all rows that were ever seen, it moves the
coefficients of the new ones to their best values and leaves those of the others alone. So the first call is the fit to
its rows, and after later ones only `fit` proves anything about all rows together.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from mercer._errors import ParameterError
from mercer._jit.threads import Stopped
from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.fitting.inputs import (
    classes_and_codes,
    known_codes,
    prediction_rows,
    regression_rows,
    training_rows,
)
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.tasks import one_or_all
from mercer.estimators.fitting.weights import class_weights, row_weights
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.linear.from_blocks import BlockTask, machine_targets, solve_from
from mercer.estimators.out_of_core.first_pass import all_targets
from mercer.estimators.out_of_core.given import require_alone
from mercer.estimators.out_of_core.passes import feature_blocks
from mercer.estimators.out_of_core.predicting import with_columns_of_fit
from mercer.estimators.out_of_core.targets import note_columns, targets_of
from mercer.io.blocks.blocks import Blocks
from mercer.problems.regularization import Regularization
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.solvers.limits import Limits

REMEDIES = dict.fromkeys(Status, "partial_fit continues from here.")


def _can_go_on(model: Any) -> bool:
    """Whether the parameters allow `partial_fit`; otherwise it is not an attribute, as in scikit-learn."""
    try:
        model._require_by_blocks("partial_fit")
    except ParameterError as error:
        raise AttributeError(str(error)) from error
    return True


class LearnsInParts:
    """What `partial_fit` of a linear machine is made of."""

    if TYPE_CHECKING:
        # What the estimator has besides this.
        C: Any
        conformal: Any
        n_jobs: int | None
        memory_limit: int | str | None
        coef_: Any
        intercept_: FloatArray
        status_: Status
        certificate_: Any
        _limits: Callable[[], Limits]
        _check_parameters: Callable[[], None]
        _part: Callable[..., BlockTask]

    def _go_on(self, X: Rows, y: Any, sample_weight: ArrayLike | None, *more: Any) -> Self:
        """Learn from more rows, and warn if that falls short of its goal."""
        self._check_parameters()
        if self.conformal is not None:
            raise ParameterError("conformal must be None with partial_fit, which keeps no rows to set aside")
        if isinstance(self.C, Regularization) and self.C.divide_by_m:
            raise ParameterError(
                f"C must not depend on the number of rows with partial_fit, got {self.C}; give a number"
            )
        limits = self._limits()
        with fitting(cast("BaseEstimator", self), limits):
            before = self._machine_so_far()
            ended = self._take_part(self._part(X, y, sample_weight, limits, before is None, *more), before, limits)
        warn_unless_optimal(ended, remedies=REMEDIES, stacklevel=4)
        return self

    def _machine_so_far(self) -> tuple[FloatArray, FloatArray] | None:
        if "coef_" not in vars(self):
            return None
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return np.atleast_2d(coef), np.asarray(self.intercept_)

    def _take_part(self, task: BlockTask, before: tuple[FloatArray, FloatArray] | None, limits: "Limits") -> Status:
        """The step that a part asks for; how it ended."""
        source = feature_blocks(task.blocks, limits, len(task.targets), self.n_jobs, self.memory_limit)
        machines = task.machines(self, task.factors)
        if before is None:
            solve_from(self, source, machines, [None] * len(machines), limits)
            return self.status_
        try:
            offsets = np.concatenate(list(source.map(_scores, before, [()] * len(source.sizes), np.float64))).T
        except Stopped:  # the machine stays as it is
            self.status_ = limits.reached() or Status.INTERRUPTED
            return self.status_
        machines = [replace(each, offsets=mine) for each, mine in zip(machines, offsets, strict=True)]
        solve_from(self, source, machines, [None] * len(machines), limits)
        ended = self.status_
        self.coef_ = self.coef_ + before[0].reshape(self.coef_.shape)
        self.intercept_ = self.intercept_ + before[1]
        # The step is solved; how far the machine is from that of all rows seen is unknown.
        self.status_ = max(ended, Status.ITERATION_LIMIT)
        basis = (
            f"the last step alone: |w - w0|^2 / 2 and the losses of its {source.n:,} rows, recomputed in double "
            "precision; nothing is proved about earlier rows"
        )
        found = self.certificate_ if isinstance(self.certificate_, list) else [self.certificate_]
        self.certificate_ = one_or_all([None if each is None else replace(each, basis=basis) for each in found])
        return ended

    def _rows_of_part(
        self, X: Rows, y: Any, is_first: bool, read: Callable[..., tuple[Rows, Array]]
    ) -> tuple[Rows, Array]:
        """What `read` makes of rows and targets; after the first time, of rows with the same features."""
        if is_first:
            return read(self, X, y)
        names = vars(self).get("feature_names_in_")
        found = read(self, prediction_rows(cast("BaseEstimator", self), X), y)
        if names is not None:
            cast(Any, self).feature_names_in_ = names
        return found

    def _blocks_of_part(self, X: Blocks, y: Any, sample_weight: ArrayLike | None, is_first: bool) -> Blocks:
        require_alone(y, sample_weight)
        if is_first:
            note_columns(self, X)
            return X
        return with_columns_of_fit(self, X)


class ClassifiesParts(LearnsInParts):
    """`partial_fit` of a linear classifier."""

    if TYPE_CHECKING:
        class_weight: Any
        classes_: Array

    @available_if(_can_go_on)
    def partial_fit(
        self,
        X: Rows,
        y: Labels | None = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from more rows, weighing their losses against the distance from the machine so far.

        Each row counts once for each time it is given, as if all had been given together; but those of earlier calls
        are not visited again. After the first call, `certificate_` is that of the last step alone, and `status_` is
        never OPTIMAL: only `fit` proves anything about all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks
        y : array-like of shape (n,)
            A single class is allowed. Omitted for `Blocks`, which carry their own.
        classes : array-like, optional
            All the labels that will ever occur; required on the first call, unless `fit` was called before.
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row. Omitted for `Blocks`.

        Returns
        -------
        self
        """
        return self._go_on(X, y, sample_weight, classes)

    def _part(
        self, X: Rows, y: Any, sample_weight: Any, limits: "Limits", is_first: bool, classes: ArrayLike | None
    ) -> BlockTask:
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all the labels at once; pass the weights as a dictionary"
            )
        if is_first and classes is None:
            raise ParameterError(
                "classes must be passed on the first call to partial_fit: all the labels that will occur"
            )
        if is_first:
            self.classes_, _ = classes_and_codes(np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ParameterError(f"classes={classes!r} is not the same as on the first call: {self.classes_.tolist()}")
        if isinstance(X, Blocks):
            X = self._blocks_of_part(X, y, sample_weight, is_first)
            parts, sample_weight = all_targets(X, self.n_jobs, limits.stop)
            y = np.concatenate(parts)
        else:
            X, y = self._rows_of_part(X, y, is_first, training_rows)
            X = Blocks(X)
        codes = known_codes(self.classes_, y)
        factors = class_weights(self.class_weight, self.classes_, self.classes_)[codes]
        if sample_weight is not None:
            factors = factors * row_weights(sample_weight, len(codes))
        return BlockTask(X, codes, machine_targets(self, codes), float(len(codes)), factors)


class RegressesParts(LearnsInParts):
    """`partial_fit` of a linear regression."""

    @available_if(_can_go_on)
    def partial_fit(self, X: Rows, y: Labels | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from more rows, weighing their losses against the distance from the machine so far.

        Each row counts once for each time it is given, as if all had been given together; but those of earlier calls
        are not visited again. After the first call, `certificate_` is that of the last step alone, and `status_` is
        never OPTIMAL: only `fit` proves anything about all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Blocks
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.
        sample_weight : array-like of shape (n,), optional
            Multiplies C for each row. Omitted for `Blocks`.

        Returns
        -------
        self
        """
        return self._go_on(X, y, sample_weight)

    def _part(self, X: Rows, y: Any, sample_weight: Any, limits: "Limits", is_first: bool) -> BlockTask:
        if isinstance(X, Blocks):
            X = self._blocks_of_part(X, y, sample_weight, is_first)
            y, sample_weight = targets_of(X, self.n_jobs, limits.stop)
        else:
            X, y = self._rows_of_part(X, y, is_first, regression_rows)
            X = Blocks(X)
        factors = 1.0 if sample_weight is None else row_weights(sample_weight, len(y))
        return BlockTask(X, y, [y], float(len(y)), factors)


def _scores(features: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    return np.asarray(features @ coef.T + intercept)
