"""A family of kernels: one number apart, under one name."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mercer.selection.auto.lattice import Line

# Above this multiple of the usual width all rows look alike, and below this one every row is alone.
WIDTHS = (2.0**-8, 2.0**8)


@dataclass(frozen=True)
class Family:
    """Kernels under one name, which differ in one number at most.

    Attributes
    ----------
    name : str
    make : callable
        The kernel, or the recipe by which a fit learns one, for a value of the number.
    values : tuple of float
        The values to begin with, ascending.
    number : str or None
        The name of the number.
    step, ends, is_whole
        As in `Line`.
    """

    name: str
    make: Callable[[float], Any]
    values: tuple[float, ...] = (1.0,)
    number: str | None = None
    step: float = 0.0
    ends: tuple[float, float] = (0.0, math.inf)
    is_whole: bool = False

    def line(self) -> Line:
        """Where a search may go within the family."""
        return Line({"family": self.name}, self.number, self.values, self.step, self.ends, self.is_whole)

    def kernel(self, setting: Mapping[str, Any]) -> Any:
        """The kernel of a setting."""
        return self.make(1.0 if self.number is None else setting[self.number])


def by_width(name: str, make: Callable[[float], Any], *values: float) -> Family:
    """A family whose number is a width, in units of the usual one."""
    return Family(name, make, values, "width", 2.0, WIDTHS)


def by_length(name: str, make: Callable[[Any], Any], values: tuple[int, ...], most: int, least: int = 1) -> Family:
    """A family whose number is a length: of substrings, or of walks."""
    return Family(name, make, values, "length", 1.0, (least, most), is_whole=True)
