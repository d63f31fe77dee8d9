"""What is wrong with how the command was called, in one sentence."""

from cyclopts import CycloptsError
from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError

# What a command cannot do without.
_NEEDED = {
    "data": "a data file",
    "model": "a model file, as written by `mercer train`",
    "output": "the name of a file to write",
}


def usage_words(error: CycloptsError) -> str:
    """What is wrong, and where to find the right way."""
    chain = error.command_chain or ()
    command = " ".join(["mercer", *chain])
    if isinstance(error, UnusedCliTokensError):
        words = [repr(token) for token in error.unused_tokens or ()]
        wrong = f"unexpected {', '.join(words)}; columns are named by options such as --target"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.argument.name.lstrip("-")
        wrong = f"{' '.join(chain) or command} needs {_NEEDED.get(name, name)}"
    else:
        wrong = str(error).partition(" Available commands")[0].strip().rstrip(".")
    return f"{wrong}{' See' if wrong.endswith('?') else '; see'} `{command} --help`"
