"""Mercer: support vector machines and kernel methods, each answer with its proof.

Everything public is reached from here: ``from mercer import SVC``. Names are loaded
when they are first used (PEP 562), so that ``import mercer`` costs milliseconds and
``mercer --help`` never waits for a compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer._lazy import no_collection

if TYPE_CHECKING:  # the same index, for type checkers and editors
    from mercer import distributed as distributed
    from mercer import io as io
    from mercer import kernels as kernels
    from mercer import plot as plot
    from mercer import report as report
    from mercer import theory as theory
    from mercer._errors import CancelledError as CancelledError
    from mercer._errors import ClusterError as ClusterError
    from mercer._errors import DataError as DataError
    from mercer._errors import MercerError as MercerError
    from mercer._errors import MissingExtraError as MissingExtraError
    from mercer._errors import ModelFileError as ModelFileError
    from mercer._errors import NotPositiveSemidefiniteError as NotPositiveSemidefiniteError
    from mercer._errors import NotSeparableError as NotSeparableError
    from mercer._errors import ParameterError as ParameterError
    from mercer._errors import TimeLimitError as TimeLimitError
    from mercer._versions import show_versions as show_versions
    from mercer.estimators.conformal.conformal import Conformal as Conformal
    from mercer.estimators.kernel.density import KernelDensity as KernelDensity
    from mercer.estimators.kernel.features import Nystroem as Nystroem
    from mercer.estimators.kernel.features import RandomFourierFeatures as RandomFourierFeatures
    from mercer.estimators.kernel.fisher import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators.kernel.least_squares import KernelLeastSquares as KernelLeastSquares
    from mercer.estimators.kernel.logistic import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators.kernel.machine import KernelMachine as KernelMachine
    from mercer.estimators.kernel.pca import KernelPCA as KernelPCA
    from mercer.estimators.kernel.ridge import KernelRidge as KernelRidge
    from mercer.estimators.kernel.svd import KernelSVD as KernelSVD
    from mercer.estimators.linear.svc import LinearSVC as LinearSVC
    from mercer.estimators.linear.svr import LinearSVR as LinearSVR
    from mercer.estimators.low_rank.low_rank import LowRank as LowRank
    from mercer.estimators.mkl.classifier import MKLClassifier as MKLClassifier
    from mercer.estimators.mkl.one_class import MKLOneClassSVM as MKLOneClassSVM
    from mercer.estimators.mkl.regressor import MKLRegressor as MKLRegressor
    from mercer.estimators.online.kernel_perceptron import KernelPerceptron as KernelPerceptron
    from mercer.estimators.online.pegasos import PegasosSVC as PegasosSVC
    from mercer.estimators.online.perceptron import Perceptron as Perceptron
    from mercer.estimators.out_of_core.table_features import TableFeatures as TableFeatures
    from mercer.estimators.svm.analytic_center import AnalyticCenterMachine as AnalyticCenterMachine
    from mercer.estimators.svm.bayes_point import BayesPointMachine as BayesPointMachine
    from mercer.estimators.svm.hard_margin import HardMarginSVC as HardMarginSVC
    from mercer.estimators.svm.nu_svc import NuSVC as NuSVC
    from mercer.estimators.svm.nu_svr import NuSVR as NuSVR
    from mercer.estimators.svm.one_class import OneClassSVM as OneClassSVM
    from mercer.estimators.svm.ramp import RampSVC as RampSVC
    from mercer.estimators.svm.rank import RankSVM as RankSVM
    from mercer.estimators.svm.svc import SVC as SVC
    from mercer.estimators.svm.svdd import SVDD as SVDD
    from mercer.estimators.svm.svr import SVR as SVR
    from mercer.exchange.compress.compress import compress as compress
    from mercer.exchange.from_sklearn import from_sklearn as from_sklearn
    from mercer.exchange.model_file.save import load as load
    from mercer.exchange.model_file.save import save as save
    from mercer.exchange.onnx.export import to_onnx as to_onnx
    from mercer.exchange.text.liblinear import read_liblinear_model as read_liblinear_model
    from mercer.exchange.text.liblinear import write_liblinear_model as write_liblinear_model
    from mercer.exchange.text.libsvm import read_libsvm_model as read_libsvm_model
    from mercer.exchange.text.libsvm import write_libsvm_model as write_libsvm_model
    from mercer.exchange.text.svmlight import read_svmlight_model as read_svmlight_model
    from mercer.exchange.text.svmlight import write_svmlight_model as write_svmlight_model
    from mercer.explanation.contributions import explain as explain
    from mercer.explanation.polynomials import as_polynomial as as_polynomial
    from mercer.io.dataset import read_table as read_table
    from mercer.kernels.base.mercer_condition import mercer_check as mercer_check
    from mercer.kernels.graph.graph import Graph as Graph
    from mercer.kernels.tree.tree import Tree as Tree
    from mercer.problems.certificate import Certificate as Certificate
    from mercer.problems.distance import Distance as Distance
    from mercer.problems.losses.margin_losses import Loss as Loss
    from mercer.problems.losses.residual_losses import CustomLoss as CustomLoss
    from mercer.problems.losses.residual_losses import EpsilonInsensitive as EpsilonInsensitive
    from mercer.problems.losses.residual_losses import Huber as Huber
    from mercer.problems.losses.residual_losses import Pinball as Pinball
    from mercer.problems.losses.residual_losses import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
    from mercer.problems.regularization import Regularization as Regularization
    from mercer.selection.auto.classifier import AutoKernelClassifier as AutoKernelClassifier
    from mercer.selection.auto.regressor import AutoKernelRegressor as AutoKernelRegressor
    from mercer.selection.compare import compare_solvers as compare_solvers
    from mercer.selection.leave_one_out import LeaveOneOutScorer as LeaveOneOutScorer
    from mercer.selection.leave_one_out import WholeSample as WholeSample
    from mercer.selection.leave_one_out import leave_one_out as leave_one_out
    from mercer.selection.path import regularization_path as regularization_path
    from mercer.selection.preflight.preflight import preflight as preflight
    from mercer.selection.tuning.linear import LinearCV as LinearCV
    from mercer.selection.tuning.svc_cv import SVCCV as SVCCV
    from mercer.selection.tuning.svr_cv import SVRCV as SVRCV
    from mercer.solvers.result import Status as Status
    from mercer.workflow.describe import describe as describe

__version__ = "0.1.0"

_ROOMS = ("distributed", "io", "kernels", "plot", "report", "theory")
_HOME = {
    "AnalyticCenterMachine": "mercer.estimators.svm.analytic_center",
    "BayesPointMachine": "mercer.estimators.svm.bayes_point",
    "CancelledError": "mercer._errors",
    "Certificate": "mercer.problems.certificate",
    "ClusterError": "mercer._errors",
    "Conformal": "mercer.estimators.conformal.conformal",
    "Distance": "mercer.problems.distance",
    "CustomLoss": "mercer.problems.losses.residual_losses",
    "DataError": "mercer._errors",
    "EpsilonInsensitive": "mercer.problems.losses.residual_losses",
    "Graph": "mercer.kernels.graph.graph",
    "HardMarginSVC": "mercer.estimators.svm.hard_margin",
    "Huber": "mercer.problems.losses.residual_losses",
    "KernelLogisticRegression": "mercer.estimators.kernel.logistic",
    "KernelMachine": "mercer.estimators.kernel.machine",
    "KernelPerceptron": "mercer.estimators.online.kernel_perceptron",
    "LinearCV": "mercer.selection.tuning.linear",
    "LinearSVC": "mercer.estimators.linear.svc",
    "LinearSVR": "mercer.estimators.linear.svr",
    "Loss": "mercer.problems.losses.margin_losses",
    "KernelDensity": "mercer.estimators.kernel.density",
    "KernelFisherDiscriminant": "mercer.estimators.kernel.fisher",
    "KernelLeastSquares": "mercer.estimators.kernel.least_squares",
    "KernelPCA": "mercer.estimators.kernel.pca",
    "KernelRidge": "mercer.estimators.kernel.ridge",
    "KernelSVD": "mercer.estimators.kernel.svd",
    "MKLClassifier": "mercer.estimators.mkl.classifier",
    "MKLOneClassSVM": "mercer.estimators.mkl.one_class",
    "MKLRegressor": "mercer.estimators.mkl.regressor",
    "MercerError": "mercer._errors",
    "MissingExtraError": "mercer._errors",
    "ModelFileError": "mercer._errors",
    "NotPositiveSemidefiniteError": "mercer._errors",
    "NotSeparableError": "mercer._errors",
    "ParameterError": "mercer._errors",
    "RampSVC": "mercer.estimators.svm.ramp",
    "RankSVM": "mercer.estimators.svm.rank",
    "Nystroem": "mercer.estimators.kernel.features",
    "RandomFourierFeatures": "mercer.estimators.kernel.features",
    "LowRank": "mercer.estimators.low_rank.low_rank",
    "Perceptron": "mercer.estimators.online.perceptron",
    "PegasosSVC": "mercer.estimators.online.pegasos",
    "Pinball": "mercer.problems.losses.residual_losses",
    "Regularization": "mercer.problems.regularization",
    "SVC": "mercer.estimators.svm.svc",
    "SquaredEpsilonInsensitive": "mercer.problems.losses.residual_losses",
    "Status": "mercer.solvers.result",
    "NuSVC": "mercer.estimators.svm.nu_svc",
    "NuSVR": "mercer.estimators.svm.nu_svr",
    "OneClassSVM": "mercer.estimators.svm.one_class",
    "AutoKernelClassifier": "mercer.selection.auto.classifier",
    "AutoKernelRegressor": "mercer.selection.auto.regressor",
    "SVCCV": "mercer.selection.tuning.svc_cv",
    "SVDD": "mercer.estimators.svm.svdd",
    "SVR": "mercer.estimators.svm.svr",
    "SVRCV": "mercer.selection.tuning.svr_cv",
    "TableFeatures": "mercer.estimators.out_of_core.table_features",
    "TimeLimitError": "mercer._errors",
    "Tree": "mercer.kernels.tree.tree",
    "as_polynomial": "mercer.explanation.polynomials",
    "compress": "mercer.exchange.compress.compress",
    "describe": "mercer.workflow.describe",
    "explain": "mercer.explanation.contributions",
    "load": "mercer.exchange.model_file.save",
    "save": "mercer.exchange.model_file.save",
    "from_sklearn": "mercer.exchange.from_sklearn",
    "read_liblinear_model": "mercer.exchange.text.liblinear",
    "read_libsvm_model": "mercer.exchange.text.libsvm",
    "read_svmlight_model": "mercer.exchange.text.svmlight",
    "read_table": "mercer.io.dataset",
    "to_onnx": "mercer.exchange.onnx.export",
    "write_liblinear_model": "mercer.exchange.text.liblinear",
    "write_libsvm_model": "mercer.exchange.text.libsvm",
    "write_svmlight_model": "mercer.exchange.text.svmlight",
    "compare_solvers": "mercer.selection.compare",
    "LeaveOneOutScorer": "mercer.selection.leave_one_out",
    "WholeSample": "mercer.selection.leave_one_out",
    "leave_one_out": "mercer.selection.leave_one_out",
    "preflight": "mercer.selection.preflight.preflight",
    "regularization_path": "mercer.selection.path",
    "mercer_check": "mercer.kernels.base.mercer_condition",
    "show_versions": "mercer._versions",
}

__all__ = ["__version__", *_ROOMS, *_HOME]  # noqa: PLE0604 - the strings are in the index above


def __getattr__(name: str) -> Any:
    if name not in _ROOMS and name not in _HOME:
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")
    with no_collection():
        value = import_module(f"mercer.{name}") if name in _ROOMS else getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
