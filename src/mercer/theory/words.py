"""Documents as bags of words: the example of section 15.2.2, on your own texts."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from mercer._errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_WORD = re.compile(r"[^\W\d_]+")


def bag_of_words(documents: Iterable[str], dictionary: Iterable[str] | None = None) -> "tuple[csr_matrix, list[str]]":
    """Rows of 0 and 1: whether the word of a column occurs in the document of a row.

    Section 15.2.2 of Shalev-Shwartz & Ben-David (2014). The squared norm of a row is the number of
    distinct words of its document, so rho^2 is the largest of those, however many columns there are.

    Parameters
    ----------
    documents : iterable of str
    dictionary : sequence of str, optional
        The words to look for; by default, all that occur. Words are runs of letters, in lower case.

    Returns
    -------
    X : CSR matrix of shape (n, d)
        float64.
    dictionary : list of str
        The word of each column, in alphabetical order unless it was given.

    Examples
    --------
    >>> from mercer import theory
    >>> X, words = theory.bag_of_words(["Man bites dog.", "Dog bites dog!"])
    >>> words
    ['bites', 'dog', 'man']
    >>> X.toarray()
    array([[1., 1., 1.],
           [1., 1., 0.]])
    """
    if isinstance(documents, str):
        raise DataError("documents must be a sequence of texts, got one string; put it in a list")
    found = [set(_WORD.findall(text.lower())) for text in documents]
    dictionary = sorted(set().union(*found)) if dictionary is None else list(dictionary)
    place = {word: column for column, word in enumerate(dictionary)}
    rows = [sorted(place[word] for word in words if word in place) for words in found]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], dtype=np.int32)
    return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(rows), len(dictionary))), dictionary
