"""`mercer studio`: serve the page on loopback and open it."""

from contextlib import suppress
from typing import Annotated

from cyclopts import Parameter

from mercer.cli.terminal.exit_codes import ExitCode


def studio(
    *,
    port: Annotated[int | None, Parameter(help="Port of 127.0.0.1; 0 for any free one. [default: 8765]")] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser", help="Open the page in the browser.")] = True,
) -> ExitCode:
    """Serve Mercer Studio until Ctrl-C; its address, with the token of this run, goes to standard output."""
    # Here, and not above: a mistyped command must not wait for a web server.
    from mercer.studio.server.server import serve

    with suppress(KeyboardInterrupt):  # how it is meant to end
        serve(port, browser=browser)
    return ExitCode.DONE
