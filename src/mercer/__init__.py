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
    from mercer._errors import CancelledError as CancelledError
    from mercer._errors import DataError as DataError
    from mercer._errors import MercerError as MercerError
    from mercer._errors import MissingExtraError as MissingExtraError
    from mercer._errors import ModelFileError as ModelFileError
    from mercer._errors import NotPositiveSemidefiniteError as NotPositiveSemidefiniteError
    from mercer._errors import NotSeparableError as NotSeparableError
    from mercer._errors import ParameterError as ParameterError
    from mercer._errors import TimeLimitError as TimeLimitError
    from mercer._versions import show_versions as show_versions
    from mercer.estimators.centres import AnalyticCentreMachine as AnalyticCentreMachine
    from mercer.estimators.centres import BayesPointMachine as BayesPointMachine
    from mercer.estimators.classify import SVC as SVC
    from mercer.estimators.density import KernelDensity as KernelDensity
    from mercer.estimators.detect import SVDD as SVDD
    from mercer.estimators.detect import OneClassSVM as OneClassSVM
    from mercer.estimators.fisher import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators.hard_margin import HardMarginSVC as HardMarginSVC
    from mercer.estimators.kernel_logistic import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators.kernel_machine import KernelMachine as KernelMachine
    from mercer.estimators.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from mercer.estimators.least_squares import KernelLeastSquares as KernelLeastSquares
    from mercer.estimators.linear import LinearSVC as LinearSVC
    from mercer.estimators.linear_regress import LinearSVR as LinearSVR
    from mercer.estimators.nu_classify import NuSVC as NuSVC
    from mercer.estimators.pegasos import PegasosSVC as PegasosSVC
    from mercer.estimators.perceptron import Perceptron as Perceptron
    from mercer.estimators.ramp import RampSVC as RampSVC
    from mercer.estimators.rank import RankSVM as RankSVM
    from mercer.estimators.reduce import KernelPCA as KernelPCA
    from mercer.estimators.reduce import KernelSVD as KernelSVD
    from mercer.estimators.regress import SVR as SVR
    from mercer.estimators.regress import NuSVR as NuSVR
    from mercer.estimators.ridge import KernelRidge as KernelRidge
    from mercer.exchange.compress import compress as compress
    from mercer.exchange.from_sklearn import from_sklearn as from_sklearn
    from mercer.exchange.liblinear import read_liblinear_model as read_liblinear_model
    from mercer.exchange.liblinear import write_liblinear_model as write_liblinear_model
    from mercer.exchange.libsvm import read_libsvm_model as read_libsvm_model
    from mercer.exchange.libsvm import write_libsvm_model as write_libsvm_model
    from mercer.exchange.onnx_model import to_onnx as to_onnx
    from mercer.exchange.saving import load as load
    from mercer.exchange.saving import save as save
    from mercer.exchange.svmlight_model import read_svmlight_model as read_svmlight_model
    from mercer.exchange.svmlight_model import write_svmlight_model as write_svmlight_model
    from mercer.explanation.contributions import explain as explain
    from mercer.explanation.polynomials import as_polynomial as as_polynomial
    from mercer.kernels.graph.graph import Graph as Graph
    from mercer.kernels.mercer_condition import mercer_check as mercer_check
    from mercer.kernels.tree.tree import Tree as Tree
    from mercer.problems.certificate import Certificate as Certificate
    from mercer.problems.losses import Loss as Loss
    from mercer.problems.regularization import Regularization as Regularization
    from mercer.problems.residual_losses import CustomLoss as CustomLoss
    from mercer.problems.residual_losses import EpsilonInsensitive as EpsilonInsensitive
    from mercer.problems.residual_losses import Huber as Huber
    from mercer.problems.residual_losses import Pinball as Pinball
    from mercer.problems.residual_losses import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
    from mercer.selection.compare import compare_solvers as compare_solvers
    from mercer.selection.leave_one_out import LeaveOneOutScorer as LeaveOneOutScorer
    from mercer.selection.leave_one_out import WholeSample as WholeSample
    from mercer.selection.leave_one_out import leave_one_out as leave_one_out
    from mercer.selection.mkl import MKLClassifier as MKLClassifier
    from mercer.selection.mkl_detect import MKLOneClassSVM as MKLOneClassSVM
    from mercer.selection.mkl_regress import MKLRegressor as MKLRegressor
    from mercer.selection.preflight import preflight as preflight
    from mercer.selection.regularization_path import regularization_path as regularization_path
    from mercer.selection.tune import SVCCV as SVCCV
    from mercer.selection.tune import SVRCV as SVRCV
    from mercer.solvers.result import Status as Status

