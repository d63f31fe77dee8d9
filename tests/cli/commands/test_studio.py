"""The command that opens the page."""

import socket

import pytest

from mercer.cli import run
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.studio.server import server


@pytest.mark.parametrize("port", ["65536", "-1"])
def test_a_port_that_no_machine_has_is_one_line(port, capsys):
    assert run(["studio", "--no-browser", f"--port={port}"]) == ExitCode.WRONG_USAGE
    assert capsys.readouterr().err == f"mercer: port must be from 0 to 65535, got {port}\n"


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

    def serve(port, *, browser, link):
        asked.update(port=port, browser=browser, link=link)
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve", serve)
    assert run(["studio", "--no-browser", "--port", "0"]) == ExitCode.DONE
    assert asked == {"port": 0, "browser": False, "link": None}
    assert run(["studio", "mercer:play=e30"]) == ExitCode.DONE
    assert asked == {"port": None, "browser": True, "link": "mercer:play=e30"}


def test_a_link_that_is_none_is_wrong_usage(capsys):
    assert run(["studio", "flowers.csv", "--no-browser"]) == ExitCode.WRONG_USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert "LINK must be" in said.err


def test_a_playground_for_a_web_host_is_written_and_nothing_served(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(server, "serve", lambda *_, **__: pytest.fail("it was served"))
    assert run(["studio", "--static", str(tmp_path / "site")]) == ExitCode.DONE
    assert "site/index.html" in capsys.readouterr().out
    assert (tmp_path / "site" / "index.html").is_file()
    assert run(["studio", "mercer:play=e30", "--static", str(tmp_path / "other")]) == ExitCode.WRONG_USAGE
    assert not (tmp_path / "other").exists()
    assert run(["studio", "--static", str(tmp_path)]) == ExitCode.WRONG_USAGE
