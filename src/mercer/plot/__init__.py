"""Pictures of fitted models, as Display classes in scikit-learn's manner.

Matplotlib is an extra and is imported only when something is drawn.
"""

from mercer.plot.decision_boundary import DecisionBoundaryDisplay
from mercer.plot.version_space import VersionSpaceDisplay

__all__ = ["DecisionBoundaryDisplay", "VersionSpaceDisplay"]