__version__ = "0.1.0"

_ROOMS = ("kernels", "plot", "theory")
_HOME = {
    "AnalyticCentreMachine": "mercer.estimators.centres",
    "BayesPointMachine": "mercer.estimators.centres",
    "CancelledError": "mercer._errors",
    "Certificate": "mercer.problems.certificate",
    "CustomLoss": "mercer.problems.residual_losses",
    "DataError": "mercer._errors",
    "EpsilonInsensitive": "mercer.problems.residual_losses",
    "Graph": "mercer.kernels.graph.graph",
    "HardMarginSVC": "mercer.estimators.hard_margin",
    "Huber": "mercer.problems.residual_losses",
    "KernelLogisticRegression": "mercer.estimators.kernel_logistic",
    "KernelMachine": "mercer.estimators.kernel_machine",
    "KernelPerceptron": "mercer.estimators.kernel_perceptron",
    "LinearSVC": "mercer.estimators.linear",
    "LinearSVR": "mercer.estimators.linear_regress",
    "Loss": "mercer.problems.losses",
    "KernelDensity": "mercer.estimators.density",
    "KernelFisherDiscriminant": "mercer.estimators.fisher",
    "KernelLeastSquares": "mercer.estimators.least_squares",
    "KernelPCA": "mercer.estimators.reduce",
    "KernelRidge": "mercer.estimators.ridge",
    "KernelSVD": "mercer.estimators.reduce",
    "MKLClassifier": "mercer.selection.mkl",
    "MKLOneClassSVM": "mercer.selection.mkl_detect",
    "MKLRegressor": "mercer.selection.mkl_regress",
    "MercerError": "mercer._errors",
    "MissingExtraError": "mercer._errors",
    "ModelFileError": "mercer._errors",
    "NotPositiveSemidefiniteError": "mercer._errors",
    "NotSeparableError": "mercer._errors",
    "ParameterError": "mercer._errors",
    "RampSVC": "mercer.estimators.ramp",
    "RankSVM": "mercer.estimators.rank",
    "Perceptron": "mercer.estimators.perceptron",
    "PegasosSVC": "mercer.estimators.pegasos",
    "Pinball": "mercer.problems.residual_losses",
    "Regularization": "mercer.problems.regularization",
    "SVC": "mercer.estimators.classify",
    "SquaredEpsilonInsensitive": "mercer.problems.residual_losses",
    "Status": "mercer.solvers.result",
    "NuSVC": "mercer.estimators.nu_classify",
    "NuSVR": "mercer.estimators.regress",
    "OneClassSVM": "mercer.estimators.detect",
    "SVCCV": "mercer.selection.tune",
    "SVDD": "mercer.estimators.detect",
    "SVR": "mercer.estimators.regress",
    "SVRCV": "mercer.selection.tune",
    "TimeLimitError": "mercer._errors",
    "Tree": "mercer.kernels.tree.tree",
    "as_polynomial": "mercer.explanation.polynomials",
    "compress": "mercer.exchange.compress",
    "explain": "mercer.explanation.contributions",
    "load": "mercer.exchange.saving",
    "save": "mercer.exchange.saving",
    "from_sklearn": "mercer.exchange.from_sklearn",
    "read_liblinear_model": "mercer.exchange.liblinear",
    "read_libsvm_model": "mercer.exchange.libsvm",
    "read_svmlight_model": "mercer.exchange.svmlight_model",
    "to_onnx": "mercer.exchange.onnx_model",
    "write_liblinear_model": "mercer.exchange.liblinear",
    "write_libsvm_model": "mercer.exchange.libsvm",
    "write_svmlight_model": "mercer.exchange.svmlight_model",
    "compare_solvers": "mercer.selection.compare",
    "LeaveOneOutScorer": "mercer.selection.leave_one_out",
    "WholeSample": "mercer.selection.leave_one_out",
    "leave_one_out": "mercer.selection.leave_one_out",
    "preflight": "mercer.selection.preflight",
    "regularization_path": "mercer.selection.regularization_path",
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
