"""String kernels against features listed one by one, the published values, and what is no text."""

import pickle
import threading
import time
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DataError, ParameterError, mercer_check
from mercer.kernels import Mismatch, Spectrum, Subsequence
from mercer.kernels.string import subsequence

texts = st.lists(st.text(alphabet="abcü☃", max_size=9), min_size=1, max_size=4)
lengths = st.integers(1, 4) | st.tuples(st.integers(1, 2), st.integers(2, 4))
tokenised = st.lists(st.lists(st.sampled_from(["the", "dog", "bites", "a"]), max_size=7), min_size=1, max_size=3)


def span(length):
    return range(length, length + 1) if isinstance(length, int) else range(length[0], length[1] + 1)


def subsequence_features(text, length, decay, weighting):
    """phi_u(text) for all u by choosing places in every way."""
    features = Counter()
    for p in span(length):
        for places in combinations(range(len(text)), p):
            power = places[-1] - places[0] + (1 if weighting == "span" else 0)
            features[tuple(text[i] for i in places)] += decay**power
    return features


def spectrum_features(text, length, weights):
    features = Counter()
    for p, weight in zip(span(length), weights or [1.0] * len(span(length)), strict=True):
        for i in range(len(text) - p + 1):
            features[tuple(text[i : i + p])] += weight**0.5
    return features


def mismatch_features(text, length, mismatches, alphabet):
    features = Counter()
    for u in product(alphabet, repeat=length):
        for i in range(len(text) - length + 1):
            features[u] += sum(a != b for a, b in zip(u, text[i : i + length], strict=True)) <= mismatches
    return features


def inner_products(left, right):
    return np.array([[sum(value * y[u] for u, value in x.items()) for y in right] for x in left], dtype=float)


