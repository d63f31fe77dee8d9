"""`mercer predict`: what a saved model says of new rows."""

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mercer._errors import ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import OUTPUT, AsJson, DataOptions, ModelFile, ReadOptions, Source

# What begins a formula in spreadsheets (blanks that they leave out included).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def predict(
    model: ModelFile,
    data: Source,
    *,
    reading: DataOptions = DataOptions(),  # noqa: B008 - frozen
    scores: Annotated[bool, Parameter(negative="", help="Also print decision values, one column a class.")] = False,
    output: Annotated[Path | None, Parameter(group=OUTPUT, help="A CSV file instead of standard output.")] = None,
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Predict the rows of a file with a saved model: CSV on standard output, one line a row.

    Labels that a spreadsheet would take for formulas, such as "=1+1", get an apostrophe in front; --json has them as
    they are.
    """
    from mercer.cli.terminal.asked import blocks_of, note_unseen, read_for_model
    from mercer.cli.terminal.output import replaced, write_json
    from mercer.report.record import finite
    from mercer.workflow.large import why_out_of_core
    from mercer.workflow.models import load_model

    fitted, _ = load_model(model)
    if reading.target is not None:
        raise ParameterError("predict needs no --target; `mercer evaluate` compares with one")
    if why_out_of_core(str(data), limits.memory_limit, reading.format) is not None:
        return _by_blocks(fitted, blocks_of(data, reading, None), scores, output, as_json)
    found = read_for_model(data, reading, limits, fitted)
    note_unseen(fitted, found)
    columns = _columns(fitted, found.data, scores)
    if as_json:
        write_json(finite({name: values.tolist() for name, values in columns.items()}))
    elif output is None:
        _write(sys.stdout, columns)
    else:
        with replaced(output) as file:
            _write(file, columns)
    return ExitCode.DONE


def _by_blocks(model: Any, blocks: Any, scores: bool, output: Path | None, as_json: bool) -> ExitCode:
    """The same for data that are read block by block: each is written before the next is read."""
    from mercer.cli.terminal.output import write_json
    from mercer.io.replace_file import replace_file
    from mercer.report.record import finite
    from mercer.workflow.out_of_core import for_model

    chosen = for_model(model, blocks)
    parts = (_columns(model, chosen.block(i).rows, scores) for i in range(len(chosen)))
    if as_json:
        found = list(parts)
        write_json(finite({name: [each for part in found for each in part[name].tolist()] for name in found[0]}))
    elif output is None:
        for i, columns in enumerate(parts):
            _write(sys.stdout, columns, with_names=i == 0)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_file(output, (_as_bytes(columns, i == 0) for i, columns in enumerate(parts)))
    return ExitCode.DONE


def _as_bytes(columns: dict[str, Any], with_names: bool) -> bytes:
    text = io.StringIO(newline="")
    _write(text, columns, with_names)
    return text.getvalue().encode()


def _columns(model: Any, X: Any, scores: bool) -> dict[str, Any]:
    columns = {"prediction": model.predict(X)}
    if scores:
        if not hasattr(model, "decision_function"):
            raise ParameterError("--scores needs a classifier; this model predicts quantities")
        values = model.decision_function(X)
        names = [model.classes_[1]] if values.ndim == 1 else model.classes_
        table = values.reshape(len(values), -1)
        if table.shape[1] == len(names):
            columns |= {f"score {name}": table[:, k] for k, name in enumerate(names)}
        else:
            columns |= {f"score {k}": table[:, k] for k in range(table.shape[1])}
    return columns


def _write(file: Any, columns: dict[str, Any], with_names: bool = True) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if with_names:
        writer.writerow(columns)
    writer.writerows(zip(*(map(_harmless, values.tolist()) for values in columns.values()), strict=True))


def _harmless(value: Any) -> Any:
    """A label that a spreadsheet would take for a formula gets an apostrophe, which makes it a text there."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
