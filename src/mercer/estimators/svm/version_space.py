"""What the classifiers that are centres of the version space have in common."""

from typing import TYPE_CHECKING, Any

from mercer._jit.threads import thread_count
from mercer._types import FloatArray, IndexArray
from mercer.estimators.bases.kernel_classifier import KernelClassifier
from mercer.estimators.fitting.parameters import require_choice, require_number
from mercer.estimators.fitting.training import solve_all
from mercer.estimators.fitting.two_class import Solved, TwoClassProblems
from mercer.estimators.fitting.weights import weighted_C
from mercer.problems.version_space.centres import VersionSpace
from mercer.solvers.tolerances import IN_DOUBLE
from mercer.solvers.version_space import solve as centres

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import SolvedProblems
    from mercer.estimators.fitting.training import Budget, TrainingData
    from mercer.kernels.gram.kernel_matrix import KernelMatrix
    from mercer.solvers.limits import Limits
    from mercer.solvers.result import Solution


class VersionSpaces(TwoClassProblems):
    """The version space of each two-class problem of a fit."""

    def __init__(
        self, codes: IndexArray, n_classes: int, multi_class: str, weights: FloatArray, slack: float, bias: str
    ) -> None:
        super().__init__(codes, n_classes, multi_class, weights, "none", bias)
        self.problems = [VersionSpace(task.signs, weights[task.indices], slack, bias) for task in self.tasks]


class VersionSpaceMachine(KernelClassifier):
    """The common part of the centre machines: the version spaces, and a matrix in double precision."""

    # One column per class; the largest wins.
    decision_function_shape = "ovr"
    break_ties = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_number("slack", self.slack, least=0.0)
        require_choice("bias", self.bias, ("penalized", "none"))

    def _two_class_problems(
        self, codes: IndexArray, class_weight: FloatArray, weights: FloatArray | None
    ) -> TwoClassProblems:
        each = weighted_C(1.0, codes, class_weight, weights)
        return VersionSpaces(codes, len(class_weight), self.multi_class, each, float(self.slack), self.bias)

    def _solve(self, data: "TrainingData", setup: Any, budget: "Budget", limits: "Limits") -> "SolvedProblems":
        room = 2 * budget.cache // min(len(setup.tasks), thread_count(self.n_jobs))
        find = self._centre_finder(len(setup.tasks), limits, convex=data.kernel.is_psd is True)

        def solve(problem: Any, part: "KernelMatrix", k: int) -> "Solution":
            centres.require_room(part.n, room)
            return find(problem, part, k)

        # Barriers need every digit of the kernel matrix.
        matrix = data.matrix(IN_DOUBLE, None, budget, self.n_jobs)
        return Solved(setup, solve_all(setup.problems, setup.tasks, matrix, budget, solve, limits, self.n_jobs))
