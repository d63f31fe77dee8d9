"""SplitMix64 (Steele, Lea & Flood 2014): numbers that look random, each a function of its place alone.

The generator takes steps of `GOLDEN`, 2**64 divided by the golden ratio, and stirs the bits of where it stands.
"""

from typing import Any

import numpy as np

from mercer._jit.compile import jit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@jit
def stirred(z: Any) -> Any:
    """The bits of a uint64, or of each number in an array of them, stirred: no two numbers become the same."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    return z ^ (z >> np.uint64(31))
