"""The arrays of a model file: a payload in the format of safetensors, every number checked before it is used.

The format is that of the safetensors project: eight bytes with the length of a header in JSON, the
header, and the bytes of the arrays without gaps. The package of that name reads the payload too; it
is not used here because an array must come out as a view of the mapped file, at an offset.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from mercer._errors import ModelFileError
from mercer._types import Array

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip
NAMES = {np.dtype(spelled): name for name, spelled in DTYPES.items()}
# A header longer than this has more arrays than any model.
LONGEST_HEADER = 2**20
# Arrays start at multiples of this, and those of wide numbers stay aligned.
ALIGNMENT = 8


def strict_json(text: str | bytes, what: str) -> Any:
    """JSON without duplicate keys, NaN or infinity, as Python values."""
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is not valid JSON: {error}") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def written_tensors(arrays: Mapping[str, Array]) -> list[Any]:
    """The pieces of a payload, as bytes and arrays, for ``{name: C-contiguous array}``."""
    # Widest first: then each starts at a multiple of its own width, without gaps.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, len(name), name))
    header, place = {}, 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [place, place + array.nbytes],
        }
        place += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    if len(text) > LONGEST_HEADER:
        raise ModelFileError(f"the model has too many arrays to be saved: {len(arrays)}")
    return [len(text).to_bytes(8, "little"), text, *[arrays[name].reshape(-1).view(np.uint8) for name in order]]


def read_tensors(payload: Any) -> dict[str, Array]:
    """``{name: array}``, views of `payload` (a buffer)."""
    payload = memoryview(payload).cast("B")
    header, begin = _header(payload)
    size = len(payload) - begin
    places, arrays = [], {}
    for name, entry in header.items():
        dtype, shape, (start, end) = _checked_entry(name, entry, size)
        places.append((start, end))
        arrays[name] = np.frombuffer(payload, dtype, math.prod(shape), begin + start).reshape(shape)
    _require_no_gaps(places, size)
    return arrays


def _header(payload: memoryview) -> tuple[dict[str, Any], int]:
    if len(payload) < 8:
        raise ModelFileError(f"the payload must have at least 8 bytes, got {len(payload)}")
    length = int.from_bytes(payload[:8], "little")
    if length > min(LONGEST_HEADER, len(payload) - 8) or length % ALIGNMENT:
        raise ModelFileError(f"the payload has {len(payload)} bytes and says that its header has {length}")
    header = strict_json(bytes(payload[8 : 8 + length]), "the header of the payload")
    if not isinstance(header, dict):
        raise ModelFileError("the header of the payload must be a JSON object")
    header.pop("__metadata__", None)
    return header, 8 + length


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _checked_entry(name: str, entry: Any, size: int) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    """(dtype, shape, offsets) of an array, if they are consistent with each other and with the file."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"array {name!r} must have a dtype, a shape and data_offsets, got {entry!r}"[:300])
    shape, offsets, dtype = entry["shape"], entry["data_offsets"], entry["dtype"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"array {name!r} has dtype {dtype!r}; it must be one of {', '.join(DTYPES)}"[:300])
    if not isinstance(shape, list) or len(shape) > 8 or not all(map(_is_count, shape)):
        raise ModelFileError(f"array {name!r} has the impossible shape {shape!r}"[:300])
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_count, offsets)):
        raise ModelFileError(f"array {name!r} has the impossible data_offsets {offsets!r}"[:300])
    width, (start, end) = np.dtype(DTYPES[dtype]).itemsize, offsets
    if not start <= end <= size or end - start != math.prod(shape) * width:
        raise ModelFileError(
            f"array {name!r} of dtype {dtype} and shape {shape} cannot be at {offsets} of {size} bytes"[:300]
        )
    return np.dtype(DTYPES[dtype]), tuple(shape), (start, end)


def _require_no_gaps(places: Iterable[tuple[int, int]], size: int) -> None:
    reached = 0
    for start, end in sorted(places):
        if start != reached:
            raise ModelFileError(f"the arrays of the payload must follow each other, but byte {reached} is in none")
        reached = end
    if reached != size:
        raise ModelFileError(f"the arrays of the payload end at byte {reached} of {size}")
