"""The four ways in which the literature weighs margin against loss, and how they correspond.

========================================  ==========================
objective                                 C of (1/2)|w|^2 + C sum
========================================  ==========================
lambda |w|^2 + (1/m) sum loss             1 / (2 lambda m)
(lambda/2) |w|^2 + (1/m) sum loss         1 / (lambda m)
(1/2) |w|^2 + C sum loss                  C
(1/2) |w|^2 + (C/n) sum loss              C / n
========================================  ==========================
"""

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Self

from mercer._errors import ParameterError


def _positive(name: str, value: float) -> float:
    # A comparison with NaN is false, so NaN is refused too.
    if not isinstance(value, Real) or isinstance(value, bool) or not value > 0:
        raise ParameterError(f"{name} must be a positive number, got {value!r}")
    return float(value)


@dataclass(frozen=True)
class Regularization:
    """A weight that becomes C once the number of training points is known.

    Examples
    --------
    >>> from mercer import Regularization
    >>> Regularization.from_lambda(0.01).box(m=100)
    0.5
    >>> Regularization.from_lambda(0.01, half=True).box(m=100)
    1.0
    >>> Regularization.from_box_over_n(50.0).box(m=100)
    0.5
    """

    numerator: float
    divide_by_m: bool = False

    def __post_init__(self) -> None:
        _positive("numerator", self.numerator)

    @classmethod
    def from_lambda(cls, lam: float, half: bool = False) -> Self:
        """lambda |w|^2 + mean loss; with half=True, (lambda/2) |w|^2 + mean loss."""
        if _positive("lam", lam) == inf:
            raise ParameterError("lam must be finite, got inf; it would leave no weight for the losses")
        return cls(1.0 / float(lam) * (1.0 if half else 0.5), divide_by_m=True)

    @classmethod
    def from_alpha(cls, alpha: float) -> Self:
        """alpha |w|^2 + sum of losses, the form of kernel ridge regression."""
        if _positive("alpha", alpha) == inf:
            raise ParameterError("alpha must be finite, got inf; it would leave no weight for the losses")
        return cls(0.5 / float(alpha))

    @classmethod
    def from_box_over_n(cls, C: float) -> Self:
        """(1/2)|w|^2 + (C/n) sum of losses: the box is C/n."""
        return cls(_positive("C", C), divide_by_m=True)

    def box(self, m: float) -> float:
        """C of (1/2)|w|^2 + C sum of losses over m points."""
        return self.numerator / m if self.divide_by_m else self.numerator


def resolve_C(C: float | Regularization, m: float) -> float:
    """C as a number, from a number or a `Regularization`."""
    return C.box(m) if isinstance(C, Regularization) else _positive("C", C)
