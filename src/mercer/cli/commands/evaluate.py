"""`mercer evaluate`: how well a saved model does on rows whose labels are known."""

from dataclasses import replace
from pathlib import Path

from mercer._errors import DataError, ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import AsJson, DataOptions, ModelFile, ReadOptions, Report, SkipUnlabeled, Source


def evaluate(
    model: ModelFile,
    data: Source,
    *,
    reading: DataOptions = DataOptions(),  # noqa: B008 - frozen
    skip_unlabeled: SkipUnlabeled = False,
    report: Report = None,
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Score a saved model on a file with labels; the target is the model's own unless --target names another."""
    from mercer.cli.terminal.asked import note_unseen, read_for_model
    from mercer.cli.terminal.checks import check_output
    from mercer.cli.terminal.output import write_json, write_line
    from mercer.cli.terminal.record_table import show_record
    from mercer.report.html_page import write_page
    from mercer.workflow.large import why_out_of_core
    from mercer.workflow.models import evaluate as scored
    from mercer.workflow.models import load_model

    check_output(None, report)
    fitted, said = load_model(model, data)
    target = reading.target or said.get("metadata", {}).get("target")
    why = why_out_of_core(str(data), limits.memory_limit, reading.format)
    if why is not None:
        if report is not None or skip_unlabeled:
            option = "--skip-unlabeled" if skip_unlabeled else "--report"
            raise ParameterError(f"{option} needs data that are read all at once, and {data} is {why}")
        from mercer.cli.terminal.blocks import evaluate_blocks

        record = evaluate_blocks(fitted, data, reading, target, why, str(model))
        if as_json:
            write_json(record.as_dict())
        else:
            show_record(record)
        return ExitCode.DONE
    asked = replace(reading, target=target)
    found, whole = read_for_model(data, asked, limits, fitted, skip_unlabeled=skip_unlabeled)
    if found.target is None:
        raise (ParameterError if found.kind == "table" else DataError)(
            f"{found.name}: there are no labels to compare with; name their column with --target"
        )
    note_unseen(fitted, found)
    record, shown = scored(fitted, found, str(model), whole)
    if _is_same(said.get("metadata", {}).get("source"), found.name):
        record.notes.append("the model was trained on rows from this very file, so its score on new rows may be lower")
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


def _is_same(source: str | None, name: str) -> bool:
    """Whether a model's data and these are the same, as far as their names tell."""
    if source is None or "://" in source:
        return source == name
    return Path(source).resolve() == Path(name).resolve()
