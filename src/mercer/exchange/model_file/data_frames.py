"""Data frames of pandas, polars and pyarrow as columns of a model file, and back into the same library."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mercer._errors import MissingExtraError, ModelFileError, ParameterError
from mercer.exchange.model_file import columns

if TYPE_CHECKING:
    from narwhals import Series

    from mercer.exchange.model_file.decode import Reader
    from mercer.exchange.model_file.encode import Writer

BACKENDS = ("pandas", "polars", "pyarrow")
_PLAIN = ("Float64", "Float32", "Int64", "Int32", "Int16", "Int8", "UInt64", "UInt32", "UInt16", "UInt8",
          "Boolean", "String", "Categorical", "Object", "Date")  # fmt: skip
_UNITS = ("s", "ms", "us", "ns")


def is_frame(value: object) -> bool:
    """Whether it is a data frame of one of the libraries, without importing any of them."""
    if type(value).__module__.partition(".")[0] not in BACKENDS:
        return False
    import narwhals

    return narwhals.dependencies.is_into_dataframe(value)


def write(writer: "Writer", native: Any) -> dict[str, Any]:
    """The node of a data frame."""
    import narwhals

    frame = narwhals.from_native(native, eager_only=True)
    backend = frame.implementation.name.lower()
    parts = [_write_series(writer, frame.get_column(name)) for name in frame.columns]
    node = {"is": "frame", "backend": backend, "names": writer.node(list(frame.columns)), "columns": parts}
    if backend == "pandas":
        node["index"] = columns.write(writer, native.index.tolist())
    return node


def _write_series(writer: "Writer", series: "Series[Any]") -> dict[str, Any]:
    import narwhals

    dtype = series.dtype
    if isinstance(dtype, narwhals.Datetime):
        values = series.dt.timestamp("us").to_list()
        kept = cast(dict[str, Any], {"dtype": "Datetime", "unit": dtype.time_unit, "zone": dtype.time_zone})
        return {**kept, "values": columns.write(writer, _without_nan(values))}
    if isinstance(dtype, narwhals.Categorical | narwhals.Enum):
        native, kept = series.to_native(), {"dtype": "Categorical"}
        if series.implementation.is_pandas():
            kept["categories"] = columns.write(writer, native.cat.categories.tolist())
        return {**kept, "values": columns.write(writer, series.to_list())}
    if str(dtype) not in _PLAIN:
        raise ParameterError(f"column {series.name!r} has type {dtype}, which a model file cannot hold; cast it")
    return {"dtype": str(dtype), "values": columns.write(writer, series.to_list())}


def _without_nan(values: list[Any]) -> list[int | None]:
    return [None if value is None or value != value else int(value) for value in values]  # noqa: PLR0124


def read(reader: "Reader", node: Any) -> Any:
    """The data frame of a node."""
    backend, names = node["backend"], reader.value(node["names"])
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise ModelFileError(f"unknown kind of data frame {backend!r}"[:300])
    parts = node["columns"]
    if not isinstance(names, list) or not isinstance(parts, list) or not len(names) == len(parts) > 0:
        raise ModelFileError("a data frame must have a name for each column")
    try:
        series = [_read_series(reader, name, part, backend) for name, part in zip(names, parts, strict=True)]
        frame = series[0].to_frame().with_columns(*series[1:]).to_native()
    except ImportError as error:
        raise MissingExtraError(f"the model holds rows of {backend}, which is not installed: {error}") from error
    except ModelFileError:
        raise
    except Exception as error:  # the libraries raise their own errors for values that do not fit a type
        raise ModelFileError(f"a data frame cannot be made from what the file says: {error}") from error
    return _with_index(frame, columns.read(reader, node["index"])) if backend == "pandas" else frame


def _read_series(reader: "Reader", name: str, part: Any, backend: Any) -> "Series[Any]":
    import narwhals

    dtype = part.get("dtype") if isinstance(part, dict) else None
    values = columns.read(reader, part["values"])
    if dtype == "Datetime":
        unit, zone = part["unit"], part["zone"]
        if unit not in _UNITS or not (zone is None or isinstance(zone, str)):
            raise ModelFileError(f"times cannot have unit {unit!r} and zone {zone!r}"[:300])
        micros = narwhals.new_series(name, _as_times(values), backend=backend)
        return micros.cast(narwhals.Datetime(unit)) if zone is None else _in_zone(micros, unit, zone)
    if not isinstance(dtype, str) or dtype not in _PLAIN:
        raise ModelFileError(f"unknown type of column {dtype!r}"[:300])
    if dtype == "Object":
        return _objects(name, values, backend)
    if dtype == "Categorical" and backend == "pandas":
        return _categories(name, values, columns.read(reader, part["categories"]))
    return narwhals.new_series(name, values, getattr(narwhals, dtype), backend=backend)


def _as_times(values: list[Any]) -> list[Any]:
    import datetime as dt

    epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the zone is put on afterwards
    return [None if value is None else epoch + dt.timedelta(microseconds=value) for value in values]


def _in_zone(series: "Series[Any]", unit: Any, zone: str) -> "Series[Any]":
    import narwhals

    return series.cast(narwhals.Datetime(unit)).dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _objects(name: str, values: list[Any], backend: Any) -> "Series[Any]":
    import narwhals

    if backend == "pandas":
        held = np.empty(len(values), object)
        held[:] = values
        return narwhals.new_series(name, held, backend=backend)
    return narwhals.new_series(name, values, narwhals.Object, backend=backend)


def _categories(name: str, values: list[Any], categories: list[Any]) -> "Series[Any]":
    """A pandas column with its categories, including those that no row has."""
    import narwhals

    pandas = narwhals.Implementation.PANDAS.to_native_namespace()
    held = pandas.Series(pandas.Categorical(values, categories=categories), name=name)
    return narwhals.from_native(held, series_only=True)


def _with_index(frame: Any, index: list[Any]) -> Any:
    if len(index) != len(frame):
        raise ModelFileError(f"a data frame of {len(frame)} rows cannot have an index of {len(index)}")
    frame.index = index
    return frame
