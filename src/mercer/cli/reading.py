"""Data for a command: read as asked, or as a model needs them."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.options import DataOptions, FitOptions, ReadOptions

Limits = FitOptions | ReadOptions
NO_LIMITS = ReadOptions()


def read_labelled(source: str, options: DataOptions, limits: Limits = NO_LIMITS) -> Any:
    """Data with something to learn from or to compare with."""
    found = read(source, options, options.target, limits)
    if found.target is None and found.kind == "table":
        raise ParameterError(
            f"--target must name the column to predict; {found.name} has {', '.join(map(repr, found.columns[:20]))}"
        )
    if found.target is None:
        raise DataError(f"{found.name}: the {found.kind} have no labels; put each class into a folder of its own"
                        if found.kind == "texts" else f"{found.name}: the {found.kind} have no labels")  # fmt: skip
    return found


def read(source: Any, options: DataOptions, target: str | None, limits: Limits = NO_LIMITS, **more: Any) -> Any:
    """Data as the options say."""
    from mercer.io import read_table
    from mercer.io.csv.lines import MISSING

    return read_table(
        source,
        target=target,
        format=options.format,
        table=options.table,
        query=options.query,
        text=tuple(dict.fromkeys((*options.text, *more.pop("text", ())))),
        header=options.header,
        missing=(*MISSING, *options.missing),
        memory_limit=limits.memory_limit,
        time_limit=limits.time_limit,
        **more,
    )


def read_for_model(
    source: str, options: DataOptions, limits: Limits, model: Any, is_labelled: bool, target: str | None
) -> Any:
    """Data with the columns that a model was fitted to; those it does not know are left out."""
    from mercer.report.model_words import columns_of, machine_of

    columns, machine = columns_of(model), machine_of(model)
    kernel = getattr(getattr(machine, "expansion_", None), "kernel", None)
    width = None if columns else getattr(model, "n_features_in_", None)
    wanted = target if is_labelled else None
    found = _read_typed(source, options, limits, wanted, _columns_of_items(kernel), width)
    if columns is None:
        if found.kind == "table":
            raise DataError(f"{found.name}: the model was not fitted to a table, but to rows of numbers or items")
        return found
    if found.kind != "table":
        raise DataError(
            f"{found.name}: a table with the columns {', '.join(columns[:8])} was expected, got {found.kind}"
        )
    return found.with_columns(columns)


def _read_typed(
    source: str, options: DataOptions, limits: Limits, target: str | None, items: list[str], width: int | None
) -> Any:
    """Columns that the kernel reads as texts or labels are texts in every file, whatever they look like."""
    if not items:
        return read(source, options, target, limits, n_features=width)
    again = _rereadable(source, limits)
    first = read(again(), options, None, limits)
    there = [name for name in items if name in (first.columns or [])]
    return read(again(), options, target, limits, text=there)


def _rereadable(source: str, limits: Limits) -> Callable[[], Any]:
    """What can be read twice: standard input and pipes are read once, and looked at twice."""
    path = Path(source)
    if source != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        return lambda: source
    from mercer._jit.memory import parse_bytes
    from mercer.io.source import Source

    taken = Source(source, None if limits.memory_limit is None else parse_bytes(limits.memory_limit))

    def opened() -> Any:
        file = io.BytesIO(cast(bytes, taken.stored))
        file.name = taken.name
        return file

    return opened


def _columns_of_items(kernel: Any) -> list[str]:
    """The columns that a kernel reads as texts or labels."""
    from mercer.kernels import On
    from mercer.kernels.table.on import compares_labels

    if kernel is None or not kernel.takes_tables:
        return []
    parts = [kernel, *kernel.get_params().values()]
    return [
        str(part.column)
        for part in parts
        if isinstance(part, On) and (part.kernel.takes_items or compares_labels(part.kernel))
    ]
