"""Conversion of values to JSON nodes and arrays; `decode` turns them back.

None, True, False, numbers and texts stand for themselves, and so do short lists. Everything else
is an object whose key "is" says what it is. Arrays go to the payload, where equal ones are
stored once; long lists go there too, column by column (`columns`).
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import sparse

from mercer._errors import ParameterError
from mercer._types import Array, ArrayLike
from mercer.exchange.model_file import columns, data_frames
from mercer.exchange.model_file.registry import kind_of
from mercer.exchange.model_file.rules import Refused
from mercer.exchange.model_file.tensors import NAMES
from mercer.solvers.result import Status

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from mercer.exchange.model_file.registry import Kind
    from mercer.exchange.model_file.rules import Rule

# Lists up to this length are written out in the manifest.
SHORT = 16
# Arrays up to this many bytes are compared as a whole, larger ones first by some of their numbers.
SMALL = 2**16


class Writer:
    """Turns values into nodes, and gathers their arrays.

    Parameters
    ----------
    given : dict
        Functions and other objects that a file cannot contain, by the name under which `load` will need them.
    """

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        self.given = dict(given or {})
        self.arrays, self._stored = {}, {}
        self.used = set()

    def node(self, value: Any) -> Any:
        """The node of a value."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return _whole(value)
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "value": repr(value)}
        for kinds, write in _WRITERS:
            if isinstance(value, kinds):
                return cast(Callable[[Writer, Any], Any], write)(self, value)
        return self._object(value)

    def tensor(self, array: ArrayLike) -> str:
        """The name under which an array is stored; equal arrays share one."""
        array = np.asarray(array, order="C")
        # Numbers in another byte order are swapped.
        array = array if array.dtype in NAMES else array.astype(array.dtype.newbyteorder("<"))
        if array.dtype not in NAMES:
            raise ParameterError(f"arrays of dtype {array.dtype} cannot be saved")
        key = (array.dtype.str, array.shape, hash(array.tobytes()) if array.nbytes < SMALL else _mark(array))
        for name in self._stored.get(key, ()):
            if _same_bytes(self.arrays[name], array):
                return name
        name = f"t{len(self.arrays)}"
        self.arrays[name] = array
        self._stored.setdefault(key, []).append(name)
        return name

    def named(self, value: Any) -> dict[str, str] | None:
        """The node of an object that is passed again on loading; None if it was not passed now."""
        for name, each in self.given.items():
            if each is value or (type(each) is type(value) and is_dataclass(each) and each == value):
                self.used.add(name)
                return {"is": "given", "name": name}
        return None

    def _object(self, value: Any) -> Any:
        found = self.named(value)
        if found is not None:
            return found
        if data_frames.is_frame(value):
            return data_frames.write(self, value)
        value = columns.as_stored(value)
        kind = kind_of(value)
        if kind is None:
            raise ParameterError(_cannot_save(value))
        return self.fields(kind, value)

    def fields(self, kind: "Kind", value: Any) -> dict[str, Any]:
        """The node of an object of a known class."""
        if not kind.is_estimator:
            taken = {name: getattr(value, name) for name in kind.rules()}
            require(kind, taken, kind.rules(), ParameterError)
            return {"is": "object", "class": kind.name, "fields": self._nodes(taken)}
        params, state = taken_apart(kind, value)
        return {"is": "object", "class": kind.name, "params": self._nodes(params), "state": self._nodes(state)}

    def _nodes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.node(value) for name, value in values.items()}


def taken_apart(kind: "Kind", estimator: "BaseEstimator") -> tuple[dict[str, Any], dict[str, Any]]:
    """(constructor parameters, fitted attributes) of an estimator."""
    params = estimator.get_params(deep=False)
    state = {name: value for name, value in estimator.__getstate__().items() if name not in params}
    state.pop("_sklearn_version", None)
    if "callbacks" in params:
        # They belong to a fit, not to a model.
        params["callbacks"] = None
    # Restored from the parameter `scoring`.
    state.pop("scorer_", None)
    if callable(state.get("_traces")):
        state["_traces"] = state["_traces"]()
    unknown = [name for name in state if name not in cast(dict[str, Any], kind.state)]
    if unknown:
        raise ParameterError(
            f"{kind.name} has an attribute {unknown[0]!r}, which a model file cannot hold; delete it before saving"
        )
    require(kind, params, kind.rules(), ParameterError)
    require(kind, state, cast("dict[str, Rule]", kind.state), ParameterError)
    return params, state


def require(kind: "Kind", values: Mapping[str, Any], rules: "Mapping[str, Rule]", error: type[Exception]) -> None:
    """Check each value by its rule."""
    for name, value in values.items():
        try:
            rules[name](value)
        except Refused as refused:
            raise error(f"{kind.name}.{name} {refused}") from None


def _whole(value: int) -> int:
    if not -(2**63) <= value < 2**64:
        raise ParameterError(f"a whole number of {value.bit_length()} bits cannot be saved")
    return value


