"""`mercer predict`: what a saved model says of new rows."""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import OUTPUT, AsJson, ModelFile, ReadOptions, RowOptions, Source

# What begins a formula in a spreadsheet, including the blanks that it skips.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Asked(NamedTuple):
    """What is printed beside the predictions."""

    proba: bool
    scores: bool
    interval: float | None


def predict(
    model: ModelFile,
    data: Source,
    *,
    reading: RowOptions = RowOptions(),  # noqa: B008 - frozen
    keep: Annotated[
        tuple[str, ...],
        Parameter(
            negative="", show_default=False, help="Columns to copy alongside the predictions, such as an id: a,b."
        ),
    ] = (),
    proba: Annotated[
        bool, Parameter(negative="", show_default=False, help="Also print probabilities, one column per class.")
    ] = False,
    scores: Annotated[
        bool, Parameter(negative="", show_default=False, help="Also print decision values, one column per class.")
    ] = False,
    interval: Annotated[
        float | None,
        Parameter(help="Also print bounds, or a set of classes, that contain the true value this often: 0.9 is 90%."),
    ] = None,
    output: Annotated[
        Path | None, Parameter(alias="-o", group=OUTPUT, help="Write to this CSV file instead of standard output.")
    ] = None,
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Predict the rows of a file with a saved model: CSV on standard output, one line per row.

    Texts that a spreadsheet would take for formulas, such as "=1+1", are prefixed with an apostrophe; --json leaves
    them as they are.
    """
    from mercer.cli.terminal.asked import note_unseen, read_for_model
    from mercer.cli.terminal.checks import check_output
    from mercer.cli.terminal.output import replaced, write_json
    from mercer.report.finite import finite
    from mercer.workflow.columns import kept_beside
    from mercer.workflow.large import why_out_of_core
    from mercer.workflow.models import load_model

    check_output(None, output)
    if interval is not None and not 0 < interval < 1:
        raise ParameterError(f"--interval must be above 0 and below 1, such as 0.9, got {interval:g}")
    if reading.target is not None:
        raise ParameterError("predict takes no --target; `mercer evaluate` compares predictions with one")
    fitted, _ = load_model(model, data)
    asked = _Asked(proba, scores, interval)
    _require_able(fitted, asked)
    why = why_out_of_core(str(data), limits.memory_limit, reading.format)
    if why is not None:
        from mercer.cli.terminal.blocks import blocks_of

        if keep:
            raise ParameterError(f"--keep needs data that are read all at once, and {data} is {why}")
        return _by_blocks(fitted, blocks_of(data, reading, None), asked, output, as_json)
    found, whole = read_for_model(data, reading, limits, fitted)
    note_unseen(fitted, found)
    columns = _beside(kept_beside(whole, keep), _columns(fitted, found.data, asked))
    if as_json:
        write_json(finite({name: list(values) for name, values in columns.items()}))
    elif output is None:
        _write(sys.stdout, columns)
    else:
        with replaced(output) as file:
            _write(file, columns)
    return ExitCode.DONE


def _require_able(model: Any, asked: _Asked) -> None:
    """What was asked for must be something that the model can say, before anything is read."""
    for option, is_asked in (("--scores", asked.scores), ("--proba", asked.proba)):
        if is_asked and not hasattr(model, "decision_function"):
            raise ParameterError(f"{option} needs a classifier; this model predicts quantities")
    if asked.proba and not hasattr(model, "predict_proba"):
        raise ParameterError("--proba needs a model that has learnt probabilities: train it with --proba too")
    if asked.interval is not None:
        from mercer.workflow.models import require_conforming

        require_conforming(model)


def _beside(kept: Mapping[str, Sequence[Any]], said: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    twice = next((name for name in kept if name in said), None)
    if twice is not None:
        raise DataError(f"--keep names {twice!r}, which is also the name of a column of predictions; rename yours")
    return {**kept, **said}


def _by_blocks(model: Any, blocks: Any, asked: _Asked, output: Path | None, as_json: bool) -> ExitCode:
    """The same for data that are read block by block: each is written before the next is read."""
    from mercer.cli.terminal.output import write_json
    from mercer.io.replace_file import replace_file
    from mercer.report.finite import finite
    from mercer.workflow.out_of_core import for_model

    chosen = for_model(model, blocks)
    parts = (_columns(model, chosen.block(i).rows, asked) for i in range(len(chosen)))
    if as_json:
        found = list(parts)
        write_json(finite({name: [each for part in found for each in part[name]] for name in found[0]}))
    elif output is None:
        for i, columns in enumerate(parts):
            _write(sys.stdout, columns, with_names=i == 0)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_file(output, (_as_bytes(columns, i == 0) for i, columns in enumerate(parts)))
    return ExitCode.DONE


def _as_bytes(columns: dict[str, Sequence[Any]], with_names: bool) -> bytes:
    text = io.StringIO(newline="")
    _write(text, columns, with_names)
    return text.getvalue().encode()


def _columns(model: Any, X: Any, asked: _Asked) -> dict[str, Sequence[Any]]:
    columns = {"prediction": model.predict(X)}
    if asked.interval is not None:
        from mercer.workflow.models import conforming_columns

        columns |= conforming_columns(model, X, asked.interval)
    if asked.proba:
        said = model.predict_proba(X)
        columns |= {f"probability {name}": said[:, k] for k, name in enumerate(model.classes_)}
    if asked.scores:
        values = model.decision_function(X)
        names = [model.classes_[1]] if values.ndim == 1 else model.classes_
        table = values.reshape(len(values), -1)
        if table.shape[1] == len(names):
            columns |= {f"score {name}": table[:, k] for k, name in enumerate(names)}
        else:
            columns |= {f"score {k}": table[:, k] for k in range(table.shape[1])}
    return {name: values.tolist() for name, values in columns.items()}


def _write(file: Any, columns: dict[str, Sequence[Any]], with_names: bool = True) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if with_names:
        writer.writerow(map(_harmless, columns))
    writer.writerows(zip(*(map(_harmless, values) for values in columns.values()), strict=True))


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe, which makes it a text there; of several
    labels, one text is made."""
    if isinstance(value, list):
        return _harmless("|".join(map(str, value)))
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
