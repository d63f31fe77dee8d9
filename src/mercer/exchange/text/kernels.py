"""The five kernels that LIBSVM and SVMlight share, by their numbers and names."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mercer._errors import DataError, MercerError, ParameterError
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.given.precomputed import Precomputed
from mercer.kernels.vector.linear import Linear
from mercer.kernels.vector.polynomial import Polynomial
from mercer.kernels.vector.rbf import RBF
from mercer.kernels.vector.sigmoid import Sigmoid

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

# Class, and which of degree, gamma and coef0 it takes.
KERNELS = {
    "linear": (Linear, ()),
    "polynomial": (Polynomial, ("degree", "gamma", "coef0")),
    "rbf": (RBF, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "precomputed": (Precomputed, ()),
}


def kernel_named(name: str, parameters: Mapping[str, Any], source: str) -> "Kernel":
    """The kernel with these parameters; errors mention `source`."""
    kind, wanted = KERNELS[name]
    missing = [each for each in wanted if each not in parameters]
    if missing:
        raise DataError(f"{source}: the {name} kernel needs {' and '.join(missing)}")
    try:
        return kind(**{each: parameters[each] for each in wanted})
    except MercerError as error:
        raise DataError(f"{source}: {error}") from error


def named(kernel: "Kernel", tool: str) -> tuple[float, str, dict[str, Any]]:
    """(factor, name, parameters) of a kernel that the tool knows: factor times the named one."""
    factor = 1.0
    while isinstance(kernel, Scaled):
        factor, kernel = factor * kernel.factor, kernel.kernel
    for name, (kind, wanted) in KERNELS.items():
        if type(kernel) is kind:
            return factor, name, {each: getattr(kernel, each) for each in wanted}
    raise ParameterError(
        f"{tool} has no kernel {kernel!r}; it has {', '.join(KERNELS)}, and positive multiples of them. "
        "ONNX takes more of them, a .mercer file all"
    )


def parameters_of(kernel: "Kernel") -> dict[str, Any]:
    """Estimator parameters for this kernel."""
    _, name, parameters = named(kernel, "scikit-learn")
    return {"kernel": "poly" if name == "polynomial" else name, **parameters}
