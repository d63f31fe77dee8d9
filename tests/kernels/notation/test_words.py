"""A kernel in a few words: what it adds up, and the columns each part looks at."""

import pytest

from mercer.kernels import RBF, Columns, Delta, Encoded, Linear, Matern, On, Spectrum, Sum
from mercer.kernels.notation.words import kernel_in_short

NUMBERS = {f"column_{k}": "number" for k in range(20)}
WORDS = Spectrum(length=(2, 5), weighting="tf-idf", lowercase=True).normalized()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (RBF(gamma=0.5) + 2.0 * Linear(), "rbf(gamma=0.5) + 2*linear"),
        (Encoded(NUMBERS, Matern(nu=0.5) + 0.7 * Linear()), "sum of matern and linear (20 columns)"),
        (
            Encoded(NUMBERS, Matern(nu=0.5)) + 0.03 * (On("name", WORDS) + On("cabin", WORDS)),
            "sum of matern (20 columns), spectrum (name, cabin)",
        ),
        (
            Columns({f"p_{k}": RBF(gamma=1.0) for k in range(9)} | {"town": Delta(), "note": WORDS}),
            "sum of rbf (9 columns), delta (town), spectrum (note)",
        ),
        (
            On("a", RBF(gamma=0.123456) * Linear()) + On("b", RBF(gamma=0.654321) * Linear()) + 0.25 * On("c", WORDS),
            "sum of rbf * linear (a, b), spectrum (c)",
        ),
    ],
)
def test_long_kernels_are_told_by_their_parts(kernel, words):
    assert kernel_in_short(kernel) == words


def test_kernels_of_one_kind_are_told_apart_by_what_differs():
    letters = 0.5 * WORDS + 0.5 * Spectrum(length=1, tokenizer="words", weighting="tf-idf", lowercase=True).normalized()
    assert kernel_in_short(letters) == "sum of spectrum(length=(2, 5)), spectrum(length=1, tokenizer=words)"


def test_many_kernels_of_one_kind_are_cut_short():
    words = kernel_in_short(Sum(tuple(RBF(gamma=0.125 * k) for k in range(1, 20))))
    assert words.startswith("sum of rbf(gamma=0.125), rbf(gamma=0.25), ")
    assert words.endswith("...")
    assert len(words) <= 116


def test_products_of_one_kind_are_told_in_full():
    kernel = RBF(gamma=0.123456) * RBF(gamma=0.654321) + RBF(gamma=0.111111) * RBF(gamma=0.999999)
    assert kernel_in_short(kernel).startswith("rbf(gamma=0.1235) * rbf(gamma=0.6543) + ")


@pytest.mark.parametrize(("count", "ending"), [(7, "g]"), (8, "f, and 2 more]")])
def test_a_single_name_is_never_hidden(count, ending):
    kernel = Encoded(dict.fromkeys("abcdefgh"[:count], "number"), Linear())
    assert kernel_in_short(kernel).endswith(ending)
