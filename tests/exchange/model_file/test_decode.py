"""Each kind of node that a manifest may hold: what it stands for, and what is refused in its place."""

import datetime as dt
import math

import numpy as np
import pytest

from mercer import ModelFileError, ParameterError, Status
from mercer.exchange.model_file.decode import DEEPEST, Reader, require_sound_csr

ARRAYS = {
    "numbers": np.array([1.0, 2.0, 3.0]),
    "one": np.array([7.0]),
    "none": np.zeros(0),
    "square": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "mask": np.array([True, False, True]),
    "days": np.array([0, 1], dtype=np.int64),
    "ends": np.array([0, 2, 2, 5]),
    "falling": np.array([0, 3, 2]),
    "negative": np.array([-1, 3]),
    "data": np.array([1.0, 2.0]),
    "columns": np.array([0, 2], dtype=np.int32),
    "pointers": np.array([0, 1, 2], dtype=np.int32),
}


def read(node, given=None):
    return Reader(ARRAYS, given).value(node)


def refuses(node, words):
    with pytest.raises(ModelFileError, match=words):
        read(node)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, "text"])
def test_plain_values_are_themselves(value):
    assert read(value) is value
    assert read([value, [value]]) == [value, [value]]


def test_arrays():
    assert read({"is": "array", "data": "square"}).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert read({"is": "array", "data": "square", "order": "F"}).tolist() == [[1.0, 3.0], [2.0, 4.0]]
    for name in ("other", 3, None, ["square"]):
        refuses({"is": "array", "data": name}, "which the file does not have")
    refuses({"is": "array"}, "lacks 'data'")


def test_kinds_and_dimensions_of_arrays_are_looked_at():
    reader = Reader(ARRAYS)
    assert reader.tensor("numbers", "f", 1).tolist() == [1.0, 2.0, 3.0]
    for kinds, ndim in (("i", 1), ("f", 2)):
        with pytest.raises(ModelFileError, match="which do not suit it"):
            reader.tensor("numbers", kinds, ndim)


def test_small_arrays_are_copies_and_large_ones_views():
    large = np.zeros(10**6)
    reader = Reader({"large": large, **ARRAYS})
    assert reader.tensor("numbers") is not ARRAYS["numbers"]
    assert np.shares_memory(reader.tensor("large"), large)
    assert reader.tensor("large") is reader.tensor("large")


def test_positions_do_not_fall():
    reader = Reader(ARRAYS)
    assert reader.ends("ends").tolist() == [0, 2, 2, 5]
    assert reader.ends("ends", 4).tolist() == [0, 2, 2, 5]
    for name, n in (("ends", 3), ("falling", None), ("negative", None), ("falling", 3)):
        with pytest.raises(ModelFileError, match="in ascending order"):
            reader.ends(name, n)


def test_times():
    found = read({"is": "times", "data": "days", "dtype": "<M8[D]"})
    assert found.tolist() == [dt.date(1970, 1, 1), dt.date(1970, 1, 2)]
    assert read({"is": "times", "data": "days", "dtype": "<m8[s]"}).dtype == np.dtype("<m8[s]")
    for dtype in ("<f8", 3, None, "<M8[x]", "M8[D]"):
        refuses({"is": "times", "data": "days", "dtype": dtype}, "times cannot have dtype")


def test_masked_arrays():
    found = read({"is": "masked", "data": {"is": "array", "data": "numbers"}, "mask": "mask"})
    assert found.tolist() == [None, 2.0, None]
    refuses({"is": "masked", "data": {"is": "array", "data": "square"}, "mask": "mask"}, "mask of its shape")
    refuses({"is": "masked", "data": [1.0, 2.0, 3.0], "mask": "mask"}, "mask of its shape")
    refuses({"is": "masked", "data": {"is": "array", "data": "numbers"}, "mask": "numbers"}, "which do not suit it")


def test_scalars():
    assert read({"is": "scalar", "data": "one"}) == 7.0
    assert isinstance(read({"is": "scalar", "text": "a"}), np.str_)
    for name in ("numbers", "none"):
        refuses({"is": "scalar", "data": name}, "cannot be an array of")
    refuses({"is": "scalar", "data": "square"}, "which do not suit it")
    refuses({"is": "scalar", "text": 3}, "a int where a str must be")


CSR = {"is": "csr", "data": "data", "indices": "columns", "indptr": "pointers", "shape": [2, 3]}


def test_sparse_matrices():
    found = read(CSR)
    assert found.toarray().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    assert type(found).__name__ == "csr_matrix"
    assert type(read({**CSR, "kind": "array"})).__name__ == "csr_array"
    for shape in ([2], [2, 3, 1], "23", [2, -1], [2, 3.0], [True, 3], [2, 2**62], None):
        refuses({**CSR, "shape": shape}, "cannot have shape")


@pytest.mark.parametrize(
    ("indices", "indptr", "shape"),
    [
        ([0, 3], [0, 1, 2], (2, 3)),  # a column too far
        ([-1, 2], [0, 1, 2], (2, 3)),
        ([0, 2], [0, 1, 2], (1, 3)),  # pointers for another number of rows
        ([0, 2], [0, 1, 2], (3, 3)),
        ([0], [0, 1, 2], (2, 3)),  # fewer columns than entries
        ([0, 2], [1, 1, 2], (2, 3)),  # not from the beginning
        ([0, 2], [0, 1, 1], (2, 3)),  # nor to the end
        ([0, 2], [0, 3, 2], (2, 3)),  # falling
    ],
)
def test_arrays_that_make_no_sparse_matrix(indices, indptr, shape):
    with pytest.raises(ModelFileError, match="a CSR matrix of shape"):
        require_sound_csr(np.ones(2), np.array(indices), np.array(indptr), shape)


