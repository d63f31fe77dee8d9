import numpy as np
import pytest

from mercer import DataError, theory


def test_the_squared_norm_is_the_number_of_distinct_words():
    documents = ["One two TWO three.", "", "four; four, four!"]
    X, words = theory.bag_of_words(documents)
    assert words == ["four", "one", "three", "two"]
    assert np.asarray(X.multiply(X).sum(axis=1)).ravel().tolist() == [3.0, 0.0, 1.0]
    assert theory.radius_about_origin(X) ** 2 == pytest.approx(3.0)


def test_words_are_runs_of_letters_of_any_alphabet():
    _, words = theory.bag_of_words(["naïve x2y snake_case Ἕλλην"])
    assert words == sorted(["naïve", "x", "y", "snake", "case", "ἕλλην"])


def test_a_dictionary_keeps_the_columns():
    _, words = theory.bag_of_words(["a b", "c"])
    X, same = theory.bag_of_words(["c c a z"], dictionary=words)
    assert same == words
    assert X.toarray().tolist() == [[1.0, 0.0, 1.0]]
    assert X.has_sorted_indices


def test_one_text_is_not_several():
    with pytest.raises(DataError, match="got one string"):
        theory.bag_of_words("one document")
