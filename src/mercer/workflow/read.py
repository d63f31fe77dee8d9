"""Data with their labels, and as a saved model needs them.

Code for models is imported only if there is one, so that looking at a file need not wait for it.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mercer._errors import DataError
from mercer._jit.memory import parse_bytes
from mercer.io.dataset import Dataset, read_table
from mercer.io.source import Source


def read_labeled(source: Any, *, skip_unlabeled: bool = False, **options: Any) -> Dataset:
    """`mercer.io.read_table`, which can also leave out rows whose target has no value."""
    if not skip_unlabeled or options.get("target") is None:
        found: Dataset = read_table(source, **options)
        return found
    whole: Dataset = read_table(source, **{**options, "target": None})
    return whole.with_target(options["target"], skip_unlabeled=True)


def read_for_model(source: str, model: Any, **options: Any) -> tuple[Dataset, Dataset]:
    """(data with the columns that a model was fitted to and no others, data with all columns).

    The options are those of `mercer.io.read_table`, and `skip_unlabeled`.
    """
    from mercer.report.model_words import columns_of

    columns = columns_of(model)
    found = _read_typed(source, model, columns, options)
    if columns is None:
        if found.kind == "table":
            raise DataError(f"{found.name}: the model was not fitted to a table, but to rows of numbers or items")
        return found, found
    if found.kind != "table":
        raise DataError(
            f"{found.name}: the model needs a table with the columns {', '.join(columns[:8])}, got {found.kind}"
        )
    return found.with_columns(columns), found


def _read_typed(source: str, model: Any, columns: list[str] | None, options: dict[str, Any]) -> Dataset:
    """Read a file with texts in the columns that the kernel takes as texts or labels, whatever they look like."""
    from mercer.report.model_words import final_estimator

    items = _columns_of_items(getattr(getattr(final_estimator(model), "expansion_", None), "kernel", None))
    found: Dataset
    if not items:
        found = read_labeled(source, n_features=None if columns else getattr(model, "n_features_in_", None), **options)
        return found
    again = _rereadable(source, options.get("memory_limit"))
    there = read_labeled(again(), **{**options, "target": None}).columns or []
    texts = dict.fromkeys((*options.get("text", ()), *(name for name in items if name in there)))
    found = read_labeled(again(), **{**options, "text": tuple(texts)})
    return found


def _rereadable(source: str, memory_limit: int | str | None) -> Callable[[], Any]:
    """A source that can be read twice: standard input and pipes are read once and kept."""
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
    from mercer.kernels import Encoded, On
    from mercer.kernels.table.on import compares_labels

    if kernel is None or not kernel.takes_tables:
        return []
    parts = [kernel, *kernel.get_params().values()]
    labels = [str(name) for part in parts if isinstance(part, Encoded) for name in part.label_columns]
    alone = [part for part in parts if isinstance(part, On)]
    return labels + [str(part.column) for part in alone if part.kernel.takes_items or compares_labels(part.kernel)]
