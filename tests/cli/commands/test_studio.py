"""The command that opens the page."""

import socket

from mercer.cli import run
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.studio.server import server


def test_a_port_in_use_is_one_line_and_an_exit_code(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(["studio", "--no-browser", "--port", str(taken.getsockname()[1])]) == ExitCode.FAILED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("mercer: port ")
    assert said.err.count("\n") == 1


def test_it_serves_as_asked_and_ends_well_with_ctrl_c(monkeypatch):
    asked = {}

    def serve(port, *, browser):
        asked.update(port=port, browser=browser)
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve", serve)
    assert run(["studio", "--no-browser", "--port", "0"]) == ExitCode.DONE
    assert asked == {"port": 0, "browser": False}
    assert run(["studio"]) == ExitCode.DONE
    assert asked == {"port": None, "browser": True}
