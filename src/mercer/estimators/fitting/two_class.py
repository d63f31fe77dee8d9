"""The two-class problems of a fit, and their solutions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._jit.once import computed_once
from mercer._types import FloatArray, IndexArray
from mercer.estimators.fitting.support import Support
from mercer.estimators.fitting.tasks import require_few, two_class_tasks
from mercer.problems.svm.crammer_singer import KernelCrammerSinger
from mercer.problems.svm.soft_margin import SoftMargin

if TYPE_CHECKING:
    from mercer.estimators.fitting.protocols import Setup
    from mercer.estimators.fitting.tasks import BinaryTask
    from mercer.solvers.result import Solution


class TwoClassProblems:
    """How several classes become two-class problems; each is made on demand.

    Parameters
    ----------
    codes : ndarray of int (n,)
        Class of each point.
    n_classes : int
    multi_class : {"ovo", "ovr"}
    C : ndarray (n,)
        Weight of the loss of each point; a point of weight zero takes no part.
    loss : {"hinge", "squared_hinge"}, or as a subclass defines
        The loss of a point short of the margin.
    bias : {"free", "penalized", "none"}
        Whether the bias is left out of the penalty, is part of it, or is absent.

    Attributes
    ----------
    classes : ndarray or None
        The labels behind the codes, for error messages.
    """

    if TYPE_CHECKING:
        classes: Any
        copies: FloatArray

    classes = None

    def __init__(
        self, codes: IndexArray, n_classes: int, multi_class: str, C: FloatArray, loss: str, bias: str
    ) -> None:
        require_few(n_classes, multi_class)
        self.codes, self.n_classes, self.multi_class = codes, n_classes, multi_class
        self.C, self.loss, self.bias = C, loss, bias

    @property
    def kind(self) -> tuple[str, str]:
        """Loss and bias."""
        return self.loss, self.bias

    @property
    def has_pairs(self) -> bool:
        """Whether each pair of classes has a problem of its own."""
        return self.n_classes > 2 and self.multi_class == "ovo"

    @computed_once
    def tasks(self) -> "list[BinaryTask]":
        """The points and sides of each problem."""
        return two_class_tasks(self.codes, self.n_classes, self.multi_class, self.C)

    @computed_once
    def problems(self) -> list[Any]:
        """A `SoftMargin` for each task."""
        return [SoftMargin(task.signs, self.C[task.indices], self.loss, self.bias) for task in self.tasks]


class TogetherProblem(TwoClassProblems):
    """One problem for all of several classes (Crammer & Singer 2001)."""

    def __init__(self, codes: IndexArray, n_classes: int, C: FloatArray, bias: str) -> None:
        super().__init__(codes, n_classes, "ovr", C, "hinge", bias)
        used = self.tasks[0].indices
        scale = 1.0 if bias == "penalized" else 0.0
        self.joint = KernelCrammerSinger(codes[used], n_classes, C[used], scale, is_free=bias == "free")


class Solved:
    """Solutions of all two-class problems, one object each.

    Attributes
    ----------
    support : Support
    intercepts, iterations : ndarray (n_problems,)
    statuses : list of Status
    """

    def __init__(self, setup: "Setup", solutions: "Sequence[Solution]") -> None:
        self.solutions = solutions
        self.support = Support.of_tasks(setup, self.betas())
        self.statuses = [solution.status for solution in solutions]
        self.iterations = np.array([solution.iterations for solution in solutions], dtype=np.int32)
        intercepts = [p.intercept(s.beta, s.bias) for p, s in zip(setup.problems, solutions, strict=True)]
        self.intercepts = np.array(intercepts)

    def betas(self) -> list[FloatArray]:
        """Signed dual coefficients of each problem."""
        return [solution.beta for solution in self.solutions]

    def reaches(self) -> list[float]:
        """The sum of |coefficients| of each problem."""
        return [float(np.abs(beta).sum()) for beta in self.betas()]

    def violations(self) -> list[float]:
        """An upper bound of each problem's violation, as far as its solver knows."""
        return [each.trace[-1].violation + each.rounding if each.trace else np.inf for each in self.solutions]

    def traces(self) -> list[Any]:
        """The trace of each solver."""
        return [solution.trace for solution in self.solutions]


class JointSolved:
    """`Solved` for functions that share one solution."""

    def __init__(self, setup: Any, solution: "Solution") -> None:
        self.solution = solution
        self.support = Support.of_tasks(setup, self.betas())
        self.statuses = [solution.status]
        self.iterations = np.array([solution.iterations], dtype=np.int32)
        self.intercepts = np.atleast_1d(setup.joint.intercept(solution.beta, solution.bias))

    def betas(self) -> list[FloatArray]:
        beta = self.solution.beta
        return [beta] if beta.ndim == 1 else list(np.ascontiguousarray(beta.T))

    def traces(self) -> list[Any]:
        return [self.solution.trace]
