r"""The container of a model: one file with a header, a manifest in JSON and the arrays.

===========  =====================================================================================
bytes        what
===========  =====================================================================================
0-7          magic: ``89 4D 45 52 43 45 52 0A`` ("\x89MERCER\n")
8-11         version of the format, 1
12-15        zero
16-23        M, the length of the manifest
24-31        P, the length of the payload
32-63        SHA-256 of the manifest
64-95        SHA-256 of the SHA-256 sums of the payload's pieces of 4 MiB, one after the other
96-127       SHA-256 of the bytes 0-95
128-         the manifest: JSON in UTF-8, filled up with blanks to a multiple of 64 bytes
128 + M -    the payload: arrays in the format of safetensors (see `tensors`)
===========  =====================================================================================

Numbers are unsigned and little-endian. The file ends with the payload. Reading checks every length
against the size of the file and every sum against the bytes, before anything is allocated or decoded.
"""

import hashlib
import json
import mmap
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import Any

from mercer._errors import ModelFileError
from mercer._types import Array
from mercer.exchange.model_file.tensors import read_tensors, strict_json, written_tensors
from mercer.io.replace_file import replace_file

MAGIC = b"\x89MERCER\n"
VERSION = 1
HEADER = 128
# The bulk is in arrays: a longer manifest is not ours, and JSON takes many times its size in memory.
LONGEST_MANIFEST = 2**20
PIECE = 2**22
# Smaller files are read: mapping gains nothing, and the file may be overwritten in place meanwhile.
WORTH_MAPPING = 2**24


def write_model_file(
    path: str | PathLike[str],
    manifest: Mapping[str, Any],
    arrays: Mapping[str, Array],
    check: Callable[[Path], object] | None = None,
) -> None:
    """Write a manifest (a dict for JSON) and arrays as one file, atomically."""
    text = json.dumps(manifest, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 64)
    if len(text) > LONGEST_MANIFEST:
        raise ModelFileError(f"the manifest of the model would have {len(text)} bytes, more than {LONGEST_MANIFEST}")
    pieces = written_tensors(arrays)
    size = sum(memoryview(piece).nbytes for piece in pieces)
    replace_file(path, [_header(text, size, _sum_of_pieces(_regrouped(pieces))), text, *pieces], check)


def read_model_file(path: str | PathLike[str], mapped: bool | None = None) -> tuple[dict[str, Any], dict[str, Array]]:
    """(manifest, arrays) of a checked file; arrays are views of the bytes read or mapped."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        _checked_header(file.read(HEADER), size)
        return read_model_bytes(_mapped_or_read(file, size, mapped))


def read_model_bytes(body: mmap.mmap | bytearray) -> tuple[dict[str, Any], dict[str, Array]]:
    """(manifest, arrays) of the bytes of a model file; arrays are views of them."""
    whole = memoryview(body)
    manifest_length, payload_length, sums = _checked_header(bytes(whole[:HEADER]), len(whole))
    text, payload = whole[HEADER : HEADER + manifest_length], whole[HEADER + manifest_length :]
    manifest = checked_manifest(text, sums[0])
    pieces = [payload[begin : begin + PIECE] for begin in range(0, payload_length, PIECE)]
    if _sum_of_pieces(pieces) != sums[1]:
        raise ModelFileError("the arrays of the model do not have the checksum in its header: the file is damaged")
    return manifest, read_tensors(payload)


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Only the manifest of a model file; its arrays are not examined."""
    with _opened(path) as file:
        head = file.read(HEADER)
        length, _, sums = _checked_header(head, os.fstat(file.fileno()).st_size)
        return checked_manifest(file.read(length), sums[0])


def _opened(path: str | PathLike[str]) -> BufferedReader:
    """The file, open for reading; anything but a file is refused first, because a pipe could block for ever."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ModelFileError("this is not a Mercer model file: it is a pipe or a device; copy it to a file first")
    return file


def checked_manifest(text: bytes | memoryview, expected: bytes) -> dict[str, Any]:
    """The manifest as a dict, if its checksum is the expected one."""
    if hashlib.sha256(text).digest() != expected:
        raise ModelFileError("the manifest does not have the checksum in the header: the file is damaged")
    manifest = strict_json(bytes(text), "the manifest")
    if not isinstance(manifest, dict):
        raise ModelFileError("the manifest must be a JSON object")
    return manifest


def _header(text: bytes, size: int, payload_sum: bytes) -> bytes:
    head = MAGIC + VERSION.to_bytes(4, "little") + bytes(4)
    head += len(text).to_bytes(8, "little") + size.to_bytes(8, "little")
    head += hashlib.sha256(text).digest() + payload_sum
    return head + hashlib.sha256(head).digest()


def _checked_header(head: bytes, size: int) -> tuple[int, int, tuple[bytes, bytes]]:
    """(length of the manifest, length of the payload, their checksums)."""
    if head[:8] != MAGIC[: len(head)] or not head:
        raise ModelFileError("this is not a Mercer model file: it does not begin as one")
    if len(head) < HEADER:
        raise ModelFileError(f"the file ends within its header, after {len(head)} of {HEADER} bytes")
    version = int.from_bytes(head[8:12], "little")
    if version > VERSION:
        raise ModelFileError(
            f"the file has version {version} of the format, this Mercer knows {VERSION}; upgrade Mercer"
        )
    if hashlib.sha256(head[:96]).digest() != head[96:] or version < 1 or any(head[12:16]):
        raise ModelFileError("the header does not have its checksum: the file is damaged")
    manifest, payload = (int.from_bytes(head[place : place + 8], "little") for place in (16, 24))
    if manifest > LONGEST_MANIFEST or HEADER + manifest + payload != size:
        raise ModelFileError(
            f"the header announces {manifest} bytes of manifest and {payload} of arrays, "
            f"but the file has {size} bytes: it is truncated or damaged"
        )
    return manifest, payload, (head[32:64], head[64:96])


def _mapped_or_read(file: BufferedReader, size: int, mapped: bool | None) -> mmap.mmap | bytearray:
    """All bytes in memory that may be written without changing the file, as compiled code expects."""
    if mapped is None:
        mapped = size >= WORTH_MAPPING
    if mapped:
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
    file.seek(0)
    whole = bytearray(size)
    if file.readinto(whole) != size:
        raise ModelFileError(f"the file changed while it was read: it no longer has {size} bytes")
    return whole


def _regrouped(pieces: Iterable[Any]) -> Iterator[bytes | memoryview]:
    """The same bytes in pieces of `PIECE`, the last one shorter."""
    held = bytearray()
    for piece in pieces:
        left = memoryview(piece).cast("B")
        while len(left):
            if not held and len(left) >= PIECE:
                yield left[:PIECE]
                left = left[PIECE:]
                continue
            taken = left[: PIECE - len(held)]
            held += taken
            left = left[len(taken) :]
            if len(held) == PIECE:
                yield bytes(held)
                held.clear()
    if held:
        yield bytes(held)


def _sum_of_pieces(pieces: Iterable[Any]) -> bytes:
    """SHA-256 of the sums of the pieces; two at a time, because this takes longest."""
    pieces = list(pieces)
    with ThreadPoolExecutor(2) if len(pieces) > 1 else nullcontext() as pool:
        each = map if pool is None else pool.map
        sums = list(each(lambda piece: hashlib.sha256(piece).digest(), pieces))
    return hashlib.sha256(b"".join(sums)).digest()
