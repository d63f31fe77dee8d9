"""Stochastic gradient descent on rows as they come: batches, and streams larger than memory."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike, FloatArray, Labels, Rows
from mercer.estimators.fitting.inputs import (
    classes_and_codes,
    is_precomputed,
    known_codes,
    next_batch,
    training_input,
)
from mercer.estimators.fitting.parameters import require_count
from mercer.estimators.fitting.progress import warn_unless_optimal
from mercer.estimators.fitting.tasks import sides_of
from mercer.estimators.fitting.weights import class_weights, row_weights
from mercer.estimators.online.batches import Stream
from mercer.estimators.online.sgd_certificate import WeightedRows
from mercer.solvers.result import Status
from mercer.solvers.stochastic.pegasos import ball_radius

if TYPE_CHECKING:
    from mercer.solvers.limits import Limits


REMEDIES = dict.fromkeys(Status, "partial_fit continues from here.")


class LearnsInBatches:
    """`partial_fit` and `fit_stream` for an estimator that keeps a form of `sgd_forms`."""

    if TYPE_CHECKING:
        # Attributes of the classifier this is mixed into.
        kernel: Any
        class_weight: Any
        projected: bool
        n_jobs: int | None
        classes_: Array
        class_weight_: FloatArray
        _form: Any
        _traces: list[Any]
        _limits: Callable[[], Limits]
        _check_parameters: Callable[[], None]
        _measured_rho: Callable[[], float]
        _note: Callable[..., None]
        _lambda: Callable[..., float]
        _keep: Callable[..., None]
        _new_form: Callable[..., Any]

    def partial_fit(
        self, X: Rows, y: Labels, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Continue with more rows: each is visited once, in the order given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or items that the kernel compares
        y : array-like of shape (n,)
            A single class is allowed.
        classes : array-like, optional
            All the labels that will ever occur; required on the first call, unless `fit` was called before.
        sample_weight : array-like of shape (n,), optional
            Factors on the loss of each row. Here they are not multiplicities: a visit is a step.

        Returns
        -------
        self
        """
        self._check_parameters()
        limits = self._limits()
        with limits.in_force():
            status = self._learn_batch(X, y, classes, sample_weight, limits)
        warn_unless_optimal(status, remedies=REMEDIES)
        return self

    def fit_stream(self, batches: Any, classes: ArrayLike | None = None, epochs: int = 1) -> Self:
        """Learn afresh from batches that together may be larger than memory.

        Parameters
        ----------
        batches : iterable of (X, y) or (X, y, sample_weight), or a path
            `mercer.io.Blocks`, `mercer.io.SvmlightFile`, a list, a generator; a path is opened
            by its ending (.svm, .svmlight, .libsvm, .txt, each also .gz, .xz, .bz2; .parquet,
            .arrow, .feather).
        classes : array-like, optional
            All the labels; if omitted, they are found by reading everything once beforehand.
        epochs : int, default=1
            How often to read everything.

        Returns
        -------
        self

        Notes
        -----
        If a batch is refused (a malformed line, an unknown label), the error is raised and the model keeps what it had
        learnt until then.
        """
        self._check_parameters()
        require_count("epochs", epochs)
        stream = Stream(batches, classes, epochs)
        for name in ("_form", "classes_", "status_", "n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
        limits = self._limits()
        with limits.in_force():
            status = stream.feed(self._learn_batch, limits)
        warn_unless_optimal(status, remedies=REMEDIES)
        return self

    def _learn_batch(
        self, X: Rows, y: Labels, classes: ArrayLike | None, sample_weight: ArrayLike | None, limits: "Limits"
    ) -> Status:
        """Visit the rows of a batch; the status."""
        if "_form" in vars(self):
            X, y = next_batch(self, X, y)
            self._require_same_classes(classes)
        else:
            X, y = self._first_batch(X, y, classes)
        codes = known_codes(self.classes_, y)
        weights = self.class_weight_[codes]
        if sample_weight is not None:
            weights = weights * row_weights(sample_weight, len(codes))
        sides = sides_of(codes, len(self.classes_))
        self._rho = max(self._measured_rho(), WeightedRows(X, sides, weights).rho(self._form, weights))
        status, points = self._form.visit(X, sides, weights, limits, self.n_jobs)
        self._form.coefficients()
        self._evidence = None
        self._note(status, [[*before, point] for before, point in zip(self._traces, points, strict=True)])
        for point in points:
            limits.report(point)
        return status

    def _first_batch(self, X: Rows, y: Labels, classes: ArrayLike | None) -> tuple[Rows, Array]:
        if classes is None:
            raise ParameterError(
                "classes must be passed on the first call to partial_fit: all the labels that will occur"
            )
        if is_precomputed(self.kernel):
            raise ParameterError(
                'kernel="precomputed" has no rows for partial_fit to continue from; use fit, or another kernel'
            )
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all the labels at once; pass the weights as a dictionary"
            )
        if self.projected and self.class_weight is not None:
            raise ParameterError("projected=True with class_weight needs all the labels at once; use fit")
        classes, _ = classes_and_codes(np.asarray(classes))
        X, y = training_input(self, X, y)
        known_codes(classes, y)
        class_weight = class_weights(self.class_weight, classes, classes)
        n_problems = 1 if len(classes) == 2 else len(classes)
        lam = self._lambda()
        radius = ball_radius(lam, np.ones(1)) if self.projected else np.inf
        self._keep(self._new_form(X, None, n_problems, lam, radius), classes, class_weight, X)
        self._rho, self._evidence = 0.0, None
        self._note(Status.OPTIMAL, [[] for _ in range(n_problems)])
        return X, y

    def _require_same_classes(self, classes: ArrayLike | None) -> None:
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ParameterError(f"classes={classes!r} is not the same as on the first call: {self.classes_.tolist()}")
