"""Messages to the page: a JSON header and arrays of float32, in one binary frame.

Four bytes, the length of the header in little-endian order; the header, padded with blanks to a multiple
of four, so that the page can lay typed arrays over what follows; then the arrays, one after the
other. ``header["arrays"]`` lists their names and shapes in that order.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> bytes:
    """One frame.

    Parameters
    ----------
    header : mapping
        What JSON can hold; NumPy's scalars and arrays are taken for what they hold, and numbers
        that are not finite become null.
    arrays : mapping of str to ndarray, optional
        Sent as float32.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.studio.server.messages import pack, unpack
    >>> unpack(pack({"n": 1}, {"field": np.ones((2, 3))}))[1]["field"].shape
    (2, 3)
    """
    arrays = arrays or {}
    listed = [[name, list(np.shape(values))] for name, values in arrays.items()]
    text = json.dumps(plain({**header, "arrays": listed}), separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    parts = [np.ascontiguousarray(values, dtype="<f4").tobytes() for values in arrays.values()]
    return len(text).to_bytes(4, "little") + text + b"".join(parts)


def unpack(frame: bytes) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    """The header and the arrays of a frame: what the page does, for tests."""
    end = 4 + int.from_bytes(frame[:4], "little")
    header = json.loads(frame[4:end])
    arrays: dict[str, NDArray[np.float32]] = {}
    for name, shape in header["arrays"]:
        size = 4 * math.prod(shape)
        arrays[name] = np.frombuffer(frame[end : end + size], "<f4").reshape(shape)
        end += size
    return header, arrays


def plain(value: Any) -> Any:
    """The same in the types of JSON; what is not finite becomes None."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
