"""Which kernel a name stands for: scikit-learn's strings, a Kernel, or a function."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import Custom, Precomputed

# Each name: the file under `vector`, the class, and the parameters it takes.
_VECTOR_NAMES = {
    "linear": ("linear", "Linear", ()),
    "poly": ("polynomial", "Polynomial", ("degree", "gamma", "coef0")),
    "polynomial": ("polynomial", "Polynomial", ("degree", "gamma", "coef0")),
    "rbf": ("rbf", "RBF", ("gamma",)),
    "sigmoid": ("sigmoid", "Sigmoid", ("gamma", "coef0")),
    "laplacian": ("laplacian", "Laplacian", ("gamma",)),
    "cosine": ("cosine", "Cosine", ()),
    "chi2": ("chi_squared", "ChiSquared", ("gamma",)),
}

NAMES = (*_VECTOR_NAMES, "precomputed")


def resolve(
    kernel: str | Kernel | Callable[..., Any],
    gamma: float | str = "scale",
    degree: float = 3,
    coef0: float = 0.0,
    X: Rows | None = None,
    weights: FloatArray | None = None,
) -> Kernel:
    """The kernel that `kernel` stands for, bound to the rows X when they are given.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of scikit-learn's names, a kernel, or ``function(X, Y)`` returning a matrix.
    gamma, degree, coef0
        Parameters of the named kernels that have them; a `Kernel` has its own.
    X : array-like, optional
        Training rows, which fix "scale" and "auto".
    weights : ndarray, optional
        How often each row counts.

    Examples
    --------
    >>> from mercer.kernels import resolve
    >>> resolve("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5, coef0=0.0)
    >>> resolve("rbf", gamma="auto", X=[[1.0, 2.0]])
    RBF(gamma=0.5)
    """
    found = _unbound(kernel, {"gamma": gamma, "degree": degree, "coef0": coef0})
    return found if X is None else found.bind(X, weights)


def _unbound(kernel: str | Kernel | Callable[..., Any], parameters: Mapping[str, Any]) -> Kernel:
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return _named(kernel, parameters)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ParameterError(f"kernel must be a Kernel, got the class {kernel.__name__}; write {kernel.__name__}()")
    if callable(kernel):
        return Custom(kernel)
    raise ParameterError(f"kernel must be a name, a Kernel or a function, got {kernel!r}; names: {', '.join(NAMES)}")


def _named(name: str, parameters: Mapping[str, Any]) -> Kernel:
    if name == "precomputed":
        return Precomputed()
    if name not in _VECTOR_NAMES:
        raise ParameterError(f"kernel must be one of {', '.join(NAMES)}, got {name!r}{_suggestion(name)}")
    file, kind, wanted = _VECTOR_NAMES[name]
    cls = getattr(import_module(f"mercer.kernels.vector.{file}"), kind)
    return cls(**{key: parameters[key] for key in wanted})


def _suggestion(name: str) -> str:
    if name == "additive_chi2":
        return '; it is not positive semidefinite, "chi2" is its exponential'
    close = get_close_matches(name.lower(), NAMES, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def takes_parameter(name: str, parameter: str) -> bool:
    """Whether the kernel of a name has a parameter: gamma, degree or coef0.

    Examples
    --------
    >>> from mercer.kernels.notation.sklearn_names import takes_parameter
    >>> takes_parameter("rbf", "gamma"), takes_parameter("linear", "gamma")
    (True, False)
    """
    return parameter in _VECTOR_NAMES.get(name, ("", "", ()))[2]
