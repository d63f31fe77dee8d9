"""`mercer preflight`: how long a fit would take and what to watch out for, without fitting everything."""

from typing import Annotated

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode, quietly
from mercer.cli.terminal.options import AsJson, FitOptions, LearningOptions, MachineOptions, Source


def preflight(
    data: Source,
    *,
    reading: LearningOptions = LearningOptions(),  # noqa: B008 - frozen
    machine: MachineOptions = MachineOptions(),  # noqa: B008 - frozen
    seconds: Annotated[float, Parameter(help="About how many seconds to spend measuring.")] = 1.5,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Look at a file, predict the time and memory of a fit, and say what to watch out for."""
    from mercer.cli.terminal.asked import read_and_assemble
    from mercer.cli.terminal.checks import check_limits, check_machine
    from mercer.cli.terminal.output import write_json, write_line
    from mercer.report.finite import finite
    from mercer.selection.preflight.preflight import preflight as look
    from mercer.workflow.run import machine_and_rows

    check_machine(machine)
    check_limits(fit)
    _, assembly, _ = read_and_assemble(data, reading, machine, fit, as_json)
    estimator, X = machine_and_rows(assembly.estimator, assembly.X)
    with quietly():
        seen = look(estimator, X, assembly.y, seconds=seconds)
    if as_json:
        write_json(finite(seen.as_dict()))
        return ExitCode.DONE
    write_line(seen)
    return ExitCode.DONE
