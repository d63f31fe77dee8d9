"""Long lists, stored column by column: texts, trees, graphs, records and traces as a few arrays.

A column is a node with the key "of". Parts of different lengths are stored one after the other, with the
position where each ends; objects of one class are a column for each field; a mixture is a column for
each kind in it, with a code for each entry. Every entry takes at least a byte of the payload, so
a short file cannot contain a long list.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import ModelFileError, ParameterError
from mercer._types import Array, IndexArray
from mercer.exchange.model_file import registry

if TYPE_CHECKING:
    from mercer.exchange.model_file.decode import Reader
    from mercer.exchange.model_file.encode import Writer

_SCALARS = {bool: "bool", int: "int", float: "float"}
_SCALAR_DTYPES = {"bool": np.bool_, "int": np.int64, "float": np.float64}
# More kinds than this in one list are written entry by entry.
MOST_KINDS = 200


def write(writer: "Writer", values: Iterable[Any]) -> dict[str, Any]:
    """The column of a list of anything that can be saved."""
    values = [as_stored(value) for value in values]
    kinds = [_kind(value) for value in values]
    different = list(dict.fromkeys(kinds))
    if len(different) > MOST_KINDS:
        return _write_nodes(writer, values)
    if len(different) > 1:
        return _write_union(writer, values, kinds, different)
    kind = different[0] if different else "none"
    name = kind if isinstance(kind, str) else kind[0]
    return _WRITERS[name](writer, values)


def as_stored(value: Any) -> Any:
    """A networkx graph as Mercer's own, which is what a kernel sees of it; anything else unchanged."""
    if type(value).__module__.partition(".")[0] == "networkx" and hasattr(value, "is_directed"):
        from mercer.kernels.graph.graph import Graph

        return Graph.of(value)
    return value


def _kind(value: Any) -> str | tuple[Any, ...]:
    """The kind of a value, which must be equal within a column: a name, or a name with details."""
    if value is None:
        return "none"
    if type(value) in _SCALARS:
        fits = type(value) is not int or -(2**63) <= value < 2**63
        return _SCALARS[type(value)] if fits else "node"
    if type(value) in (str, bytes, list, tuple, dict):
        return type(value).__name__
    if isinstance(value, np.ndarray):
        return _kind_of_array(value)
    if isinstance(value, np.generic):
        return ("scalar", value.dtype.str) if value.dtype.kind in "fiub" else "node"
    if type(value) is range and value.start == 0 and value.step == 1:
        return "range"
    kind = registry.kind_of(value)
    return "node" if kind is None or kind.is_estimator or not kind.rules() else ("object", kind.name)


def _kind_of_array(array: Array) -> str | tuple[Any, ...]:
    if (
        type(array) is not np.ndarray
        or array.dtype.kind not in "fiub"
        or not 1 <= array.ndim <= 2
        or not array.flags.c_contiguous
    ):
        return "node"
    return "array", array.dtype.str, *array.shape[1:]


def _write_union(writer: "Writer", values: list[Any], kinds: list[Any], different: list[Any]) -> dict[str, Any]:
    code = {kind: place for place, kind in enumerate(different)}
    codes = np.array([code[kind] for kind in kinds], np.uint8)
    parts = [[value for value, own in zip(values, kinds, strict=True) if own == kind] for kind in different]
    return {"of": "union", "codes": writer.tensor(codes), "parts": [write(writer, part) for part in parts]}


