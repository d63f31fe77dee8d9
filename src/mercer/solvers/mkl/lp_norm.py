r"""Kernel weights of p-norm 1, p > 1: the closed form for a fixed model, extrapolated.

For fixed :math:`w_m` the best weights are :math:`\mu_m \propto \|w_m\|^{2/(p+1)}`, with
:math:`\|w_m\|^2 = \mu_m^2 q_m` (Kloft et al. 2011, proposition 2); alternating with fits, the
objective never grows. In the logarithms of the weights this map is nearly linear, and Anderson's
mixing (Walker & Ni 2011) of the last few steps reaches its fixed point in a fraction of the steps;
an extrapolated point that is worse is replaced by the plain one.

Cost of a step: one solution of the machines from the last one, and M products of a kernel matrix with
beta. Needs p > 1.
"""

from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._types import FloatArray
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from mercer.problems.mkl.weighted_kernels import Judged
    from mercer.solvers.mkl.search import WeightSearch

# Number of past steps used for extrapolation.
DEPTH = 5
# Lower bound of the log weights: a zero kernel has no weight.
LOWEST = -60.0
# A log step this small changes nothing.
STILL = 1e-11


def minimise(search: "WeightSearch", n_kernels: int) -> Status | None:
    """Search the p-norm sphere for the weights of the smallest gap; returns a status."""
    centre = search.visit(search.allowed.equal(n_kernels))
    past = []
    while (status := search.ended()) is None and centre is not None:
        here, there = _logarithms(search, centre)
        past = [*past[-DEPTH:], (here, there - here)]
        if np.abs(there - here).max() <= STILL:
            return Status.STALLED
        found = search.visit(_weights(search, _extrapolated(past)))
        if found is not None and found.primal > centre.primal and len(past) > 1:
            past = past[-1:]
            found = search.visit(_weights(search, there))
        centre = found
    return status


def _logarithms(search: "WeightSearch", judged: "Judged") -> tuple[FloatArray, FloatArray]:
    """Log weights, and those optimal for the same w_m."""
    with np.errstate(divide="ignore"):
        here = np.maximum(np.log(judged.weights), LOWEST)
        sizes = 2.0 * here + np.log(np.maximum(judged.q, 0.0))
    there = np.maximum(sizes / (cast(float, search.allowed.p) + 1.0), LOWEST)
    return here, np.log(_weights(search, there))


def _weights(search: "WeightSearch", logarithms: FloatArray) -> FloatArray:
    found = np.exp(np.maximum(logarithms - logarithms.max(), LOWEST))
    return search.allowed.normalised(found)


def _extrapolated(past: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Anderson's mixture of the last steps, whose residuals cancel best."""
    here, residual = past[-1]
    if len(past) == 1:
        return here + residual
    places = np.array([here - before for before, _ in past[:-1]]).T
    residuals = np.array([residual - before for _, before in past[:-1]]).T
    shares = np.linalg.lstsq(residuals, residual, rcond=1e-10)[0]
    return here + residual - (places + residuals) @ shares
