"""A kernel in as few words as possible."""

import dataclasses
import textwrap
from collections.abc import Iterator
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
    families: dict[str, list[str]] = {}
    for family, names in _parts(kernel, ()):
        seen = families.setdefault(family, [])
        seen.extend(name for name in names if name not in seen)
    groups: dict[str, list[str]] = {}
    for family, seen in families.items():
        groups.setdefault(_counted(seen), []).append(family)
    if len(families) == 1 and not any(families.values()):
        return textwrap.shorten(_told_apart(_added(kernel)) or words, 2 * _SHORT, placeholder=" ...")
    listed = ", ".join(" and ".join(same) + (f" ({names})" if names else "") for names, same in groups.items())
    return f"{kernel.combine if isinstance(kernel, Columns) else 'sum'} of {listed}"


def _parts(kernel: Any, names: tuple[Any, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a kernel adds up: what each part is called without its parameters, and the columns it looks at."""
    if isinstance(kernel, Sum | Columns):
        for part in kernel.kernels if isinstance(kernel, Sum) else kernel.parts.values():
            yield from _parts(part, names)
    elif isinstance(kernel, Product):
        yield " * ".join(dict.fromkeys(family for part in kernel.kernels for family, _ in _parts(part, names))), names
    elif (inner := getattr(kernel, "kernel", None)) is not None:
        looked_at = getattr(kernel, "columns" if isinstance(kernel, Encoded) else "names", names)
        yield from _parts(inner, tuple(map(str, looked_at)))
    else:
        yield snake_case(type(kernel).__name__), names


def _added(kernel: Any) -> list[Any]:
    """The kernels that a sum adds up, without their factors."""
    if isinstance(kernel, Sum):
        return [part for one in kernel.kernels for part in _added(one)]
    return _added(kernel.kernel) if isinstance(kernel, Scaled | Normalized | Centered) else [kernel]


def _told_apart(alike: list[Any]) -> str:
    """Kernels of one kind by the parameters in which they differ; nothing for a single one."""
    if len(alike) == 1 or any(_combined(kernel) is not None for kernel in alike):
        return ""
    given = [_given(kernel) for kernel in alike]
    shown = [{key: own[key] for key in own if any(one.get(key) != own[key] for one in given)} for own in given]
    name = snake_case(type(alike[0]).__name__)
    return "sum of " + ", ".join(_called(name, own) for own in shown)


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
    most = 6 if len(names) > 7 else 7  # "and 1 more" would be no shorter
    shown = [str(name) for name in names[:most]] + ([f"and {len(names) - most} more"] if len(names) > most else [])
    return shown[0] if len(names) == 1 else f"[{', '.join(shown)}]"


def _bracketed(kernel: Any) -> str:
    words = kernel_words(kernel)
    return f"({words})" if isinstance(kernel, Sum | Product | Columns | Scaled) else words


def _single(kernel: Any) -> str:
    return _called(snake_case(type(kernel).__name__), _given(kernel))


def _called(name: str, given: dict[str, str]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in given.items())})" if given else name


def _given(kernel: Any) -> dict[str, str]:
    """The parameters that are not the usual ones."""
    return {
        field.name: _value(getattr(kernel, field.name))
        for field in (dataclasses.fields(kernel) if dataclasses.is_dataclass(kernel) else ())
        # The default gamma of expressions differs from that of the classes, so it is always given.
        if field.repr and (field.name == "gamma" or getattr(kernel, field.name) != field.default)
    }


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value!r:.60}".replace("'", "")
