r"""Which positions of a text a subsequence kernel's decision value comes from.

The kernel of subsequences of length p is a sum over occurrences, each of which uses p positions
of the text. Divide every occurrence's contribution equally among its positions, and position i has

.. math:: \frac1p \bigl(k_p(s, t) - k_p(s_{\setminus i}, t)\bigr),

with :math:`s_{\setminus i}` the text in which position i holds a symbol that occurs nowhere else: exactly
the occurrences that use i are gone, and no gap has changed its length. Summed over positions,
every occurrence is counted p times, so the shares add up to :math:`k_p(s, t)` (Euler's theorem for
a function that is multilinear in the weights of the positions).
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from mercer import kernels  # loads its names when first used
from mercer._types import FloatArray, Rows
from mercer.explanation.explanation import Contributions
from mercer.kernels.algebra.normalized import Normalized
from mercer.kernels.algebra.scaled_power import Scaled
from mercer.kernels.evaluation import tiles
from mercer.kernels.string.tokens import WORD

if TYPE_CHECKING:
    from mercer.kernels.base.expansion import Expansion
    from mercer.kernels.base.kernel import Kernel
    from mercer.kernels.string.subsequence import Subsequence

    class TextKernel(Protocol):
        """A kernel that divides texts into symbols."""

        @property
        def tokenizer(self) -> str | Callable[[str], Iterable[Any]]: ...


# A code point that no text contains, by definition of Unicode; and a token that is not one.
NOWHERE, NO_TOKEN = "\uffff", ("no token",)
# Each position is a text to compare; longer texts would take minutes.
LONGEST = 400


def unwrapped(expansion: "Expansion", X: Rows, coefficients: FloatArray) -> "tuple[Kernel, float, FloatArray]":
    """(the kernel inside scaling and normalisation, a factor of all its values, coefficients of the vectors)."""
    kernel, factor = expansion.kernel, 1.0
    while isinstance(kernel, Scaled):
        kernel, factor = kernel.kernel, factor * cast(Scaled, kernel).factor
    if not isinstance(kernel, Normalized):
        return kernel, factor, coefficients
    kernel = kernel.kernel
    own = kernel.diag_of(kernel.prepare(X))[0]
    others = kernel.diag_of(kernel.prepare(expansion.vectors))
    factor = factor / np.sqrt(own) if own > 0 else 0.0
    return kernel, factor, np.where(others > 0, 1.0 / np.sqrt(np.maximum(others, 1e-300)), 0.0)[:, None] * coefficients


def by_position(
    kernel: "Kernel", factor: float, X: Rows, vectors: Rows, coefficients: FloatArray
) -> Contributions | None:
    """Contributions of the positions of a text, or None if the kernel is of another kind.

    `factor` and `coefficients` are as `unwrapped` gives them.
    """
    if not isinstance(kernel, kernels.Subsequence):
        return None
    symbols = symbols_of_text(kernel, X[0])
    if len(symbols) > LONGEST:
        return None
    values = cast(
        FloatArray, factor * sum(_shares(kernel, length, symbols, vectors, coefficients) for length in _lengths(kernel))
    )
    names = [f"{place}: {symbol}" for place, symbol in enumerate(symbols)]
    return Contributions("position", names, values.T)


def _lengths(kernel: "Subsequence") -> range:
    first, last = kernel.length if isinstance(kernel.length, tuple | list) else (kernel.length, kernel.length)
    return range(int(first), int(last) + 1)


def symbols_of_text(kernel: "TextKernel", text: Any) -> list[Any]:
    """The symbols that a kernel of texts sees, as a list: characters, words, or what its tokenizer finds."""
    if isinstance(text, bytes | bytearray):
        text = bytes(text).decode("utf-8")
    if getattr(kernel, "lowercase", False):
        text = text.lower() if isinstance(text, str) else [str(token).lower() for token in text]
    if not isinstance(text, str) or kernel.tokenizer == "characters":
        return list(text)
    return list(
        WORD.findall(text)
        if kernel.tokenizer == "words"
        else cast(Callable[[str], Iterable[Any]], kernel.tokenizer)(text)
    )


def _shares(
    kernel: "Subsequence", length: int, symbols: list[Any], vectors: Rows, coefficients: FloatArray
) -> FloatArray:
    """(position, function) contributions of the subsequences of one length."""
    one = kernel.replace(length=length)
    hidden = [cast(Any, symbols)] + [_hiding(symbols, place) for place in range(len(symbols))]
    if kernel.tokenizer == "characters" and all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols):
        hidden = ["".join(text) for text in hidden]
    others = one.prepare(vectors)
    block = tiles.fill(one, one.prepare(hidden), others, np.empty((len(hidden), len(others))))
    values = block @ coefficients
    return (values[0] - values[1:]) / length


def _hiding(symbols: list[Any], place: int) -> list[Any]:
    nothing = NOWHERE if all(isinstance(symbol, str) for symbol in symbols) else NO_TOKEN
    return [*symbols[:place], nothing, *symbols[place + 1 :]]
