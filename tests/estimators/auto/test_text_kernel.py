"""Which kernel texts get, and how several classes of them are learnt."""

import numpy as np
import pytest

from mercer import SVC
from mercer.estimators.auto.strength_by_folds import against_the_rest
from mercer.estimators.auto.text_kernel import LETTERS, PAIRS, WORDS, learnt_text_kernel
from mercer.estimators.fitting.auto_kernel import kernel_for
from mercer.kernels import Spectrum, Sum


def never():
    return False


def targets(labels):
    return (labels - np.mean(labels))[:, None]


def made_word(rng, ending):
    return "".join(rng.choice(list("bcdfgklmnprst"), 6)) + ending


def parts_of(kernel):
    return [part.kernel for part in kernel.kernels] if isinstance(kernel, Sum) else [kernel]


def test_letters_are_taken_where_endings_tell_and_no_word_comes_twice(rng):
    labels = np.arange(80) % 2
    texts = [f"{made_word(rng, 'ung' if one else 'ion')} {made_word(rng, 'a')}" for one in labels]
    assert LETTERS in parts_of(learnt_text_kernel(texts, targets(labels), never))


def test_pairs_of_words_are_taken_where_their_order_tells(rng):
    labels = np.arange(80) % 2
    texts = [f"{'dog bites man' if one else 'man bites dog'} {made_word(rng, '')}" for one in labels]
    assert PAIRS in parts_of(learnt_text_kernel(texts, targets(labels), never))


def test_words_alone_are_taken_where_they_tell_all(rng):
    labels = np.arange(80) % 2
    texts = [f"{'good' if one else 'bad'} {made_word(rng, '')} {made_word(rng, '')}" for one in labels]
    assert learnt_text_kernel(texts, targets(labels), never) == WORDS


def test_long_texts_are_compared_by_words_without_letters(rng):
    labels = np.arange(40) % 2
    texts = [" ".join(made_word(rng, "ung" if one else "ion") for _ in range(120)) for one in labels]
    assert LETTERS not in parts_of(learnt_text_kernel(texts, targets(labels), never))


def test_without_targets_texts_have_words_and_pairs_and_sequences_have_letters():
    kernel, _ = kernel_for(["one two", "two three"])
    assert kernel == Spectrum(length=(1, 2), tokenizer="words", weighting="tf-idf", lowercase=True).normalized()
    assert kernel_for(["acgt", "ggca"])[0] == Spectrum().normalized()


def test_words_that_are_everywhere_do_not_hide_those_that_tell(rng):
    common = ["the", "of", "and", "to", "in", "that", "is", "was", "for", "on"]
    labels = np.arange(120) % 3
    topics = np.array(["goalkeeper", "violin", "glacier"])
    texts = [" ".join([*rng.choice(common, 60), topics[k], *rng.choice(common, 60)]) for k in labels]
    model = SVC(kernel="auto", C="auto").fit(texts[:60], topics[labels[:60]])
    assert np.mean(model.predict(texts[60:]) == topics[labels[60:]]) == 1.0


@pytest.mark.parametrize("C", [1.0, "auto"])
def test_auto_learns_classes_in_one_of_two_ways_and_says_in_which(rng, C):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    model = SVC(C=C).fit(X, y)
    same = SVC(C=getattr(model, "C_", C), multi_class=model.multi_class_).fit(X, y)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))
    assert C == "auto" or model.multi_class_ == "ovo"


class Known:
    """Scores as folds have told them: how right each row was, by strength and by how classes were learnt."""

    def __init__(self, **right):
        self.told = {(1.0, how): np.array(rows, float) for how, rows in right.items()}
        self.right = {key: rows for key, rows in self.told.items() if key[1] == "ovo"}

    def __call__(self, strength, stop, how):
        if (strength, how) not in self.told:
            return None
        self.right[strength, how] = self.told[strength, how]
        return float(self.told[strength, how].mean())


@pytest.mark.parametrize(("lost", "expected"), [(0, "ovr"), (3, "ovr"), (8, "ovo"), (12, "ovo")])
def test_each_against_the_rest_is_taken_where_it_is_clearly_right_more_often(lost, expected):
    # Right where pairs are wrong in 12 rows, and wrong where they are right in `lost`.
    pairs, rest = [1] * 60 + [0] * 12, [0] * lost + [1] * (72 - lost)
    assert against_the_rest(Known(ovo=pairs, ovr=rest), 1.0, never) == (1.0, expected)