def _mark(array: Array) -> int:
    """A mark that nearly always changes with the array; arrays with equal marks are compared."""
    some = array.reshape(-1)[:: max(1, array.size // 4096)]
    return hash(some.tobytes())


def _same_bytes(left: Array, right: Array) -> bool:
    return left is right or np.array_equal(left.reshape(-1).view(np.uint8), right.reshape(-1).view(np.uint8))


def _cannot_save(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or type(value).__name__
    if callable(value) and not is_dataclass(value):
        return (
            f"{name!r} is a function, which a model file cannot hold; name it, "
            "mercer.save(model, path, kernels={'name': function}), and pass it again to mercer.load"
        )
    return (
        f"an object of class {type(value).__name__} cannot be saved; if it can be given again on loading, name it: "
        "mercer.save(model, path, kernels={'name': object})"
    )


def _write_array(writer: Writer, array: Array) -> dict[str, Any]:
    if array.dtype.kind in "fiub":
        if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
            return {"is": "array", "data": writer.tensor(array.T), "order": "F"}
        return {"is": "array", "data": writer.tensor(array)}
    if array.dtype.kind in "mM" and array.dtype.isnative:
        return {"is": "times", "dtype": array.dtype.str, "data": writer.tensor(array.view(np.int64))}
    if array.dtype.kind not in "UO":
        raise ParameterError(f"arrays of dtype {array.dtype} cannot be saved")
    dtype = "object" if array.dtype.kind == "O" else array.dtype.newbyteorder("<").str
    flat = columns.write(writer, array.reshape(-1).tolist())
    return {"is": "objects", "dtype": dtype, "shape": list(array.shape), "items": flat}


def _write_masked(writer: Writer, array: Any) -> dict[str, Any]:
    return {"is": "masked", "data": writer.node(array.data), "mask": writer.tensor(np.ma.getmaskarray(array))}


def _write_scalar(writer: Writer, value: Any) -> dict[str, Any]:
    if value.dtype.kind in "fiub":
        return {"is": "scalar", "data": writer.tensor(np.asarray(value).reshape(1))}
    if value.dtype.kind == "U":
        return {"is": "scalar", "text": str(value)}
    raise ParameterError(f"a value of dtype {value.dtype} cannot be saved")


def _write_sparse(writer: Writer, matrix: Any) -> dict[str, Any]:
    if matrix.format != "csr":
        raise ParameterError(f"sparse matrices of format {matrix.format!r} cannot be saved; use CSR")
    return {
        "is": "csr",
        "kind": "array" if isinstance(matrix, sparse.sparray) else "matrix",
        "shape": [int(size) for size in matrix.shape],
        **{part: writer.tensor(getattr(matrix, part)) for part in ("data", "indices", "indptr")},
    }


def _write_list(writer: Writer, values: list[Any] | tuple[Any, ...]) -> Any:
    name = "list" if isinstance(values, list) else "tuple"
    if len(values) > SHORT:
        return {"is": name, "column": columns.write(writer, values)}
    nodes = [writer.node(value) for value in values]
    return nodes if name == "list" else {"is": "tuple", "items": nodes}


def _write_dict(writer: Writer, values: dict[Any, Any]) -> dict[str, Any]:
    keys, entries = list(values), list(values.values())
    return {"is": "dict", "keys": _write_list(writer, keys), "values": _write_list(writer, entries)}


def _write_range(_writer: Writer, values: range) -> dict[str, Any]:
    if values.start != 0 or values.step != 1:
        raise ParameterError(f"{values!r} cannot be saved: only ranges that begin at 0")
    return {"is": "range", "stop": values.stop}


def _write_slice(writer: Writer, value: slice) -> dict[str, Any]:
    return {"is": "slice", "parts": [writer.node(part) for part in (value.start, value.stop, value.step)]}


def _write_type(writer: Writer, value: Any) -> Any:
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"is": "dtype", "name": np.dtype(value).name, "as": "type"}
    if isinstance(value, np.dtype):
        return {"is": "dtype", "name": value.name}
    return writer._object(value)


def _write_partial(writer: Writer, value: partial[Any]) -> dict[str, Any]:
    function = writer.named(value) or writer.named(value.func)
    if function is None or value.args:
        raise ParameterError(_cannot_save(value.func))
    return {"is": "partial", "function": function, "keywords": writer.node(dict(value.keywords))}


def _write_random_state(writer: Writer, value: np.random.RandomState) -> dict[str, Any]:
    return {"is": "random", "state": writer.node(value.get_state())}


def _write_date(_writer: Writer, value: dt.date) -> dict[str, str]:
    return {"is": "date" if type(value) is dt.date else "datetime", "text": value.isoformat()}


_WRITERS = (
    (Status, lambda _writer, value: {"is": "status", "name": value.name}),
    (np.ma.MaskedArray, _write_masked),
    (np.ndarray, _write_array),
    (np.generic, _write_scalar),
    ((list, tuple), _write_list),
    (dict, _write_dict),
    (range, _write_range),
    (slice, _write_slice),
    ((type, np.dtype), _write_type),
    (partial, _write_partial),
    (np.random.RandomState, _write_random_state),
    (dt.date, _write_date),
    (bytes, lambda writer, value: {"is": "bytes", "data": writer.tensor(np.frombuffer(value, np.uint8))}),
    ((sparse.sparray, sparse.spmatrix), _write_sparse),
)
