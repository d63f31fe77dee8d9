"""A kernel as text that recreates it: Python, which `mercer.kernels.parse` also reads.

This is the `repr` of every kernel. The algebra is written with operators wherever they give back the same kernel, and
as a call where they would not: a multiple of a multiple, a sum within a sum.
"""

import dataclasses
from typing import Any

from mercer.kernels.base.parameters import GammaFromData, Parameters, is_number

# How tightly the outermost operator of an expression binds.
_SUM, _PRODUCT, _POWER, _POSTFIX = range(4)


def written(kernel: Any) -> str:
    """The text of a kernel, such as ``RBF(gamma=0.1) + 2 * Linear()``.

    Functions are written by name, and graphs and training rows are summarised: such text is only for reading.
    """
    return _expression(kernel)[0]


def _expression(kernel: Any) -> tuple[str, int]:
    """(text, how tightly its outermost operator binds)."""
    kind = type(kernel).__name__
    if kind == "Sum" and _is_made_by_sign(kernel):
        first, *others = kernel.kernels
        return " + ".join([_part(first, _PRODUCT), *map(_added, others)]), _SUM
    if kind == "Product" and _is_made_by_sign(kernel):
        return " * ".join(_part(each, _POWER) for each in kernel.kernels), _PRODUCT
    if kind == "Scaled" and type(kernel.kernel) is not type(kernel):
        return f"{_literal(kernel.factor)} * {_part(kernel.kernel, _POWER)}", _PRODUCT
    if kind == "Power":
        return f"{_part(kernel.kernel, _POSTFIX)} ** {_literal(kernel.exponent)}", _POWER
    if kind == "Normalized":
        return f"{_part(kernel.kernel, _POSTFIX)}.normalized()", _POSTFIX
    if kind == "Centered" and kernel.reference is None:
        return f"{_part(kernel.kernel, _POSTFIX)}.centered()", _POSTFIX
    return _call(kernel, kind), _POSTFIX


def _is_made_by_sign(kernel: Any) -> bool:
    """Whether + or * between the parts makes this kernel, and not a flatter one."""
    return len(kernel.kernels) > 1 and not any(type(each) is type(kernel) for each in kernel.kernels)


def _part(kernel: Any, at_least: int) -> str:
    text, binding = _expression(kernel)
    return text if binding >= at_least else f"({text})"


def _added(kernel: Any) -> str:
    """A later term of a sum: a number is a constant kernel, except 0, which would vanish."""
    if type(kernel).__name__ == "Constant" and kernel.value != 0:
        return _literal(kernel.value)
    return _part(kernel, _PRODUCT)


def _call(kernel: Any, kind: str) -> str:
    arguments = []
    for field in dataclasses.fields(kernel):
        value = getattr(kernel, field.name)
        if _is_required(field):
            arguments.append(_literal(value))
        elif field.compare and not _goes_without_saying(kernel, field, value):
            arguments.append(f"{field.name}={_literal(value)}")
    return f"{kind}({', '.join(arguments)})"


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _goes_without_saying(kernel: Any, field: dataclasses.Field[Any], value: Any) -> bool:
    # An estimator fills in its own gamma, degree and coef0 where text leaves them out.
    if isinstance(kernel, GammaFromData):
        return False
    return type(value) is type(field.default) and value == field.default


def _are_kernels(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, Parameters) for value in values)


def _literal(value: Any) -> str:
    if isinstance(value, Parameters):
        return written(value)
    if is_number(value):
        # The repr of NumPy's numbers includes their type, which text need not.
        return repr(value.item() if hasattr(value, "item") else value)
    if isinstance(value, tuple) and value and all(map(dataclasses.is_dataclass, value)) and not _are_kernels(value):
        # Values that `bind` has computed from training data.
        return f"<{len(value)} {type(value[0]).__name__}>"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(each)}" for key, each in value.items()) + "}"
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if hasattr(value, "shape"):
        return f"<{' x '.join(map(str, value.shape))} {type(value).__name__}>"
    return repr(value)
