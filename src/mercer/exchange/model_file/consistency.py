"""How the parts of a fitted model must fit together, checked before anything is evaluated."""

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from mercer._types import Rows
from mercer.estimators.conformal.conformal import SCORES_OF_CLASSES
from mercer.estimators.fitting.fitted_parts import part, set_parts
from mercer.estimators.fitting.inputs import is_function, is_precomputed, kernel_of, takes_items
from mercer.exchange.model_file.attributes import NEEDED
from mercer.exchange.model_file.known.kernels import require_vectors
from mercer.exchange.model_file.recorded import Recorded
from mercer.exchange.model_file.registry import kind_of
from mercer.exchange.model_file.rules import Refused
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import MatrixItems, Precomputed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.estimators.bases.probabilities import Calibration
    from mercer.estimators.conformal.conformity import Conformity


_STRATEGIES = ("merging", "removal")
_ONE = SimpleNamespace(n_functions=1)  # a linear model


def _require(condition: Any, reason: str) -> None:
    if not condition:
        raise Refused(reason)


def is_fitted(model: "BaseEstimator") -> bool:
    """Whether an estimator is fitted; parameters of others, such as a pipeline's, need not be."""
    return any(name in vars(model) for name in ("expansion_", "coef_", "_form", "status_"))


def _require_attributes(model: "BaseEstimator", *names: str) -> None:
    for name in names:
        _require(name in vars(model), f"must have {name}")


def _require_needed(model: "BaseEstimator") -> None:
    """Check that nothing is missing that every model of its class needs to predict."""
    _require_attributes(model, *(name for name in cast(Any, kind_of(model)).state if name in NEEDED))
    if is_classifier(model):
        _require_attributes(model, "classes_")


def _require_width(model: "BaseEstimator") -> None:
    """Check that the number of features of rows to predict is known; other items have none."""
    if not takes_items(kernel_of(model)):
        _require_attributes(model, "n_features_in_")


def _require_features(model: "BaseEstimator") -> None:
    """Check that the support vectors have as many features as rows to predict."""
    _require_width(model)
    expansion = model.expansion_
    if expansion.kernel.takes_items is False and hasattr(expansion.vectors, "shape"):
        width = expansion.vectors.shape[1]
        _require(width == model.n_features_in_, f"must have {model.n_features_in_} features, has vectors of {width}")


def _require_places(model: "BaseEstimator") -> None:
    """Check that positions in a precomputed matrix are positions of training items."""
    vectors = model.expansion_.vectors
    if not isinstance(vectors, MatrixItems) or not len(vectors):
        return
    items = part(model, "items", None)
    n = getattr(model, "shape_fit_", (getattr(model, "n_features_in_", 0),))[0] if items is None else _count(items)
    _require(int(vectors.index.max()) < n, f"must have support vectors among {n} training items")


def _count(items: Rows) -> int:
    return items.shape[0] if hasattr(items, "shape") else len(items)


def _n_functions(model: "BaseEstimator", n_classes: int) -> int:
    """The number of decision functions of a classifier."""
    if n_classes == 2:
        return 1
    return n_classes * (n_classes - 1) // 2 if part(model, "has_pairs", False) else n_classes


def _require_support(model: "BaseEstimator") -> None:
    """Check that support vectors are training rows; models of other tools do not say which."""
    n_support = len(model.support_)
    _require(model.dual_coef_.shape[-1] == n_support, f"must have dual_coef_ of {n_support} support vectors")
    _require(not n_support or int(model.support_.max()) < model.shape_fit_[0], "has support_ beyond its training data")


def _require_kernel(model: "BaseEstimator") -> None:
    """Check that the kernel parameter takes the same kind of items as the fitted kernel."""
    if not hasattr(model, "kernel"):
        return
    own, learnt = kernel_of(model), model.expansion_.kernel
    _require(
        isinstance(own, str | Kernel) or callable(own), "must have a kernel that is a name, a Kernel or a function"
    )
    has_items = vars(model).get("_items") is not None
    _require(not has_items or is_function(own), "must keep training items only for a function of the caller's")
    if is_function(own) or is_precomputed(own) or isinstance(learnt, Precomputed):
        return
    _require(takes_items(own) == bool(learnt.takes_items), f"must have been fitted with its kernel {own!r}"[:200])


