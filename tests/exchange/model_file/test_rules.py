"""Rules for values of a model file, each by what it lets pass and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from mercer.exchange.model_file import rules
from mercer.exchange.model_file.rules import Refused

ROWS = np.array([[1.0, 2.0], [3.0, 4.0]])
SPOILT = np.array([[1.0, np.nan], [3.0, 4.0]])
OBJECTS = np.array(["a", 1], dtype=object)

# name: (rule, what passes, what is refused and the words for it)
RULES = {
    "flag": (rules.flag, [True, np.bool_(0)], [(1, "got 1"), ("True", "got 'True'"), (None, "got None")]),
    "text": (rules.text, ["", "a", np.str_("b")], [(b"a", "got bytes"), (1, "a text")]),
    "integer": (rules.integer(), [0, -3, np.int32(5), 10**30], [(1.0, "whole"), (True, "got True"), ("1", "whole")]),
    "integer from 2": (rules.integer(2), [2, 3], [(1, "at least 2, got 1"), (True, "whole number")]),
    "number": (
        rules.number(),
        [0, 1.5, np.float32(2), np.int8(3)],
        [
            (np.nan, "a finite number"),
            (-np.inf, "finite"),
            (True, "got True"),
            (1j, "complex"),
            (Fraction(1, 2), "Fraction"),
        ],
    ),
    "any number": (rules.number(finite=False), [np.inf, np.nan, 0], [("0", "must be a number"), (False, "got False")]),
    "optional": (rules.optional(rules.text), [None, "a"], [(1, "a text")]),
    "either": (
        rules.either(rules.text, rules.flag),
        ["a", True],
        [(1, "a text, got 1, or must be True or False, got 1")],
    ),
    "list": (rules.list_of(rules.text), [[], ["a"], ("a", "b")], [("ab", "a list"), (["a", 1], "a text, got 1")]),
    "tuple": (rules.list_of(rules.integer(), tuple), [(), (1,)], [([1], "a list"), ((1, "a"), "whole number")]),
    "list of anything": (rules.list_of(rules.anything), [[1, None]], [({1}, "a list, got set")]),
    "dict": (rules.dict_of, [{}, {"a": 1}], [([], "a dict, got list")]),
    "instance": (
        rules.instance("ndarray", "Exception"),
        [ROWS, ValueError()],
        [(1, "must be a ndarray or Exception, got 1"), (ValueError, "got type")],
    ),
    "array": (
        rules.array("f"),
        [ROWS, ROWS[0], np.float32(ROWS), np.zeros((0, 2)), ROWS.T, ROWS[:, ::2]],
        [([1.0], "got list"), (np.arange(2), "dtype int64"), (SPOILT, "must be finite"), (SPOILT.T, "must be finite")],
    ),
    "array of two dimensions": (rules.floats2, [ROWS], [(ROWS[0], r"must have 2 dimensions, got shape \(2,\)")]),
    "array of one or two": (rules.array("f", (1, 2)), [ROWS, ROWS[0]], [(ROWS[None], "dimensions")]),
    "array with infinity": (rules.array("f", finite=False), [SPOILT], [(OBJECTS, "dtype object")]),
    "indices": (
        rules.indices,
        [np.array([0, 7]), np.zeros(0, int), np.array([3], np.uint8)],
        [
            (np.array([2, -1]), "must not be below 0, got -1"),
            (np.zeros(1), "kind"),
            (np.zeros((1, 1), int), "dimensions"),
        ],
    ),
    "csr": (
        rules.csr,
        [sparse.csr_matrix(ROWS), sparse.csr_array(ROWS)],
        [
            (ROWS, "a CSR matrix, got an array of dtype float64"),
            (sparse.csc_matrix(ROWS), "CSR"),
            (sparse.csr_array(SPOILT), "finite"),
        ],
    ),
    "labels": (
        rules.labels,
        [np.array([1, 2]), np.array(["a"]), np.array([True]), OBJECTS, np.array([0.5])],
        [([1], "got list"), (ROWS, "labels"), (np.array([1j]), "complex128"), (np.array([np.nan]), "must be finite")],
    ),
    "names": (
        rules.names,
        [np.array(["a", "b"]), np.array(["a"], dtype=object), np.zeros(0, "U1")],
        [(OBJECTS, "an array of texts"), (np.array([["a"]]), "texts"), (["a"], "got list")],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_what_a_rule_lets_pass_and_what_it_refuses(name):
    rule, good, bad = RULES[name]
    for value in good:
        rule(value)
    for value, words in bad:
        with pytest.raises(Refused, match=words):
            rule(value)


def test_long_values_are_cut_in_the_words_of_a_refusal():
    with pytest.raises(Refused) as refused:
        rules.flag("x" * 1000)
    assert str(refused.value) == f"must be True or False, got '{'x' * 56}..."
    with pytest.raises(Refused, match=f"got '{'x' * 58}'$"):
        rules.flag("x" * 58)


@pytest.mark.parametrize("place", [0, rules._STRETCH - 1, rules._STRETCH, 2 * rules._STRETCH])
def test_a_large_array_is_looked_at_to_its_end(place):
    values = np.zeros(2 * rules._STRETCH + 1, np.float32)
    assert rules.is_finite(values)
    values[place] = np.inf
    assert not rules.is_finite(values)
