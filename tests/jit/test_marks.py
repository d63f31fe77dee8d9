"""A mark changes with every number, and with their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mercer._jit.marks import mark

NUMBERS = arrays.arrays(st.sampled_from([np.float32, np.float64, np.int32, np.int64]), st.integers(1, 40))


@given(NUMBERS, st.data())
def test_a_change_of_any_one_number_is_seen(array, data):
    place, other = data.draw(st.integers(0, len(array) - 1)), array.copy()
    other[place] = data.draw(st.sampled_from([0, 1, -1, 3]).map(array.dtype.type))
    same = array.tobytes() == other.tobytes()
    assert (mark(array) == mark(other)) == same


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_change_places_are_seen(rng, dtype):
    X = rng.normal(size=(300, 7)).astype(dtype)
    assert mark(X) == mark(X.copy()) == mark(np.asfortranarray(X))
    assert mark(X) != mark(X[::-1])
    assert mark(X) != mark(X[:-1])


def test_no_numbers_at_all():
    assert mark(np.empty((0, 3))) == 0
