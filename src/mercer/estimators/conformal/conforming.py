"""The fit of a machine with `conformal=`: rows are held out, and their nonconformity scores are kept."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from mercer._errors import DataError, ParameterError
from mercer._types import Array, ArrayLike, BoolArray, FloatArray, IndexArray, Labels, Rows
from mercer.estimators.conformal.conformal import Conformal, asked_for
from mercer.estimators.conformal.conformity import Conformity
from mercer.estimators.conformal.left_out import LEFT_OUT, alone
from mercer.estimators.fitting.inputs import rows_at
from mercer.estimators.fitting.parameters import require_number, require_optional_number
from mercer.estimators.fitting.plan import fit_without_report
from mercer.estimators.fitting.seeds import generator_of
from mercer.estimators.fitting.whole_fit import fitting
from mercer.estimators.out_of_core.given import are_blocks
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


class Conforming:
    """Base of `PredictsSets` and `PredictsIntervals`, for an estimator with a parameter `conformal`.

    It precedes the base that `Fits`, and fits once or several times. A row is held out by a weight of zero, so that X,
    whatever it is (a given matrix, graphs, a table), need not be sliced.
    """

    if TYPE_CHECKING:
        # Attributes of the estimator this is mixed into.
        conformal: Any
        time_limit: float | None
        status_: Status
        _conformity: Conformity

        def _fit_once(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
            """One fit, without its warnings."""

        def _end_with(self, status: Status) -> None:
            """Set the status and the attributes that depend on it."""

        def _score_name(self, asked: Conformal) -> str:
            """The name of the score, or a ParameterError for one that the estimator lacks."""

        def _codes(self, y: Array) -> IndexArray | None:
            """The class of each row, or None for quantities."""

        def _scores(self, model: Any, X: Rows, y: Array, score: str) -> FloatArray:
            """The nonconformity score of each target under `model`."""

    def _fit(self, X: Rows, y: Labels, sample_weight: ArrayLike | None = None) -> None:
        asked = asked_for(self.conformal)
        if asked is None:
            self._fit_once(X, y, sample_weight)
            vars(self).pop("_conformity", None)
            return
        self._require_plain_rows(X, y, sample_weight)
        score = self._score_name(asked)
        require_optional_number("time_limit", self.time_limit, above=0.0)
        with fitting(cast(BaseEstimator, self), Limits(-1, self.time_limit)):
            left_out = {"split": self._split, "cross": self._cross, "leave_one_out": self._leave_one_out}[asked.method]
            self._conformity = left_out(asked, score, X, y)

    def _require_plain_rows(self, X: Rows, y: Labels, sample_weight: ArrayLike | None) -> None:
        if sample_weight is not None:
            raise ParameterError(
                "conformal needs rows of equal weight, so it cannot be combined with sample_weight; omit one of the "
                "two (class_weight is allowed)"
            )
        shape = np.asarray(y).shape
        if len(shape) > 1 and shape[1] != 1:
            raise DataError(f"conformal needs one target, got y of shape {shape}; fit one model for each target")
        if are_blocks(X):
            raise ParameterError(
                "conformal needs rows in memory, got Blocks; fit without it, then call `conform` with rows set aside"
            )

    def _split(self, asked: Conformal, score: str, X: Rows, y: Labels) -> Conformity:
        targets = column_or_1d(y)
        held = _set_aside(asked, self._codes(targets), len(targets))
        self._fit_once(X, y, (~held).astype(np.float64))
        places = np.flatnonzero(held)
        return self._conformity_of(asked, score, rows_at(X, places), targets[places])

    def _cross(self, asked: Conformal, score: str, X: Rows, y: Labels) -> Conformity:
        self._fit_once(X, y)
        targets = column_or_1d(y)
        codes = self._codes(targets)
        folds = _dealt_out(asked, codes, len(targets))
        left = np.flatnonzero(folds >= 0)
        if len(left) == 0:
            raise DataError(
                "conformal='cross' cannot hold out the only row of a class, and every class has only one; "
                "fit to more rows"
            )
        # With few rows, some folds may be empty.
        filled, places = np.unique(folds[left], return_inverse=True)
        models = [_fitted_without(self, X, y, folds == k) for k in filled]
        self._end_with(Status.worst([self.status_, *(each.status_ for each in models)]))
        scores = np.full(len(targets), np.nan)
        for k, model in zip(filled, models, strict=True):
            held = np.flatnonzero(folds == k)
            scores[held] = self._scores(model, rows_at(X, held), targets[held], score)
        codes = np.zeros(len(targets), np.intp) if codes is None else codes
        return Conformity(scores[left], places, models, codes[left], score, asked.by_class)

    def _leave_one_out(self, asked: Conformal, score: str, X: Rows, y: Labels) -> Conformity:
        functions_without = LEFT_OUT.get(type(self).__name__)
        if functions_without is None:
            raise ParameterError(
                "conformal='leave_one_out' is for KernelRidge and KernelLeastSquares, which have a formula for it, got "
                f"a {type(self).__name__}; use Conformal('cross', folds=20)"
            )
        self._fit_once(X, y)
        targets = column_or_1d(y).astype(np.float64)
        functions, predictions = functions_without(self, X, targets)
        n = len(targets)
        residuals = np.abs(targets - predictions)
        # If the held-out prediction of a row is unknown, it conforms to nothing.
        residuals[np.isnan(residuals)] = np.inf
        return Conformity(residuals, np.arange(n), [functions], np.zeros(n, np.intp), score, asked.by_class)

    def conform(self, X: Rows, y: Labels | None = None) -> Any:
        """Calibrate on rows that the fitted machine has not seen, in place of those that `conformal` left out.

        This gives the guarantee to a machine at the end of a pipeline too, if its other steps have not seen these rows.

        Parameters
        ----------
        X : as `predict` takes it, or Blocks
        y : array-like of shape (n,)
            Omitted for `Blocks`, which carry their own.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        asked = asked_for(self.conformal) or Conformal()
        score = self._score_name(asked)
        parts = [self._conformity_of(asked, score, rows, targets) for rows, targets in _parts(X, y)]
        scores, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "codes"))
        self._conformity = Conformity(scores, np.zeros(len(scores), np.intp), [], codes, score, asked.by_class)
        return self

    def _conformity_of(self, asked: Conformal, score: str, X: Rows, targets: Array) -> Conformity:
        """The conformity of the model itself, from rows that it has not seen."""
        scores, codes = self._scores(self, X, targets, score), self._known_codes(targets)
        return Conformity(scores, np.zeros(len(scores), np.intp), [], codes, score, asked.by_class)

    def _known_codes(self, targets: Array) -> IndexArray:
        return np.zeros(len(targets), np.intp)

    def _require_conformity(self, coverage: float) -> Conformity:
        """The scores to keep, for an attainable coverage."""
        check_is_fitted(self)
        require_number("coverage", coverage, above=0.0, below=1.0)
        found = vars(self).get("_conformity")
        if found is None:
            raise DataError(
                "the model holds no scores of rows left out of its fit; fit it with conformal='cross', or call "
                "`conform` with rows that it has not seen"
            )
        return cast(Conformity, found)