@pytest.fixture(params=["dynamic programme", "features"], scope="module")
def way(request):
    """Both ways to compute subsequence kernels."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "dynamic programme":
            patch.setattr(subsequence, "MOST_FEATURES", 0)
        yield request.param


@settings(max_examples=100, deadline=None)
@given(X=texts, Y=texts, length=lengths, decay=st.floats(0.05, 1.0), weighting=st.sampled_from(["span", "span-1"]))
def test_subsequence_is_the_inner_product_of_all_subsequences(way, X, Y, length, decay, weighting):
    kernel = Subsequence(length=length, decay=decay, weighting=weighting)
    x, y = ([subsequence_features(text, length, decay, weighting) for text in part] for part in (X, Y))
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(kernel(X, Y, dtype=np.float32), inner_products(x, y), rtol=2e-5, atol=1e-30)
    np.testing.assert_allclose(kernel.diag(X), np.diag(inner_products(x, x)), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(tokenised, lengths)
def test_subsequence_of_words(X, length):
    kernel = Subsequence(length=length, decay=0.7)
    x = [subsequence_features(text, length, 0.7, "span") for text in X]
    np.testing.assert_allclose(kernel(X), inner_products(x, x), rtol=1e-12)
    joined = [" ".join(text) for text in X]
    np.testing.assert_array_equal(kernel.replace(tokenizer="words")(joined), kernel(X))
    np.testing.assert_array_equal(kernel.replace(tokenizer=str.split)(joined), kernel(X))


@settings(max_examples=100, deadline=None)
@given(texts, texts, lengths, st.data())
def test_spectrum_counts_substrings(X, Y, length, data):
    count = len(span(length))
    weights = data.draw(st.none() | st.tuples(*[st.floats(0, 5)] * count))
    kernel = Spectrum(length=length, weights=weights)
    x, y = ([spectrum_features(text, length, weights) for text in part] for part in (X, Y))
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-12)


@settings(max_examples=80, deadline=None)
@given(texts, texts, st.integers(1, 4), st.data())
def test_mismatch_counts_near_substrings(X, Y, length, data):
    mismatches = data.draw(st.integers(0, length - 1))
    kernel = Mismatch(length=length, mismatches=mismatches, alphabet="abü")  # c and the snowman are foreign
    x, y = ([mismatch_features(text, length, mismatches, "abü") for text in part] for part in (X, Y))
    np.testing.assert_allclose(kernel(X, Y), inner_products(x, y), rtol=1e-12)


KERNELS = [
    Subsequence(length=(1, 3), decay=0.6, weighting="span-1"),
    Spectrum(length=(1, 3), weights=(1.0, 2.0, 4.0)),
    Mismatch(length=2, mismatches=1),
    Mismatch(length=3, mismatches=2, alphabet="abc"),
]


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=40, deadline=None)
@given(X=texts)
def test_features_and_their_names(kernel, X):
    if not "".join(X):
        return
    features, names = kernel.feature_map(X), kernel.feature_names(X)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(X), rtol=1e-12, atol=1e-12)
    assert len(names) == features.shape[1] == len(set(names))
    if isinstance(kernel, Spectrum):
        for j, name in enumerate(names):
            expected = [sum(text[i:].startswith(name) for i in range(len(text))) for text in X]
            np.testing.assert_allclose(
                features[:, [j]].toarray()[:, 0], np.array(expected) * 2.0 ** ((len(name) - 1) / 2)
            )


def test_combinations_have_the_features_of_their_parts():
    X = ["banana", "bandana", ""]
    kernel = 2.0 * Spectrum(length=2).normalized() + Subsequence(length=2)
    features, names = kernel.feature_map(X), kernel.feature_names(X)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(X), rtol=1e-12)
    assert len(names) == features.shape[1]
    pairs = kernel * Spectrum(length=1)
    assert len(pairs.feature_names(X)) == pairs.feature_map(X).shape[1]


def test_the_cat_of_the_source_document():
    kernel = Subsequence(length=(1, 3), decay=0.5, weighting="span-1")
    weights = dict(zip(kernel.feature_names(["cat"]), kernel.feature_map(["cat"]).toarray()[0], strict=True))
    assert weights == {"c": 1, "a": 1, "t": 1, "ca": 0.5, "at": 0.5, "ct": 0.25, "cat": 0.25}


def test_the_cat_of_lodhi():
    kernel = Subsequence(length=2, decay=0.5)
    assert kernel(["cat"], ["car"])[0, 0] == 0.5**4
    assert kernel(["cat"])[0, 0] == 2 * 0.5**4 + 0.5**6
    assert kernel.normalized()(["cat"], ["car"])[0, 0] == pytest.approx(1 / (2 + 0.5**2))


@pytest.mark.parametrize(("length", "value"), [(2, 0.5798), (3, 0.4785), (4, 0.4389), (5, 0.4057), (6, 0.3692)])
def test_published_values(length, value):
    kernel = Subsequence(length=length, decay=0.5).normalized()
    pair = ["science is organized knowledge"], ["wisdom is organized life"]
    assert kernel(*pair)[0, 0] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize("weighting", ["span", "span-1"])
def test_man_bites_dog(weighting):
    kernel = Subsequence(length=(1, 3), decay=0.8, tokenizer="words", weighting=weighting)
    for one in (kernel, kernel.normalized()):
        hot, turned = one(["man bites dog"], ["man bites hot dog", "dog bites man"])[0]
        assert hot > turned


def test_long_texts_agree_with_short_ones(way):
    rng = np.random.default_rng(0)
    s, t = ("".join(rng.choice(list("acgt"), 700)) for _ in range(2))
    single = Subsequence(length=4)([s], [t], dtype=np.float32)[0, 0]
    double = Subsequence(length=4)([s], [t])[0, 0]
    assert single == pytest.approx(double, rel=1e-5)
    features = [subsequence_features(part, 2, 0.5, "span") for part in (s[:200], t[:200])]
    assert Subsequence(length=2)([s[:200]], [t[:200]])[0, 0] == pytest.approx(
        inner_products(*[[f] for f in features])[0, 0]
    )


def test_strips_make_no_difference(monkeypatch):
    monkeypatch.setattr(subsequence, "MOST_FEATURES", 0)
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("acgt"), n)) for n in (5, 64, 100, 333)]
    whole = Subsequence(length=(1, 4))(X)
    monkeypatch.setattr(subsequence, "CACHE_BYTES", 1)
    np.testing.assert_allclose(Subsequence(length=(1, 4))(X), whole, rtol=1e-13)


def test_counts_beyond_single_precision():
    """Of 1000 equal symbols there are 10^23 subsequences of length 10."""
    kernel, text = Subsequence(length=10, decay=1.0), ["a" * 1000]
    assert kernel(text)[0, 0] == pytest.approx(6.937e46, rel=1e-3)
    assert kernel.normalized()(text, ["a" * 900], dtype=np.float32)[0, 0] == pytest.approx(1.0)


def test_small_decays_do_not_vanish():
    kernel = Subsequence(length=6, decay=1e-6)
    assert kernel(["abcdefg"], ["xabcdef"])[0, 0] == pytest.approx(1e-72)
    assert kernel.normalized()(["abcdefg"], ["xabcdef"], dtype=np.float32)[0, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_laws(kernel):
    X = ["abacus", "cab", "", "bacca", "cabbages", "xyz", "abba"] * 5
    kernel = kernel.bind(X)
    gram = kernel(X)
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram)[0] > -1e-9 * np.abs(gram).max()
    np.testing.assert_allclose(kernel(X[3:6], X), gram[3:6], rtol=1e-12)
    np.testing.assert_allclose(kernel(X[::2], X[::3]), gram[::2, ::3], rtol=1e-12)
    diagonal = np.diag(kernel.normalized()(X))
    np.testing.assert_allclose(diagonal, np.diag(gram) > 0, rtol=1e-12)
    assert mercer_check(kernel).kind == "by_construction"


@pytest.mark.parametrize("kernel", [Subsequence(length=2), Spectrum(length=2), Mismatch(length=2, alphabet="ab")])
def test_an_empty_text_is_like_nothing(kernel, way):
    assert kernel(["", "ab"]).tolist()[0] == [0.0, 0.0]
    assert kernel.normalized()([""], ["", "ab"]).tolist() == [[0.0, 0.0]]
    assert kernel([], ["ab"]).shape == (0, 1)


def test_bytes_are_utf8():
    assert Spectrum(length=1)([b"gr\xc3\xbcn"], ["grün"])[0, 0] == 4
    with pytest.raises(DataError, match=r"item 1 of X is not UTF-8: invalid start byte at byte 2"):
        Spectrum(length=1)([b"ok", b"gr\xfcn"])


def test_characters_and_single_character_tokens_are_the_same_symbols():
    assert Subsequence(length=2)(["abc"], [["a", "b", "c"]])[0, 0] == Subsequence(length=2)(["abc"])[0, 0]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("banana", "X must be a sequence of texts, got one str"),
        (["banana", 3], "item 1 of X must be a text or a list of tokens, got int"),
        (["banana", None], "item 1 of X must be a text or a list of tokens, got NoneType"),
        (["banana", ["a", "b"]], "item 1 of X is a sequence of tokens, but item 0 is a text"),
        ([["a", ["b"]]], "item 0 of X has a token of type list"),
        ([["a", 0.5]], "item 0 of X has a token of type float"),
        (np.zeros((3, 2)), "item 0 of X must be a text or a list of tokens, got ndarray"),
    ],
)
@pytest.mark.parametrize("kernel", [Subsequence(), Spectrum(), Mismatch(alphabet="ab")])
def test_what_is_no_text(kernel, items, message):
    with pytest.raises(DataError, match=message):
        kernel(items)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Subsequence(length=0), "length must be a positive whole number or a pair"),
        (lambda: Subsequence(length=(3, 2)), r"got \(3, 2\)"),
        (lambda: Subsequence(length=2.5), "got 2.5"),
        (lambda: Subsequence(decay=0.0), "decay must be positive, got 0.0"),
        (lambda: Subsequence(decay=1.5), "decay must be at most 1, got 1.5"),
        (lambda: Subsequence(weighting="gap"), 'weighting must be "span" or "span-1", got \'gap\''),
        (lambda: Subsequence(tokenizer="letters"), 'tokenizer must be "characters", "words" or a function'),
        (lambda: Spectrum(length=2, weights=(1.0, 2.0)), "one number for each length from 2 to 2"),
        (lambda: Spectrum(length=2, weights=(-1.0,)), "weights must not be negative"),
        (lambda: Mismatch(length=2, mismatches=2), "mismatches must be less than length=2, got 2"),
        (lambda: Mismatch(alphabet=""), "alphabet must have at least one symbol"),
        (lambda: Mismatch(length=(1, 2)), "length must be a positive whole number"),
        (lambda: Mismatch()(["ab"], ["ab"]), r"depends on training data; call bind\(X\)"),
        (lambda: Mismatch()([""]), "alphabet must be given when the training texts are empty"),
        (lambda: Mismatch(length=30, mismatches=9, alphabet="abcdefgh")(["ab" * 50]), "lower mismatches or length"),
    ],
)
def test_parameters_that_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("kernel", [Subsequence(2), Spectrum(2), Mismatch(2, alphabet="ab")])
def test_texts_of_arrow(kernel):
    pa = pytest.importorskip("pyarrow")
    texts = ["abab", "ba", ""]
    np.testing.assert_array_equal(kernel(pa.array(texts)), kernel(texts))
    np.testing.assert_array_equal(kernel(pa.chunked_array([texts[:1], texts[1:]])), kernel(texts))


def test_more_strings_than_numbers():
    letters = "abcdefghijklmnopqrstuvwxyz"
    texts = [letters * 2, letters[3:] * 2]
    np.testing.assert_array_equal(Mismatch(20, 0, alphabet=letters)(texts), Spectrum(20)(texts))
    kernel = Mismatch(15, 1, alphabet=letters)
    assert len(set(kernel.feature_names(texts))) == kernel.feature_map(texts).shape[1]


def test_threads_that_want_the_same_features_write_them_once(monkeypatch):
    kernel = Subsequence(length=2)
    items = kernel.prepare(["abab", "bbaa", "abba"] * 20, np.float64)
    written, begun = [], threading.Barrier(4)
    write = Subsequence._written

    def counted(*arguments):
        written.append(arguments)
        time.sleep(0.05)  # long enough for the others to come
        return write(*arguments)

    monkeypatch.setattr(Subsequence, "_written", counted)
    blocks = [np.empty((60, 60)) for _ in range(4)]

    def compute(out):
        begun.wait()
        kernel.tile(items, items, out, 0, 0)

    threads = [threading.Thread(target=compute, args=(out,)) for out in blocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(written) == 1
    for out in blocks[1:]:
        np.testing.assert_array_equal(out, blocks[0])
    again = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(kernel.diag_of(again), kernel.diag_of(items))
