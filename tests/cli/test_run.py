import re
import subprocess
import sys

import pytest

from mercer import DataError, MercerError, ParameterError
from mercer.cli import COMMANDS, app, run
from mercer.cli.terminal.exit_codes import ExitCode

ENDS = [
    (ParameterError("C must be positive, got -1.0"), ExitCode.WRONG_USAGE),
    (DataError("X must be finite"), ExitCode.BAD_DATA),
    (MercerError("it broke"), ExitCode.FAILED),
    (PermissionError(13, "Permission denied", "there"), ExitCode.FAILED),
    (KeyboardInterrupt(), ExitCode.INTERRUPTED),
]


@pytest.fixture
def command_that_raises(monkeypatch):
    """Replace the application by one that ends in a given error."""

    def install(error):
        def end(*_args, **_kwargs):
            raise error

        monkeypatch.setattr("mercer.cli.app", end)

    return install


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda value: getattr(value, "name", type(value).__name__))
def test_every_end_has_its_exit_code_and_one_line(error, code, command_that_raises, capsys):
    command_that_raises(error)
    assert run([]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"mercer: .+\n", printed.err)


def test_exit_codes_are_never_renumbered():
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "FAILED": 1,
        "WRONG_USAGE": 2,
        "BAD_DATA": 3,
        "NOT_CONVERGED": 4,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize("arguments", [["traim"], ["demo", "--colour"], ["version", "--json", "extra"]])
def test_wrong_usage_exits_with_two_and_says_so_on_standard_error(arguments, capsys):
    assert run(arguments) == ExitCode.WRONG_USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert arguments[-1] in printed.err
    assert re.fullmatch(r"mercer: .+--help`\n", printed.err)


def test_a_bug_is_not_hidden_behind_an_exit_code(command_that_raises):
    command_that_raises(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        run([])


def test_help_names_every_command(capsys):
    assert run(["--help"]) == ExitCode.DONE
    printed = capsys.readouterr().out
    for name in COMMANDS:
        assert name in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, capsys):
    assert run([name, "--help"]) == ExitCode.DONE
    assert app[name].help in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("how", [["-c", "from mercer.cli import main; main()"], ["-m", "mercer"]])
def test_the_installed_command_runs(how):
    done = subprocess.run([sys.executable, *how, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0.1.0")


@pytest.mark.parametrize("command", ["predict", "inspect"])
def test_what_a_command_refuses_is_not_in_its_help(command, mercer):
    _, out, _ = mercer(command, "--help")
    assert "--format" in out
    assert "--target" not in out
    code, _, err = mercer(command, "m.mercer", "rows.csv", "--target", "y")
    assert code == ExitCode.WRONG_USAGE
    assert f"{command} takes no --target" in err
