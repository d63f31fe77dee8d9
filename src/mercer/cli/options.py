"""Options that mean the same in every command."""

from typing import Annotated

from cyclopts import Parameter

AsJson = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON object on standard output.")]
