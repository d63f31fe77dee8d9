"""`mercer demo`: train on three kinds of data, and write reports to look at.

The report is for people (standard error); the paths of what was written, or with --json every
figure, are for programs (standard output).
"""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mercer._errors import MissingExtraError
from mercer.cli.terminal.exit_codes import ExitCode, exit_code
from mercer.cli.terminal.options import AsJson


def demo(
    *,
    output: Annotated[Path, Parameter(help="Directory for data, models and reports.")] = Path("mercer-demo"),
    as_json: AsJson = False,
) -> ExitCode:
    """Train on digits, texts and a mixed table; report how well, how surely and why, with pages to look at."""
    # Imported here: a mistyped command must not wait for NumPy and Numba.
    from mercer.cli.demo.report import show_report
    from mercer.cli.demo.runs import RUNS, run_all, write_cover
    from mercer.cli.terminal.output import write_json, write_line

    records = run_all(output)
    picture = _draw(output)
    cover = write_cover(output, records, picture)
    if as_json:
        fits = {name: record.as_dict() for name, record in records.items()}
        write_json({"fits": fits, "report": str(cover), "picture": picture and str(picture)})
    else:
        show_report(records, {name: words for name, (_, _, words) in RUNS.items()}, output)
        for path in [cover, *([picture] if picture else [])]:
            write_line(path)
    return max(exit_code(record.model["status"]) for record in records.values())


def _draw(folder: Path) -> Path | None:
    """The picture's path, or None with one sentence where matplotlib is missing."""
    from mercer.cli.demo.picture import draw_iris

    try:
        return draw_iris(folder)
    except MissingExtraError as missing:
        sys.stderr.write(f"mercer: no picture: {missing}\n")
        return None
