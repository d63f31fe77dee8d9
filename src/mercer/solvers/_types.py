"""Types shared by the signatures of this package, and the protocols of objects that can be plugged in."""

from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol, TypeAlias

import numpy as np

from mercer._types import Array, FloatArray, IndexArray
from mercer.problems.kernel_methods.kernel_risk import DiagonalRoot, KernelRisk
from mercer.problems.kernel_methods.multinomial import Multinomial, SoftmaxRoot
from mercer.problems.mkl.weighted_kernels import Judged
from mercer.problems.svm.nu import NuMargin
from mercer.problems.svm.soft_margin import SoftMargin

SmoothRisk: TypeAlias = KernelRisk | Multinomial
"""What Newton's method minimises: a risk of one function, or of one for each class."""

HessianRoot: TypeAlias = DiagonalRoot | SoftmaxRoot
"""A with A A' = H, the Hessian of such a risk in its values."""

MarginProblem: TypeAlias = SoftMargin | NuMargin
"""Two classes, with a decision value for each row and a problem without some of them."""

Candidate: TypeAlias = tuple[float, FloatArray, FloatArray, FloatArray]
"""Coefficients that may be the solution: their violation, themselves, their values and biases."""

Operation: TypeAlias = Callable[[FloatArray], FloatArray]
"""A linear map, applied to columns."""

Random: TypeAlias = np.random.Generator | np.random.RandomState
"""Where random numbers come from: what both draw alike."""

Handler: TypeAlias = Callable[[int, FrameType | None], Any] | int | None
"""What the system calls on a signal, as `signal.signal` takes and gives it."""


class RowSource(Protocol):
    """A symmetric matrix of which rows can be had, in whatever precision they come."""

    n: int

    def rows(self, indices: IndexArray, /) -> Array:
        """The rows at `indices`."""


class PivotSource(RowSource, Protocol):
    """One of which the diagonal is known too."""

    @property
    def diag(self) -> FloatArray:
        """In double precision."""


class Corral(Protocol):
    """Affinely independent points of Wolfe's method, with their factorisation kept up to date."""

    n: int
    n_groups: int
    groups: IndexArray
    squares: FloatArray
    radius: float
    members: list[int]

    @property
    def nearest(self) -> FloatArray | None:
        """z at the last minimiser, where there are coordinates."""

    def noise(self, square: float, /) -> float:
        """About the error of a score z_i.z where |z|^2 is `square`."""

    def start(self, members: list[int], /) -> None:
        """Begin with one point of each group."""

    def add(self, j: int, /) -> bool:
        """Take a point in; False where it lies in the affine hull of the others."""

    def remove(self, place: int, /) -> None:
        """Let the member at a place go."""

    def minimiser(self) -> FloatArray:
        """Weights of the members at the point of smallest norm in their affine hull."""

    def scores(self, weights: FloatArray, /) -> tuple[FloatArray, float]:
        """(z_i.z for every point, |z|^2)."""


class Machines(Protocol):
    """The machines whose kernel is a weighted sum of others."""

    def solve(self, weights: FloatArray, start: Judged | None, /) -> Judged | None:
        """Solve them at these weights; None if a limit ended that."""

    def judge(self, weights: FloatArray, betas: list[FloatArray], /) -> Judged:
        """Judge given coefficients."""

    def curvature(self, judged: Judged, /) -> FloatArray:
        """Second derivatives of the best objective by the weights."""

    def tighten(self) -> bool:
        """Solve more finely from now on; whether that is possible."""