def _write_nodes(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return {"of": "node", "items": [writer.node(value) for value in values]}


def _write_none(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return {"of": "none", "data": writer.tensor(np.zeros(len(values), np.uint8))}


def _write_numbers(name: str) -> "Callable[[Writer, list[Any]], dict[str, Any]]":
    def numbers(writer: "Writer", values: list[Any]) -> dict[str, Any]:
        return {"of": name, "data": writer.tensor(np.array(values, _SCALAR_DTYPES[name]))}

    return numbers


def _write_scalars(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return {"of": "scalar", "data": writer.tensor(np.array(values, dtype=values[0].dtype))}


def _ends(writer: "Writer", values: list[Any]) -> str:
    return writer.tensor(np.cumsum([len(value) for value in values], dtype=np.int64))


def _write_texts(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return _write_bytes(writer, [value.encode("utf-8", "surrogatepass") for value in values], "str")


def _write_bytes(writer: "Writer", values: list[Any], name: str = "bytes") -> dict[str, Any]:
    data = np.frombuffer(b"".join(values), np.uint8)
    return {"of": name, "data": writer.tensor(data), "ends": _ends(writer, values)}


def _write_arrays(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return {"of": "array", "data": writer.tensor(np.concatenate(values)), "ends": _ends(writer, values)}


def _write_sequences(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    flat = [entry for value in values for entry in value]
    return {"of": type(values[0]).__name__, "ends": _ends(writer, values), "items": write(writer, flat)}


def _write_dicts(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    keys = [key for value in values for key in value]
    entries = [entry for value in values for entry in value.values()]
    return {"of": "dict", "ends": _ends(writer, values), "keys": write(writer, keys), "values": write(writer, entries)}


def _write_ranges(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    return {"of": "range", "data": writer.tensor(np.array([len(value) for value in values], np.int64))}


def _write_objects(writer: "Writer", values: list[Any]) -> dict[str, Any]:
    from mercer.exchange.model_file.encode import require

    kind = cast(registry.Kind, registry.kind_of(values[0]))
    rules = kind.rules()
    for value in values:
        require(kind, {name: getattr(value, name) for name in rules}, rules, ParameterError)
    fields = {name: write(writer, [getattr(value, name) for value in values]) for name in rules}
    return {"of": "object", "class": kind.name, "fields": fields}


_WRITERS = {
    "none": _write_none, "bool": _write_numbers("bool"), "int": _write_numbers("int"), "float": _write_numbers("float"),
    "scalar": _write_scalars, "str": _write_texts, "bytes": _write_bytes, "array": _write_arrays,
    "list": _write_sequences, "tuple": _write_sequences, "dict": _write_dicts, "range": _write_ranges,
    "object": _write_objects, "node": _write_nodes,
}  # fmt: skip


def read(reader: "Reader", node: Any) -> list[Any]:
    """The list that a column represents."""
    of = node.get("of") if isinstance(node, dict) else None
    if not isinstance(of, str) or of not in _READERS:
        raise ModelFileError(f"the manifest holds an unknown column: {str(node)[:80]}")
    # A nested column counts as a level too.
    return reader.deeper(lambda: _READERS[of](reader, node))


def _read_union(reader: "Reader", node: Any) -> list[Any]:
    codes = reader.tensor(node["codes"], "u", 1)
    if not isinstance(node["parts"], list) or (len(codes) and int(codes.max()) >= len(node["parts"])):
        raise ModelFileError("a mixed column has codes for which there is no part")
    parts = [read(reader, part) for part in node["parts"]]
    if [len(part) for part in parts] != np.bincount(codes, minlength=len(parts)).tolist():
        raise ModelFileError("the parts of a mixed column do not have the lengths that its codes say")
    each = [iter(part) for part in parts]
    return [next(each[code]) for code in codes.tolist()]


def _read_nodes(reader: "Reader", node: Any) -> list[Any]:
    if not isinstance(node["items"], list):
        raise ModelFileError("a column of nodes must be a list")
    return [reader.value(entry) for entry in node["items"]]


def _read_numbers(reader: "Reader", node: Any) -> list[Any]:
    dtype = np.dtype(_SCALAR_DTYPES[node["of"]])
    array = reader.tensor(node["data"], dtype.kind, 1)
    if array.dtype != dtype:
        raise ModelFileError(f"a column of {node['of']} cannot be an array of dtype {array.dtype}")
    return array.tolist()


def _read_bytes(reader: "Reader", node: Any) -> list[bytes]:
    data, ends = reader.tensor(node["data"], "u", 1), reader.ends(node["ends"])
    _require_end(ends, len(data))
    whole, found, begin = data.tobytes(), [], 0
    for end in ends.tolist():
        found.append(whole[begin:end])
        begin = end
    return found


def _read_texts(reader: "Reader", node: Any) -> list[str]:
    try:
        return [each.decode("utf-8", "surrogatepass") for each in _read_bytes(reader, node)]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"a column of texts is not UTF-8: {error}") from None


def _read_arrays(reader: "Reader", node: Any) -> list[Array]:
    data, ends = reader.tensor(node["data"]), reader.ends(node["ends"])
    if data.ndim not in (1, 2):
        raise ModelFileError(f"a column of arrays cannot have shape {data.shape}")
    _require_end(ends, len(data))
    return np.split(data, ends[:-1]) if len(ends) else []


def _cut(reader: "Reader", node: Any, entries: list[Any], kind: type) -> list[Any]:
    ends = reader.ends(node["ends"])
    _require_end(ends, len(entries))
    found, begin = [], 0
    for end in ends.tolist():
        found.append(kind(entries[begin:end]))
        begin = end
    return found


def _require_end(ends: IndexArray, expected: int) -> None:
    if (int(ends[-1]) if len(ends) else 0) != expected:
        raise ModelFileError(f"the parts of a column end at {ends[-1] if len(ends) else 0}, not at {expected}")


def _read_sequences(reader: "Reader", node: Any) -> list[Any]:
    return _cut(reader, node, read(reader, node["items"]), list if node["of"] == "list" else tuple)


def _read_dicts(reader: "Reader", node: Any) -> list[dict[Any, Any]]:
    keys, values = read(reader, node["keys"]), read(reader, node["values"])
    if len(keys) != len(values):
        raise ModelFileError("a column of dicts must have as many values as keys")
    try:
        return _cut(reader, node, list(zip(keys, values, strict=True)), dict)
    except TypeError as error:
        raise ModelFileError(f"a dict has a key that cannot be one: {error}") from None


def _read_ranges(reader: "Reader", node: Any) -> list[range]:
    stops = reader.tensor(node["data"], "i", 1)
    if len(stops) and (stops.min() < 0 or stops.max() >= 2**31):
        raise ModelFileError("a range must end between 0 and 2**31")
    return [range(stop) for stop in stops.tolist()]


def _read_objects(reader: "Reader", node: Any) -> list[Any]:
    from mercer.exchange.model_file.decode import build

    kind = registry.kind_named(node["class"])
    if kind is None or kind.is_estimator or not isinstance(node["fields"], dict) or not node["fields"]:
        raise ModelFileError(f"a column cannot hold objects of class {node['class']!r}"[:300])
    fields = {name: read(reader, column) for name, column in node["fields"].items()}
    if len({len(column) for column in fields.values()}) != 1:
        raise ModelFileError(f"the fields of a column of {kind.name} must be equally long")
    return [build(kind, dict(zip(fields, row, strict=True))) for row in zip(*fields.values(), strict=True)]


_READERS = {
    "union": _read_union, "none": lambda reader, node: [None] * len(reader.tensor(node["data"], "u", 1)),
    "bool": _read_numbers, "int": _read_numbers, "float": _read_numbers,
    "scalar": lambda reader, node: list(reader.tensor(node["data"], "fiub", 1)), "str": _read_texts,
    "bytes": _read_bytes, "array": _read_arrays, "list": _read_sequences, "tuple": _read_sequences,
    "dict": _read_dicts, "range": _read_ranges, "object": _read_objects, "node": _read_nodes,
}  # fmt: skip
