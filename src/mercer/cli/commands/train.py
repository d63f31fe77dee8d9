"""`mercer train`: from a file to a trained, scored, explained and saved model."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mercer._errors import ParameterError
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import OUTPUT, AsJson, DataOptions, FitOptions, MachineOptions, Report, Source

HOLDOUT = 0.2


def train(
    data: Source,
    *,
    reading: DataOptions = DataOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    holdout: Annotated[
        float | None, Parameter(help=f"Share of the rows to score on, not learnt from; {HOLDOUT} unless --cv is given.")
    ] = None,
    cv: Annotated[int | None, Parameter(help="Score by so many folds, and learn from all rows.")] = None,
    output: Annotated[
        Path | None, Parameter(group=OUTPUT, help="The model's file; named after the data unless given.")
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Train a support vector machine on a file, score it, and save it."""
    # Here, and not above: a mistyped command must not wait for NumPy and Numba.
    from mercer.cli.training import Training

    if holdout is not None and cv is not None:
        raise ParameterError("give --holdout or --cv, not both")
    share = 0.0 if cv is not None else HOLDOUT if holdout is None else holdout
    training = Training(str(data), reading, machine, fit)
    return fit_and_finish(training, share, output, cv, report, as_json)


def fit_and_finish(
    training: Any, holdout: float, output: Path | None, cv: int | None, report: Path | None, as_json: bool
) -> ExitCode:
    """Fit, save, score and report. What has been fitted is saved; Ctrl-C after that loses only the rest."""
    from mercer.cli.fitting import exit_code
    from mercer.cli.terminal.output import say, write_json, write_line
    from mercer.cli.terminal.record_table import show_record
    from mercer.solvers.limits import holding_interrupts

    try:
        with holding_interrupts():
            training.fit(holdout)
            training.save(output)
        code = exit_code(training.status)
        training.score(cv if code != ExitCode.INTERRUPTED else None)
        if report is not None:
            training.write_report(report)
    except KeyboardInterrupt:
        if not training.is_saved:
            raise
        say("interrupted; the model is written, the rest is left out", "yellow")
        code = ExitCode.INTERRUPTED
    if as_json:
        write_json(training.record.as_dict())
    else:
        show_record(training.record)
        for path in training.record.files.values():
            write_line(path)
    return code
