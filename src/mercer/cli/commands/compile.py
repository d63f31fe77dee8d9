"""`mercer compile`: have all code compiled now, so that no fit waits for it."""

from typing import Annotated

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode


def compile(  # noqa: A001 - the name of the command
    *names: Annotated[str, Parameter(help="Machines whose code to compile, such as SVC; all of them by default.")],
    processes: Annotated[int | None, Parameter(help="How many at once. [default: one for each core]")] = None,
) -> ExitCode:
    """Compile Mercer's code for this processor now, in several processes, so that no first fit waits for it."""
    from mercer._errors import ParameterError
    from mercer._jit.compile import where_code_is_kept
    from mercer.cli.terminal.output import console, say
    from mercer.workflow.compile_ahead import compile_ahead, jobs, seconds_expected

    if processes is not None and processes < 1:
        raise ParameterError(f"--processes must be 1 or more, got {processes}")
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    say(f"compiling for this machine, about {seconds_expected(names, processes):.0f} s the first time")
    seconds = 0.0
    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console(), transient=True) as bar:
        task = bar.add_task("compiling", total=len(names) or len(jobs()))
        for name, spent in compile_ahead(names, processes):
            seconds += spent
            bar.update(task, advance=1, description=f"{name} is ready")
    say(
        f"everything was compiled before; {where_code_is_kept()}"
        if seconds == 0
        else f"compiled; {where_code_is_kept()}"
    )
    return ExitCode.DONE
