"""Plots of fitted models, as Display classes like scikit-learn's.

Matplotlib is optional and is imported only when something is drawn; every display is loaded when first
used. A new one adds its file, its test with a reference image, its gallery page and one line to each index below.
"""

from typing import TYPE_CHECKING, Any

from mercer._lazy import load

if TYPE_CHECKING:  # the same index, for type checkers and editors
    from mercer.plot.displays.calibration import CalibrationDisplay as CalibrationDisplay
    from mercer.plot.displays.convergence import ConvergenceDisplay as ConvergenceDisplay
    from mercer.plot.displays.decision_boundary import DecisionBoundaryDisplay as DecisionBoundaryDisplay
    from mercer.plot.displays.explanation import ExplanationDisplay as ExplanationDisplay
    from mercer.plot.displays.kernel_matrix import KernelMatrixDisplay as KernelMatrixDisplay
    from mercer.plot.displays.learning_curve import LearningCurveDisplay as LearningCurveDisplay
    from mercer.plot.displays.lift import LiftDisplay as LiftDisplay
    from mercer.plot.displays.losses import LossDisplay as LossDisplay
    from mercer.plot.displays.path import PathDisplay as PathDisplay
    from mercer.plot.displays.tube import TubeDisplay as TubeDisplay
    from mercer.plot.displays.tuning import TuningDisplay as TuningDisplay
    from mercer.plot.displays.version_space import VersionSpaceDisplay as VersionSpaceDisplay
    from mercer.plot.displays.weights import WeightsDisplay as WeightsDisplay

_INDEX = {
    "CalibrationDisplay": "displays.calibration",
    "ConvergenceDisplay": "displays.convergence",
    "DecisionBoundaryDisplay": "displays.decision_boundary",
    "ExplanationDisplay": "displays.explanation",
    "KernelMatrixDisplay": "displays.kernel_matrix",
    "LearningCurveDisplay": "displays.learning_curve",
    "LiftDisplay": "displays.lift",
    "LossDisplay": "displays.losses",
    "PathDisplay": "displays.path",
    "TubeDisplay": "displays.tube",
    "TuningDisplay": "displays.tuning",
    "VersionSpaceDisplay": "displays.version_space",
    "WeightsDisplay": "displays.weights",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_INDEX})
