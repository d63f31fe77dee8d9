import json
import sys
from dataclasses import fields, replace

import pytest

from mercer import SVC, Status
from mercer.cli import demo_fits, run
from mercer.cli.exit_codes import ExitCode

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


def test_demo_ends_well_and_says_everything(record):
    code, found, folder = record
    assert code == ExitCode.DONE
    assert [fit["data"] for fit in found["fits"]] == ["digits", "iris"]
    assert set(found["fits"][0]) == {field.name for field in fields(demo_fits.Fit)}
    assert found["picture"] == str(folder / "iris.png")


def test_demo_draws_a_picture(record):
    _, _, folder = record
    assert (folder / "iris.png").read_bytes().startswith(PNG)


def test_demo_is_accurate_on_rows_it_has_not_seen(record):
    digits, iris = record[1]["fits"]
    assert digits["accuracy"] >= 0.98
    assert iris["accuracy"] >= 0.94


def test_demo_certificates_close_the_gap(record):
    for fit in record[1]["fits"]:
        assert fit["status"] == "OPTIMAL"
        assert fit["primal"] >= fit["dual"] - 1e-9 * abs(fit["primal"])
        assert fit["gap"] == pytest.approx(fit["primal"] - fit["dual"], abs=1e-9 * abs(fit["primal"]))
        assert fit["relative_gap"] <= 1e-4


@pytest.fixture
def quick_demo(monkeypatch, record):
    """The demo with its fits already done, so that what surrounds them can be tested."""

    def install(**changes):
        digits, iris = (demo_fits.Fit(**fit) for fit in record[1]["fits"])
        monkeypatch.setattr(demo_fits, "fit_digits", lambda: replace(digits, **changes))
        monkeypatch.setattr(demo_fits, "fit_iris", lambda: iris)

    return install


def test_report_is_for_people_and_the_path_for_programs(quick_demo, tmp_path, capsys):
    quick_demo()
    assert run(["demo", "--output", str(tmp_path / "new" / "folder")]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == f"{tmp_path / 'new' / 'folder' / 'iris.png'}\n"
    for word in ("digits", "iris", "accuracy", "support vectors", "primal", "dual", "gap", "OPTIMAL", "time to fit"):
        assert word in printed.err


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


class InterruptedSVC(SVC):
    """A model whose every fit ends with Ctrl-C."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.status_ = Status.INTERRUPTED
        self.fits += 1
        return self


def test_an_interrupted_fit_is_not_tried_again(petals):
    model = InterruptedSVC()
    fit = demo_fits._fit("petals", model, *petals)
    assert fit.status == "INTERRUPTED"
    assert model.fits == 1


def test_without_matplotlib_only_the_picture_is_missing(quick_demo, tmp_path, capsys, monkeypatch):
    quick_demo()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    assert run(["demo", "--output", str(tmp_path)]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no picture: drawing needs matplotlib: pip install 'mercer[plot]'" in printed.err


def test_a_folder_that_cannot_be_written_is_a_failure(quick_demo, tmp_path, capsys):
    quick_demo()
    (tmp_path / "file").write_text("in the way")
    assert run(["demo", "--output", str(tmp_path / "file")]) == ExitCode.FAILED
    assert "mercer: " in capsys.readouterr().err
