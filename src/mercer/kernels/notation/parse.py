r"""A kernel written as text: ``rbf(gamma=0.1) + 2*spectrum(k=3)@text``.

For every estimator's `kernel`, for commands, pages and files. The text is parsed by the grammar
below and nothing else; it is never run as a program.

::

    sum      =  product { "+" product }
    product  =  power { "*" power }
    power    =  postfix [ "^" number ]                    also "**"
    postfix  =  atom { "@" columns | ".normalized()" | ".centered()" }
    atom     =  number | kernel | "(" sum ")"
    kernel   =  name [ "(" [ argument { "," argument } ] ")" ]
    argument =  [ name "=" ] value
    value    =  sum | string | list | tuple | dict | "true" | "false" | "none" | "inf" | word
    columns  =  name | string | whole number | list of these

A name is that of a class in `mercer.kernels`, in any case and with or without underscores
(``rational_quadratic``, ``RBF``), or one of scikit-learn's (``poly``, ``chi2``). So both the `repr`
of a kernel and shorter forms can be read.
"""

import dataclasses
import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, cast

from mercer import kernels
from mercer._errors import ParameterError
from mercer.kernels._types import T
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.base.parameters import GammaFromData
from mercer.kernels.notation.tokens import Token, number_of, refusal, tokenise, unquoted

LONGEST = 10_000
DEEPEST = 50

# Kernels made by an operator, called by name only if the operator would make a different kernel.
_BY_SIGN = ("Sum", "Product", "Scaled", "Power")
# Kernels that need an object that text cannot contain: a function, a graph.
_WITHOUT_NAME = {*_BY_SIGN, "Custom", "AtNodes", "CoCitation", "Diffusion", "RegularizedLaplacian"}
_ALSO_CALLED = {"poly": "Polynomial", "chi2": "ChiSquared", "wl": "WeisfeilerLehman"}
# The usual name of the length of k-mers and n-grams.
_PARAMETER_ALSO_CALLED = {"k": "length"}
_WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}


def parse(text: str, gamma: float | str = "scale", degree: float = 3, coef0: float = 0.0) -> Kernel:
    """Parse an expression into a kernel.

    Parameters
    ----------
    text : str
        Such as ``"rbf(gamma=0.1)"``, ``"linear + 0.5 * polynomial(degree=2)"``,
        ``"spectrum(k=3).normalized() @ text"``, ``"rbf@[width, height] + delta@town"``; or the
        `repr` of a kernel, unless it holds a function, a graph, a database or training rows.
    gamma, degree, coef0
        Used by kernels that have these parameters if the text does not set them; an estimator passes its
        own.

    Returns
    -------
    Kernel

    Raises
    ------
    ParameterError
        With the position in the text, what was expected, and the nearest known name.

    Examples
    --------
    >>> from mercer.kernels import parse
    >>> parse("rbf(gamma=0.1) + 2*spectrum(k=4)@text")
    RBF(gamma=0.1) + 2 * On('text', Spectrum(length=4))
    >>> parse("RBF(gamma=0.1) + 2 * On('text', Spectrum(length=4))")
    RBF(gamma=0.1) + 2 * On('text', Spectrum(length=4))
    >>> parse("rfb")
    Traceback (most recent call last):
    ...
    mercer._errors.ParameterError: kernel expression 'rfb', character 1: no kernel is called 'rfb'; did you mean 'rbf'?
    """
    if not isinstance(text, str):
        raise ParameterError(f"a kernel expression must be a string, got {text!r}")
    if len(text) > LONGEST:
        raise ParameterError(f"a kernel expression may have at most {LONGEST} characters, got {len(text)}")
    return _Parser(text, {"gamma": gamma, "degree": degree, "coef0": coef0}).whole()


def kernel_names() -> dict[str, str]:
    """The names an expression may use: name in lower case -> class name."""
    names = {snake_case(name): name for name in kernels.__all__ if name not in _WITHOUT_NAME and _is_kernel(name)}
    return {**names, **_ALSO_CALLED}


def _is_kernel(name: str) -> bool:
    value = getattr(kernels, name)
    return isinstance(value, type) and issubclass(value, Kernel) and dataclasses.is_dataclass(value)


