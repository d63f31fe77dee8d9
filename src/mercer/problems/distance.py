r"""How far a model restricted to some landmarks may be from the exact one.

With landmarks Z and :math:`\hat K = K_{XZ} (K_{ZZ} + \varepsilon I)^{-1} K_{ZX}`, which is at most K, the restricted
problem has the primal :math:`\hat P` and the dual :math:`\hat D`. Its function f has a norm of at most that of w, so
that :math:`P(f) \le \hat P`. Its dual coefficients :math:`\beta` are feasible for the exact dual too, which has there

.. math:: D(\beta) = \hat D(\beta) - \delta, \qquad \delta = \tfrac12\, \beta^\top (K - \hat K)\, \beta \ge 0,

and the exact optimum lies between: :math:`P(f) - P^* \le (\hat P - \hat D) + \delta`, own gap plus distance.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Distance:
    """What the restriction to landmarks may have cost, beyond the gap of the restricted problem.

    Attributes
    ----------
    value : float
        The exact objective of the model is above the exact optimum by no more than this and `certificate_.gap`.
    relative : float
        value / max(1, |primal|).
    method : {"exact", "sampled", "bounded"}
        Whether all support vectors were compared with each other, or some of them, drawn at random, with all; or
        none, if the fit ended early: norms of vectors alone give a bound, but a poor one.
    confidence : float
        1 unless some were drawn; then the probability, over the draws, that the value is a bound.
    n_rows : int
        Support vectors that were compared with all of them.

    Examples
    --------
    >>> from mercer.problems.distance import Distance
    >>> print(Distance(value=1.5, relative=0.015, method="exact", confidence=1.0, n_rows=400))
    distance 1.5 (relative 1.5e-02), exact
    """

    value: float
    relative: float
    method: str
    confidence: float
    n_rows: int

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return asdict(self)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        size = f"{self.value:.6g} (relative {self.relative:.1e})"
        if self.method == "exact":
            return f"distance {size}, exact"
        if self.method == "bounded":
            return f"distance at most {size}, from lengths alone, as the fit ended early"
        return f"distance at most {size}, from {self.n_rows} sampled rows, with confidence {100 * self.confidence:g}%"
