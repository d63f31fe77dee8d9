"""64-bit keys for features that are not numbers: the same in every process, on every machine.

A feature (a substring, a label of a node with its neighbours) is named by a fingerprint
instead of being looked up in a dictionary, so that items prepared at different times agree
on their features (the idea is Rabin's, 1981). Among a million features, two share a key with
a probability of about 3e-8. The mixing is that of `splitmix`.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._jit.compile import jit
from mercer._jit.splitmix import GOLDEN, stirred
from mercer.kernels._types import KeyArray


@jit
def mixed(key: np.uint64, value: np.uint64) -> np.uint64:
    """The key of a sequence whose beginning has `key` and which goes on with `value` (both uint64)."""
    # Multiplied first: swapping key and value must change the result, and small numbers must not cancel.
    return stirred((key + np.uint64(1)) * np.uint64(GOLDEN) + value)


def fingerprint(label: Any) -> np.uint64:
    """The key of a label: a string, a number, None, or a tuple of these.

    Equal numbers have the same key, whatever their type.

    Examples
    --------
    >>> len({int(fingerprint(label)) for label in ("C", "C", 1, 1.0, "1")})
    3
    """
    return np.uint64(int.from_bytes(hashlib.blake2b(_spelled(label), digest_size=8).digest(), "little"))


def _spelled(label: Any) -> bytes:
    """Bytes that differ if the labels differ."""
    if isinstance(label, str):
        return b"s" + label.encode("utf-8", "surrogatepass")
    if isinstance(label, bytes):
        return b"b" + label
    if label is None:
        return b"none"
    if isinstance(label, tuple):
        parts = [_spelled(part) for part in label]
        return b"t" + b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    number = float(label)
    # Beyond 2^53 a float no longer distinguishes integers.
    return b"n" + repr(number if number != label or not number.is_integer() else int(label)).encode()


def fingerprints(labels: Sequence[Any]) -> KeyArray:
    """The keys of many labels, each distinct one computed once."""
    known = {}
    keys = np.empty(len(labels), np.uint64)
    for place, label in enumerate(labels):
        # True, 1 and 1.0 are the same dictionary key, and the same fingerprint.
        if label not in known:
            known[label] = fingerprint(label)
        keys[place] = known[label]
    return keys
