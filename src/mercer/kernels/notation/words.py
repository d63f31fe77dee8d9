"""A kernel in as few words as say it."""

import dataclasses
import textwrap
from typing import Any

from mercer.kernels import Centered, Columns, Encoded, Normalized, On, Power, Product, Scaled, Standardized, Sum
from mercer.kernels.notation.parse import snake_case

# Letters that fit beside a name on a line of a terminal.
_SHORT = 58
_NAMED = 3


def kernel_words(kernel: Any) -> str:
    """The kernel as an expression, with the parameters that are not the usual ones.

    Examples
    --------
    >>> from mercer.kernels import RBF, Delta, On
    >>> from mercer.kernels.notation.words import kernel_words
    >>> kernel_words(0.5 * RBF(gamma=0.1) + On("town", Delta()))
    '0.5*rbf(gamma=0.1) + delta@town'
    """
    if isinstance(kernel, str):
        return kernel
    combined = _combined(kernel)
    return combined if combined is not None else _single(kernel)


def kernel_in_short(kernel: Any) -> str:
    """The kernel in a few words: parts that are alike are named once, with the columns they look at or their number.

    Examples
    --------
    >>> from mercer.kernels import RBF, Columns, Delta
    >>> from mercer.kernels.notation.words import kernel_in_short
    >>> kernel_in_short(Columns({f"pixel_{k}": RBF(gamma=1.0) for k in range(64)} | {"town": Delta()}))
    'sum of rbf (64 columns), delta (town)'
    """
    words = kernel_words(kernel)
    if len(words) <= _SHORT:
        return words
    parts = list(kernel.parts.values()) if isinstance(kernel, Columns) else list(getattr(kernel, "kernels", ()))
    if not parts or not all(isinstance(part, On) for part in parts):
        return textwrap.shorten(words.replace(",", ", "), 4 * _SHORT, placeholder=" ...")
    groups: dict[str, list[str]] = {}
    for part in parts:
        groups.setdefault(_family(part.kernel), []).extend(map(str, part.names))
    listed = ", ".join(f"{family} ({_counted(names)})" for family, names in groups.items())
    return f"{kernel.combine if isinstance(kernel, Columns) else 'sum'} of {listed}"


def _family(kernel: Any) -> str:
    """What a kernel is called without its parameters and what is done before and after it."""
    inner = getattr(kernel, "kernel", None)
    return snake_case(type(kernel).__name__) if inner is None else _family(inner)


def _counted(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} columns"


def _combined(kernel: Any) -> str | None:
    if isinstance(kernel, Sum):
        return " + ".join(map(kernel_words, kernel.kernels))
    if isinstance(kernel, Product):
        return " * ".join(_bracketed(part) for part in kernel.kernels)
    if isinstance(kernel, Scaled):
        return f"{kernel.factor:g}*{_bracketed(kernel.kernel)}"
    if isinstance(kernel, Power):
        return f"{_bracketed(kernel.kernel)}^{kernel.exponent:g}"
    if isinstance(kernel, Normalized | Centered):
        ending = "normalized" if isinstance(kernel, Normalized) else "centered"
        return f"{_bracketed(kernel.kernel)}.{ending}()"
    if isinstance(kernel, On):
        return f"{_bracketed(kernel.kernel)}@{_columns(kernel.names)}"
    if isinstance(kernel, Standardized):
        return f"standardized({kernel_words(kernel.kernel)})"
    if isinstance(kernel, Encoded):
        return f"({kernel_words(kernel.kernel)})@{_columns(tuple(kernel.columns))}"
    if isinstance(kernel, Columns):
        parts = [kernel_words(part) for part in kernel.parts.values()]
        return f"{kernel.combine} of " + ", ".join(parts)
    return None


def _columns(names: tuple[Any, ...]) -> str:
    shown = [str(name) for name in names[:6]] + ([f"and {len(names) - 6} more"] if len(names) > 6 else [])
    return shown[0] if len(names) == 1 else f"[{', '.join(shown)}]"


def _bracketed(kernel: Any) -> str:
    words = kernel_words(kernel)
    return f"({words})" if isinstance(kernel, Sum | Product | Columns | Scaled) else words


def _single(kernel: Any) -> str:
    name = snake_case(type(kernel).__name__)
    if not dataclasses.is_dataclass(kernel):
        return name
    given = [
        f"{field.name}={_value(getattr(kernel, field.name))}"
        for field in dataclasses.fields(kernel)
        # Expressions have another default for gamma than the classes, so it is always said.
        if field.repr and (field.name == "gamma" or getattr(kernel, field.name) != field.default)
    ]
    return f"{name}({', '.join(given)})" if given else name


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value!r:.60}".replace("'", "")
