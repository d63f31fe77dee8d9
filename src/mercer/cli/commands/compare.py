"""`mercer compare`: every solver on the same data, side by side."""

from typing import Annotated

from cyclopts import Parameter

from mercer._errors import ParameterError
from mercer.cli.terminal.exit_codes import ExitCode, quietly
from mercer.cli.terminal.options import AsJson, FitOptions, LearningOptions, MachineOptions, Source


def compare(
    data: Source,
    *,
    reading: LearningOptions = LearningOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    solver: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="A solver to compare, may be repeated; by default, all."),
    ] = (),
    repeats: Annotated[int, Parameter(help="How many times to fit with each; the fastest fit counts.")] = 2,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Fit the same file with every suitable solver, and show objectives, gaps and times side by side."""
    from mercer.cli.terminal.asked import read_and_assemble
    from mercer.cli.terminal.checks import check_limits, check_machine
    from mercer.cli.terminal.output import write_json, write_line
    from mercer.report.finite import finite
    from mercer.selection.compare import compare_solvers
    from mercer.workflow.run import machine_and_rows

    check_machine(machine)
    check_limits(fit)
    _, assembly, _ = read_and_assemble(data, reading, machine, fit, as_json)
    estimator, X = machine_and_rows(assembly.estimator, assembly.X)
    unknown = [name for name in solver if name not in getattr(estimator, "solvers", ())]
    if unknown:
        raise ParameterError(f"--solver must be one of {', '.join(estimator.solvers)}, got {unknown[0]!r}")
    with quietly():
        table = compare_solvers(estimator, X, assembly.y, solvers=list(solver) or None, repeats=repeats)
    if as_json:
        write_json(finite({"solvers": table.as_dicts(), "spread": float(table.spread)}))
        return ExitCode.DONE
    write_line(table)
    return ExitCode.DONE
