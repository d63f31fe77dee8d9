import json
import sys

import pytest

import mercer as library
from mercer.cli import run
from mercer.cli.terminal.exit_codes import ExitCode

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """What `mercer demo --json` says, as a program would read it."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        written = []
        patch.setattr(sys.stdout, "write", written.append)
        code = run(["demo", "--json", "--output", str(folder)])
    return code, json.loads("".join(written)), folder


def test_three_kinds_of_data_are_trained_scored_and_proved(record):
    code, found, _ = record
    assert code == ExitCode.DONE
    assert {name: fit["data"]["kind"] for name, fit in found["fits"].items()} == {
        "digits": "table",
        "texts": "texts",
        "ferries": "table",
    }
    for fit in found["fits"].values():
        assert fit["model"]["status"] == "OPTIMAL"
        assert fit["model"]["certificate"]["relative_gap"] <= 1e-3


def test_the_demo_is_accurate_on_rows_it_has_not_seen(record):
    scores = {name: fit["scores"]["accuracy"] for name, fit in record[1]["fits"].items()}
    assert scores["digits"] >= 0.97
    assert scores["texts"] >= 0.85
    assert scores["ferries"] >= 0.8


def test_pages_models_data_and_a_picture_are_written(record):
    _, found, folder = record
    assert found["report"] == str(folder / "index.html")
    for name in ("digits", "texts", "ferries"):
        page = (folder / f"{name}.html").read_text()
        assert page.startswith("<!doctype html>")
        assert f'href="{name}.html"' in (folder / "index.html").read_text()
        assert library.load(folder / f"{name}.mercer") is not None
    assert "`" not in (folder / "index.html").read_text()
    assert (folder / "iris.png").read_bytes().startswith(PNG)
    assert sorted(path.name for path in (folder / "data").iterdir()) == [
        "digits.csv", "ferries.csv", "notes", "rings", "sentences.trees"]  # fmt: skip


@pytest.fixture
def quick_demo(monkeypatch, record):
    """The demo with its fits already done, so that what surrounds them can be tested."""
    from mercer.cli.demo import runs
    from mercer.report.record import Record

    def install(status="OPTIMAL"):
        records = {name: Record(**fit) for name, fit in json.loads(json.dumps(record[1]["fits"])).items()}
        records["digits"].model["status"] = status
        monkeypatch.setattr(runs, "run_all", lambda folder: folder.mkdir(parents=True, exist_ok=True) or records)

    return install


def test_report_is_for_people_and_the_paths_for_programs(quick_demo, tmp_path, capsys):
    quick_demo()
    folder = tmp_path / "new" / "folder"
    assert run(["demo", "--output", str(folder)]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == f"{folder / 'index.html'}\n{folder / 'iris.png'}\n"
    for word in ("digits", "texts", "ferries", "accuracy", "support vectors", "primal", "dual", "gap", "OPTIMAL"):
        assert word in printed.err


def test_the_report_fits_two_screens_and_names_the_baseline(quick_demo, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    quick_demo()
    assert run(["demo", "--output", "build/demo"]) == ExitCode.DONE
    printed = capsys.readouterr()
    said = printed.err.splitlines()
    # With a line for each data set while it is fitted, and that of make.
    assert len(said) + len(printed.out.splitlines()) + 4 <= 48
    assert max(map(len, said)) <= 80
    assert printed.err.count("always predicting") == 3
    assert "Where to look" in printed.err


def test_no_color_is_respected(quick_demo, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    quick_demo()
    run(["demo", "--output", str(tmp_path)])
    # Bold may remain; colours may not.
    assert "\x1b[1;32m" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "code"), [("TIME_LIMIT", ExitCode.NOT_CONVERGED), ("INTERRUPTED", ExitCode.INTERRUPTED)]
)
def test_a_fit_that_stopped_early_shows_in_the_exit_code(status, code, quick_demo, tmp_path, capsys):
    quick_demo(status=status)
    assert run(["demo", "--output", str(tmp_path)]) == code
    assert status in capsys.readouterr().err


def test_without_matplotlib_only_the_picture_is_missing(quick_demo, tmp_path, capsys, monkeypatch):
    quick_demo()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert run(["demo", "--output", str(tmp_path)]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == f"{tmp_path / 'index.html'}\n"
    assert "no picture: drawing needs matplotlib: pip install 'mercer[plot]'" in printed.err


def test_a_folder_that_cannot_be_written_is_a_failure(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert run(["demo", "--output", str(tmp_path / "file")]) == ExitCode.FAILED
    assert "mercer: " in capsys.readouterr().err
