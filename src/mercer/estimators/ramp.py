"""Classification with the ramp loss."""

from typing import ClassVar

import numpy as np

from mercer._errors import ParameterError
from mercer.estimators.kernel_classifier import KernelClassifier
from mercer.estimators.machines import Solved, TwoClassProblems
from mercer.estimators.multiclass import one_or_all
from mercer.estimators.parameters import (
    require_choice,
    require_count,
    require_flag,
    require_number,
    require_optional_number,
)
from mercer.estimators.training import solve_all
from mercer.estimators.weighting import weighted_C
from mercer.problems.ramp import RampMargin
from mercer.problems.soft_margin import BIASES
from mercer.solvers import cccp
from mercer.solvers.result import Status


class _RampProblems(TwoClassProblems):
    """The two-class problems of a fit, with the ramp loss."""

    def __init__(self, codes, n_classes, multi_class, C, s, bias):
        super().__init__(codes, n_classes, multi_class, C, "ramp", bias)
        self.problems = [RampMargin(task.signs, C[task.indices], s, bias) for task in self.tasks]


class RampSVC(KernelClassifier):
    """Support vector classifier whose loss is bounded, so that outliers lose their pull.

    The ramp loss of a margin z = y f(x) is the hinge up to 1 - s and no more:
    min(1 - s, max(0, 1 - z)). A row that is far on the wrong side costs 1 - s, wherever it is.
    The objective is not convex. It is minimised from the hinge solution by the concave-convex
    procedure: a few convex problems, each solved as `SVC` does and certified, each beginning
    where the last one ended, all over one kernel matrix. The objective falls from step to
    step, and the end is a stationary point; `certificate_` has the evidence.

    Parameters
    ----------
    C : float or Regularization, default=1.0
        Weight of the losses against the margin; finite.
    kernel, degree, gamma, coef0
        As in `SVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of each convex problem, and of the margins
        against s.
    class_weight : dict or "balanced", optional
    s : float, default=0.0
        Margin at which the loss stops to rise, below 1. 0 is the ramp loss min(1, hinge); the
        lower, the more like the hinge.
    max_steps : int, default=100
        Convex problems at most; three to ten are usual.
    bias : {"free", "penalised", "none"}, default="free"
    multi_class : {"ovo", "ovr"}, default="ovo"
    decision_function_shape, break_ties
        As in `SVC`.
    max_iter : int, default=-1
        Bound on the pair steps of each convex problem; -1 for none.
    gap_tol, time_limit, memory_limit, cache_size, shrinking, n_jobs, warm_start, callbacks, verbose
        As in `SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_,
    class_weight_, n_features_in_, feature_names_in_
        As in `SVC`.
    steps_ : list of CCCPStep, or a list of such lists
        The convex problems that were solved: objective, bound, gap, outliers.
    outliers_ : ndarray of int, or a list of them
        Training rows on the flat part of the ramp.
    certificate_ : RampCertificate, or a list of them
        Certificate of the last convex problem, with the ramp objective and how well its
        tangent fits; `is_stationary` puts both together.
    status_, expansion_, trace_
        As in `SVC`.

    References
    ----------
    Collobert, Sinz, Weston and Bottou (2006), Trading convexity for scalability.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RampSVC, SVC
    >>> X = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0], [4.0]])
    >>> y = np.array([-1, -1, -1, 1, 1, 1, -1])  # the last label is wrong
    >>> SVC(kernel="linear").fit(X, y).coef_.round(3)
    array([[0.571]])
    >>> model = RampSVC(kernel="linear").fit(X, y)
    >>> model.coef_.round(3)  # the margin of the others
    array([[1.]])
    >>> model.outliers_, model.certificate_.is_stationary()
    (array([6]), True)
    """

    _remedies: ClassVar = {
        Status.ITERATION_LIMIT: "A larger max_iter or max_steps goes on.",
        Status.OPTIMAL_INACCURATE: "The objective falls no further at this accuracy; a smaller tol may help.",
    }

    def __init__(
        self,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        class_weight=None,
        *,
        s=0.0,
        max_steps=100,
        bias="free",
        multi_class="ovo",
        decision_function_shape="ovr",
        break_ties=True,
        shrinking=True,
        max_iter=-1,
        gap_tol=None,
        time_limit=None,
        memory_limit=None,
        cache_size=None,
        n_jobs=None,
        warm_start=False,
        callbacks=None,
        verbose=False,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.s = s
        self.max_steps = max_steps
        self.bias = bias
        self.multi_class = multi_class
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.shrinking = shrinking
        self.max_iter = max_iter
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cache_size = cache_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose

    def _check_parameters(self):
        super()._check_parameters()
        require_number("s", self.s, below=1.0)
        require_count("max_steps", self.max_steps)
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_flag("shrinking", self.shrinking)
        require_choice("bias", self.bias, BIASES)

    def _two_class_problems(self, codes, class_weight, weights):
        C = weighted_C(self.C, codes, class_weight, weights)
        if not np.isfinite(C).all():
            raise ParameterError(
                f"C must be finite for the ramp loss, also after weighting, got {self.C!r}: "
                "with a hard margin no row may be an outlier; SVC(C=inf) has one"
            )
        return _RampProblems(codes, len(class_weight), self.multi_class, C, float(self.s), self.bias)

    def _solve(self, data, setup, budget, limits):
        starts = self._starts(setup)

        def solve(problem, part, k):
            return cccp.solve(
                problem,
                part,
                tol=self.tol,
                limits=limits,
                start=None if starts is None else starts[k],
                max_steps=self.max_steps,
                gap_tol=self.gap_tol,
                memory=budget.working,
                convex=data.kernel.is_psd is True,
                shrinking=self.shrinking,
            )

        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs)
        # What was stopped before its first step has the problem it began with, and no steps.
        setup.problems = [getattr(s, "problem", p) for s, p in zip(solutions, setup.problems, strict=True)]
        return Solved(setup, solutions)

    def _keep(self, X, data, setup, solved):
        masks = [problem.current_outliers for problem in setup.problems]
        outliers = [task.indices[mask] for task, mask in zip(setup.tasks, masks, strict=True)]
        steps = [getattr(solution, "steps", []) for solution in solved.solutions]
        self.outliers_, self.steps_ = map(one_or_all, (outliers, steps))
        super()._keep(X, data, setup, solved)
