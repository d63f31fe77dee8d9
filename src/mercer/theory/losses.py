"""The losses by name, and how far a change of w can change each."""

from mercer._errors import ParameterError
from mercer.problems.losses import LOSSES
from mercer.theory.arguments import require_not_negative

__all__ = ["LOSSES", "lipschitz"]


def lipschitz(loss, rho, B=float("inf")):
    """Lipschitz constant of w -> loss(y <w, x>) over norm(x) <= rho and norm(w) <= B.

    Claim 15.6: the hinge loss of a row x is norm(x)-Lipschitz in w. In general the constant of the
    loss as a function of the margin, over the margins that are possible (of size at most rho B),
    is multiplied by rho. It is infinite for the 0-1 loss, and for the squared losses as
    long as B is.

    Parameters
    ----------
    loss : str
        A name in `theory.LOSSES`.
    rho : float
    B : float

    Examples
    --------
    >>> from mercer import theory
    >>> theory.lipschitz("hinge", rho=3.0), theory.lipschitz("ramp", rho=3.0)
    (3.0, 3.0)
    >>> theory.lipschitz("squared_hinge", rho=3.0), theory.lipschitz("squared_hinge", rho=3.0, B=1.0)
    (inf, 24.0)
    """
    require_not_negative(rho=rho)
    if not B >= 0:
        raise ParameterError(f"B must not be negative, got {B!r}")
    if loss not in LOSSES:
        raise ParameterError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    return 0.0 if rho == 0 else float(rho * LOSSES[loss].lipschitz(rho * B))
