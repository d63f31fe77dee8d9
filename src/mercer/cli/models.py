"""Saved models, as commands meet them."""

from pathlib import Path
from typing import Any

from mercer._errors import DataError
from mercer.cli.terminal.output import say


def load_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """(model, what its file says about itself)."""
    from mercer import load
    from mercer.exchange.model_file.save import describe

    if not Path(path).is_file():
        raise DataError(f"there is no model file {str(path)!r}; `mercer train` writes one")
    return load(path), describe(path)


def note_unseen(model: Any, data: Any) -> None:
    """Say how many rows have a label that no support vector has: in that column they are like themselves only."""
    for name, values in unseen_labels(model, data).items():
        shown = ", ".join(sorted({str(value) for value in values})[:5])
        say(f"column {name!r}: {len(values)} rows have a label that no support vector has ({shown}); "
            "they are judged by the other columns", "yellow")  # fmt: skip


def unseen_labels(model: Any, data: Any) -> dict[str, list[Any]]:
    """For each column compared by labels, the values that no support vector has."""
    from mercer.kernels import On
    from mercer.kernels.table.frame import as_frame
    from mercer.kernels.table.on import compares_labels
    from mercer.report.model_words import machine_of

    expansion = getattr(machine_of(model), "expansion_", None)
    if data.kind != "table" or expansion is None or not expansion.kernel.takes_tables:
        return {}
    parts = [expansion.kernel, *expansion.kernel.get_params().values()]
    names = [part.column for part in parts if isinstance(part, On) and compares_labels(part.kernel)]
    new, known = as_frame(data.data), as_frame(expansion.vectors)
    found = {}
    for name in names:
        seen = set(known.column(name).as_came())
        values = [value for value in new.column(name).as_came() if value is not None and value not in seen]
        found |= {name: values} if values else {}
    return found
