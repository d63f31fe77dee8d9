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


class NewtonSystem(Protocol):
    """The linear systems of Newton's method in coordinates, however they are solved."""

    def solved(
        self, root: HessianRoot, right_w: FloatArray, right_b: FloatArray, is_careful: bool, share: float, /
    ) -> tuple[FloatArray, FloatArray] | None:
        """(dw, db) up to a share of their error, or to the last digit if `is_careful`; None if there are none."""


class RowSource(Protocol):
    """A symmetric matrix that hands out rows, in whatever precision it holds them."""

    n: int

    def rows(self, indices: IndexArray, /) -> Array:
        """The rows at `indices`."""


class PivotSource(RowSource, Protocol):
    """A symmetric matrix with a known diagonal."""

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
        """z at the last minimiser, where coordinates are available."""

    def noise(self, square: float, /) -> float:
        """Approximate error of a score z_i.z where |z|^2 is `square`."""

    def start(self, members: list[int], /) -> None:
        """Start with one point of each group."""

    def add(self, j: int, /) -> bool:
        """Add a point; False where it lies in the affine hull of the members."""

    def remove(self, place: int, /) -> None:
        """Remove the member at a position."""

    def minimiser(self) -> FloatArray:
        """Weights of the members at the minimum-norm point of their affine hull."""

    def scores(self, weights: FloatArray, /) -> tuple[FloatArray, float]:
        """(z_i.z for every point, |z|^2)."""


class Machines(Protocol):
    """The machines whose kernel is a weighted sum of base kernels."""

    def solve(self, weights: FloatArray, start: Judged | None, /) -> Judged | None:
        """Solve them at these weights; None if a limit stopped it."""

    def judge(self, weights: FloatArray, betas: list[FloatArray], /) -> Judged:
        """Evaluate given coefficients."""

    def curvature(self, judged: Judged, /) -> FloatArray:
        """Second derivatives of the optimal objective in the weights."""

    def tighten(self) -> bool:
        """Solve more accurately from now on; False if that is impossible."""
