"""Whether a fit was refused for a reason: what the draws may ask for and no machine can give."""

import re

import numpy as np

from mercer import NotSeparableError
from tests.campaign.functions import row_weights
from tests.oracles.exact_conditions import EPS
from tests.oracles.exact_kernels import LONG

KNOWN = (
    r"^specified nu is infeasible",
    r"^solver=.* (minimises the hinge loss only|needs a positive semidefinite kernel)",
    r"^SVDD needs k\(x, x\) of new points",
    r"^cv=\d+ cannot split",
    r"^scoring=None is NaN on every fold",
    r"^the kernel is not positive semidefinite on (these rows|the landmarks)",
    r"overflow",
    r"slack=.* softens the walls",
)
NO_PAIR = r"^there must be a pair of rows to put in order"
NO_COLUMN = r"^X must have a column with values to compare"
NO_WEIGHT = r"all samples have zero or negative weights|^sample_weight must be positive for some row"
# Hulls that are nearer to each other than this share of the radius have a point in common (docs/hard_margin.md).
APART = 5e-8


def judge(problem, error):
    """Sentences on a refusal that should not have been."""
    if isinstance(error, NotSeparableError):
        yield from _not_separable(problem, error.proof)
    elif re.search(NO_PAIR, str(error)):
        yield from _all_alike(problem, error)
    elif re.search(NO_COLUMN, str(error)):
        used = [row for row, weight in zip(problem.items[0], row_weights(problem), strict=True) if weight > 0]
        if any(len({row[name] for row in used}) > 1 for name in used[0]):
            yield f"{type(error).__name__}: {error}"
    elif re.search(NO_WEIGHT, str(error)):
        if problem.weights is None or (problem.weights > 0).any():
            yield f"{type(error).__name__}: {error}"
    elif not any(re.search(reason, str(error)) for reason in KNOWN):
        yield f"{type(error).__name__}: {error}"


def _all_alike(problem, error):
    """No order is asked for only if all targets of rows with a weight are one and the same."""
    if len(np.unique(problem.y[row_weights(problem) > 0])) > 1:
        yield f"{type(error).__name__}: {error}"


def _not_separable(problem, proof):
    """The weights of the proof make one point of both hulls, in long double."""
    at = np.ix_(proof.indices, proof.indices)
    coefficients = (proof.signs * proof.weights).astype(LONG)
    K = problem.K[at] + (1 if proof.bias == "penalized" else 0)
    square = float(coefficients @ K @ coefficients)
    doubt = EPS * float(np.abs(coefficients) @ (problem.doubt[at] + 16.0 * np.abs(K)) @ np.abs(coefficients))
    if square > (APART * proof.radius) ** 2 + 4.0 * doubt:
        yield f"the proof's point is {square**0.5:.2e} from being one, the radius is {proof.radius:.2e}"
