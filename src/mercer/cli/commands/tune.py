"""`mercer tune`: choose C, gamma and kernel by cross-validation, and save the best model."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import (
    MACHINE,
    OUTPUT,
    AsJson,
    ClusterOptions,
    DataOptions,
    FitOptions,
    MachineOptions,
    Report,
    Source,
)

HOLDOUT = 0.2
# A factor of four apart, as `SVCCV` has them.
VALUES_OF_C = (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0, 128.0, 512.0)


@Parameter(name="*", group=MACHINE)
@dataclass(frozen=True)
class TriedOptions:
    """Which machines are tried."""

    kernel: Annotated[tuple[str, ...], Parameter(negative="", help="A kernel to try; may be repeated.")] = ()
    C: Annotated[tuple[float, ...], Parameter(name="--C", negative="", help="A value to try.")] = ()
    gammas: Annotated[int, Parameter(help="Values of gamma to try, around the usual one.")] = 6
    task: Annotated[Literal["classification", "regression"] | None, Parameter(help="By the target unless given.")] = (
        None
    )
    scale: Annotated[bool, Parameter(help="Bring columns of numbers to one scale first.")] = True


def tune(
    data: Source,
    *,
    reading: DataOptions = DataOptions(),  # noqa: B008 - frozen
    tried: TriedOptions = TriedOptions(),  # noqa: B008 - frozen
    cv: Annotated[int, Parameter(help="Folds.")] = 5,
    halving: Annotated[
        bool, Parameter(negative="", help="Try all on few rows, and the best of them on more and more.")
    ] = False,
    holdout: Annotated[float, Parameter(help="Share of the rows that the search never sees, for the score.")] = HOLDOUT,
    output: Annotated[
        Path | None, Parameter(group=OUTPUT, help="The model's file; named after the data unless given.")
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
    elsewhere: ClusterOptions = ClusterOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Choose C, gamma and kernel by cross-validation; score the best on rows held out, and save it."""
    from mercer.cli.commands.train import fit_and_finish, model_path, require_share
    from mercer.cli.terminal.asked import assembled, read_and_assemble
    from mercer.cli.terminal.cluster import on_cluster
    from mercer.report.model_words import machine_of
    from mercer.workflow.tune import Grid, Tuning

    require_share(holdout)
    machine = MachineOptions(kernel=tried.kernel[0] if tried.kernel else None, task=tried.task, scale=tried.scale)
    found, assembly, seconds = read_and_assemble(data, reading, machine, fit)
    # The kernels that were named beside the first, as the data need them.
    others = [assembled(found, replace(machine, kernel=text), fit).estimator for text in tried.kernel[1:]]
    kernels = [machine_of(other).kernel for other in others]
    grid = Grid(tried.C or VALUES_OF_C, tried.gammas, cv, kernels, "halving" if halving else "all")
    run = Tuning(found, assembly, grid, holdout=holdout, seed=fit.seed, seconds=seconds)
    with on_cluster(elsewhere):
        return fit_and_finish(run, output or model_path(str(data)), None, report, as_json)
