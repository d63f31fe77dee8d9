"""SplitMix64 as its authors published it."""

import numpy as np

from mercer._jit.splitmix import GOLDEN, stirred

# The first outputs of the generator with seed 1234567, as given by its public reference implementations.
PUBLISHED = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


def test_the_first_numbers_are_those_of_the_published_generator():
    places = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * GOLDEN
    assert stirred(places).tolist() == PUBLISHED
    assert [int(stirred(place)) for place in places] == PUBLISHED
