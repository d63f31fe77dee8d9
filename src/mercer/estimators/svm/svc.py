"""Support vector classification."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import Array, FloatArray, IndexArray, Rows
from mercer.estimators.bases.kernel_classifier import KernelClassifier, refuse_ties_of_pairs
from mercer.estimators.bases.probabilities import LeavingOut, Probable, calibration_method
from mercer.estimators.fitting import all_pairs
from mercer.estimators.fitting.auto_strength import AutomaticC
from mercer.estimators.fitting.certificate import JointEvidence
from mercer.estimators.fitting.parameters import require_choice, require_flag, require_optional_number
from mercer.estimators.fitting.training import solve_all, whole_matrix
from mercer.estimators.fitting.two_class import JointSolved, Solved, TogetherProblem, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.estimators.svm.separation import (
    SeparationEvidence,
    SeparationSolved,
    explicit_features,
    is_hard,
    keep_normals,
    refuse_contradictions,
    separate_all,
    separated_where_unsolved,
    sums_are_off,
)
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.calibration.out_of_fold import SCORE_TOL
from mercer.solvers.crammer_singer import kernel as kernel_crammer_singer
from mercer.solvers.dual_qp.solve import solve_dual, solve_for_scores
from mercer.solvers.registry import SOLVERS

if TYPE_CHECKING:
    from mercer.estimators.fitting.certificate import Evidence
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.problems.regularization import Regularization
    from mercer.problems.svm.signed_dual import DualProblem
    from mercer.problems.svm.soft_margin import SoftMargin
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


# What support vectors may cost a hard margin of 1; beyond it, the weights themselves are kept.
SUM_ERROR = 1e-9


class SVC(AutomaticC, Probable, KernelClassifier):
    """Support vector classifier with any kernel: fast, and certified on every fit.

    The parameters up to `random_state` are scikit-learn's, in its order, with its meaning.

    Parameters
    ----------
    C : float, Regularization or "auto", default=1.0
        Weight of the losses against the margin; `Regularization` gives the other three ways
        to write it. ``inf`` is the hard margin: `fit` raises `NotSeparableError`, with the proof, where there is
        none. "auto" is one over the mean squared distance of the
        training rows from their centre in feature space, or from the origin where the bias is not free.
    kernel : str, Kernel or callable, default="rbf"
        A name that scikit-learn knows, a kernel of `mercer.kernels`, "precomputed", "auto", which looks
        at the data and says what it took and why in `kernel_` and `kernel_reason_`, or a
        function, which is called with two whole sets of rows, as scikit-learn does, or
        with parts of them where `memory_limit` leaves no room for the matrix.
    degree, gamma, coef0
        Parameters of the kernels given by name; a `Kernel` has its own. gamma is a number, "scale",
        "auto" or "median" (see `mercer.kernels.RBF`).
    shrinking : bool, default=True
        Leave coefficients alone that sit firmly at a bound, until the end.
    probability : {False, True, "sigmoid", "isotonic"}, default=False
        Whether to learn probabilities too, from decision values of rows left out of the fit, in three
        folds; True is "sigmoid". `predict` is then the largest of `predict_proba`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions (LIBSVM's rule).
    cache_size : float, optional
        Megabytes of kernel rows to keep; a quarter of the free memory by default.
    class_weight : dict or "balanced", optional
    verbose : bool, default=False
        Print a line a round on standard error.
    max_iter : int, default=-1
        Bound on the pair steps of each two-class problem; -1 for none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
    break_ties : bool, default=False
    random_state : int, RandomState or None, default=None
        Rows are dealt out to the folds of `probability` by what they contain; a seed gives other folds.
        Nothing else is random.
    bias : {"free", "penalised", "none"}, default="free"
    loss : {"hinge", "squared_hinge"}, default="hinge"
    multi_class : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        A machine for each pair of classes, for each class against the rest, or one for all of them
        together, which has one certificate.
    solver : {"auto", "smo", "chunking", "chunking:qp", "dual_cd", "qp", "sgd"}, default="auto"
        "auto" is "smo". The others give the same answer more slowly: "qp" hands the dual, or where
        the rank is low the primal, to an interior point method; "chunking" solves growing chunks of
        violators, "chunking:qp" each of them by that method; "dual_cd" moves one coefficient at a
        time, and "sgd" begins with stochastic gradient steps. See `mercer.compare_solvers`.
    gap_tol : float, optional
        Stop at this relative duality gap instead of at `tol`.
    time_limit : float, optional
        Seconds for the whole fit.
    memory_limit : int or str, optional
        Bytes, or a text such as "2GiB"; half of the free memory by default.
    n_jobs : int, optional
        Threads; all cores by default.
    warm_start : bool, default=False
        Start from the coefficients of the last fit, if the number of rows is the same.
    callbacks : list of callables, optional
        Each is called with a `TracePoint` after every round; a true answer ends the fit.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_,
    fit_status_, class_weight_, shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    status_ : Status
        How the fit ended; anything but OPTIMAL also warns.
    certificate_ : Certificate, or a list of them
        Primal, dual, gap and KKT conditions of each two-class problem, recomputed in double
        precision from the training data when first read.
    expansion_ : Expansion
        The decision functions as sums of kernels.
    trace_ : list of TracePoint, or a list of such lists
    C_, kernel_, kernel_reason_
        What "auto" stood for, and why; only where it was asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0, kernel="rbf").fit(X, y)
    >>> model.status_.name
    'OPTIMAL'
    >>> all(c.is_optimal(1e-3) for c in model.certificate_)
    True
    """

    # Names that `solver` takes.
    solvers = tuple(SOLVERS)

    _multi_classes = ("ovo", "ovr", "crammer_singer")

    def __init__(
        self,
        C: "float | str | Regularization" = 1.0,
        kernel: "str | Kernel | Callable[..., Any]" = "rbf",
        degree: float = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: int | np.random.RandomState | None = None,
        *,
        bias: str = "free",
        loss: str = "hinge",
        multi_class: str = "ovo",
        solver: str = "auto",
        gap_tol: float | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.bias = bias
        self.loss = loss
        self.multi_class = multi_class
        self.solver = solver
        self.gap_tol = gap_tol
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.callbacks = callbacks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_optional_number("gap_tol", self.gap_tol, above=0.0)
        require_flag("shrinking", self.shrinking)
        require_choice("bias", self.bias, BIASES)
        require_choice("loss", self.loss, MARGIN_LOSSES)
        require_choice("solver", self.solver, SOLVERS)
        calibration_method(self.probability)
        if self.multi_class == "crammer_singer":
            self._require_together()

    def predict(self, X: Rows) -> Array:
        """The label of each row of X; the most probable one where probabilities are asked for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n_train) if precomputed

        Returns
        -------
        ndarray of shape (n,)
        """
        refuse_ties_of_pairs(self)
        return super().predict(X)

    def _require_together(self) -> None:
        """Refuse what the machine for all classes together does not have."""
        if self.loss != "hinge":
            raise ParameterError(f"loss must be 'hinge' with multi_class='crammer_singer', got {self.loss!r}")
        if self.solver not in ("auto", "smo"):
            raise ParameterError(f"solver must be 'auto' with multi_class='crammer_singer', got {self.solver!r}")
        if calibration_method(self.probability) is not None:
            raise ParameterError(
                "probability=True is not available with multi_class='crammer_singer'; use 'ovo' or 'ovr', "
                "or KernelLogisticRegression, whose one problem has probabilities"
            )

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        """The problems to solve, with C times the weights of class and sample for each point."""
        C, n_classes = weighted_C(self._C, codes, class_weight, weights), len(class_weight)
        if self.multi_class == "crammer_singer":
            if not np.isfinite(C).all():
                raise ParameterError(f"C must be finite with multi_class='crammer_singer', got {self.C!r}")
            # Two classes have w_1 = -w_0, and w_1 - w_0 is the machine of twice the weight.
            together = TwoClassProblems(codes, 2, "ovr", 2.0 * C, self.loss, self.bias) if n_classes == 2 else None
            setup = together or TogetherProblem(codes, n_classes, C, self.bias)
        else:
            setup = TwoClassProblems(codes, n_classes, self.multi_class, C, self.loss, self.bias)
        setup.copies = class_weight[codes] if weights is None else class_weight[codes] * weights
        return setup

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        if isinstance(setup, TogetherProblem):
            self._calibration = None
            return self._solve_together(data, setup, budget, limits)
        if is_hard(setup):
            return self._separate(data, setup, budget, limits)
        return self._solve_and_calibrate(data, setup, budget, limits)

    def _separate(
        self, data: "TrainingData", setup: TwoClassProblems, budget: "Budget", limits: "Limits"
    ) -> "SolvedProblems":
        """The hard margin, or the proof that there is none.

        In coordinates, where there are few, it is decided in no time. Elsewhere the solver of the soft margin is the
        quicker one, with many support vectors above all, but it cannot say that nothing separates.
        """
        how = data, setup, budget, limits, self.tol, self.n_jobs
        if explicit_features(data) is None:
            refuse_contradictions(data, setup)
            return separated_where_unsolved(self._solve_and_calibrate(data, setup, budget, limits), *how)
        separated, self._calibration = separate_all(*how), None
        if self.solver == "auto" and calibration_method(self.probability) is None:
            return separated
        solved = self._solve_and_calibrate(data, setup, budget, limits)
        return separated if self.solver == "auto" else solved

    def _solve_together(
        self, data: "TrainingData", setup: TogetherProblem, budget: "Budget", limits: "Limits"
    ) -> JointSolved:
        """The machine of Crammer and Singer."""
        starts, indices = self._starts(setup), setup.tasks[0].indices
        start = None if starts is None else np.stack(starts, axis=1)

        def solve(matrix: "KernelMatrix") -> "Solution":
            return kernel_crammer_singer.solve(
                setup.joint,
                matrix,
                tol=self.tol,
                limits=limits,
                start=start,
                gap_tol=self.gap_tol,
                convex=data.kernel.is_psd is True,
                memory=budget.cache,
            )

        is_small = len(indices) <= kernel_crammer_singer.SMALL
        matrix = data.matrix(0.0 if is_small else self.tol, self.gap_tol, budget, self.n_jobs)
        empty = np.zeros((len(indices), setup.n_classes))
        return JointSolved(setup, whole_matrix(matrix, indices, budget, limits, solve, empty))

    def _keep(self, X: Rows, data: "TrainingData", setup: Any, solved: Any) -> None:
        super()._keep(X, data, setup, solved)
        if isinstance(solved, SeparationSolved) and sums_are_off(data, setup, solved, SUM_ERROR):
            keep_normals(self, X, data, solved)

    def _kind_of_evidence(self, setup: Any, solved: Any) -> "type[Evidence]":
        if isinstance(setup, TogetherProblem):
            return JointEvidence
        return SeparationEvidence if isinstance(solved, SeparationSolved) else super()._kind_of_evidence(setup, solved)

    def _solve_with_folds(
        self,
        data: "TrainingData",
        setup: TwoClassProblems,
        budget: "Budget",
        limits: "Limits",
        folds: IndexArray | None,
    ) -> "tuple[SolvedProblems, list[FloatArray]]":
        """Solutions, and where there are folds, out-of-fold decision values for each problem."""
        starts, solver = self._starts(setup), cast(Any, SOLVERS[self.solver])
        options = {
            "tol": self.tol,
            "memory": budget.working,
            "convex": data.kernel.is_psd is True,
            "shrinking": self.shrinking,
        }

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            start = None if starts is None else starts[k]
            return solver(
                problem.dual(), part, limits=limits, start=start, gap=problem.gap, gap_tol=self.gap_tol, **options
            )

        def again(_problem: "SoftMargin", _solution: "Solution") -> Callable[..., Any]:
            def solve_fold(dual: "DualProblem", matrix: "KernelMatrix", start: FloatArray | None) -> "Solution":
                more = {**options, "score_tol": SCORE_TOL, "solver": solver}
                return solve_for_scores(dual, matrix, limits=limits.unwatched(), start=start, **more)

            return solve_fold

        is_watched = bool(limits.callbacks) or self.gap_tol is not None
        if solver is solve_dual and starts is None and not is_watched and all_pairs.are_small(setup, budget.cache):
            return all_pairs.solve(data, setup, self.tol, budget, self.n_jobs, limits, solve, folds)
        matrix = data.matrix(self.tol, self.gap_tol, budget, self.n_jobs)
        each = solve if folds is None else LeavingOut(solve, again, setup, folds)
        solutions = solve_all(setup.problems, setup.tasks, matrix, budget, each, limits, self.n_jobs)
        return Solved(setup, solutions), [] if folds is None else cast(LeavingOut, each).scores
