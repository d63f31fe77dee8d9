"""Data as a saved model needs them."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mercer._errors import DataError
from mercer._jit.memory import parse_bytes
from mercer.io.dataset import Dataset, read_table
from mercer.io.source import Source
from mercer.kernels import On
from mercer.kernels.table.on import compares_labels
from mercer.report.model_words import columns_of, machine_of


def read_for_model(source: str, model: Any, **options: Any) -> Dataset:
    """Data with the columns that a model was fitted to; those it does not know are left out.

    The options are those of `mercer.io.read_table`.
    """
    columns = columns_of(model)
    found = _read_typed(source, model, columns, options)
    if columns is None:
        if found.kind == "table":
            raise DataError(f"{found.name}: the model was not fitted to a table, but to rows of numbers or items")
        return found
    if found.kind != "table":
        raise DataError(
            f"{found.name}: a table with the columns {', '.join(columns[:8])} was expected, got {found.kind}"
        )
    chosen: Dataset = found.with_columns(columns)
    return chosen


def _read_typed(source: str, model: Any, columns: list[str] | None, options: dict[str, Any]) -> Dataset:
    """Columns that the kernel reads as texts or labels are texts in every file, whatever they look like."""
    items = _columns_of_items(getattr(getattr(machine_of(model), "expansion_", None), "kernel", None))
    found: Dataset
    if not items:
        found = read_table(source, n_features=None if columns else getattr(model, "n_features_in_", None), **options)
        return found
    again = _rereadable(source, options.get("memory_limit"))
    there = read_table(again(), **{**options, "target": None}).columns or []
    texts = dict.fromkeys((*options.get("text", ()), *(name for name in items if name in there)))
    found = read_table(again(), **{**options, "text": tuple(texts)})
    return found


def _rereadable(source: str, memory_limit: int | str | None) -> Callable[[], Any]:
    """What can be read twice: standard input and pipes are read once, and looked at twice."""
    path = Path(source)
    if source != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        return lambda: source
    taken = Source(source, None if memory_limit is None else parse_bytes(memory_limit))

    def opened() -> Any:
        file = io.BytesIO(cast(bytes, taken.stored))
        file.name = taken.name
        return file

    return opened


def _columns_of_items(kernel: Any) -> list[str]:
    """The columns that a kernel reads as texts or labels."""
    if kernel is None or not kernel.takes_tables:
        return []
    parts = [part for part in (kernel, *kernel.get_params().values()) if isinstance(part, On)]
    return [str(part.column) for part in parts if part.kernel.takes_items or compares_labels(part.kernel)]
