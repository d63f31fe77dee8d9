"""Resolving a kernel argument: scikit-learn's names, an expression, a Kernel, or a function."""

from collections.abc import Callable, Mapping
from typing import Any

from mercer import kernels  # loads its names when first used
from mercer._errors import ParameterError
from mercer._types import FloatArray, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import Custom, Precomputed
from mercer.kernels.notation.parse import parse

# Each name: the class, and the parameters it takes.
_VECTOR_NAMES = {
    "linear": ("Linear", ()),
    "poly": ("Polynomial", ("degree", "gamma", "coef0")),
    "polynomial": ("Polynomial", ("degree", "gamma", "coef0")),
    "rbf": ("RBF", ("gamma",)),
    "sigmoid": ("Sigmoid", ("gamma", "coef0")),
    "laplacian": ("Laplacian", ("gamma",)),
    "cosine": ("Cosine", ()),
    "chi2": ("ChiSquared", ("gamma",)),
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
    """Resolve `kernel` to a Kernel, bound to the rows X if they are given.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of scikit-learn's names, an expression as `parse` reads it, a kernel, or
        ``function(X, Y)`` returning a matrix.
    gamma, degree, coef0
        Parameters of kernels named without them; a `Kernel` has its own.
    X : array-like, optional
        Training rows, which determine "scale" and "auto".
    weights : ndarray, optional
        How often each row counts.

    Examples
    --------
    >>> from mercer.kernels import resolve
    >>> resolve("poly", gamma=0.5, degree=2)
    Polynomial(degree=2, gamma=0.5, coef0=0.0)
    >>> resolve("rbf", gamma="auto", X=[[1.0, 2.0]])
    RBF(gamma=0.5)
    >>> resolve("rbf + linear", gamma=0.5)
    RBF(gamma=0.5) + Linear()
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
    raise ParameterError(
        f"kernel must be a name, an expression, a Kernel or a function, got {kernel!r}; names: {', '.join(NAMES)}"
    )


def _named(name: str, parameters: Mapping[str, Any]) -> Kernel:
    if name == "precomputed":
        return Precomputed()
    if name not in _VECTOR_NAMES:
        return _expressed(name, parameters)
    kind, wanted = _VECTOR_NAMES[name]
    return getattr(kernels, kind)(**{key: parameters[key] for key in wanted})


def _expressed(text: str, parameters: Mapping[str, Any]) -> Kernel:
    if text == "additive_chi2":
        raise ParameterError("kernel 'additive_chi2' is not positive semidefinite; use \"chi2\", its exponential")
    return parse(text, **parameters)


def from_text(kernel: Any) -> Any:
    """The kernel of an expression; anything else, and every plain name, is returned unchanged.

    For use where only the kind of a kernel matters, not the gamma that an estimator adds. Text that is not an
    expression remains text: `resolve` raises the error.

    Examples
    --------
    >>> from mercer.kernels.notation.sklearn_names import from_text
    >>> from_text("spectrum(k=4)"), from_text("rbf")
    (Spectrum(length=4), 'rbf')
    """
    if not isinstance(kernel, str) or kernel in (*NAMES, "auto"):
        return kernel
    try:
        return _expressed(kernel, {})
    except ParameterError:
        return kernel


def takes_parameter(text: str, parameter: str) -> bool:
    """Whether the kernel of a name or an expression leaves a parameter open: gamma, degree or coef0.

    Examples
    --------
    >>> from mercer.kernels.notation.sklearn_names import takes_parameter
    >>> takes_parameter("rbf", "gamma"), takes_parameter("linear", "gamma")
    (True, False)
    >>> takes_parameter("rbf + linear", "gamma"), takes_parameter("rbf(gamma=2) + linear", "gamma")
    (True, False)
    """
    if text in NAMES or text == "auto":
        return parameter in _VECTOR_NAMES.get(text, ("", ()))[1]
    return _expressed(text, {parameter: 1}) != _expressed(text, {parameter: 2})
