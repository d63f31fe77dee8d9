"""The kernel for texts, by their targets: words, stretches of letters, pairs of words, or some of these together.

It begins with words. Letters find endings, compounds and misspellings; pairs of words find what only their order tells,
given enough texts. Each is added if ridge regression with it errs less on texts left out of the fit
(`mercer.solvers.relevance.left_out`): a few hundred texts and a few inversions decide.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mercer._types import FloatArray
from mercer.kernels.algebra.sum_product import Sum
from mercer.kernels.string.spectrum import Spectrum
from mercer.kernels.table.infer_kernel import has_words, text_kernel
from mercer.solvers.relevance import left_out

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

WORDS = Spectrum(length=1, tokenizer="words", weighting="tf-idf", lowercase=True).normalized()
LETTERS = Spectrum(length=(2, 5), weighting="tf-idf", lowercase=True).normalized()
PAIRS = Spectrum(length=2, tokenizer="words", weighting="tf-idf", lowercase=True).normalized()
RIDGES = (0.03, 0.1, 0.3, 1.0)
# Fewer texts than this tell nothing.
FEWEST_TEXTS = 30
# Texts of more letters than this on average have enough words, and letters would take most of the time.
LONG_TEXT = 1_000


def learnt_text_kernel(texts: Sequence[str], Y: FloatArray, stop: Callable[[], bool]) -> "Kernel":
    """The kernel for texts whose targets are the rows of Y, each column of mean 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.auto.text_kernel import learnt_text_kernel
    >>> texts = [f"{'good' if k % 2 else 'bad'} thing number {k}" for k in range(40)]
    >>> Y = np.where(np.arange(40) % 2, 0.5, -0.5)[:, None]
    >>> [part.kernel.kernel.length for part in learnt_text_kernel(texts, Y, lambda: False).kernels]
    [1, (2, 5)]
    """
    if len(texts) < FEWEST_TEXTS or not has_words(texts) or not Y.any():
        return text_kernel(texts)
    chosen, total = [WORDS], WORDS(texts, dtype=np.float64)
    error = _error(total, Y)
    for part in (PAIRS,) if are_long(texts) else (LETTERS, PAIRS):
        if stop():
            break
        more = total + part(texts, dtype=np.float64)
        now = _error(more / (len(chosen) + 1), Y)
        if now < error:
            chosen, total, error = [*chosen, part], more, now
    share = round(1.0 / len(chosen), 3)
    return chosen[0] if len(chosen) == 1 else Sum(tuple(share * part for part in chosen))


def are_long(texts: Sequence[str]) -> bool:
    """Whether texts are so long that stretches of letters are not worth their time."""
    return sum(map(len, texts)) > LONG_TEXT * len(texts)


def _error(K: FloatArray, Y: FloatArray) -> float:
    """Of texts left out, with the ridge that suits best."""
    return min(float(np.mean((Y - left_out(K, Y, ridge)) ** 2)) for ridge in RIDGES)