def snake_case(name: str) -> str:
    """RationalQuadratic -> rational_quadratic."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


class _Parser:
    """Recursive descent, one method per rule of the grammar."""

    def __init__(self, text: str, unsaid: dict[str, Any]) -> None:
        self._text = text
        self._unsaid = unsaid
        self._tokens = tokenise(text)
        self._next = 0
        self._depth = 0

    def _error(self, token: Token, reason: str) -> ParameterError:
        return refusal(self._text, token, reason)

    def _expected(self, what: str) -> ParameterError:
        token = self._tokens[self._next]
        found = "the end" if token.kind == "end" else repr(token.text)
        return self._error(token, f"expected {what}, got {found}")

    def _peek(self, *signs: str) -> bool:
        return self._tokens[self._next].is_sign(*signs)

    def _take(self, kind: str | None = None) -> Token | None:
        token = self._tokens[self._next]
        if kind is not None and token.kind != kind:
            return None
        self._next += 1
        return token

    def _skip(self, sign: str) -> bool:
        if self._peek(sign):
            self._next += 1
            return True
        return False

    def _require(self, sign: str) -> None:
        if not self._skip(sign):
            raise self._expected(repr(sign))

    def whole(self) -> Kernel:
        """The kernel of the whole text."""
        kernel = self._kernel_of(self._sum)
        if self._tokens[self._next].kind != "end":
            raise self._expected("'+', '*', '^', '@', '.' or the end")
        return kernel

    def _kernel_of(self, rule: Callable[[], Any]) -> Kernel:
        token = self._tokens[self._next]
        value = rule()
        if not isinstance(value, Kernel):
            raise self._error(token, f"expected a kernel, got {value!r}")
        return value

    def _sum(self) -> Kernel | float:
        token = self._tokens[self._next]
        total = self._product()
        while self._skip("+"):
            total = self._combined(token, lambda left, right: left + right, total, self._product())
        return total

    def _product(self) -> Kernel | float:
        token = self._tokens[self._next]
        product = self._power()
        while self._skip("*"):
            product = self._combined(token, lambda left, right: left * right, product, self._power())
        return product

    def _power(self) -> Kernel | float:
        token = self._tokens[self._next]
        base = self._postfix()
        if not (self._skip("^") or self._skip("**")):
            return base
        exponent = self._number()
        if exponent is None:
            raise self._expected("a number after '^'")
        return self._combined(token, lambda left, right: left**right, base, exponent)

    def _combined(self, token: Token, combine: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """The result of an operation; errors that a kernel raises get their position in the text."""
        try:
            return combine(left, right)
        except ParameterError as refused:
            raise self._error(token, str(refused)) from None
        except (OverflowError, ZeroDivisionError):
            raise self._error(token, "a number too large") from None

    def _postfix(self) -> Kernel | float:
        token = self._tokens[self._next]
        value = self._atom()
        while self._peek("@", "."):
            if not isinstance(value, Kernel):
                raise self._expected("'+' or '*' after a number")
            change = self._columns() if self._skip("@") else self._method()
            value = self._combined(token, lambda kernel, change: change(kernel), value, change)
        return value

    def _columns(self) -> Callable[[Kernel], Kernel]:
        names = self._list(self._column) if self._peek("[") else self._column()
        return lambda kernel: kernels.On(names, kernel)

    def _column(self) -> str | int:
        token = self._tokens[self._next]
        if token.kind not in ("name", "string", "number") or (token.kind == "number" and not token.text.isdigit()):
            raise self._expected("the name or the number of a column")
        self._next += 1
        if token.kind == "number":
            return cast(int, number_of(self._text, token))
        return unquoted(token) if token.kind == "string" else token.text

    def _method(self) -> Callable[[Kernel], Kernel]:
        self._require(".")
        token = self._take("name")
        if token is None or token.text not in ("normalized", "centered"):
            self._next -= token is not None
            raise self._expected("normalized() or centered()")
        self._require("(")
        self._require(")")
        return Kernel.centered if token.text == "centered" else Kernel.normalized

    def _atom(self) -> Kernel | float:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(self._tokens[self._next], f"nested more than {DEEPEST} deep")
        try:
            if self._skip("("):
                value = self._sum()
                self._require(")")
                return value
            number = self._number()
            if number is not None:
                return number
            token = self._take("name")
            if token is None:
                raise self._expected("a kernel")
            return self._kernel(token)
        finally:
            self._depth -= 1

    def _number(self) -> float | None:
        start = self._next
        sign = -1 if self._skip("-") else 1
        token = self._take("number")
        if token is None:
            self._next = start
            return None
        return sign * number_of(self._text, token)

    def _kernel(self, token: Token) -> Kernel:
        cls = self._class(token)
        fields = [field.name for field in dataclasses.fields(cls) if field.init]
        arguments = self._arguments(token, cls, fields) if self._skip("(") else {}
        if issubclass(cls, GammaFromData):
            arguments = {**{name: value for name, value in self._unsaid.items() if name in fields}, **arguments}
        missing = [name for name in _required(cls) if name not in arguments]
        if missing:
            raise self._error(token, f"{token.text} needs {', '.join(missing)}")
        try:
            return cls(**arguments)
        except ParameterError as refused:
            raise self._error(token, str(refused)) from None
        except (TypeError, AttributeError, ValueError):
            raise self._error(token, f"{token.text} cannot take these arguments") from None

    def _class(self, token: Token) -> type[Any]:
        names = kernel_names()
        known = {_plain(name): cls for name, cls in {**names, **dict(zip(_BY_SIGN, _BY_SIGN, strict=True))}.items()}
        if _plain(token.text) not in known:
            close = get_close_matches(token.text.lower(), names, n=1)
            remedy = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(names))}"
            raise self._error(token, f"no kernel is called {token.text!r}; {remedy}")
        return getattr(kernels, known[_plain(token.text)])

    def _arguments(self, kernel: Token, cls: type[Any], fields: list[str]) -> dict[str, Any]:
        arguments = {}
        while not self._skip(")"):
            if arguments and not self._skip(","):
                raise self._expected("',' or ')'")
            start = self._tokens[self._next]
            name = self._argument_name(fields) or (fields[len(arguments)] if len(arguments) < len(fields) else None)
            if name is None or name not in fields or name in arguments:
                raise self._error(start, _why_not(name, start.text, kernel.text, fields))
            value = self._value(is_kernel=_annotated(cls, name, "Kernel"))
            # Square brackets are easier to type than a tuple, which may be all that a parameter takes.
            arguments[name] = tuple(value) if isinstance(value, list) and _annotated(cls, name, "tuple") else value
        return arguments

    def _argument_name(self, fields: list[str]) -> str | None:
        token, following = cast(
            "list[Token]", self._tokens[self._next : self._next + 2] if self._next + 1 < len(self._tokens) else (0, 0)
        )
        if not token or token.kind != "name" or following.text != "=":
            return None
        self._next += 2
        other = _PARAMETER_ALSO_CALLED.get(token.text)
        return other if token.text not in fields and other in fields else token.text

    def _value(self, is_kernel: bool = False) -> Any:
        token = self._tokens[self._next]
        if token.kind == "string":
            return unquoted(cast(Token, self._take()))
        if self._peek("["):
            return self._list(self._value)
        if self._peek("{"):
            return self._dict()
        if self._is_at_tuple():
            return tuple(self._list(self._value, "(", ")"))
        if token.kind == "name" and token.text.lower() in _WORDS:
            return _WORDS[cast(Token, self._take()).text.lower()]
        if token.kind == "name" and not is_kernel and not self._tokens[self._next + 1].is_sign("("):
            return cast(Token, self._take()).text
        if token.kind not in ("name", "number") and not self._peek("(", "-"):
            raise self._expected("a value")
        return self._sum()

    def _is_at_tuple(self) -> bool:
        """Whether the bracket that opens here contains a comma of its own, or nothing."""
        if not self._peek("("):
            return False
        depth = 0
        for place in range(self._next, len(self._tokens)):
            token = self._tokens[place]
            depth += token.is_sign("(", "[", "{") - token.is_sign(")", "]", "}")
            if depth == 0:
                return place == self._next + 1
            if depth == 1 and token.is_sign(","):
                return True
        return False

    def _list(self, rule: Callable[[], T], opening: str = "[", closing: str = "]") -> list[T]:
        self._require(opening)
        values: list[T] = []
        while not self._skip(closing):
            if values and not self._skip(","):
                raise self._expected(f"',' or '{closing}'")
            if values and self._skip(closing):
                break
            values.append(rule())
        return values

    def _dict(self) -> dict[str | int, Any]:
        self._require("{")
        entries = {}
        while not self._skip("}"):
            if entries:
                self._require(",")
            name = self._column()
            self._require(":")
            entries[name] = self._value(is_kernel=True)
        return entries


def _why_not(name: str | None, written: str, kernel: str, fields: list[str]) -> str:
    if name in fields:
        return f"{kernel} is given {name} twice"
    return f"{written!r} is not a parameter of {kernel}, which has {', '.join(fields) or 'none'}"


def _required(cls: type[Any]) -> list[str]:
    without = dataclasses.MISSING
    fields = dataclasses.fields(cls)
    return [field.name for field in fields if field.default is without and field.default_factory is without]


def _annotated(cls: type[Any], name: str, kind: str) -> bool:
    """Whether a parameter takes a kernel, so that a bare word there is one; or a tuple."""
    annotation = next(field.type for field in dataclasses.fields(cls) if field.name == name)
    return kind in str(annotation)
