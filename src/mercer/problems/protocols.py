"""The interfaces that solvers and estimators need of a problem, and problems of a solution."""

from typing import Protocol

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.problems.svm.signed_dual import DualProblem


class DualPoint(Protocol):
    """A point of a dual: its coefficients, the gradient there, and the bias; two biases if two sums are fixed."""

    @property
    def beta(self) -> FloatArray: ...

    @property
    def gradient(self) -> FloatArray: ...

    @property
    def bias(self) -> float | FloatArray: ...


class Problem(Protocol):
    """A problem over one function, whose dual is in signed form."""

    def dual(self) -> DualProblem:
        """The dual quadratic program."""
        ...

    def intercept(self, beta: FloatArray, free_bias: float | FloatArray, /) -> float:
        """b of the function, from the bias of the dual if it is free."""
        ...

    def primal(self, beta: FloatArray, projections: FloatArray, intercept: float) -> float:
        """Primal objective, given <w, psi(x_i)> for every i."""
        ...

    def certificate(self, beta: FloatArray, projections: FloatArray, intercept: float) -> Certificate:
        """How well the coefficients solve the problem, recomputed in double precision."""
        ...
