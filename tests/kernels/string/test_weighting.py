"""Spectrum's weights of rare substrings and sublinear counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

import mercer
from mercer._errors import ParameterError
from mercer.kernels import Spectrum, parse
from mercer.kernels.string.document_frequencies import DocumentFrequencies
from mercer.kernels.string.tokens import WORD

TEXTS = ["the cat sat on the mat", "The dog ran", "a bird sang; the bird flew", "the the the dog", "sat on it"]
WORDS = Spectrum(length=(1, 2), tokenizer="words", weighting="tf-idf", lowercase=True)


def features_by_scikit_learn(texts, **options):
    return TfidfVectorizer(sublinear_tf=True, norm=None, **options).fit_transform(texts)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (WORDS, {"token_pattern": WORD.pattern, "ngram_range": (1, 2)}),
        (Spectrum(length=(1, 3), weighting="tf-idf"), {"analyzer": "char", "ngram_range": (1, 3), "lowercase": False}),
        (
            Spectrum(length=2, weighting="log"),
            {"analyzer": "char", "ngram_range": (2, 2), "lowercase": False, "use_idf": False},
        ),
    ],
)
def test_values_are_inner_products_of_what_scikit_learn_counts(kernel, options):
    features = features_by_scikit_learn(TEXTS, **options)
    assert kernel(TEXTS) == pytest.approx((features @ features.T).toarray(), rel=1e-12)


def test_a_substring_that_no_training_text_has_counts_as_one_that_a_single_text_has():
    bound = Spectrum(length=1, tokenizer="words", weighting="tf-idf").bind(["a b", "a c", "a"])
    own = 1.0 + np.log(4.0 / 2.0)
    assert bound.diag(["new", "b"]) == pytest.approx([own**2, own**2])
    assert bound.diag(["a"]) == pytest.approx([1.0])


def test_lengths_keep_their_weights():
    kernel = Spectrum(length=(1, 2), weights=(4.0, 9.0), weighting="log")
    one, two = (Spectrum(length=k, weighting="log")(TEXTS) for k in (1, 2))
    assert kernel(TEXTS) == pytest.approx(4.0 * one + 9.0 * two)


def test_a_text_of_weight_two_is_a_text_that_stands_there_twice_and_one_of_weight_zero_is_not_there():
    weights = np.array([2.0, 0.0, 1.0, 3.0, 1.0])
    weighted = WORDS.bind(TEXTS, weights)
    copied = WORDS.bind([text for text, count in zip(TEXTS, weights.astype(int), strict=True) for _ in range(count)])
    assert weighted == copied
    assert hash(weighted) == hash(copied)


@given(st.lists(st.text(alphabet="abc ", max_size=8), min_size=1, max_size=6), st.integers(0, 2))
def test_matrices_are_positive_semidefinite_and_features_say_why(texts, extra):
    kernel = Spectrum(length=(1, 1 + extra), weighting="tf-idf").bind(texts[: len(texts) // 2 + 1])
    K, features = kernel(texts), kernel.feature_map(texts)
    assert (features @ features.T).toarray() == pytest.approx(K, abs=1e-9)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * max(1.0, K.max())
    assert len(kernel.feature_names(texts)) == features.shape[1]


def test_what_was_counted_comes_back_from_a_file(tmp_path):
    labels = [0, 1, 0, 1, 0]
    model = mercer.SVC(kernel=WORDS.normalized()).fit(TEXTS, labels)
    mercer.save(model, tmp_path / "texts.mercer")
    again, new = mercer.load(tmp_path / "texts.mercer"), ["the unseen CAT", "", "dog dog"]
    assert again.expansion_.kernel == model.expansion_.kernel
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


def test_what_is_written_is_what_was_asked_for_and_not_what_was_counted():
    assert parse(repr(WORDS)) == WORDS != WORDS.bind(TEXTS)
    assert repr(WORDS.bind(TEXTS)) == repr(WORDS)[:-1] + ", documents=<5 texts>)"
    assert not WORDS.is_bound
    with pytest.raises(ParameterError, match="depends on training data"):
        WORDS.prepare(TEXTS)


def test_lower_case_joins_what_case_divides():
    assert Spectrum(length=1, lowercase=True)(["Aa"], ["aA"]).item() == 4.0
    assert Spectrum(length=1, tokenizer="words", lowercase=True)([["Cat"]], [["cAT"]]).item() == 1.0


def test_an_explanation_adds_up_over_the_words_of_a_text():
    model = mercer.SVC(kernel=WORDS.normalized(), C=10.0).fit(TEXTS, [0, 1, 0, 1, 0])
    found = mercer.explain(model, "The dog flew")
    assert sorted(found.by_feature.names) == ["dog", "dog flew", "flew", "the", "the dog"]
    assert found.by_feature.values.sum() + model.intercept_[0] == pytest.approx(
        model.decision_function(["The dog flew"])[0]
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weighting": "idf"}, "weighting must be one of count, log, tf-idf, got 'idf'"),
        ({"lowercase": "yes"}, "lowercase must be True or False, got 'yes'"),
        ({"documents": 3}, "documents must be DocumentFrequencies, got 3"),
    ],
)
def test_what_cannot_be_is_refused(options, told):
    with pytest.raises(ParameterError, match=told):
        Spectrum(**options)


@pytest.mark.parametrize(
    ("n_texts", "keys", "counts"),
    [
        (3.0, np.array([2, 1], np.uint64), np.array([2.0, 2.0])),
        (3.0, np.array([1, 2], np.uint64), np.array([2.0, 4.0])),
        (3.0, np.array([1, 2], np.uint64), np.array([2.0, 1.0])),
        (np.inf, np.array([1], np.uint64), np.array([2.0])),
        (3.0, np.array([1], np.int64), np.array([2.0])),
        (3.0, np.array([1], np.uint64), np.array([2.0, 2.0])),
    ],
)
def test_counts_that_no_texts_have_are_refused(n_texts, keys, counts):
    with pytest.raises(ParameterError):
        DocumentFrequencies(n_texts, keys, counts)
