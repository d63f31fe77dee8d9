"""`mercer inspect`: what a model file holds, and why the model decides as it does."""

from typing import Annotated, Any

from cyclopts import Parameter

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import AsJson, ModelFile, ReadOptions, RowOptions, Source


def inspect(
    model: ModelFile,
    data: Annotated[Source | None, Parameter(help="Explain the decision for a row of this file.")] = None,
    *,
    row: Annotated[int, Parameter(help="Which row of the data, counting from 0.")] = 0,
    reading: RowOptions = RowOptions(),  # noqa: B008 - frozen
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Show what a model file holds: machine, kernel, columns, certificate, origin; or explain one decision."""
    from mercer.cli.terminal.asked import read_for_model
    from mercer.cli.terminal.output import write_json
    from mercer.workflow.models import describe_file, load_model

    if reading.target is not None:
        raise ParameterError("inspect takes no --target; the model knows its own")
    fitted, said = load_model(model, data)
    if data is not None:
        return _explained(fitted, read_for_model(data, reading, limits, fitted)[0], row, as_json)
    found = describe_file(fitted, said)
    if as_json:
        write_json(found)
    else:
        _show(str(model), found)
    return ExitCode.DONE


def _show(name: str, found: dict[str, Any]) -> None:
    """Words for people; they are what was asked for, so they go to standard output."""
    from mercer.cli.terminal.output import say_rows
    from mercer.cli.terminal.record_table import certificate_rows

    metadata = found["file"]["metadata"] or {}
    rows: list[tuple[str, Any]] = [("machine", " > ".join([*found["steps"], found["estimator"]]))]
    rows += [("kernel", found["kernel_in_short"])] if found["kernel"] else []
    rows.append(("parameters", ", ".join(f"{key} = {value}" for key, value in found["parameters"].items())))
    rows += [("classes", ", ".join(map(str, found["classes"][:20])))] if found["classes"] else []
    rows += [("columns", ", ".join(found["columns"][:20]))] if found["columns"] else []
    rows += [("support vectors", f"{found['n_support']:,}")] if found["n_support"] is not None else []
    rows += certificate_rows(found)
    rows += [(key, str(metadata[key])) for key in ("task", "target", "source") if metadata.get(key)]
    rows.append(("written", f"{found['file']['created']} by Mercer {found['file']['mercer']}"))
    say_rows(name, rows, to_stdout=True)


def _explained(model: Any, found: Any, row: int, as_json: bool) -> ExitCode:
    from mercer.cli.terminal.output import write_json, write_line
    from mercer.workflow.models import explain_row

    if not 0 <= row < len(found):
        raise DataError(f"--row must be from 0 to {len(found) - 1}, got {row}")
    prediction, said = explain_row(model, found.data, row)
    if as_json:
        names = dict(zip(said.functions, range(len(said.functions)), strict=True))
        contributions = {name: said.main.as_dict(k) for name, k in names.items()}
        write_json({"row": row, "prediction": prediction.item(), "kind": said.main.kind, "contributions": contributions,
                    "intercept": said.intercept.tolist(), "decision": said.decision.tolist()})  # fmt: skip
    else:
        write_line(f"row {row}: {prediction}\n{said}")
    return ExitCode.DONE
