"""Lists of anything as columns of a file: what is written comes back the same, whatever lies beside it."""

import numpy as np
import pytest

from mercer import ModelFileError, ParameterError
from mercer.exchange.model_file import columns
from mercer.exchange.model_file.decode import Reader
from mercer.exchange.model_file.encode import Writer
from mercer.kernels import RBF
from tests.exchange.sameness import same

SQUARE = np.arange(9.0).reshape(3, 3)
LISTS = {
    "nothing": [],
    "none": [None, None],
    "flags": [True, False],
    "numbers": [1, 2, -3],
    "the largest that fit": [2**63 - 1, -(2**63)],
    "too large by one": [1, 2**63],
    "the largest of all": [2**64 - 1, 3],
    "real numbers": [0.5, -np.inf, np.pi],
    "texts": ["a", "", "\u00e9", "\ud800 alone"],
    "bytes": [b"", b"\x00\xff"],
    "lists": [[1, 2], [], [3]],
    "pairs": [(1, "a"), (2, "b")],
    "dictionaries": [{"a": 1}, {"b": 2.0}],
    "arrays": [np.arange(3), np.arange(2)],
    "arrays of rows": [SQUARE, SQUARE[:1]],
    "arrays in another order": [np.asfortranarray(SQUARE), SQUARE[:, ::2]],
    "arrays of no dimension": [np.array(3.0), np.array(4.0)],
    "arrays of three dimensions": [np.zeros((2, 2, 2)), np.ones((1, 2, 2))],
    "arrays of texts": [np.array(["a", "bc"]), np.array(["d"])],
    "numbers of NumPy": [np.float32(1.5), np.float32(2.5)],
    "ranges": [range(3), range(5)],
    "all kinds": [None, 1, 2.5, "x", True, [1], (2,), np.arange(2), 2**63, b"y", 1, None],
}


def there_and_back(values):
    writer = Writer()
    node = columns.write(writer, values)
    return columns.read(Reader(writer.arrays), node)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_comes_back_as_it_was(name):
    found = there_and_back(LISTS[name])
    assert len(found) == len(LISTS[name])
    for one, other in zip(found, LISTS[name], strict=True):
        assert type(one) is type(other)
        same(one, other)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, range(1, 3), range(0, 6, 2)])
def test_what_a_file_has_no_room_for_is_refused(value):
    with pytest.raises(ParameterError, match="cannot be saved"):
        columns.write(Writer(), [value, value])


def test_more_kinds_than_a_column_has_room_for_are_written_one_by_one():
    many = [np.zeros((1, k)) for k in range(1, columns.MOST_KINDS + 2)]
    assert all(map(np.array_equal, there_and_back(many), many))
    writer = Writer()
    assert columns.write(writer, many[:-1])["of"] != columns.write(writer, many)["of"]


def union(codes, parts):
    """A mixed column of whole numbers and flags."""
    writer = Writer()
    node = columns.write(writer, [1, True, 2, False])
    return Reader({**writer.arrays, "other": np.array(codes, np.uint8)}), {**node, "codes": "other", **parts}


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ([0, 1, 0, 2], "codes for which there is no part"),
        ([0, 1, 0], "do not have the lengths that its codes say"),
        ([0, 0, 0, 1], "do not have the lengths that its codes say"),
        ([0, 0], "do not have the lengths that its codes say"),
    ],
)
def test_codes_of_a_mixed_column_are_those_of_its_parts(codes, words):
    reader, node = union([0, 1, 0, 1], {})
    assert columns.read(reader, node) == [1, True, 2, False]
    reader, node = union(codes, {})
    with pytest.raises(ModelFileError, match=words):
        columns.read(reader, node)


def test_parts_of_a_mixed_column_are_a_list():
    reader, node = union([0, 1, 0, 1], {"parts": {}})
    with pytest.raises(ModelFileError, match="codes for which there is no part"):
        columns.read(reader, node)


@pytest.mark.parametrize(("stop", "is_there"), [(63, True), (2**31 - 1, True), (2**31, False), (-1, False)])
def test_a_range_ends_below_two_thousand_million(stop, is_there):
    writer = Writer()
    node = columns.write(writer, [range(3), range(5)])
    reader = Reader({**writer.arrays, "other": np.array([3, stop])})
    if is_there:
        assert columns.read(reader, {**node, "data": "other"}) == [range(3), range(stop)]
    else:
        with pytest.raises(ModelFileError, match="a range must end between 0 and"):
            columns.read(reader, {**node, "data": "other"})


@pytest.mark.parametrize("values", [[np.arange(3), np.arange(2)], [[1, 2], [3]], ["ab", "c"], [b"ab", b"c"]])
def test_parts_of_a_column_end_where_it_ends(values):
    writer = Writer()
    node = columns.write(writer, values)
    for ends in ([1, 2], [2, 4], []):
        reader = Reader({**writer.arrays, "other": np.array(ends, np.int64)})
        with pytest.raises(ModelFileError, match=r"end at|cannot have|lengths|positions"):
            columns.read(reader, {**node, "ends": "other"})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "bool"),
        (2.5, "float"),
        (2**63 - 1, "int"),
        (-(2**63), "int"),
        (2**63, "node"),
        (-(2**63) - 1, "node"),
        (range(3), "range"),
        (range(1, 3), "node"),
        (np.float32(1.0), ("scalar", "<f4")),
        (np.str_("a"), "node"),
        (SQUARE, ("array", "<f8", 3)),
        (RBF(0.5), ("object", "kernels.RBF")),
    ],
)
def test_values_of_one_kind_make_up_a_column_and_others_are_nodes(value, kind):
    assert columns._kind(value) == kind


def test_a_strided_array_is_stored_as_it_reads():
    writer = Writer()
    name = writer.tensor(SQUARE[:, ::2])
    assert writer.arrays[name].flags.c_contiguous
    np.testing.assert_array_equal(writer.arrays[name], SQUARE[:, ::2])
