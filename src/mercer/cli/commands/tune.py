"""`mercer tune`: choose C, gamma and kernel by cross-validation, and save the best model."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import (
    LIMITS,
    MACHINE,
    AsJson,
    ClassWeight,
    ClusterOptions,
    FitOptions,
    LearningOptions,
    MachineOptions,
    Output,
    Proba,
    Report,
    Source,
)

HOLDOUT = 0.2
Score = Literal["accuracy", "balanced", "auc", "log_loss", "f1", "r2", "mae"]


@Parameter(name="*", group=MACHINE)
@dataclass(frozen=True)
class TriedOptions:
    """Which machines are tried."""

    kernel: Annotated[
        tuple[str, ...],
        Parameter(
            alias="-k",
            negative="",
            help="A kernel to try; may be repeated. By default, kernels of several families.",
            show_default=False,
        ),
    ] = ()
    C: Annotated[
        tuple[float, ...],
        Parameter(name="--C", negative="", show_default=False, help="Try this value and no others; may be repeated."),
    ] = ()
    gammas: Annotated[int, Parameter(help="How many values of gamma to start with, for kernels given by name.")] = 6
    task: Annotated[
        Literal["classification", "regression"] | None,
        Parameter(help="What to learn; by default, decided by the target."),
    ] = None
    scale: Annotated[bool, Parameter(help="Bring numeric columns to a common scale first.")] = True
    class_weight: ClassWeight = None
    proba: Proba = False


def tune(
    data: Source,
    *,
    reading: LearningOptions = LearningOptions(),  # noqa: B008 - frozen
    tried: TriedOptions = TriedOptions(),  # noqa: B008 - frozen
    cv: Annotated[int, Parameter(help="How many folds.")] = 5,
    score: Annotated[
        Score | None,
        Parameter(help="The score to choose by; accuracy or r2 by default. auc: area under the ROC curve."),
    ] = None,
    time: Annotated[
        float | None,
        Parameter(
            group=LIMITS, help="Seconds for the search and the final fit; by default, about as long as ten fits."
        ),
    ] = None,
    holdout: Annotated[
        float, Parameter(help="Share of the rows held out for scoring, which the search never sees.")
    ] = HOLDOUT,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
    fit: FitOptions = FitOptions(),  # noqa: B008 - frozen
    elsewhere: ClusterOptions = ClusterOptions(),  # noqa: B008 - frozen
) -> ExitCode:
    """Choose the kernel, its width and C by cross-validation; score the best on held-out rows, and save it."""
    from mercer.cli.commands.train import fit_and_finish, model_path
    from mercer.cli.terminal.asked import assembled, read_and_assemble
    from mercer.cli.terminal.checks import check_kernel, check_limits, check_machine, check_output, check_scoring
    from mercer.cli.terminal.cluster import on_cluster
    from mercer.report.model_words import final_estimator
    from mercer.workflow.large import why_out_of_core
    from mercer.workflow.tune import Tuning, Wanted, require_score

    check_scoring(holdout, None)
    check_scoring(None, cv)
    machine = MachineOptions(
        kernel=tried.kernel[0] if tried.kernel else None, task=tried.task, scale=tried.scale,
        class_weight=tried.class_weight, proba=tried.proba,
    )  # fmt: skip
    check_machine(machine)
    for kernel in tried.kernel:
        check_kernel(kernel)
    fit = _with_time(fit, time)
    check_limits(fit)
    require_score(score, tried.task)
    output = output or model_path(str(data))
    check_output(output, report)
    why = why_out_of_core(str(data), fit.memory_limit, reading.format)
    if why is not None:
        by_blocks = _over_blocks(data, reading, machine, fit, holdout, why, tried, cv, score)
        with on_cluster(elsewhere):
            return fit_and_finish(by_blocks, output, None, report, as_json)
    found, assembly, seconds = read_and_assemble(data, reading, machine, fit, as_json)
    # The kernels named besides the first, as the data need them.
    learnt = replace(found, data=assembly.X)  # without the columns that are left out
    others = [assembled(learnt, replace(machine, kernel=text), fit).estimator for text in tried.kernel[1:]]
    kernels = [final_estimator(other).kernel for other in others]
    wanted = Wanted(cv, score, bool(tried.kernel), kernels, tried.C, tried.gammas)
    run = Tuning(found, assembly, wanted, holdout=holdout, seed=fit.seed, seconds=seconds)
    with on_cluster(elsewhere):
        return fit_and_finish(run, output, None, report, as_json)


def _over_blocks(
    data: Source, reading: LearningOptions, machine: MachineOptions, fit: FitOptions, holdout: float, why: str,
    tried: TriedOptions, cv: int, score: Score | None,
) -> Any:  # fmt: skip
    """The search over data that are read block by block: C of a plane."""
    from mercer._errors import ParameterError
    from mercer.cli.terminal.blocks import blocks_run
    from mercer.selection.tuning.linear import STRENGTHS

    if set(tried.kernel) - {"linear"}:
        raise ParameterError(
            f"--kernel must be linear or omitted, got {tried.kernel[0]!r}: {data} is {why}, so tune chooses C for a "
            "linear model; `mercer train --kernel` learns with any kernel through landmarks, for a C that you give"
        )
    if score not in (None, "accuracy", "r2"):
        raise ParameterError(f"--score must be accuracy or r2 for data that are read block by block, got {score!r}")
    return blocks_run(data, reading, machine, fit, holdout, why, tried.C or STRENGTHS, cv)


def _with_time(fit: FitOptions, seconds: float | None) -> FitOptions:
    """The limits; --time is short for --time-limit."""
    from mercer._errors import ParameterError

    if seconds is None:
        return fit
    if fit.time_limit is not None:
        raise ParameterError("give --time or --time-limit, not both: they mean the same here")
    return replace(fit, time_limit=seconds)
