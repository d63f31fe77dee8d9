import json

import mercer
from mercer.cli import run


def test_version_prints_lines(capsys):
    assert run(["version"]) == 0
    assert capsys.readouterr().out.startswith("mercer ")


def test_version_as_json_is_one_object(capsys):
    assert run(["version", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mercer"] == mercer.__version__
    assert found["numba"]


def test_what_is_not_installed_is_said_to_be_missing(monkeypatch, capsys):
    monkeypatch.setattr("mercer._versions.EXTRAS", ("a-package-nobody-has",))
    assert run(["version"]) == 0
    assert "a-package-nobody-has  not installed" in capsys.readouterr().out
