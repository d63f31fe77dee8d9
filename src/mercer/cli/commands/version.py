"""`mercer version`: what to paste into a bug report."""

import json
import sys

from mercer._versions import show_versions, versions
from mercer.cli.terminal.options import AsJson


def version(*, as_json: AsJson = False) -> None:
    """Print the versions of Mercer, of its dependencies and of what they run on."""
    if as_json:
        sys.stdout.write(json.dumps(versions(), indent=2) + "\n")
    else:
        show_versions()
