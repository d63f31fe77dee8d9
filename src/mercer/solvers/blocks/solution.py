"""The solution of one machine over blocks, and its certificate if the steps were cut short."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._types import FloatArray
from mercer.problems.certificate import Certificate
from mercer.solvers.result import Status, TracePoint


@dataclass
class BlockSolution:
    """Weights and bias with the dual coefficients that prove them.

    Attributes
    ----------
    w : ndarray (m,)
        In coordinates in which the penalty is |w|^2 / 2.
    coefficients : ndarray (m,)
        v, which multiplies the features; w itself without a factor.
    bias : float
    beta : ndarray (n,)
        Signed dual coefficients, inside their box.
    status : Status
    iterations : int
        Newton steps.
    certificate : Certificate or None
        By a last pass in double precision; where the fit was ended before that, by the sums of whole passes, and None
        where there has been none.
    trace : list of TracePoint
        Its `violation` is the relative duality gap.
    width : float
        How far the losses were rounded at the end.
    image : ndarray (m,) or None
        sum_i beta_i phi_i in the coordinates of w, in double precision: known where there is a certificate of all rows.
    """

    w: FloatArray
    coefficients: FloatArray
    bias: float
    beta: FloatArray
    status: Status
    iterations: int
    certificate: Certificate | None
    trace: list[TracePoint] = field(default_factory=list)
    width: float = 0.0
    image: FloatArray | None = None


def by_sums(primal: float, dual: float, n: int, moving: int, idle: int, precision: "np.dtype[Any]") -> Certificate:
    """The certificate of a machine stopped during a pass, from the sums of earlier passes.

    Any dual value bounds the minimum from below, so the gap is valid; conditions of single rows are unknown.
    """
    words = "single" if precision == np.float32 else "double"
    return Certificate.of(
        primal,
        dual,
        kkt_violation=np.inf,
        equality_residual=0.0,
        box_violation=0.0,
        n_free=moving,
        n_bounded=max(0, n - moving - idle),
        n_zero=idle,
        basis=f"the fit was stopped during a pass: both objectives are sums of the passes before it, in {words} "
        "precision, and the conditions of single rows were not examined",
    )
