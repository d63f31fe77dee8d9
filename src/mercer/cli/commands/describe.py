"""`mercer describe`: what a file holds, and what a model would learn from."""

from dataclasses import replace

from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import AsJson, LearningOptions, ReadOptions, Source


def describe(
    data: Source,
    *,
    reading: LearningOptions = LearningOptions(),  # noqa: B008 - frozen
    as_json: AsJson = False,
    limits: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Show what a file holds: columns, their kinds, which are left out and why; with --target, what to predict."""
    from mercer.cli.terminal.asked import read_and_look
    from mercer.cli.terminal.output import write_json
    from mercer.cli.terminal.table_words import show_data
    from mercer.report.finite import finite
    from mercer.workflow.describe import describe_data

    # Rows without a label are no reason to refuse: how many there are is part of what is shown.
    _, chosen, seen = read_and_look(data, replace(reading, skip_unlabeled=True), limits)
    found = describe_data(chosen, seen)
    if as_json:
        write_json(finite(found))
    else:
        show_data(found, most=None, to_stdout=True)
    return ExitCode.DONE