def test_an_empty_sparse_matrix_is_sound():
    require_sound_csr(np.zeros(0), np.zeros(0, int), np.zeros(3, int), (2, 0))


def test_lists_and_dicts():
    assert read({"is": "list", "items": [1, "a"]}) == [1, "a"]
    assert read({"is": "tuple", "items": [1, "a"]}) == (1, "a")
    assert read({"is": "dict", "keys": ["a", 2], "values": [1, None]}) == {"a": 1, 2: None}
    refuses({"is": "list", "items": "ab"}, "a str where a list must be")
    for keys, values in ((["a"], [1, 2]), ("a", [1]), (["a"], "1")):
        refuses({"is": "dict", "keys": keys, "values": values}, "as many values as keys")
    refuses({"is": "dict", "keys": ["a", "a"], "values": [1, 2]}, "the same key twice")
    refuses({"is": "dict", "keys": [[1]], "values": [1]}, "a key that cannot be one")


def test_ranges_and_slices():
    assert read({"is": "range", "stop": 3}) == range(3)
    assert read({"is": "range", "stop": 0}) == range(0)
    assert read({"is": "range", "stop": 2**31 - 1}) == range(2**31 - 1)
    for stop in (-1, 2**31, 2.0, True, "3", None):
        refuses({"is": "range", "stop": stop}, "a range cannot end at")
    assert read({"is": "slice", "parts": [1, None, 2]}) == slice(1, None, 2)
    assert read({"is": "slice", "parts": ["a", "b", None]}) == slice("a", "b", None)
    for parts in ([1, 2], [1, 2, 3, 4], [1, 2, 3.0], [1.5, None, None], [True, None, None], [[1], 2, 3]):
        refuses({"is": "slice", "parts": parts}, "three whole numbers")


def test_dtypes_numbers_statuses_and_dates():
    assert read({"is": "dtype", "name": "float32"}) == np.dtype("float32")
    assert read({"is": "dtype", "name": "float32", "as": "type"}) is np.float32
    assert math.isnan(read({"is": "float", "value": "nan"}))
    assert (read({"is": "float", "value": "inf"}), read({"is": "float", "value": "-inf"})) == (np.inf, -np.inf)
    assert read({"is": "status", "name": "OPTIMAL"}) is Status.OPTIMAL
    assert read({"is": "date", "text": "2026-11-17"}) == dt.date(2026, 11, 17)
    assert read({"is": "datetime", "text": "2026-11-17T07:00:00+00:00"}) == dt.datetime(2026, 11, 17, 7, tzinfo=dt.UTC)
    for kind, key, words in (
        ("dtype", "name", "unknown dtype"),
        ("float", "value", "unknown number"),
        ("status", "name", "unknown status"),
    ):
        for other in ("other", 3, None, ["nan"]):
            refuses({"is": kind, key: other}, words)
    refuses({"is": "date", "text": "17 November"}, "is not a date")
    refuses({"is": "date", "text": 3}, "a int where a str must be")


def test_what_is_given_by_the_reader():
    assert read({"is": "given", "name": "mine"}, {"mine": len}) is len
    with pytest.raises(ParameterError, match="pass it"):
        read({"is": "given", "name": "mine"})
    made = read({"is": "partial", "function": {"is": "given", "name": "f"}, "keywords": {"is": "dict", "keys": ["b"],
                "values": [2]}}, {"f": lambda a, b: (a, b)})  # fmt: skip
    assert made(1) == (1, 2)
    for function, keywords in (
        (3, {"is": "dict", "keys": ["b"], "values": [2]}),
        ({"is": "given", "name": "f"}, {"is": "dict", "keys": [1], "values": [2]}),
        ({"is": "given", "name": "f"}, [1]),
    ):
        with pytest.raises(ModelFileError, match="needs a function and their names"):
            read({"is": "partial", "function": function, "keywords": keywords}, {"f": len})


@pytest.mark.parametrize("node", [{}, {"is": "other"}, {"is": ["list"]}, {"is": None}])
def test_unknown_nodes(node):
    refuses(node, "something unknown")


def test_nodes_nested_too_deep():
    node = 1
    for _ in range(DEEPEST):
        node = [node]
    assert read(node)
    refuses([node], "levels deep")


def objects(shape, count, dtype="object"):
    return {"is": "objects", "shape": shape, "dtype": dtype, "items": {"of": "node", "items": ["a"] * count}}


def test_shapes_of_arrays_of_objects():
    for shape, count in (([2], 2), ([2, 1], 2), ([0], 0), ([1, 1, 1, 2], 2)):
        assert read(objects(shape, count)).shape == tuple(shape)
    for shape in ([], [1, 1, 1, 1, 2], [-1, -2], [2, -1], [True, 2], "2", None):
        refuses(objects(shape, 2), "an array of objects cannot have dtype")
    refuses(objects([3], 2), "cannot have 2 entries")
    refuses(objects([2], 2, "<Ux"), "an array of objects cannot have dtype")


def test_widths_of_arrays_of_texts():
    assert read(objects([2], 2, "<U7")).dtype == np.dtype("<U7")
    assert read(objects([2], 2, "<U0")).dtype == np.dtype("<U1")
    assert read(objects([2], 2, "<U68")).dtype == np.dtype("<U68")
    assert read(objects([2], 2, "<U69")).dtype == np.dtype("<U1")
    # Wider than any text in it could want: the width is taken from the texts.
    assert read(objects([2], 2, "<U9999999")).dtype == np.dtype("<U1")
    assert read(objects([0], 0, "<U3")).shape == (0,)
