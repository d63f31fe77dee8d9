"""Count form and pairwise form: items that are not rows of numbers, with a kernel of letters."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from mercer import SVC
from mercer._errors import DataError
from mercer._jit.compile import jit
from mercer._jit.threads import Stopped
from mercer.kernels.base.structured import CountKernel, Packed, StructuredKernel, require_kind
from mercer.kernels.evaluation import tiles
from mercer.kernels.gram.evaluated import EvaluatedMatrix
from mercer.kernels.items.counts import Counts
from mercer.kernels.items.feature_keys import fingerprint, fingerprints, mixed

TEXTS = ["banana", "bandana", "", "cabana", "nab", "xyz", "zebra", "buzz"] * 3
LABELS = np.array(["b" in text for text in TEXTS], dtype=int)


@dataclass(frozen=True)
class Letters(CountKernel):
    """How often each letter occurs, times `weight`."""

    weight: float = 1.0
    item_name = "text"

    def encode(self, items, dtype):
        require_kind(items, str, "text", "pass str(item)")
        item = np.repeat(np.arange(len(items)), [len(text) for text in items])
        return Counts.from_occurrences(item, fingerprints("".join(items)), self.weight, len(items), dtype)


@jit
def _same_letters(codes, offsets, left, right, out, row, column):
    for i in range(left.shape[0]):
        for j in range(right.shape[0]):
            total = 0
            for s in codes[offsets[left[i]] : offsets[left[i] + 1]]:
                for t in codes[offsets[right[j]] : offsets[right[j] + 1]]:
                    total += s == t
            out[row + i, column + j] = total


@dataclass(frozen=True)
class LetterPairs(StructuredKernel):
    """The same kernel in pairwise form."""

    tile_length: int = 5

    def encode(self, items, dtype):
        offsets = np.concatenate([[0], np.cumsum([len(text) for text in items])])
        codes = np.array([ord(letter) for text in items for letter in text], dtype=np.int64)
        return Packed((codes, offsets), np.arange(len(items)), dtype, self.tile_length)

    def tile(self, left, right, out, row, column):
        # Left and right may have been packed at different times.
        codes = np.concatenate([left.arrays[0], right.arrays[0]])
        offsets = np.concatenate([left.arrays[1][:-1], right.arrays[1] + len(left.arrays[0])])
        _same_letters(codes, offsets, left.index, right.index + len(left.arrays[1]) - 1, out, row, column)

    def diag_of(self, prepared):
        out = np.empty((len(prepared), 1))
        for i in range(len(prepared)):
            item = prepared.slice(i, i + 1)
            self.tile(item, item, out, i, 0)
        return out[:, 0]


def by_hand(left, right):
    return np.array([[sum(s.count(letter) for letter in t) for t in right] for s in left], dtype=float)


@pytest.mark.parametrize("kernel", [Letters(), LetterPairs(), LetterPairs(tile_length=None)])
def test_values_are_those_of_counting(kernel):
    np.testing.assert_array_equal(kernel(TEXTS), by_hand(TEXTS, TEXTS))
    np.testing.assert_array_equal(
        kernel(TEXTS[:5], ["a", "unseen zebra", ""]), by_hand(TEXTS[:5], ["a", "unseen zebra", ""])
    )
    np.testing.assert_array_equal(kernel.diag(TEXTS), np.diag(by_hand(TEXTS, TEXTS)))


def test_features_have_the_kernel_as_inner_products():
    features = Letters(weight=2.0).feature_map(TEXTS)
    np.testing.assert_array_equal((features @ features.T).toarray(), 4.0 * by_hand(TEXTS, TEXTS))


def test_algebra_and_constants():
    both = Letters() + 2.0 * LetterPairs() + 1.0
    np.testing.assert_array_equal(both(TEXTS), 3.0 * by_hand(TEXTS, TEXTS) + 1.0)
    assert both.takes_items is True
    assert (Letters() ** 2)(["aab"])[0, 0] == 25.0
    assert Letters().normalized()(["ab", ""], ["a", "xb"]).round(6).tolist() == [[0.707107, 0.5], [0.0, 0.0]]
    assert not (Letters() + LetterPairs()).is_dot_product_form


def test_centred_has_mean_zero():
    np.testing.assert_allclose(Letters().centered()(TEXTS).sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("kernel", [Letters(), LetterPairs(), Letters() * LetterPairs() + 1.0])
def test_estimators_take_the_items(kernel):
    model = SVC(kernel=kernel, C=10.0).fit(TEXTS, LABELS)
    assert model.score(TEXTS, LABELS) == 1.0
    reference = SVC(kernel="precomputed", C=10.0).fit(kernel(TEXTS), LABELS)
    unseen = ["bab", "quite new", ""]
    np.testing.assert_allclose(
        model.decision_function(unseen), reference.decision_function(kernel(unseen, TEXTS)), atol=1e-6
    )
    assert (cross_val_score(clone(model), TEXTS, LABELS, cv=3) == 1.0).all()


def test_grid_search_reaches_a_parameter():
    search = GridSearchCV(SVC(kernel=Letters()), {"kernel__weight": [1e-6, 1.0]}, cv=3).fit(TEXTS, LABELS)
    assert search.best_params_ == {"kernel__weight": 1.0}


def test_double_precision_is_not_prepared_twice():
    prepared = []

    def prepare(dtype, indices=None):
        prepared.append(indices)
        return Letters().prepare(TEXTS if indices is None else [TEXTS[i] for i in indices], dtype)

    matrix = EvaluatedMatrix(Letters(), prepare, np.float64)
    everywhere = np.arange(matrix.n)
    np.testing.assert_array_equal(
        matrix.product_in_double(everywhere, np.ones(matrix.n), everywhere), by_hand(TEXTS, TEXTS).sum(axis=1)
    )
    assert len(prepared) == 1


def test_a_stop_is_heard_between_the_tiles_of_a_slow_kernel():
    asked = []

    def stop(_share=None):
        asked.append(threading.get_ident())
        return len(asked) > 3

    prepared = LetterPairs(tile_length=2).prepare(TEXTS)
    with pytest.raises(Stopped):
        tiles.gram(LetterPairs(), prepared, np.empty((len(TEXTS), len(TEXTS))), stop=stop)
    assert len(asked) < 8


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("banana", r"X must be a sequence of texts, got one str; pass \[text\]"),
        (["banana", 3], "item 1 of X must be a text, got int"),
        (np.zeros((3, 2)), "item 0 of X must be a text, got ndarray"),
    ],
)
def test_what_is_not_a_list_of_items_is_refused(items, message):
    with pytest.raises(DataError, match=message):
        Letters()(items)


def test_keys_do_not_depend_on_the_process():
    assert int(fingerprint("mercer")) == 1122353740892889122
    different = ["1", 1, (1,), ("1",), ("a", "b"), ("ab",), None, 2**53, 2**53 + 1, 0.5, b"1"]
    assert len({int(fingerprint(label)) for label in different}) == len(different)
    assert fingerprint(True) == fingerprint(1) == fingerprint(np.float32(1.0))


def test_mixing_depends_on_the_order():
    a, b, start = fingerprint("a"), fingerprint("b"), np.uint64(0)
    assert mixed(mixed(start, a), b) != mixed(mixed(start, b), a)
    assert mixed(a, b) != mixed(b, a)


def test_mixing_tells_small_numbers_apart():
    keys = {int(mixed(np.uint64(i), np.uint64(j))) for i in range(64) for j in range(64)}
    assert len(keys) == 64 * 64


@pytest.mark.parametrize(
    ("kernel", "is_text"), [(Letters(), True), (2.0 * Letters().normalized() + 1.0, True), (LetterPairs(), False)]
)
def test_tags_tell_what_the_items_are(kernel, is_text):
    tags = get_tags(SVC(kernel=kernel)).input_tags
    assert (tags.one_d_array, tags.two_d_array, tags.string, tags.sparse) == (True, False, is_text, False)
    assert get_tags(SVC()).input_tags.two_d_array
