"""Random options of each estimator."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.campaign.rows import choose, log_uniform
from tests.oracles.exact_conditions import RESIDUAL


@dataclass(frozen=True)
class Draw:
    """How the options and the data of an estimator are drawn."""

    target: Callable  # of a generator: "labels", "targets" or None
    options: Callable  # of a generator, what `target` gave and the number of rows
    weighted: bool = True
    kernels: str = "one"  # "pairwise": functions are of two items; "several": a list of values

    def named(self, parameters):
        """The parameters of a kernel, as this estimator takes them."""
        return dict(parameters)


def C(rng):
    """Sane mostly."""
    return log_uniform(rng, -2, 3) if rng.random() < 0.75 else log_uniform(rng, -6, 10)


def tol(rng):
    """The default mostly, else down to 1e-9."""
    return {} if rng.random() < 0.4 else {"tol": log_uniform(rng, -9, -2)}


def bias(rng):
    """free, penalised or none."""
    return {"bias": choose(rng, free=3, penalized=1, none=1)}


def _classes(rng):
    """A weight of classes, and how several classes are told apart."""
    found = {"multi_class": choose(rng, ovo=3, ovr=1), "decision_function_shape": "ovo"}
    if found["multi_class"] == "ovr":
        found.pop("decision_function_shape")
    if rng.random() < 0.12:
        found["class_weight"] = "balanced"
    return found


def _svc(rng, *_):
    solver = choose(rng, auto=8, smo=1, chunking=0.7, qp=0.7, dual_cd=0.7, sgd=0.7)
    found = {"C": C(rng), **tol(rng), **bias(rng), **_classes(rng), "loss": choose(rng, hinge=4, squared_hinge=1)}
    if solver != "auto" and not (solver == "dual_cd" and found["bias"] == "free"):
        found["solver"] = solver
    if rng.random() < 0.05:
        found.update(multi_class="crammer_singer", loss="hinge", solver="auto")
        found.pop("decision_function_shape", None)
    if rng.random() < 0.05:
        found["gap_tol"] = log_uniform(rng, -8, -2)
    return found


def _nu_svc(rng, *_):
    found = {"nu": float(rng.uniform(0.02, 0.6)), **tol(rng), **_classes(rng)}
    found.pop("class_weight", None)
    return found


def _linear_svc(rng, *_):
    found = {"C": C(rng), **tol(rng), "bias": choose(rng, penalized=3, free=1, none=1)}
    found["loss"] = choose(rng, squared_hinge=2, hinge=1)
    if rng.random() < 0.15:
        found.update(penalty="l1", loss="squared_hinge")
    elif rng.random() < 0.1 and found["bias"] != "free":
        found["multi_class"] = "crammer_singer"
    elif rng.random() < 0.4:
        found["solver"] = choose(rng, dual_cd=1, newton=1)
    if rng.random() < 0.2:
        found["intercept_scaling"] = log_uniform(rng, -1, 2)
    return found


def _linear_svr(rng, *_):
    found = {"C": C(rng), **tol(rng), "bias": choose(rng, penalized=3, free=1, none=1)}
    found["loss"] = choose(rng, epsilon_insensitive=1, squared_epsilon_insensitive=1)
    found["epsilon"] = float(rng.choice([0.0, 0.1, 1.0]))
    return found


def _hard(rng, *_):
    return {**tol(rng), **bias(rng), "multi_class": choose(rng, ovo=3, ovr=1), "decision_function_shape": "ovo"}


def _ramp(rng, *_):
    return {"C": C(rng), **tol(rng), **bias(rng), **_classes(rng), "s": float(rng.choice([0.0, -1.0, 0.5, -0.3]))}


def _perceptron(rng, *_):
    return {"method": choose(rng, online=2, averaged=1, batch=1), "max_iter": int(rng.integers(1, 60))}


def _pegasos(rng, *_):
    return {
        "alpha": log_uniform(rng, -4, 0),
        "T": int(rng.integers(1, 300)),
        "average": bool(rng.random() < 0.7),
        "bias": choose(rng, penalized=2, none=1),
    }


def _logistic(rng, *_):
    found = {"C": C(rng), **tol(rng), **bias(rng)}
    return found | {"class_weight": "balanced"} if rng.random() < 0.1 else found


def _fisher(rng, *_):
    return {"alpha": log_uniform(rng, -4, 2)}


def _kernel_machine(rng, kind, _):
    found = {"alpha": log_uniform(rng, -4, 3), **tol(rng), **bias(rng)}
    if kind == "targets":
        return found | {"loss": str(rng.choice(list(RESIDUAL)))}
    found |= {"loss": choose(rng, hinge=1, squared_hinge=1, logistic=2, exponential=1)}
    return found | {"multi_class": choose(rng, ovo=2, ovr=1), "decision_function_shape": "ovo"}


def _bayes(rng, *_):
    return {"slack": log_uniform(rng, -2, 1), "n_draws": 50, "min_ess": 1, "random_state": 0, "max_iter": 2000}


def _analytic(rng, *_):
    return {"slack": log_uniform(rng, -2, 1), **tol(rng), "bias": choose(rng, penalized=2, none=1)}


def _mkl(rng, *_):
    method = choose(rng, simple=3, **{"lp-norm": 2}, easy=1, alignment=1, centered_alignment=1, average=1)
    found = {"method": method, "C": C(rng), **bias(rng), "loss": choose(rng, hinge=3, squared_hinge=1)}
    return found | {"p": float(rng.uniform(1.1, 4.0)), "decision_function_shape": "ovo"}


def _mkl_regressor(rng, *_):
    method = choose(rng, simple=3, **{"lp-norm": 2}, alignment=1, average=1)
    return {"method": method, "C": C(rng), **bias(rng), "p": float(rng.uniform(1.1, 4.0))}


def _mkl_one_class(rng, *_):
    return {"method": choose(rng, simple=2, **{"lp-norm": 1}, average=1), "nu": float(rng.uniform(0.02, 1.0))}


def _svr(rng, *_):
    return {"C": C(rng), **tol(rng), **bias(rng), "epsilon": float(rng.choice([0.0, 0.01, 0.1, 1.0]))}


def _nu_svr(rng, *_):
    return {"C": C(rng), **tol(rng), "nu": float(rng.uniform(0.02, 1.0))}


def _ridge(rng, *_):
    found = {"alpha": log_uniform(rng, -6, 4)}
    return found | {"solver": "cg"} if rng.random() < 0.2 else found


def _one_class(rng, *_):
    return {"nu": float(rng.uniform(0.01, 1.0)), **tol(rng)}


def _svdd(rng, *_):
    return {"nu": float(rng.choice([0.0, rng.uniform(0.01, 1.0)])), **tol(rng)}


def _density(rng, *_):
    names = dict.fromkeys(("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"), 1)
    return {"kernel": choose(rng, **names), "bandwidth": log_uniform(rng, -1, 1.5)}


def _components(rng, _, n):
    return {"n_components": int(rng.integers(1, min(n, 8) + 1))}


def _rank(rng, *_):
    return {"C": log_uniform(rng, -4, 4), **tol(rng), "loss": choose(rng, squared_hinge=2, hinge=1)}


def _tuned(rng, *_):
    return {"Cs": [float(c) for c in 10.0 ** rng.uniform(-1, 2, size=2)], "gammas": [0.5], "cv": 3, "refit": True}


def _labels(_):
    return "labels"


def _targets(_):
    return "targets"


def _none(_):
    return None


def _either(rng):
    return "labels" if rng.random() < 0.5 else "targets"


DRAWS = {
    "SVC": Draw(_labels, _svc),
    "NuSVC": Draw(_labels, _nu_svc),
    "LinearSVC": Draw(_labels, _linear_svc),
    "HardMarginSVC": Draw(_labels, _hard, weighted=False),
    "RampSVC": Draw(_labels, _ramp),
    "Perceptron": Draw(_labels, _perceptron, weighted=False),
    "KernelPerceptron": Draw(_labels, _perceptron, weighted=False),
    "PegasosSVC": Draw(_labels, _pegasos),
    "KernelLogisticRegression": Draw(_labels, _logistic),
    "KernelFisherDiscriminant": Draw(_labels, _fisher, weighted=False, kernels="pairwise"),
    "KernelMachine": Draw(_either, _kernel_machine),
    "BayesPointMachine": Draw(_labels, _bayes, weighted=False),
    "AnalyticCenterMachine": Draw(_labels, _analytic, weighted=False),
    "MKLClassifier": Draw(_labels, _mkl, kernels="several"),
    "SVCCV": Draw(_labels, _tuned, kernels="tuned"),
    "SVR": Draw(_targets, _svr),
    "NuSVR": Draw(_targets, _nu_svr),
    "LinearSVR": Draw(_targets, _linear_svr),
    "KernelRidge": Draw(_targets, _ridge, kernels="pairwise"),
    "KernelLeastSquares": Draw(_targets, lambda *_: {}, kernels="pairwise"),
    "MKLRegressor": Draw(_targets, _mkl_regressor, kernels="several"),
    "SVRCV": Draw(_targets, _tuned, kernels="tuned"),
    "OneClassSVM": Draw(_none, _one_class),
    "SVDD": Draw(_none, _svdd),
    "MKLOneClassSVM": Draw(_none, _mkl_one_class, kernels="several"),
    "KernelDensity": Draw(_none, _density, kernels="own"),
    "KernelPCA": Draw(_none, _components, weighted=False, kernels="pairwise"),
    "KernelSVD": Draw(_none, _components, weighted=False, kernels="pairwise"),
    "RankSVM": Draw(_targets, _rank),
}
# Machines of the rows themselves, of distances, or with a kernel of the search's.
LINEAR = ("LinearSVC", "LinearSVR", "Perceptron", "KernelDensity", "SVCCV", "SVRCV")
SHARES = dict.fromkeys(DRAWS, 2.0) | {
    "SVC": 12.0,
    "SVR": 6.0,
    "NuSVC": 3.0,
    "LinearSVC": 4.0,
    "KernelMachine": 4.0,
    "BayesPointMachine": 0.2,
    "SVCCV": 0.3,
    "SVRCV": 0.3,
    "MKLClassifier": 1.5,
}
