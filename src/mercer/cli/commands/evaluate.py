"""`mercer evaluate`: how well a saved model does on rows whose labels are known."""

from typing import Any

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import AsJson, DataOptions, ModelFile, ReadOptions, Report, Source


def evaluate(
    model: ModelFile,
    data: Source,
    *,
    reading: DataOptions = DataOptions(),  # noqa: B008 - frozen
    report: Report = None,
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Score a saved model on a file with labels; the target is the model's own unless --target names another."""
    from mercer.cli.models import load_model, note_unseen
    from mercer.cli.reading import read_for_model
    from mercer.cli.terminal.output import write_json, write_line
    from mercer.cli.terminal.record_table import show_record
    from mercer.report.html_page import write_page

    fitted, said = load_model(model)
    metadata = said.get("metadata", {})
    found = read_for_model(
        str(data), reading, limits, fitted, is_labelled=True, target=reading.target or metadata.get("target")
    )
    if found.target is None:
        raise (ParameterError if found.kind == "table" else DataError)(
            f"{found.name}: there are no labels to compare with; --target names their column"
        )
    note_unseen(fitted, found)
    record, shown = _scored(fitted, found, str(model))
    if report is not None:
        record.files["report"] = str(report)
        write_page(report, record, shown)
    if as_json:
        write_json(record.as_dict())
        return ExitCode.DONE
    show_record(record)
    if report is not None:
        write_line(report)
    return ExitCode.DONE


def _scored(model: Any, data: Any, name: str) -> tuple[Any, Any]:
    """(record, what a page shows)."""
    from mercer.cli.fitting import timed
    from mercer.report.figures import Shown
    from mercer.report.model_words import machine_of
    from mercer.report.record import Record
    from mercer.report.scores import score

    task = "classification" if hasattr(machine_of(model), "classes_") else "regression"
    target = _as_learnt(data, task, getattr(machine_of(model), "classes_", None))
    record = Record.of_model(f"{name} on {data.name}", model, data, task)
    with timed(record.seconds, "score"):
        record.scores = {**score(task, target, model.predict(data.data)), "how": f"in {data.name}"}
    known = set(record.model["classes"] or [])
    if task == "classification" and not set(target.tolist()) <= known:
        extra = sorted(map(str, set(target.tolist()) - known))[:5]
        record.notes.append(f"the model does not know the classes {', '.join(extra)}: their rows count as wrong")
        return record, Shown(model, None, None)
    return record, Shown(model, None, (data.data, target), data)


def _as_learnt(data: Any, task: str, classes: Any) -> Any:
    """The target with the type of the model's classes: 1.0 in one file is 1 in another."""
    target = data.target
    if task == "regression":
        if target.dtype.kind not in "iuf":
            raise DataError(f"{data.name}: the target must hold numbers, got texts such as {str(target[0])!r}")
        return target.astype(float)
    if classes.dtype.kind in "UO" and target.dtype.kind in "iuf":
        return target.astype(str)
    if classes.dtype.kind in "iuf" and target.dtype.kind not in "iuf":
        raise DataError(f"{data.name}: the classes are numbers such as {classes[0]}, got {str(target[0])!r}")
    return target