def check_machine(model: "BaseEstimator") -> None:
    """Check a kernel model: support vectors, coefficients, one function for each two-class problem."""
    if not is_fitted(model):
        return
    _require_needed(model)
    _require_attributes(model, "dual_coef_")
    set_parts(model, traces=Recorded(part(model, "traces", None) or []))
    expansion = model.expansion_
    _require_kernel(model)
    _require_features(model)
    _require_places(model)
    _require(len(model.intercept_) == expansion.n_functions, "must have an intercept for each function")
    if "support_" in vars(model):
        _require_support(model)
    if is_classifier(model):
        _check_classes(model, expansion.n_functions)
    else:
        _require(expansion.n_functions == 1, "must have one function")
    _check_conformity_of(model)
    _check_parameters(model)


def _check_classes(model: "BaseEstimator", n_functions: int) -> None:
    n_classes = len(model.classes_)
    expected = _n_functions(model, n_classes) if n_classes > 1 else 0
    _require(n_functions == expected, f"must have {expected} functions for {n_classes} classes, has {n_functions}")
    weights = vars(model).get("class_weight_")
    _require(weights is None or len(weights) == n_classes, "must have a weight for each class")
    calibration = vars(model).get("_calibration")
    if calibration is not None:
        _require(len(calibration.maps) == n_functions, "must have a calibration for each function")
        _require(calibration.n_classes == n_classes, f"must have a calibration of {n_classes} classes")
        has_pairs = bool(part(model, "has_pairs", False))
        _require(calibration.has_pairs == has_pairs, "must have a calibration of its own two-class problems")


def _check_parameters(model: "BaseEstimator") -> None:
    check = getattr(model, "_check_parameters", None)
    if check is not None:
        check()


def check_linear(model: "BaseEstimator") -> None:
    """Weights of features: a row for each function."""
    if not is_fitted(model):
        return
    _require_needed(model)
    _require_attributes(model, "n_features_in_")
    width, functions = model.coef_.shape[-1], 1 if model.coef_.ndim == 1 else model.coef_.shape[0]
    _require(width == model.n_features_in_, f"must have {model.n_features_in_} weights, has {width}")
    _require(len(model.intercept_) in (1, functions), "must have an intercept for each function")
    if is_classifier(model):
        _check_classes(model, functions)
    if "expansion_" in vars(model):
        _require_features(model)
    for machine in vars(model).get("_machines") or []:
        _require(len(machine.w) == width, "must have machines of as many weights")
    _check_conformity_of(model)


def check_table_features(features: "BaseEstimator") -> None:
    """Columns with a name and finite numbers each, or different labels."""
    learnt = ("n_features_in_", "feature_names_in_", "columns_", "is_sparse_")
    if not any(name in vars(features) for name in learnt):
        return
    _require_attributes(features, *learnt)
    names = [column.name for column in features.columns_]
    _require(names == list(features.feature_names_in_), "must have a column for each name")
    _require(len(names) == features.n_features_in_, f"must have {features.n_features_in_} columns, has {len(names)}")
    for column in features.columns_:
        if hasattr(column, "labels"):
            labels = column.labels
            _require(isinstance(labels, tuple) and all(isinstance(each, str) for each in labels), "must have labels")
            _require(len(set(labels)) == len(labels), "must have different labels")
        else:
            numbers = (column.mean, column.deviation, column.filling)
            _require(all(map(math.isfinite, numbers)) and column.deviation > 0, "must have finite means and deviations")


def check_method(model: "BaseEstimator") -> None:
    """Check a kernel method: an expansion over all training items."""
    if not is_fitted(model):
        return
    _require_needed(model)
    _require_kernel(model)
    _require_features(model)
    _require_places(model)
    if "_rule" in vars(model):
        rule, k, n = part(model, "rule"), len(model.classes_), model.expansion_.n_functions
        _require(rule.means.shape == (k, n) and rule.log_priors.shape == (k,), "must have a mean for each class")
    _check_conformity_of(model)


def check_components(model: "BaseEstimator") -> None:
    """Coordinates in feature space, and rows that they are turned back into."""
    check_method(model)
    if not is_fitted(model):
        return
    count = len(model.eigenvalues_)
    _require(model.expansion_.n_functions == count, f"must have {count} functions, one for each eigenvalue")
    back = vars(model).get("_pre_images")
    if back is not None:
        _require_attributes(model, "n_features_in_")
        _require(getattr(back.vectors, "shape", (0, -1))[1] == count, f"must have pre-images of {count} coordinates")
        _require(back.n_functions == model.n_features_in_, f"must have pre-images of {model.n_features_in_} features")


