"""The `mercer` command: one command, one file, loaded only when it is called.

Data go to standard output, words for people to standard error.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from mercer import __version__
from mercer._errors import DataError, MercerError, ModelFileError, ParameterError
from mercer.cli.terminal import start
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.usage import usage_words

app = App(
    name="mercer",
    help="Support vector machines and kernel methods, each answer with its proof.",
    version=__version__,
    help_format="plaintext",  # parsing Markdown would take a quarter of the time that --help is allowed
    suppress_keyboard_interrupt=False,  # `run` handles it, as it does every other ending
)
COMMANDS = {
    "demo": "Train on digits, texts and a mixed table; write reports to look at.",
    "describe": "Show what a file holds, and which columns a model would learn from.",
    "train": "Train a model on a file, score it and save it.",
    "predict": "Make predictions for the rows of a file with a saved model.",
    "evaluate": "Score a saved model on a file with labels.",
    "tune": "Choose C, gamma and kernel by cross-validation, and save the best model.",
    "inspect": "Show what a model file holds, or explain a decision.",
    "convert": "Convert a model to or from LIBSVM, SVMlight, LIBLINEAR or ONNX.",
    "preflight": "Estimate the time and memory a fit needs, and say what to watch out for.",
    "compare": "Run every solver on the same data and compare them.",
    "studio": "Open a page where you draw points and watch machines learn.",
    "compile": "Compile all the code now, so that the first fit need not wait for it.",
    "version": "Print the versions of Mercer and of what it runs on.",
}
for name, words in COMMANDS.items():
    app.command(f"mercer.cli.commands.{name}:{name}", help=words)
app.register_install_completion_command(help="Install completion for this shell (bash, zsh, fish).")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors become one line on standard error."""
    try:
        found = app(arguments, result_action="return_value", print_error=False, exit_on_error=False)
        return _flushed(found or ExitCode.DONE)
    except CycloptsError as error:
        return _complain(usage_words(error), ExitCode.WRONG_USAGE)
    except ParameterError as error:
        return _complain(error, ExitCode.WRONG_USAGE)
    except (DataError, ModelFileError) as error:
        return _complain(error, ExitCode.BAD_DATA)
    except BrokenPipeError:
        # The reader has had enough, as `head` has.
        _leave_unwritten()
        return ExitCode.DONE
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        return _complain(f"{where}{error.strerror or error}", ExitCode.FAILED)
    except MercerError as error:
        return _complain(error, ExitCode.FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", ExitCode.INTERRUPTED)


def _flushed(code: int) -> int:
    """The code, once buffered output is written, while a failure can still be reported."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _leave_unwritten()
        error.filename = "standard output"
        raise
    return code


def _leave_unwritten() -> None:
    """Discard whatever Python would still write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(reason: object, code: ExitCode) -> ExitCode:
    words = f"mercer: {reason}"
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        words = textwrap.fill(words, width, break_long_words=False, break_on_hyphens=False)
    sys.stderr.write(f"{words}\n")
    return code


def main() -> None:
    """Entry point of the installed command."""
    start.begin()
    start.heed_signals()
    start.end(run())
