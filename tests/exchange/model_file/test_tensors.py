"""Arrays in a payload: written, read as views, and refused where the numbers of a header do not agree."""

import json

import numpy as np
import pytest

from mercer import ModelFileError
from mercer.exchange.model_file.tensors import read_tensors, written_tensors

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "b": np.array([True, False]),
    "c": np.zeros((0, 4), dtype=np.int32),
    "d": np.arange(3, dtype=np.int64),
}


def payload_of(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F64", shape=(2,), offsets=(0, 16)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_what_is_written_is_read():
    payload = b"".join(bytes(piece) for piece in written_tensors(ARRAYS))
    found = read_tensors(payload)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
        assert found[name].shape == array.shape
    assert np.shares_memory(found["a"], np.frombuffer(payload, np.uint8))


def test_a_header_by_hand():
    data = np.array([1.5, 2.5]).tobytes() + np.array([7], dtype=np.int64).tobytes()
    header = {"y": entry("I64", (1,), (16, 24)), "__metadata__": {"a": "b"}, "x": entry()}
    found = read_tensors(payload_of(header, data))
    assert (found["x"].tolist(), found["y"].tolist()) == ([1.5, 2.5], [7])
    assert read_tensors(payload_of({}, b"")) == {}


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (entry(dtype="F65"), "has dtype"),
        (entry(dtype=["F64"]), "has dtype"),
        (entry(shape=(2.0,)), "has the impossible shape"),
        (entry(shape=(-2, -1)), "has the impossible shape"),
        (entry(shape=(True, 2)), "has the impossible shape"),
        (entry(shape=(1,) * 8 + (2,)), "has the impossible shape"),
        (entry() | {"shape": "2"}, "has the impossible shape"),
        (entry(offsets=(0,)), "has the impossible data_offsets"),
        (entry(offsets=(0, 8, 16)), "has the impossible data_offsets"),
        (entry(offsets=(0, 16.0)), "has the impossible data_offsets"),
        (entry(offsets=(0.0, 16)), "has the impossible data_offsets"),
        (entry(offsets=(-1, 15)), "has the impossible data_offsets"),
        (entry() | {"data_offsets": "ab"}, "has the impossible data_offsets"),
        (entry(offsets=(0, 8)), "cannot be at"),
        (entry(offsets=(8, 24)), "cannot be at"),
        (entry(offsets=(16, 0)), "cannot be at"),
        (entry(shape=(3,)), "cannot be at"),
        (entry(shape=(1,), offsets=(8, 16)), "byte 0 is in none"),
        (entry(shape=(1,), offsets=(0, 8)), "end at byte 8 of 16"),
        ({"dtype": "F64", "shape": [2]}, "must have a dtype"),
        (entry() | {"more": 1}, "must have a dtype"),
        ([1], "must have a dtype"),
    ],
)
def test_numbers_that_do_not_agree(header, words):
    with pytest.raises(ModelFileError, match=words):
        read_tensors(payload_of({"x": header}, bytes(16)))


def test_eight_axes_are_enough():
    assert read_tensors(payload_of({"x": entry(shape=(1,) * 7 + (2,))}, bytes(16)))["x"].shape == (1,) * 7 + (2,)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "at least 8 bytes"),
        (bytes(7), "at least 8 bytes"),
        ((8).to_bytes(8, "little"), "says that its header has 8"),
        ((16).to_bytes(8, "little") + b"{}      ", "says that its header has 16"),
        ((2).to_bytes(8, "little") + b"{}", "says that its header has 2"),
        (payload_of(b"[]", b""), "must be a JSON object"),
    ],
)
def test_headers_that_are_none(payload, words):
    with pytest.raises(ModelFileError, match=words):
        read_tensors(payload)


def test_arrays_may_not_share_bytes():
    header = {"x": entry(), "y": entry(shape=(1,), offsets=(8, 16))}
    with pytest.raises(ModelFileError, match="must follow each other"):
        read_tensors(payload_of(header, bytes(16)))


@pytest.mark.parametrize("count", [-1, 2**63, 2**64, 2.0, True])
def test_a_count_that_no_array_can_have_is_refused(count):
    with pytest.raises(ModelFileError, match="impossible shape"):
        read_tensors(payload_of({"a": entry(shape=(0, count), offsets=(0, 0))}, b""))
    with pytest.raises(ModelFileError, match="impossible data_offsets"):
        read_tensors(payload_of({"a": entry(shape=(0,), offsets=(count, count))}, b""))