def check_landmarks(model: "BaseEstimator") -> None:
    """Features from landmarks: a row of the factor for each."""
    if "components_" not in vars(model):
        return
    _require_attributes(model, "_kernel", "_origin", "_vectors", "_factor", "jitter_", "_n_features_out")
    factor = part(model, "factor")
    n = require_vectors(part(model, "kernel"), part(model, "vectors"), part(model, "origin"))
    _require(factor.shape == (n, n), f"must have a factor of {n} landmarks")
    _require((np.diagonal(factor) > 0).all(), "must have a factor with a positive diagonal")
    _require(part(model, "n_features_out") == n, f"must have {n} features")
    _require_width(model)


def check_frequencies(model: "BaseEstimator") -> None:
    """Random features: a phase for each frequency, and a frequency for each column."""
    if "random_weights_" not in vars(model):
        return
    _require_attributes(model, "random_offset_", "n_features_in_", "_n_features_out")
    expected = model.n_features_in_, part(model, "n_features_out")
    _require(model.random_weights_.shape == expected, f"must have {expected[1]} frequencies of {expected[0]} columns")
    _require(len(model.random_offset_) == expected[1], f"must have {expected[1]} phases")


def check_pegasos(model: "BaseEstimator") -> None:
    """A run of stochastic gradient descent, in one of its two forms."""
    if not is_fitted(model):
        return
    _require_needed(model)
    _require_attributes(model, "class_weight_", "status_", "_traces", "_evidence")
    # A stream has measured its own rows; after `fit`, the evidence has.
    _require_attributes(model, "_rho" if part(model, "evidence") is None else "_mean_weight")
    _require_width(model)
    form, n_classes = part(model, "form"), len(model.classes_)
    _require(n_classes > 1 and len(model.class_weight_) == n_classes, "must have a weight for each class")
    expected = 1 if n_classes == 2 else n_classes
    _require(len(form.iterates) == len(part(model, "traces")) == expected, f"must have {expected} functions")
    if hasattr(form.iterates[0], "theta"):
        _require(len(form.iterates[0].theta) == model.n_features_in_ + 1, "must have a weight for each feature")
    elif sparse.issparse(form.vectors) or getattr(form.vectors, "ndim", 0) == 2:
        width = form.vectors.shape[1]
        _require(form.kernel.takes_items or width == model.n_features_in_, "must have vectors of its features")
    if part(model, "evidence") is not None:
        part(model, "evidence").form = form


def check_tuned(model: "BaseEstimator") -> None:
    """Check a search with its winner; the scorer is found again by its name."""
    if "cv_results_" not in vars(model):
        return
    from mercer.selection.tuning.base import default_scoring, scoring_of
    from mercer.selection.tuning.scores import SINGLE, Scores

    scorers = Scores(scoring_of(model), default_scoring(model)).scorers
    model.scorer_ = scorers if model.multimetric_ else scorers.get(SINGLE)
    _require(model.scorer_ is not None, "must have one scorer, or several")
    if "best_estimator_" not in vars(model):
        return
    best = model.best_estimator_
    _require(is_fitted(best), "must have a winner that is fitted")
    if "classes_" in vars(model):
        _require(np.array_equal(model.classes_, best.classes_), "must have the classes of its winner")


def check_linear_search(model: "BaseEstimator") -> None:
    """A search over strengths with its winner."""
    if "cv_results_" in vars(model):
        _require("best_estimator_" in vars(model) and is_fitted(model.best_estimator_), "must have a winner")


def check_calibration(calibration: "Calibration") -> None:
    """Knots in order, with a level each."""
    _require(calibration.method in ("sigmoid", "isotonic"), "must have a method that is known")
    for each in cast(list[Any], calibration.maps):
        slope = getattr(each, "slope", each)
        _require(np.isfinite([slope.A, slope.B]).all(), "must have finite slopes")
        if each is not slope:
            knots, levels = each.knots, each.levels
            _require(knots.ndim == 1 and len(knots) and knots.shape == levels.shape, "must have a level for each knot")
            _require((np.diff(knots) >= 0).all() and ((levels >= 0) & (levels <= 1)).all(), "must have rising steps")


