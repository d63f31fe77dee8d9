"""`mercer compile`: compile all the code now, so that no fit has to wait for it."""

from typing import Annotated

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode


def compile(  # noqa: A001 - the name of the command
    *names: Annotated[str, Parameter(help="Machines whose code to compile, such as SVC; by default, all of them.")],
    processes: Annotated[
        int | None, Parameter(help="How many processes to run at once; by default, one per core.")
    ] = None,
) -> ExitCode:
    """Compile Mercer's code for this processor now, in several processes, so that no first fit has to wait for it."""
    from mercer._errors import ParameterError
    from mercer._jit.compile import where_code_is_kept
    from mercer.cli.terminal.output import console, print_text, say
    from mercer.workflow.compile_ahead import CompilePace, compile_ahead

    if processes is not None and processes < 1:
        raise ParameterError(f"--processes must be 1 or more, got {processes}")
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    pace = CompilePace(names, processes)
    columns = (BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console(), transient=True) as bar:
        task = bar.add_task("checking what is already compiled", total=1.0)
        for step in compile_ahead(names, processes):
            if step.function and not pace.functions:
                about = f"about {pace.seconds_left:.0f} s the first time"
                print_text(bar.console, Text(f"compiling for this machine, {about}", style="dim"))
            pace.note(step)
            words = f"{pace.functions} functions, {pace.ended} of {len(pace.left)} jobs done"
            bar.update(task, completed=pace.share, description=f"{words}, about {pace.seconds_left:.0f} s left")
    done = f"compiled {pace.functions} functions" if pace.functions else "everything was already compiled"
    say(f"{done}; {where_code_is_kept()}")
    return ExitCode.DONE
