"""Both ways to compute the mismatch kernel, by neighbours of substrings and by substrings with gaps."""

import pickle
from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import ParameterError
from mercer.kernels import Mismatch
from mercer.kernels.items.counts import Counts
from mercer.kernels.string import mismatch, near_strings
from mercer.kernels.string.gapped_counts import GappedCounts, Weights, n_gapped, n_neighbours

WAYS = {"neighbours": 10**9, "gaps": 0}
texts = st.lists(st.text(alphabet="abcd☃", max_size=12), min_size=1, max_size=4)


def plain_kernel(X, Y, length, mismatches, alphabet):
    """By the definition: strings over the alphabet, one by one."""

    def features(text):
        found = Counter()
        words = [text[i : i + length] for i in range(len(text) - length + 1)]
        for u in product(alphabet, repeat=length):
            found[u] = sum(sum(a != b for a, b in zip(u, word, strict=True)) <= mismatches for word in words)
        return found

    x, y = [features(text) for text in X], [features(text) for text in Y]
    return np.array([[sum(c * right[u] for u, c in left.items()) for right in y] for left in x], float)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60, deadline=None)
@given(X=texts, Y=texts, length=st.integers(1, 4), data=st.data())
def test_both_ways_count_near_strings(way, X, Y, length, data):
    mismatches, alphabet = data.draw(st.integers(0, length - 1)), data.draw(st.sampled_from(["a", "ab", "abc"]))
    kernel = Mismatch(length, mismatches, alphabet)  # all other symbols are foreign
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mismatch, "n_gapped", lambda *_: WAYS[way])
        np.testing.assert_array_equal(kernel(X, Y), plain_kernel(X, Y, length, mismatches, alphabet))
        np.testing.assert_array_equal(kernel(X), plain_kernel(X, X, length, mismatches, alphabet))
        np.testing.assert_array_equal(kernel.diag(X), np.diag(kernel(X)))
        features = kernel.feature_map(X)
        np.testing.assert_array_equal((features @ features.T).toarray(), kernel(X))


def random_texts(n, letters, seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), rng.integers(0, 80))) for _ in range(n)]


@pytest.mark.parametrize(
    ("length", "mismatches", "alphabet", "foreign"),
    [(4, 1, "abcdefghijklmnopqrst", ""), (4, 1, "abcdefghijklmnopqrst", "!?"), (6, 2, "acgt", "n"), (5, 3, "abc", "x")],
)
def test_both_ways_agree_on_many_texts(monkeypatch, length, mismatches, alphabet, foreign):
    X = random_texts(250, alphabet + foreign, 0)  # several tiles
    kernel, found = Mismatch(length, mismatches, alphabet), []
    for each in WAYS.values():
        monkeypatch.setattr(mismatch, "n_gapped", lambda *_, each=each: each)
        found.append([kernel(X), kernel(X[:30], X[20:]), kernel.diag(X), kernel.normalized()(X[:50])])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_single_precision_rounds_once():
    X = random_texts(20, "abcdef", 1)
    kernel = Mismatch(4, 2, "abcdef")
    np.testing.assert_array_equal(kernel(X, dtype=np.float32), kernel(X).astype(np.float32))


def test_fewer_features_are_counted():
    assert isinstance(Mismatch(4, 1, "abcdefghijklmnopqrst").prepare(["abcde"]), GappedCounts)
    assert isinstance(Mismatch(8, 1, "ab").prepare(["abababab"]), Counts)


@pytest.mark.parametrize(("length", "mismatches", "size"), [(4, 1, 20), (5, 2, 4), (6, 3, 3), (3, 2, 1)])
def test_weights_add_up_to_the_strings_near_both(length, mismatches, size):
    weights = Weights(length, mismatches, size)
    for differing in range(length + 1 if size > 1 else 1):
        s, t = (0,) * length, (1,) * differing + (0,) * (length - differing)
        near = [
            sum(
                comb(length - differing, kept) * weights.of(kept, 0) for kept in range(weights.fewest_kept, length + 1)
            ),
            sum(
                max(sum(a != b for a, b in zip(u, other, strict=True)) for other in (s, t)) <= mismatches
                for u in product(range(size), repeat=length)
            ),
        ]
        assert near[0] == near[1]


def test_numbers_of_features():
    length, mismatches, letters = 5, 2, "abcd"
    near = [u for u in product(letters, repeat=length) if sum(symbol != "a" for symbol in u) <= mismatches]
    assert n_neighbours(length, mismatches, len(letters)) == len(near)
    assert n_gapped(length, mismatches) == sum(1 for gaps in range(5) for _ in combinations(range(length), gaps))


def test_some_of_the_texts_and_texts_from_another_process():
    X = random_texts(40, "abcdefgh!", 2)
    kernel = Mismatch(3, 1, "abcdefgh")
    K, items = kernel(X), kernel.prepare(X)
    chosen = np.array([7, 3, 30])
    again = pickle.loads(pickle.dumps(items))  # noqa: S301 - our own bytes
    for left in (items.take(chosen), again.take(chosen)):
        out = np.empty((3, 10))
        kernel.tile(left, items.slice(5, 15), out, 0, 0)
        np.testing.assert_array_equal(out, K[chosen, 5:15])
        np.testing.assert_array_equal(kernel.diag_of(left), K[chosen, chosen])


def test_more_gapped_strings_than_numbers(monkeypatch):
    letters = "abcdefghijklmnopqrstuvwxyz"
    X = [*random_texts(6, letters, 3), letters * 2, letters[3:] * 2, letters[:9] + "!" + letters[10:]]
    kernel, found = Mismatch(14, 1, letters), []
    for each in WAYS.values():
        monkeypatch.setattr(mismatch, "n_gapped", lambda *_, each=each: each)
        found.append(kernel(X))
    np.testing.assert_array_equal(*found)


def test_too_many_features_are_refused(monkeypatch):
    kernel = Mismatch(4, 1, "abcdefghijklmnopqrst")
    monkeypatch.setattr(near_strings, "MOST_FEATURES", 20 * 11)
    assert kernel(["a" * 23])[0, 0] == 20 * 20 * 77  # 11 features of each substring; there are 77 strings near it
    with pytest.raises(ParameterError, match="each of 21 substrings up to 11 features, more than fit"):
        kernel(["a" * 24])
    with pytest.raises(ParameterError, match="each of 4 substrings up to 77 features, more than fit"):
        kernel(["aaa!aaa"])
    with pytest.raises(ParameterError, match="each of 20 substrings up to 77 features, more than fit"):
        kernel.feature_map(["a" * 23])
