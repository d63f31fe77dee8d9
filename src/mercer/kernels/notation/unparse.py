"""A kernel as text, from which `mercer.kernels.parse` makes it again."""

import dataclasses
import re
from typing import Any

from mercer import kernels
from mercer._errors import ParameterError
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import GammaFromData, is_number
from mercer.kernels.notation.parse import WITHOUT_NAME, snake_case


def unparse(kernel: Kernel) -> str:
    """The expression that `parse` turns back into this kernel.

    Raises
    ------
    ParameterError
        If the kernel holds what text cannot: a function, a graph, a database, training rows.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear, On, unparse
    >>> unparse(2 * RBF(gamma=0.5) + Linear().normalized() ** 2)
    '2*rbf(gamma=0.5) + linear.normalized()^2'
    >>> unparse(On("town hall", RBF(gamma="scale")))
    'rbf(gamma="scale")@"town hall"'
    """
    return _write(kernel, 0)


# How tightly the outermost sign of an expression binds.
_SUM, _PRODUCT, _POWER, _POSTFIX, _ATOM = range(5)


def _write(kernel: Kernel, at_least: int) -> str:
    text, binding = _written(kernel)
    return text if binding >= at_least else f"({text})"


def _written(kernel: Any) -> tuple[str, int]:
    kind = type(kernel).__name__
    if kind == "Sum":
        # A sum in a sum is one of three: brackets would not bring it back.
        return " + ".join(_write(part, _PRODUCT) for part in kernel.kernels), _SUM
    if kind == "Product":
        return " * ".join(_write(part, _POWER) for part in kernel.kernels), _PRODUCT
    if kind == "Scaled":
        return f"{_literal(kernel.factor)}*{_write(kernel.kernel, _POWER)}", _PRODUCT
    if kind == "Power":
        return f"{_write(kernel.kernel, _POSTFIX)}^{_literal(kernel.exponent)}", _POWER
    if kind == "Normalized":
        return f"{_write(kernel.kernel, _POSTFIX)}.normalized()", _POSTFIX
    if kind == "Centred" and kernel.reference is None:
        return f"{_write(kernel.kernel, _POSTFIX)}.centred()", _POSTFIX
    if kind == "On" and kernel.missing == 1.0 and kernel.origin is None:
        return f"{_write(kernel.kernel, _POSTFIX)}@{_written_columns(kernel.column)}", _POSTFIX
    return _written_call(kernel, kind), _ATOM


def _written_call(kernel: Any, kind: str) -> str:
    if kind in WITHOUT_NAME or not _is_known(kernel, kind):
        raise ParameterError(f"{kernel!r} cannot be written as an expression: text cannot hold what it holds")
    arguments = [
        f"{field.name}={_literal(getattr(kernel, field.name))}"
        for field in dataclasses.fields(kernel)
        if not _is_default(kernel, field)
    ]
    return snake_case(kind) + (f"({', '.join(arguments)})" if arguments else "")


def _is_known(kernel: Kernel, kind: str) -> bool:
    return kind in kernels.__all__ and type(kernel) is getattr(kernels, kind)


def _is_default(kernel: Any, field: dataclasses.Field[Any]) -> bool:
    if field.name == "gamma" and isinstance(kernel, GammaFromData):
        return False
    value = getattr(kernel, field.name)
    return type(value) is type(field.default) and value == field.default


def _written_columns(column: Any) -> str:
    names = [_written_column(name) for name in (column if isinstance(column, list | tuple) else [column])]
    return f"[{', '.join(names)}]" if isinstance(column, list | tuple) else names[0]


def _written_column(name: Any) -> str:
    if isinstance(name, str) and re.fullmatch(r"[^\W\d]\w*", name):
        return name
    return _literal(name)


def _literal(value: Any) -> str:
    if isinstance(value, Kernel):
        return _write(value, _SUM)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if is_number(value):
        return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
    if isinstance(value, str):
        return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
    if isinstance(value, list | tuple) and value:
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written_column(key)}: {_literal(entry)}" for key, entry in value.items()) + "}"
    raise ParameterError(f"{value!r} cannot be written in an expression")
