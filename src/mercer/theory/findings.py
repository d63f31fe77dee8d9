"""Every bound applied to one fitted model, with numbers."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._types import BoolArray, FloatArray, Labels, Rows
from mercer.theory.arguments import require_share
from mercer.theory.bounds import (
    hard_svm_bound,
    hard_svm_sample_size,
    soft_svm_bound,
    soft_svm_bound_for_norm,
    soft_svm_lambda,
)
from mercer.theory.judgement import Finding, Report
from mercer.theory.leave_one_out import support_vector_bound, xi_alpha_rows
from mercer.theory.machine import read_machine
from mercer.theory.radius import enclosing_ball, kernel_spread, smallest_ball
from mercer.theory.vc import margin_vc_dimension, vc_bound, vc_dimension

if TYPE_CHECKING:
    from mercer.theory.machine import FittedClassifier, FittedFunction
    from mercer.theory.radius import Ball
    from mercer.theory.several_classes import ReportOfClasses

# A row this close to the margin may be a support vector, if the dual variables are not known.
ON_THE_MARGIN = 1e-3
# Up to this many rows every pair is examined; beyond, a ball that encloses them all has to do.
EVERY_PAIR = 2_000


def report(
    model: "FittedClassifier", X: Rows, y: Labels, delta: float = 0.05, n_jobs: int | None = None
) -> "Report | ReportOfClasses":
    """Apply every bound of this package to a fitted classifier, with its conditions checked.

    Parameters
    ----------
    model : fitted classifier
        With `classes_`, `decision_function`, and one of `coef_`, `support_` with `dual_coef_`, or
        `expansion_`: any linear or kernel classifier for two classes, or for several learnt in pairs or each
        against the rest.
    X, y
        The rows and labels it was fitted to.
    delta : float
        Probability with which a probabilistic bound may fail.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    Report, or ReportOfClasses

    Notes
    -----
    Bounds are about independent rows of one distribution. A finding *applies* if it meets all the
    conditions that can be checked on the sample and the model; the others are stated as
    assumptions. It is *vacuous* if it applies and is 1 or more. The cost is that of the smallest ball
    and of computing every kernel value once; beyond 2,000 rows, that of a ball that encloses them and is certified to
    be no smaller than the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, theory
    >>> X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    >>> y = np.array([-1, -1, 1, 1])
    >>> found = theory.report(SVC(kernel="linear", C=10.0, tol=1e-8).fit(X, y), X, y)
    >>> round(found.gamma, 6), round(found.rho, 6), found["margin_vc"].applies
    (0.707107, 3.0, True)
    >>> found.vacuous
    ['margin_vc', 'vc']
    """
    require_share(delta=delta)
    if len(getattr(model, "classes_", ())) > 2:
        from mercer.theory.several_classes import report_of_classes

        return report_of_classes(model, X, cast(Sequence[Any], y), delta, n_jobs)
    return report_of(read_machine(model, X, y), delta, n_jobs)


def report_of(machine: "FittedFunction", delta: float, n_jobs: int | None = None) -> Report:
    """Every bound, applied to one two-class classifier."""
    is_small = machine.m <= EVERY_PAIR
    ball = (smallest_ball if is_small else enclosing_ball)(machine.X, machine.kernel, n_jobs=n_jobs)
    margins = machine.margins
    smallest = float(margins.min())
    gamma = smallest / machine.norm if machine.norm > 0 else 0.0
    return Report(
        model=machine.name,
        m=machine.m,
        dimension=machine.dimension,
        delta=delta,
        norm=machine.norm,
        intercept=machine.intercept,
        bias=machine.bias,
        training_error=float(np.mean(margins <= 0)),
        hinge=float(machine.slack.mean()),
        functional_margin=smallest,
        gamma=gamma,
        rho=machine.rho,
        counts_words=machine.counts_words,
        ball=ball,
        findings=(
            _theorem_15_4(machine, smallest, delta),
            _corollary_15_7(machine),
            _corollary_15_7_for_norm(machine),
            _margin_vc(machine, ball, gamma, delta),
            _vc(machine, delta),
            _support_vectors(machine),
            _xi_alpha(machine, ball, n_jobs),
        ),
    )


def _separation(machine: "FittedFunction", smallest: float) -> tuple[str, ...]:
    """Conditions of Theorem 15.4 that the model does not meet."""
    unmet = []
    if smallest <= 0:
        unmet.append("the model does not separate its training rows")
    elif not machine.is_svm:
        unmet.append(_NO_SVM)
    elif not machine.is_hard:
        unmet.append("some rows lie inside the margin: this is not the Hard-SVM solution")
    elif not machine.is_solved:
        unmet.append(_UNSOLVED)
    if machine.bias == "free":
        unmet.append("the bias is free: the number is for Hard-SVM with a constant feature in its place")
    return tuple(unmet)


_SAME = "new rows also have norm at most rho and margin at least gamma"


def _theorem_15_4(machine: "FittedFunction", smallest: float, delta: float) -> Finding:
    rho, norm = machine.homogeneous
    value, says = None, f"error of Hard-SVM, with probability {1 - delta:g}"
    if smallest > 0:
        value = hard_svm_bound(machine.m, smallest / norm, rho, delta)
        rows = hard_svm_sample_size(0.1, delta, smallest / norm, rho)
        says += f"; m(0.1, {delta:g}) = {rows} rows for an error of 0.1"
    return Finding("theorem_15_4", "Theorem 15.4, separable data", value, says, _SAME, _separation(machine, smallest))


def _regularised(machine: "FittedFunction") -> list[str]:
    """Conditions of Corollary 15.7 that the model does not meet."""
    unmet = []
    if machine.loss != "hinge" or machine.penalty != "l2":
        unmet.append(f"the loss is {machine.loss} and the penalty {machine.penalty}: not |w|^2 and the hinge")
    if machine.bias == "free":
        unmet.append("the bias is free: the corollary is about homogeneous halfspaces")
    if machine.is_weighted:
        unmet.append("class_weight makes some rows count more than others")
    if not machine.is_solved:
        unmet.append(_UNSOLVED)
    return unmet


_NO_SVM = "the model does not minimise |w|^2 with the hinge or its square"
_UNSOLVED = "the fit did not reach the optimum"
_BOUNDED = "new rows also have norm at most rho; w was fixed in advance, with this mean hinge loss"


def _corollary_15_7(machine: "FittedFunction") -> Finding:
    unmet, value = _regularised(machine), None
    rho, norm = machine.homogeneous
    says = "expected error <= hinge loss + lambda |w|^2 + 2 rho^2 / (lambda m)"
    if machine.lam:
        value = soft_svm_bound(machine.m, machine.lam, rho, norm, float(machine.slack.mean()))
        # The B whose lambda this is.
        says += f"; lambda is that for B = {math.sqrt(2.0 * rho**2 / machine.m) / machine.lam:.3g}"
    else:
        unmet.append("there is no lambda: " + ("C is infinite" if machine.lam == 0 else "the model has none"))
    return Finding("corollary_15_7", "Corollary 15.7, the lambda of the fit", value, says, _BOUNDED, tuple(unmet))


def _corollary_15_7_for_norm(machine: "FittedFunction") -> Finding:
    name, (rho, norm) = "Corollary 15.7 with B = |w|", machine.homogeneous
    if norm == 0 or rho == 0:
        return Finding("norm", name, None, "", unmet=("w or every row is 0",))
    hinge, lam = float(machine.slack.mean()), soft_svm_lambda(machine.m, rho, norm)
    value = soft_svm_bound_for_norm(machine.m, rho, norm, hinge)
    unmet = _regularised(machine)
    if machine.lam is None or not 0.99 * lam <= machine.lam <= 1.01 * lam:
        unmet.append(f"it is about a different model, with lambda = {lam:.3g}")
    says = "hinge loss + sqrt(8 rho^2 B^2 / m): error of Soft-SVM in expectation"
    assumes = "B was chosen before the rows were seen, and some w of this norm has this hinge loss on new ones"
    return Finding("norm", name, value, says, assumes, tuple(unmet))


def _margin_vc(machine: "FittedFunction", ball: "Ball", gamma: float, delta: float) -> Finding:
    name = "VC bound of hyperplanes with margin gamma"
    if gamma <= 0:
        return Finding("margin_vc", name, None, "", unmet=("the model does not separate its training rows",))
    d_vc = margin_vc_dimension(ball.radius, gamma, machine.dimension)
    value = vc_bound(machine.m, d_vc, delta)
    says = f"d_vc(gamma) <= min(ceil(R^2 / gamma^2), d) + 1 = {d_vc}; error with probability {1 - delta:g}"
    return Finding("margin_vc", name, value, says, "gamma and R were known before the rows were seen")


def _vc(machine: "FittedFunction", delta: float) -> Finding:
    name, error = "VC bound of all halfspaces", float(np.mean(machine.margins <= 0))
    if math.isinf(machine.dimension):
        return Finding("vc", name, None, "", unmet=("no finite dimension of the feature space is known",))
    d_vc = vc_dimension(machine.dimension, homogeneous=machine.bias == "none")
    value = vc_bound(machine.m, d_vc, delta, error)
    return Finding("vc", name, value, f"d_vc = {d_vc:.0f}; error with probability {1 - delta:g}")


def _left_out(machine: "FittedFunction") -> list[str]:
    unmet = [] if machine.is_solved else [_UNSOLVED]
    if not machine.is_svm:
        unmet.append(_NO_SVM)
    return unmet


def rows_on_the_margin(machine: "FittedFunction") -> tuple[BoolArray, str]:
    """Which rows may be support vectors, and in words how that is known."""
    if machine.alpha is None:
        return machine.margins <= 1.0 + ON_THE_MARGIN, "rows with margin at most 1"
    return machine.alpha > 0, "support vectors"


def _support_vectors(machine: "FittedFunction") -> Finding:
    rows, how = rows_on_the_margin(machine)
    count = int(rows.sum())
    value = support_vector_bound(count, machine.m)
    says = f"leave-one-out error is at most this: {count} {how} of {machine.m}"
    return Finding("support_vectors", "Support vectors over rows", value, says, unmet=tuple(_left_out(machine)))


XI_ALPHA = "xi-alpha estimate (Joachims 2000)"


def _xi_alpha(machine: "FittedFunction", ball: "Ball", n_jobs: int | None) -> Finding:
    if machine.alpha is None:
        unmet = (*_left_out(machine), "the model keeps no dual variables")
        return Finding("xi_alpha", XI_ALPHA, None, "", unmet=unmet)
    value, (assumes, unmet) = float(np.mean(xi_alpha_errors(machine, ball, n_jobs))), stability(machine)
    return Finding("xi_alpha", XI_ALPHA, value, "leave-one-out error is at most this", assumes, unmet)


def stability(machine: "FittedFunction") -> tuple[str, tuple[str, ...]]:
    """(what the xi-alpha estimate assumes, which of its conditions are not met)."""
    unmet = _left_out(machine)
    if machine.bias != "free":
        return "", tuple(unmet)
    if not machine.has_free_support_vectors:
        unmet.append("no support vector lies inside its box: the machine is not stable")
    return "the machine is stable: free support vectors have room", tuple(unmet)


def xi_alpha_errors(machine: "FittedFunction", ball: "Ball", n_jobs: int | None = None) -> BoolArray:
    """Rows that may be misclassified when left out, by the xi-alpha estimate."""
    return xi_alpha_rows(
        cast(FloatArray, machine.alpha), machine.slack, _spread(machine, ball, n_jobs), machine.bias, machine.loss
    )


def _spread(machine: "FittedFunction", ball: "Ball", n_jobs: int | None) -> float | FloatArray:
    """R^2 of the estimate; for many rows an upper bound, from a ball of radius R that encloses them:
    k(x, x) - k(x, x') is half the squared distance, at most 4 R^2, plus half of k(x, x) - k(x', x')."""
    if machine.bias == "free" and machine.m <= EVERY_PAIR:
        return kernel_spread(machine.X, machine.kernel, n_jobs)
    diag = machine.kernel.diag(machine.X)
    if machine.bias != "free":
        return diag + (1.0 if machine.bias == "penalized" else 0.0)
    by_distance = 2.0 * ball.radius**2 + 0.5 * float(diag.max() - diag.min())
    return min(by_distance, 2.0 * float(diag.max()))
