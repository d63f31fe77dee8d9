"""Model files as an attacker would write them: any content, every checksum right."""

import copy
import hashlib
import json

import numpy as np

from mercer.exchange.model_file import container
from mercer.exchange.model_file.container import HEADER, MAGIC, read_model_file
from mercer.exchange.model_file.tensors import written_tensors

EXTREMES = (-1, 0, 2**31, 2**63, 2**64)


def parts_of(path):
    """(manifest, arrays) of a sound file, to be changed at will."""
    manifest, arrays = read_model_file(path, mapped=False)
    return manifest, {name: array.copy() for name, array in arrays.items()}


def forged(path, manifest, arrays):
    """Write a file with this content; the path."""
    payload = b"".join(bytes(piece) for piece in written_tensors(arrays))
    return raw(path, json.dumps(manifest).encode(), payload)


def raw(path, manifest_text, payload, version=1, lengths=None, reserved=0):
    """Write a file with these bytes and right checksums."""
    manifest_length, payload_length = lengths or (len(manifest_text), len(payload))
    head = MAGIC + version.to_bytes(4, "little") + reserved.to_bytes(4, "little")
    head += (manifest_length % 2**64).to_bytes(8, "little") + (payload_length % 2**64).to_bytes(8, "little")
    pieces = [payload[begin : begin + container.PIECE] for begin in range(0, len(payload), container.PIECE)]
    head += hashlib.sha256(manifest_text).digest() + container._sum_of_pieces(pieces)
    path.write_bytes(head + hashlib.sha256(head).digest() + manifest_text + payload)
    return path


def split(path):
    """(manifest, payload) of a sound file, as bytes."""
    whole = path.read_bytes()
    length = int.from_bytes(whole[16:24], "little")
    return whole[HEADER : HEADER + length], whole[HEADER + length :]


def with_tensor_header(payload, change):
    """The payload with a changed header of its arrays."""
    length = int.from_bytes(payload[:8], "little")
    header = json.loads(payload[8 : 8 + length])
    text = change(header)
    text = (text if isinstance(text, str) else json.dumps(text)).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + payload[8 + length :]


def places(node, path=()):
    """Every place in nested lists and dicts, as a path of keys."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def changed(manifest, path, value):
    """The manifest with another value at a place."""
    found = copy.deepcopy(manifest)
    node = found
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return found


def removed(manifest, path):
    """The manifest without a place."""
    found = copy.deepcopy(manifest)
    node = found
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return found


def at(manifest, path):
    """What is at a place."""
    for key in path:
        manifest = manifest[key]
    return manifest


def hostile_nodes(value):
    """What an attacker may write where there was `value`."""
    if isinstance(value, bool) or value is None:
        yield from (7, "x", [], {"is": "float", "value": "nan"})
    elif isinstance(value, (int, float)):
        yield from (*EXTREMES, None, "x", [value], 1e308, {"is": "float", "value": "inf"})
    elif isinstance(value, str):
        yield from ("", "x", "os", 7, None, [], "t0", "t1", "t2", "kernels.Linear", "SVC", "Evidence", "Graph")
    else:
        yield from (None, 7, "x", [], {}, {"is": "array", "data": "t0"}, {"is": "object", "class": "Evidence"})


def hostile_arrays(array):
    """Other arrays that may stand in its place."""
    yield np.empty(0, array.dtype)
    yield array.reshape(-1)
    yield array.reshape(*array.shape, 1)
    yield array[:-1] if array.ndim else array
    yield np.concatenate([array, array]) if array.ndim else array
    yield array.astype(np.float32 if array.dtype == np.float64 else np.float64)
    yield np.ascontiguousarray(array[::-1]) if array.ndim else array
    if array.size == 0:
        return
    kind = array.dtype.kind
    values = {"f": (np.nan, np.inf, 1e308, -1e308)}.get(kind)
    if values is None and kind != "b":
        info = np.iinfo(array.dtype)
        values = (info.min, info.max, 0, min(info.max, 2**31), 1)
    for value in values or ():
        for place in (0, array.size // 2, array.size - 1):
            other = array.copy()
            with np.errstate(over="ignore"):
                other.reshape(-1)[place] = value
            yield other