def _parts(X: Rows, y: Any) -> Iterator[tuple[Rows, Array]]:
    """Rows with their targets: all at once, or block by block."""
    if not are_blocks(X):
        yield X, column_or_1d(y)
        return
    if y is not None:
        raise ParameterError("y must be omitted when X is Blocks, which carry their own: Blocks(..., target=...)")
    for k in range(len(X)):
        yield X.block(k).rows, np.asarray(X.targets(k)[0])


def _set_aside(asked: Conformal, codes: IndexArray | None, n: int) -> BoolArray:
    """The rows held out for calibration. A class has to be known to be in a set, so one row of each is kept."""
    held = np.zeros(n, bool)
    held[generator_of(asked.random_state).permutation(n)[: int(np.ceil(asked.share * n))]] = True
    for code in () if codes is None else np.unique(codes):
        members = np.flatnonzero(codes == code)
        held[members[0]] &= not held[members].all()
    if held.all() or not held.any():
        raise DataError(f"conformal='split' needs rows to learn from and rows to set aside, got n_samples={n}")
    return held


def _dealt_out(asked: Conformal, codes: IndexArray | None, n: int) -> IndexArray:
    """The fold of each row, -1 for one that cannot be held out since its class would be unknown without it."""
    if asked.folds > n:
        raise DataError(
            f"conformal='cross' with folds={asked.folds} needs at least as many rows, got n_samples={n}; use fewer "
            "folds, or more rows"
        )
    folds = generator_of(asked.random_state).permutation(np.arange(n) % asked.folds)
    for code in () if codes is None else np.unique(codes):
        members = np.flatnonzero(codes == code)
        if len(np.unique(folds[members])) == 1:
            folds[members[0]] = -1 if len(members) == 1 else (folds[members[0]] + 1) % asked.folds
    return folds


def _fitted_without(model: Any, X: Rows, y: Labels, held: BoolArray) -> Any:
    own = alone(model)
    fit_without_report(own, X, y, (~held).astype(np.float64))
    return own