def check_conformity(kept: "Conformity") -> None:
    """A class and a function for each score, which are numbers or infinite."""
    m = len(kept.scores)
    _require(len(kept.columns) == len(kept.codes) == m, f"must have {m} classes and functions, one for each score")
    _require(not np.isnan(kept.scores).any(), "must have scores that are numbers")
    _require(kept.score in ("absolute", *SCORES_OF_CLASSES), "must have a score that is known")


def _check_conformity_of(model: "BaseEstimator") -> None:
    """Check that the models that did not see some of the rows are of the same kind as the model."""
    kept = part(model, "conformity", None)
    if kept is None:
        return
    n_classes = len(model.classes_) if is_classifier(model) else 1
    _require(int(kept.codes.max(initial=0)) < n_classes, f"must have scores of {n_classes} classes")
    is_of_classes = kept.score in SCORES_OF_CLASSES
    _require(is_of_classes == is_classifier(model), "must have scores of classes where it has classes")
    _require(kept.score != "aps" or hasattr(model, "predict_proba"), "must have probabilities for its scores")
    functions = 0
    for other in kept.models:
        _require(type(other) is type(model) and is_fitted(other), "must have machines of its own kind for the folds")
        widths = [getattr(each, "n_features_in_", None) for each in (model, other)]
        _require(widths[0] == widths[1], "must have the same features in every fold")
        if is_classifier(model):
            _require(np.array_equal(other.classes_, model.classes_), "must have the same classes in every fold")
        functions += 1 if is_classifier(model) else getattr(other, "expansion_", _ONE).n_functions
    _require(int(kept.columns.max(initial=0)) < max(functions, 1), "must have a machine for each of its scores")


def _own(made: object, *names: str) -> None:
    """Copy arrays that later steps write to, in double precision."""
    for name in names:
        setattr(made, name, np.array(getattr(made, name), dtype=np.float64))


def check_row_perceptron(machine: Any) -> None:
    """A perceptron on rows, between two epochs."""
    from mercer.solvers.stochastic.perceptron import METHODS
    from mercer.solvers.stochastic.perceptron_steps import STATE_SIZE

    _require(machine.method in METHODS, "must have a method that is known")
    _require(len(machine.state) == STATE_SIZE, f"must have a state of {STATE_SIZE} numbers")
    _require(len(machine.w) == len(machine.late), "must have two equally long vectors")
    _own(machine, "state", "w", "late")


def _check_iterate(iterate: Any) -> None:
    from mercer.solvers.stochastic.pegasos_steps import SCALE, STEP, new_clock

    steps = iterate.steps
    _require(len(iterate.clock) == len(new_clock()), "must have a clock")
    _require(np.isfinite(steps.lam) and steps.lam > 0 and steps.batch_size >= 1, "must have sound steps")
    _require(steps.radius > 0 and iterate.clock[STEP] >= 1 and iterate.clock[SCALE] > 0, "must have sound steps")


def check_linear_iterate(iterate: Any) -> None:
    """Weights of features, between two steps."""
    _check_iterate(iterate)
    expected = len(iterate.theta) if iterate.steps.averaged else 0
    _require(len(iterate.theta) >= 1 and len(iterate.sums) == expected, "must have sums of its weights")
    _own(iterate, "clock", "theta", "sums")


def check_kernel_iterate(iterate: Any) -> None:
    """Coefficients of items, between two steps."""
    _check_iterate(iterate)
    _require(len(iterate.beta) == len(iterate.sums) == len(iterate.ages), "must have sums of its coefficients")
    _require(iterate.strategy in _STRATEGIES, "must have a strategy that is known")
    _own(iterate, "clock", "beta", "sums", "ages")


def check_weight_form(form: Any) -> None:
    """One set of weights for each problem."""
    _require(form.iterates and len({len(each.theta) for each in form.iterates}) == 1, "must have equally long weights")


def check_kernel_form(form: Any) -> None:
    """One coefficient for each problem and support vector."""
    _require(form.iterates and form.vectors is not None, "must have coefficients and vectors")
    n = require_vectors(form.kernel, form.vectors, form.origin)
    _require(
        len(form.support) == n and {len(each.beta) for each in form.iterates} == {n}, f"must have {n} coefficients"
    )
    # More rows are appended to the items; a matrix keeps none.
    expected = 0 if form.is_precomputed else n
    _require(form.items is not None and _count(form.items) == expected, f"must have {expected} items")
