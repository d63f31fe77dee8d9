"""Conversion of JSON nodes and arrays back to values, after checking everything in them.

Only classes listed in `registry` can be created. Every field is checked by a rule before the object exists, so
that compiled code, which has no bounds checks, never meets an index that the file made up.
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import numpy as np
from scipy import sparse

from mercer._errors import MercerError, ModelFileError, ParameterError
from mercer._types import Array, IndexArray
from mercer.exchange.model_file import columns, data_frames
from mercer.exchange.model_file.attributes import RENAMED
from mercer.exchange.model_file.encode import require
from mercer.exchange.model_file.registry import kind_named, known_names
from mercer.exchange.model_file.rules import Refused
from mercer.exchange.model_file.tensors import NAMES
from mercer.solvers.result import Status

if TYPE_CHECKING:
    T = TypeVar("T")
    from mercer.exchange.model_file.registry import Kind

# Levels of nesting; no kernel or pipeline is nested as deeply.
DEEPEST = 60
# Arrays up to this many bytes are copied out of the file; larger ones are views, shared if they are equal.
COPIED = 2**16
_DTYPES = (*[dtype.name for dtype in NAMES], "object")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Reader:
    """Turns nodes back into values, trusting nothing in them.

    Parameters
    ----------
    arrays : dict
        From `tensors.read_tensors`.
    given : dict
        Functions and other objects that a file refers to by name.
    """

    def __init__(self, arrays: Mapping[str, Array], given: Mapping[str, Any] | None = None) -> None:
        self.arrays, self.given = arrays, dict(given or {})
        self._views, self._depth = {}, 0

    def value(self, node: Any) -> Any:
        """The value of a node."""
        if node is None or type(node) in (bool, int, float, str):
            return node
        return self.deeper(lambda: self._read(node))

    def deeper(self, read: "Callable[[], T]") -> "T":
        """The result of `read`, one level deeper."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ModelFileError(f"the manifest is nested more than {DEEPEST} levels deep")
        try:
            return read()
        except KeyError as missing:
            raise ModelFileError(f"the manifest lacks {missing} where it is needed") from None
        finally:
            self._depth -= 1

    def _read(self, node: Any) -> Any:
        if type(node) is list:
            return [self.value(entry) for entry in node]
        read = _READERS.get(node.get("is")) if isinstance(node.get("is"), str) else None
        if read is None:
            raise ModelFileError(f"the manifest holds something unknown: {_shown(node)}")
        return read(self, node)

    def tensor(self, name: object, kinds: str = "fiub", ndim: int | None = None) -> Array:
        """The array stored under a name: a view of the file's bytes, or a copy if it is small."""
        array = self.arrays.get(name) if isinstance(name, str) else None
        if array is None:
            raise ModelFileError(f"the manifest names an array {name!r}, which the file does not have"[:300])
        if array.dtype.kind not in kinds or (ndim is not None and array.ndim != ndim):
            raise ModelFileError(
                f"array {name!r} has dtype {array.dtype} and shape {array.shape}, which do not suit it"
            )
        if array.nbytes <= COPIED:
            return array.copy()
        return self._views.setdefault(name, array)

    def ends(self, name: object, n: int | None = None) -> IndexArray:
        """Where the parts of a stored column end: nondecreasing counts."""
        ends = self.tensor(name, "i", 1)
        if (n is not None and len(ends) != n) or (len(ends) and (ends[0] < 0 or (np.diff(ends) < 0).any())):
            raise ModelFileError(f"array {name!r} must hold {n} positions in ascending order")
        return ends


def _shown(node: object) -> str:
    text = str(node)
    return text if len(text) <= 80 else text[:77] + "..."


def _read_array(reader: Reader, node: Any) -> Array:
    array = reader.tensor(node["data"])
    return array.T if node.get("order") == "F" else array


def _read_times(reader: Reader, node: Any) -> Array:
    dtype = node["dtype"]
    if not isinstance(dtype, str) or dtype[:2] not in ("<M", "<m"):
        raise ModelFileError(f"times cannot have dtype {dtype!r}")
    try:
        return reader.tensor(node["data"], "i").view(np.dtype(dtype))
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"times cannot have dtype {dtype!r}: {error}") from None


