"""What is wrong with how the command was called, in one sentence."""

from cyclopts import CycloptsError
from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError

# What a command cannot do without.
_NEEDED = {
    "data": "a file of data",
    "model": "the file of a model, which `mercer train` writes",
    "output": "a file to write",
}


def usage_words(error: CycloptsError) -> str:
    """What is wrong, and where the right way is told."""
    command = " ".join(["mercer", *(error.command_chain or ())])
    if isinstance(error, UnusedCliTokensError):
        words = [repr(token) for token in error.unused_tokens or ()]
        wrong = f"{', '.join(words)}: {'a word' if len(words) == 1 else 'words'} too many; columns are named by options"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.argument.name.lstrip("-")
        wrong = f"{command} needs {_NEEDED.get(name, name)}"
    else:
        wrong = str(error).partition(" Available commands")[0].strip().rstrip(".")
    return f"{wrong}{' See' if wrong.endswith('?') else '; see'} `{command} --help`"
