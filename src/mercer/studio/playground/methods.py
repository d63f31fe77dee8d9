"""The methods of the playground: how each is made from a scene, and which parameters it has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mercer
from mercer._errors import ParameterError
from mercer.studio.playground.scene import Scene

# Epochs after which a perceptron on data that cannot be separated has shown it.
EPOCHS = 100
# Seconds after which even a patient viewer wants an answer.
TIME_LIMIT = 8.0


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    title : str
    kind : {"classes", "region", "curve"}
        What is learnt: classes of points, the region where points are, or y as a function of x.
    parameters : tuple of str
        Parameters of the scene that it uses, beside the kernel.
    build : callable
        ``build(scene)`` gives the class of the estimator and its arguments.
    """

    title: str
    kind: str
    parameters: tuple[str, ...]
    build: Callable[[Scene], tuple[type[Any], dict[str, Any]]]

    def estimator(self, scene: Scene, **others: Any) -> Any:
        """The estimator, not yet fitted."""
        kind, arguments = self.build(scene)
        return kind(**arguments, **others)


def method_of(scene: Scene) -> Method:
    """The method that a scene asks for."""
    if scene.method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {scene.method!r}")
    return METHODS[scene.method]


def _perceptron(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.KernelPerceptron, {"kernel": scene.kernel, "fit_intercept": scene.bias != "none", "max_iter": EPOCHS}


def _hard(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.HardMarginSVC, {"kernel": scene.kernel, "bias": scene.bias}


def _soft(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.SVC, {"C": scene.numbers["C"], "kernel": scene.kernel, "bias": scene.bias}


def _squared(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.SVC, {
        "C": scene.numbers["C"],
        "kernel": scene.kernel,
        "bias": scene.bias,
        "loss": "squared_hinge",
    }


def _ramp(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.RampSVC, {"C": scene.numbers["C"], "kernel": scene.kernel, "bias": scene.bias}


def _nu(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.NuSVC, {"nu": scene.numbers["nu"], "kernel": scene.kernel}


def _one_class(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.OneClassSVM, {"nu": scene.numbers["nu"], "kernel": scene.kernel}


def _regression(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.SVR, {
        "C": scene.numbers["C"],
        "epsilon": scene.numbers["epsilon"],
        "kernel": scene.kernel,
        "bias": scene.bias,
    }


def _logistic(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.KernelLogisticRegression, {"C": scene.numbers["C"], "kernel": scene.kernel, "bias": scene.bias}


def _fisher(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.KernelFisherDiscriminant, {"alpha": scene.numbers["alpha"], "kernel": scene.kernel}


def _ridge(scene: Scene) -> tuple[type[Any], dict[str, Any]]:
    return mercer.KernelRidge, {"alpha": scene.numbers["alpha"], "kernel": scene.kernel}


METHODS = {
    "perceptron": Method("Perceptron", "classes", ("fit_intercept",), _perceptron),
    "hard": Method("Hard-SVM", "classes", ("bias",), _hard),
    "soft": Method("Soft-SVM", "classes", ("C", "bias"), _soft),
    "squared": Method("Soft-SVM, squared hinge", "classes", ("C", "bias"), _squared),
    "ramp": Method("Ramp loss", "classes", ("C", "bias"), _ramp),
    "nu": Method("nu-SVM", "classes", ("nu",), _nu),
    "logistic": Method("Kernel logistic", "classes", ("C", "bias"), _logistic),
    "fisher": Method("Fisher discriminant", "classes", ("alpha",), _fisher),
    "oneclass": Method("One-class SVM", "region", ("nu",), _one_class),
    "svr": Method("SVR", "curve", ("C", "epsilon", "bias"), _regression),
    "ridge": Method("Kernel ridge", "curve", ("alpha",), _ridge),
}