def _read_objects(reader: Reader, node: Any) -> Array:
    shape, dtype = node["shape"], node["dtype"]
    is_text = isinstance(dtype, str) and dtype[:2] == "<U" and dtype[2:].isdigit() and len(dtype) < 12
    is_shape = isinstance(shape, list) and 1 <= len(shape) <= 4 and all(type(one) is int and one >= 0 for one in shape)
    if not is_shape or not (is_text or dtype == "object"):
        raise ModelFileError(f"an array of objects cannot have dtype {dtype!r} and shape {shape!r}"[:300])
    items = columns.read(reader, node["items"])
    if len(items) != math.prod(shape):
        raise ModelFileError(f"an array of shape {shape} cannot have {len(items)} entries")
    if is_text:
        return _texts(items, int(dtype[2:]), shape)
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _texts(items: list[Any], width: int, shape: list[int]) -> Array:
    """Texts as a NumPy array, each as wide as the widest."""
    if not all(isinstance(item, str) for item in items):
        raise ModelFileError("an array of texts must hold nothing else")
    letters = [len(item) for item in items]
    longest = max(letters, default=0)
    # The width may exceed that of every text; it is kept if it does no harm.
    width = width if longest <= width <= 64 + 4 * longest else max(1, longest)
    if width * len(items) > 2**22 + 64 * sum(letters):
        raise ModelFileError(f"{len(items)} texts of which the longest has {longest} letters are no array of texts")
    return np.array(items, dtype=f"<U{width}").reshape(shape)


def _read_masked(reader: Reader, node: Any) -> Any:
    data, mask = reader.value(node["data"]), reader.tensor(node["mask"], "b")
    if not isinstance(data, np.ndarray) or data.shape != mask.shape:
        raise ModelFileError("a masked array must have a mask of its shape")
    return np.ma.MaskedArray(data, mask)


def _read_scalar(reader: Reader, node: Any) -> np.generic:
    if "text" in node:
        return np.str_(_as(str, node["text"]))
    array = reader.tensor(node["data"], ndim=1)
    if len(array) != 1:
        raise ModelFileError(f"a number cannot be an array of {len(array)}")
    return array[0]


def _read_csr(reader: Reader, node: Any) -> Any:
    data, indices, indptr = (
        reader.tensor(node[part], kinds, 1) for part, kinds in (("data", "fiub"), ("indices", "i"), ("indptr", "i"))
    )
    shape = node["shape"]
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(one) is int and 0 <= one < 2**62 for one in shape)
    ):
        raise ModelFileError(f"a CSR matrix cannot have shape {shape!r}"[:300])
    require_sound_csr(data, indices, indptr, shape)
    make = sparse.csr_array if node.get("kind") == "array" else sparse.csr_matrix
    return make((data, indices, indptr), shape=tuple(shape), copy=False)


def require_sound_csr(data: Array, indices: IndexArray, indptr: IndexArray, shape: Sequence[int]) -> None:
    """Refuse arrays that do not form a CSR matrix, because compiled code would follow them out of bounds."""
    is_framed = len(indptr) == shape[0] + 1 and len(data) == len(indices)
    if not is_framed or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ModelFileError(f"a CSR matrix of shape {shape} has row pointers that do not fit its {len(data)} entries")
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ModelFileError(f"a CSR matrix of shape {shape} has column indices outside of it")


def _read_list(reader: Reader, node: Any) -> list[Any] | tuple[Any, ...]:
    values = columns.read(reader, node["column"]) if "column" in node else reader.value(_as(list, node["items"]))
    return values if node["is"] == "list" else tuple(values)


def _read_dict(reader: Reader, node: Any) -> dict[Any, Any]:
    keys, values = reader.value(node["keys"]), reader.value(node["values"])
    if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
        raise ModelFileError("a dict must have as many values as keys")
    try:
        found = dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise ModelFileError(f"a dict has a key that cannot be one: {error}") from None
    if len(found) != len(keys):
        raise ModelFileError("a dict has the same key twice")
    return found


def _read_range(_reader: Reader, node: Any) -> range:
    stop = node["stop"]
    if type(stop) is not int or not 0 <= stop < 2**31:
        raise ModelFileError(f"a range cannot end at {stop!r}"[:300])
    return range(stop)


def _read_slice(reader: Reader, node: Any) -> slice:
    parts = reader.value(_as(list, node["parts"]))
    if len(parts) != 3 or not all(part is None or type(part) in (int, str) for part in parts):
        raise ModelFileError("a slice must have three whole numbers")
    return slice(*parts)


def _read_dtype(_reader: Reader, node: Any) -> Any:
    if not isinstance(node["name"], str) or node["name"] not in _DTYPES:
        raise ModelFileError(f"unknown dtype {node['name']!r}"[:300])
    dtype = np.dtype(node["name"])
    return dtype.type if node.get("as") == "type" else dtype


def _read_given(reader: Reader, node: Any) -> Any:
    name = _as(str, node["name"])
    if name not in reader.given:
        raise ParameterError(
            f"the model needs {name!r}, which a file cannot hold; pass it: mercer.load(path, kernels={{{name!r}: ...}})"
        )
    return reader.given[name]


