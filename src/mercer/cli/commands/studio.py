"""`mercer studio`: serve the page on loopback and open it, or write one that any web host serves."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode


def studio(
    link: Annotated[str | None, Parameter(help="What to show first: a link copied from Studio.")] = None,
    *,
    port: Annotated[int | None, Parameter(help="Port on 127.0.0.1; 0 for any free one. [default: 8765]")] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser", help="Open the page in the browser.")] = True,
    static: Annotated[
        Path | None,
        Parameter(
            help="Write the playground and the ideas to this new or empty folder, for any web host, and serve nothing."
        ),
    ] = None,
) -> ExitCode:
    """Serve Mercer Studio until Ctrl-C; its address, with the token of this run, goes to standard output."""
    # Imported here: a mistyped command must not wait for a web server.
    if static is not None:
        return _write(static, link, port)
    from mercer.studio.server.server import serve

    with suppress(KeyboardInterrupt):  # how it is meant to end
        serve(port, browser=browser, link=link)
    return ExitCode.DONE


def _write(folder: Path, link: str | None, port: int | None) -> ExitCode:
    from mercer._errors import ParameterError
    from mercer.cli.terminal.output import write_line
    from mercer.studio.static_site import write_site

    if link is not None or port is not None:
        raise ParameterError("--static writes files and serves nothing, so it takes neither LINK nor --port")
    size = write_site(folder)
    write_line(f"{folder}/index.html, {size / 1000:.0f} KB: put the folder on any web host")
    return ExitCode.DONE
