"""Mercer: support vector machines and kernel methods, each answer with its proof.

Everything public is reached from here: ``from mercer import SVC``. Names are loaded
when they are first used (PEP 562), so that ``import mercer`` costs milliseconds and
``mercer --help`` never waits for a compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same index, for type checkers and editors
    from mercer import kernels as kernels
    from mercer import plot as plot
    from mercer import theory as theory
    from mercer._errors import DataError as DataError
    from mercer._errors import MercerError as MercerError
    from mercer._errors import MissingExtraError as MissingExtraError
    from mercer._errors import NotPositiveSemidefiniteError as NotPositiveSemidefiniteError
    from mercer._errors import NotSeparableError as NotSeparableError
    from mercer._errors import ParameterError as ParameterError
    from mercer._versions import show_versions as show_versions
    from mercer.estimators.centres import AnalyticCentreMachine as AnalyticCentreMachine
    from mercer.estimators.centres import BayesPointMachine as BayesPointMachine
    from mercer.estimators.classify import SVC as SVC
    from mercer.estimators.hard_margin import HardMarginSVC as HardMarginSVC
    from mercer.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from mercer.estimators.linear import LinearSVC as LinearSVC
    from mercer.estimators.linear import LinearSVR as LinearSVR
    from mercer.estimators.pegasos import PegasosSVC as PegasosSVC
    from mercer.estimators.perceptron import Perceptron as Perceptron
    from mercer.estimators.ramp import RampSVC as RampSVC
    from mercer.explanation.contributions import explain as explain
    from mercer.kernels.mercer_condition import mercer_check as mercer_check
    from mercer.problems.certificate import Certificate as Certificate
    from mercer.problems.regularization import Regularization as Regularization
    from mercer.selection.compare import compare_solvers as compare_solvers
    from mercer.solvers.result import Status as Status

__version__ = "0.1.0"

_ROOMS = ("kernels", "plot", "theory")
_HOME = {
    "AnalyticCentreMachine": "mercer.estimators.centres",
    "BayesPointMachine": "mercer.estimators.centres",
    "Certificate": "mercer.problems.certificate",
    "DataError": "mercer._errors",
    "HardMarginSVC": "mercer.estimators.hard_margin",
    "KernelPerceptron": "mercer.estimators.kernel_perceptron",
    "LinearSVC": "mercer.estimators.linear",
    "LinearSVR": "mercer.estimators.linear",
    "MercerError": "mercer._errors",
    "MissingExtraError": "mercer._errors",
    "NotPositiveSemidefiniteError": "mercer._errors",
    "NotSeparableError": "mercer._errors",
    "ParameterError": "mercer._errors",
    "RampSVC": "mercer.estimators.ramp",
    "Perceptron": "mercer.estimators.perceptron",
    "PegasosSVC": "mercer.estimators.pegasos",
    "Regularization": "mercer.problems.regularization",
    "SVC": "mercer.estimators.classify",
    "Status": "mercer.solvers.result",
    "explain": "mercer.explanation.contributions",
    "compare_solvers": "mercer.selection.compare",
    "mercer_check": "mercer.kernels.mercer_condition",
    "show_versions": "mercer._versions",
}

__all__ = ["__version__", *_ROOMS, *_HOME]  # noqa: PLE0604 - the strings are in the index above


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        value = import_module(f"mercer.{name}")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
