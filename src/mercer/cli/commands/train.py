"""`mercer train`: from a file to a trained, scored, explained and saved model."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mercer._errors import ParameterError
from mercer.cli.terminal.exit_codes import ExitCode, exit_code, quietly
from mercer.cli.terminal.options import (
    AsJson,
    ClusterOptions,
    FitOptions,
    LearningOptions,
    MachineOptions,
    Output,
    Report,
    Source,
)

HOLDOUT = 0.2


def train(
    data: Source,
    *,
    reading: LearningOptions = LearningOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    holdout: Annotated[
        float | None, Parameter(help=f"Share of the rows held out for scoring; {HOLDOUT} unless --cv is given.")
    ] = None,
    cv: Annotated[
        int | None, Parameter(help="Score by cross-validation with this many folds, and learn from all rows.")
    ] = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
    elsewhere: ClusterOptions = ClusterOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Train a support vector machine on a file, score it and save it; first say what was understood of the data."""
    # Imported here: a mistyped command must not wait for NumPy and Numba.
    from mercer.cli.terminal.asked import read_and_assemble
    from mercer.cli.terminal.checks import check_limits, check_machine, check_output, check_scoring
    from mercer.cli.terminal.cluster import on_cluster
    from mercer.workflow.large import why_out_of_core

    check_scoring(holdout, cv)
    check_machine(machine)
    check_limits(fit)
    output = output or model_path(str(data))
    check_output(output, report)
    share = 0.0 if cv is not None else HOLDOUT if holdout is None else holdout
    why = why_out_of_core(str(data), fit.memory_limit, reading.format)
    if why is not None:
        if cv is not None:
            raise ParameterError(f"--cv needs data that are read all at once, and {data} is {why}; use --holdout")
        from mercer.cli.terminal.blocks import blocks_run

        by_blocks = blocks_run(data, reading, machine, fit, share, why)
        with on_cluster(elsewhere):
            return fit_and_finish(by_blocks, output, None, report, as_json)
    found, assembly, seconds = read_and_assemble(data, reading, machine, fit, as_json)
    if cv is not None and cv > len(assembly.y):
        raise ParameterError(f"--cv must be from 2 to the number of rows, {len(assembly.y)}, got {cv}")
    from mercer.workflow.run import Run

    run = Run(found, assembly, holdout=share, seed=fit.seed, seconds=seconds)
    with on_cluster(elsewhere):
        return fit_and_finish(run, output, cv, report, as_json)


def model_path(source: str) -> Path:
    """Where a model goes by default: the current directory, named after the data."""
    is_named = source != "-" and (Path(source).is_file() or Path(source).is_dir())  # not a pipe
    name = (Path(source).resolve().name.split(".")[0] if is_named else "") or "model"
    return Path(f"{name}.mercer")


def fit_and_finish(run: Any, output: Path, cv: int | None, report: Path | None, as_json: bool) -> ExitCode:
    """Fit, save, score and report. What has been fitted is saved; Ctrl-C after that loses only the rest."""
    from mercer.cli.terminal.output import say, write_json, write_line
    from mercer.cli.terminal.progress import Folds, shown_progress
    from mercer.cli.terminal.record_table import show_record
    from mercer.solvers.limits import holding_interrupts

    try:
        with quietly():
            with holding_interrupts():
                run.fit(shown_progress)
                run.save(output)
            code = exit_code(run.status)
            folds = cv if code != ExitCode.INTERRUPTED else None
            run.score(folds, None if folds is None else Folds(folds))
        if report is not None:
            run.write_report(report)
    except KeyboardInterrupt:
        if not run.is_saved:
            raise
        say("interrupted; the model has been saved, and the rest is skipped", "yellow")
        code = ExitCode.INTERRUPTED
    if as_json:
        write_json(run.record.as_dict())
    else:
        show_record(run.record, told=run.said)
        for path in run.record.files.values():
            write_line(path)
    return code
