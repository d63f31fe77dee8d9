"""An evaluation as arrays, and back."""

import numpy as np

from mercer.solvers.blocks.passes import Evaluate, Place
from mercer.solvers.blocks.state import request_of, state_of


def test_a_request_comes_back_from_its_arrays(rng):
    at, moved = Place(rng.normal(size=3), 0.5, 0.25), Place(rng.normal(size=3), -1.0, 2.0)
    state = state_of(Evaluate(at, (rng.normal(size=3), 4.0), moved, 0.125), rng.normal(size=2))
    assert set(state) == {"at", "step", "moved", "narrower", "centre"}
    again = request_of(state)
    for found, place in ((again.at, at), (again.moved, moved)):
        np.testing.assert_array_equal(found.v, place.v)
        assert (found.b, found.width) == (place.b, place.width)
    assert again.step[1] == 4.0
    assert again.narrower == 0.125


def test_what_is_not_asked_for_stays_so(rng):
    at = Place(rng.normal(size=3), 0.5, 0.25)
    state = state_of(Evaluate(at), None)
    assert all(len(state[name]) == 0 for name in ("step", "moved", "narrower", "centre"))
    again = request_of(state)
    assert again.step is None
    assert again.moved is None
    assert again.narrower is None
