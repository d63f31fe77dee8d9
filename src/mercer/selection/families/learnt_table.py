"""The kernel chosen for tables and rows of numbers by rule, as a recipe that each fold follows with its own rows."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from mercer._jit.waiting import ends_in_force
from mercer._types import FloatArray
from mercer.estimators.auto.table_kernel import never, table_kernel
from mercer.kernels.base.kernel import Kernel

# Bounds on the search for relevances: a tenth of a second at most.
_LAST_STEPS = 6


def learnt(shape: str) -> Callable[[float], "LearntTable"]:
    """Recipes of one shape, by their width."""
    return lambda width: LearntTable(shape, width)


@dataclass(frozen=True)
class LearntTable:
    """The recipe for the kernel chosen for tables by rule, with columns weighted by what the labels say."""

    shape: str
    width: float = 1.0

    @property
    def learnt_once(self) -> Hashable:
        return self.shape

    def learn(self, X: Any, y: Any, weights: FloatArray | None, classifies: bool) -> Kernel:
        """The kernel of the usual width."""
        found = table_kernel(X, y, is_quantity=not classifies, weights=weights, shape=self.shape, stop=_end())
        return found.kernel.bind(X, weights)

    def kernel(self, learnt: Kernel) -> Kernel:
        """The same, wider or narrower."""
        return with_width(learnt, self.width)


def _end() -> Callable[[], bool]:
    """When to stop learning: when the limits of the search say so; the last fit of a search that was ended gets a few
    steps, which are better than none."""
    ends = ends_in_force()
    if ends is None:
        return never
    if not ends.is_over():
        return ends.stop
    left = iter(range(_LAST_STEPS))
    return lambda: next(left, None) is None


def with_width(kernel: Kernel, width: float) -> Kernel:
    """A kernel with all its Gaussians, and their like, wider or narrower."""
    changed = {
        name: value / width**2 if name.endswith("gamma") else value * width
        for name, value in kernel.get_params().items()
        if name.endswith(("gamma", "length_scale")) and isinstance(value, float)
    }
    return kernel.replace(**changed) if changed else kernel
