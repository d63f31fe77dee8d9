"""`mercer demo`: train on two data sets that come with scikit-learn, and show everything.

The report is for people (standard error); the path of the picture, or with --json every
figure, is for programs (standard output).
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mercer._errors import MissingExtraError
from mercer.cli.exit_codes import ExitCode
from mercer.cli.options import AsJson


def demo(
    *,
    output: Annotated[Path, Parameter(help="Directory for the picture.")] = Path("mercer-demo"),
    as_json: AsJson = False,
) -> ExitCode:
    """Train on digits and iris, report accuracy and certificate, draw iris petals."""
    # Here, and not above: a mistyped command must not wait for NumPy and Numba.
    from mercer.cli.demo_fits import fit_digits, fit_iris
    from mercer.cli.demo_report import show_report

    fits = [fit_digits(), fit_iris()]
    if not as_json:
        show_report(fits)
    picture = _draw(output)
    if as_json:
        record = {"fits": [asdict(fit) for fit in fits], "picture": picture and str(picture)}
        sys.stdout.write(json.dumps(record, indent=2) + "\n")
    elif picture:
        sys.stdout.write(f"{picture}\n")
    return _exit_code({fit.status for fit in fits})


def _draw(folder: Path) -> Path | None:
    """The picture's path, or None with one sentence where matplotlib is missing."""
    from mercer.cli.demo_picture import draw_iris

    try:
        return draw_iris(folder)
    except MissingExtraError as missing:
        sys.stderr.write(f"mercer: no picture: {missing}\n")
        return None


def _exit_code(statuses: set[str]) -> ExitCode:
    if "INTERRUPTED" in statuses:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if statuses == {"OPTIMAL"} else ExitCode.NOT_CONVERGED
