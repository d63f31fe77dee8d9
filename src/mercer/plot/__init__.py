"""Pictures of fitted models, as Display classes in scikit-learn's manner.

Matplotlib is an extra and is imported only when something is drawn.
"""

from mercer.plot.decision_boundary import DecisionBoundaryDisplay

__all__ = ["DecisionBoundaryDisplay"]