def _read_partial(reader: Reader, node: Any) -> partial[Any]:
    keywords = reader.value(node["keywords"])
    function = reader.value(node["function"])
    if not isinstance(keywords, dict) or not all(isinstance(name, str) for name in keywords) or not callable(function):
        raise ModelFileError("a function with fixed arguments needs a function and their names")
    return partial(function, **keywords)


def _read_random_state(reader: Reader, node: Any) -> np.random.RandomState:
    random = np.random.RandomState()
    try:
        random.set_state(reader.value(node["state"]))
    except (TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"the state of a random generator is not one: {error}") from None
    return random


def _read_date(_reader: Reader, node: Any) -> dt.date:
    cls = dt.date if node["is"] == "date" else dt.datetime
    try:
        return cls.fromisoformat(_as(str, node["text"]))
    except ValueError as error:
        raise ModelFileError(f"{node['text']!r} is not a date: {error}"[:300]) from None


def _read_float(_reader: Reader, node: Any) -> float:
    if not isinstance(node["value"], str) or node["value"] not in _FLOATS:
        raise ModelFileError(f"unknown number {node['value']!r}"[:300])
    return _FLOATS[node["value"]]


def _read_status(_reader: Reader, node: Any) -> Status:
    if not isinstance(node["name"], str) or node["name"] not in Status.__members__:
        raise ModelFileError(f"unknown status {node['name']!r}"[:300])
    return Status[node["name"]]


def _read_object(reader: Reader, node: Any) -> Any:
    kind = kind_named(node["class"])
    if kind is None:
        raise ModelFileError(
            f"the file holds a {node['class']!r}, which this version does not know; it knows {', '.join(known_names())}"
        )
    return build(kind, *[_fields(reader, node.get(part, {})) for part in ("fields", "params", "state")])


def _fields(reader: Reader, nodes: Any) -> dict[str, Any]:
    return {name: reader.value(node) for name, node in _as(dict, nodes).items()}


def _as(kind: "type[T]", value: Any) -> "T":
    if not isinstance(value, kind):
        raise ModelFileError(f"the manifest has a {type(value).__name__} where a {kind.__name__} must be")
    return value


def build(
    kind: "Kind",
    fields: Mapping[str, Any],
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
) -> Any:
    """An object of a known class from its fields, each of them checked."""
    try:
        made = _build(kind, fields, params or {}, state or {})
        if kind.check is not None:
            cast(Callable[[Any], None], kind.check)(made)
    except ModelFileError:
        raise
    except Refused as refused:
        raise ModelFileError(f"{kind.name} {refused}") from None
    except (MercerError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        # The constructor's message about fields that it refuses.
        raise ModelFileError(f"{kind.name} cannot be made from what the file says: {error}") from error
    return made


def _build(kind: "Kind", fields: Mapping[str, Any], params: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    cls, known = kind.load(), kind.rules()
    params, state = ({kind.former.get(name, name): value for name, value in part.items()} for part in (params, state))
    unknown = [name for name in (*fields, *params) if name not in known]
    if unknown or bool(params or state) > kind.is_estimator:
        raise ModelFileError(
            f"{kind.name} has no {(unknown or ['state'])[0]!r} here; a newer Mercer may have written it"
        )
    if kind.is_estimator:
        state = {RENAMED.get(name, name): value for name, value in state.items()}
        require(kind, params, known, ModelFileError)
        require(
            kind,
            state,
            {**dict.fromkeys(state, _unknown_attribute), **cast(dict[str, Any], kind.state)},
            ModelFileError,
        )
        made = cls(**params)
        vars(made).update(state)
        return made
    require(kind, fields, known, ModelFileError)
    if kind.make is not None:
        return cast(Callable[..., Any], kind.make)(cls, fields)
    if kind.fields is None:
        return cls(**fields)
    missing = [name for name in known if name not in fields]
    if missing:
        raise ModelFileError(f"{kind.name} lacks {missing[0]!r}")
    made = cls.__new__(cls)
    vars(made).update({**kind.constants, **fields})
    return made


def _unknown_attribute(_value: object) -> NoReturn:
    raise Refused("is not an attribute that a file may set")


_READERS = {
    "array": _read_array, "masked": _read_masked,
    "times": _read_times, "objects": _read_objects, "scalar": _read_scalar, "csr": _read_csr,
    "list": _read_list, "tuple": _read_list, "dict": _read_dict, "range": _read_range, "slice": _read_slice,
    "dtype": _read_dtype, "given": _read_given, "partial": _read_partial, "random": _read_random_state,
    "date": _read_date, "datetime": _read_date, "float": _read_float, "status": _read_status, "object": _read_object,
    "bytes": lambda reader, node: reader.tensor(node["data"], "u", 1).tobytes(),
    "frame": data_frames.read,
}  # fmt: skip
