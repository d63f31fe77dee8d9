"""Which reader a source of blocks needs."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer._errors import DataError, ParameterError
from mercer.io.blocks.arrays import ArrayRows, GivenBlocks, is_chunked
from mercer.io.blocks.arrow import ArrowFiles, ArrowTable, files_of_dataset, pyarrow
from mercer.io.blocks.delimited import DelimitedFiles
from mercer.io.blocks.reader import MatrixReader, TableReader
from mercer.io.blocks.svmlight import SvmlightFiles
from mercer.io.formats import recognise
from mercer.io.source import Source

FORMATS = ("parquet", "arrow", "csv", "svmlight", "npy")
_NPY = b"\x93NUMPY"


def open_reader(
    source: Any,
    target: Any,
    weight: Any,
    block_rows: int | None,
    text_options: dict[str, Any],
    vector_options: dict[str, Any],
) -> TableReader | MatrixReader:
    """The reader of a source; options of CSV and svmlight have no effect elsewhere."""
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source), target, weight, block_rows, text_options, vector_options)
    if isinstance(source, tuple) and getattr(source[0] if source else None, "ndim", 0) == 2:
        if target is not None or len(source) not in (2, 3):
            raise ParameterError("a source (X, y) or (X, y, sample_weight) already has its target: leave target out")
        return ArrayRows(source[0], source[1], weight if len(source) == 2 else source[2], block_rows)
    if isinstance(source, np.ndarray) or sparse.issparse(source) or is_chunked(source):
        return ArrayRows(source, target, weight, block_rows)
    found = _of_arrow(source, block_rows)
    if found is not None:
        return found
    if hasattr(source, "__len__") and hasattr(source, "__getitem__"):
        return GivenBlocks(source)
    raise ParameterError(
        "source must be something that can be read more than once, by blocks: a path, arrays, an Arrow table or "
        f"dataset, or a sequence of (X, y); got {type(source).__name__}. Write a stream to files first, or learn "
        "from it in one pass (PegasosSVC.fit_stream)"
    )


def _of_path(
    path: Path,
    target: Any,
    weight: Any,
    block_rows: int | None,
    text_options: dict[str, Any],
    vector_options: dict[str, Any],
) -> TableReader | MatrixReader:
    files, kind = block_files(path)
    if kind == "npy":
        if len(files) > 1:
            raise DataError(f"{path}: one array file was expected, got {len(files)}; pass a list of (X, y)")
        return ArrayRows(files[0], target, weight, block_rows)
    if kind == "csv":
        return DelimitedFiles(files, block_rows, **text_options)
    if kind == "svmlight":
        return SvmlightFiles(files, block_rows, **vector_options)
    pyarrow()
    return ArrowFiles(files, block_rows)


def block_files(path: Path) -> tuple[list[Path], str]:
    """(the files, their format) of a path that can be read by blocks; names that begin with . or _ are skipped."""
    Source(path, 0)  # raises if the path does not exist
    if not path.is_dir():
        return [path], _format(path)
    inside = sorted(each for each in path.iterdir() if not each.name.startswith((".", "_")))
    files = [each for each in inside if each.is_file()]
    if not files:
        remedy = "; subfolders can be read with pyarrow.dataset.dataset(...)" if inside else ""
        raise DataError(f"{path}: there are no data files in the folder{remedy}")
    kinds = {_format(file): file for file in reversed(files)}
    if len(kinds) > 1:
        listed = ", ".join(f"{file.name} ({kind})" for kind, file in kinds.items())
        raise DataError(f"{path}: files of one format were expected, got {listed}")
    return files, next(iter(kinds))


def _format(path: Path) -> str:
    with open(path, "rb") as file:
        if file.read(6) == _NPY:
            return "npy"
    kind = recognise(Source(path))
    if kind not in FORMATS:
        raise DataError(f"{path}: {kind} cannot be read by blocks; use one of {', '.join(FORMATS)}")
    return kind


def _of_arrow(source: Any, block_rows: int | None) -> TableReader | None:
    """The reader of a pyarrow object, or None if it is not one."""
    first = source[0] if isinstance(source, list) and source else source
    if not type(first).__module__.startswith("pyarrow"):
        return None
    pa = pyarrow()
    if isinstance(source, list) and all(isinstance(each, pa.RecordBatch) for each in source):
        return ArrowTable(pa.Table.from_batches(source), block_rows)
    if isinstance(source, pa.Table | pa.RecordBatch):
        return ArrowTable(pa.table(source), block_rows)
    files = files_of_dataset(source)
    if files is None:
        is_in_memory = type(source).__name__ == "InMemoryDataset"
        return ArrowTable(source.to_table(), block_rows) if is_in_memory else None
    reader = ArrowFiles(files, block_rows)
    beside = [name for name in source.schema.names if name not in reader.names and f"{name}[0]" not in reader.names]
    if beside:
        raise DataError(
            f"the column {beside[0]!r} of the dataset is in the names of its folders; it must be in the files"
        )
    return reader
