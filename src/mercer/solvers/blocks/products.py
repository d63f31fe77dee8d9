"""A Newton step by conjugate gradients (Hestenes & Stiefel 1952): for Hessians too large to form."""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.blocks.passes import Asked, Multiply, Place
from mercer.solvers.blocks.penalty import Penalty
from mercer.solvers.linalg.cholesky import NotPositiveDefinite
from mercer.solvers.linalg.conjugate_gradient import Recursion

# Most iterations, each of which is a pass over the blocks, and the share of the residual at which they end.
MOST_PASSES, ENOUGH = 30, 0.1


def step_by_products(
    g: FloatArray, at: Place, penalty: Penalty, last: float, ask: Callable[[Multiply], Asked]
) -> Generator[Asked, Any, FloatArray]:
    """Solve (penalty + H) s = g roughly; `last` is the penalty of the bias, and `ask` is sent requests for products."""
    recursion, s = Recursion(g, lambda r: r, np.dot), np.zeros(len(g))
    goal = ENOUGH**2 * float(g @ g)
    for _ in range(MOST_PASSES):
        if recursion.turn() <= goal:
            break
        p = recursion.direction
        image, _ = yield ask(Multiply(at, p))
        image[:-1] += penalty.times(p[:-1])
        image[-1] += last * p[-1]
        try:
            s += recursion.advance(image) * p
        except NotPositiveDefinite:
            break
    return s
