"""The toys of the how-to pages work: whoever follows a page to the letter gets what it promises."""

import gzip
import io
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args, get_type_hints

import matplotlib.pyplot as plt
import numpy as np
import pytest

import mercer
from mercer import cli, plot
from mercer.cli.commands import convert
from mercer.cli.terminal.exit_codes import ExitCode
from mercer.cli.terminal.options import DataOptions
from mercer.exchange.model_file import registry
from mercer.exchange.model_file.known import estimators as known_estimators
from mercer.io import dataset, formats
from mercer.studio import views as studio
from mercer.studio.server import links
from mercer.studio.server.messages import pack, unpack
from mercer.studio.server.worker import Job
from tests.test_documents import ROOT, python_blocks

PAGES = sorted((ROOT / "docs").glob("how_to_add_*.md"))
# Files that a page has its reader write.
NEW = {
    "how_to_add_a_kernel": {"src/mercer/kernels/vector/cauchy.py"},
    "how_to_add_a_command": {"src/mercer/cli/commands/count.py", "tests/cli/commands/test_count.py"},
    "how_to_add_a_file_format": {"src/mercer/io/record_lines.py"},
    "how_to_add_a_studio_view": {"src/mercer/studio/views/matrix.py", "src/mercer/studio/page/views/matrix.js"},
    "how_to_add_an_export_format": {
        "src/mercer/exchange/text/json_weights.py",
        "tests/exchange/text/test_json_weights.py",
    },
    "how_to_add_a_plot": {
        "src/mercer/plot/displays/margins.py",
        "examples/machines/plot_margins.py",
        "tests/plot/displays/test_margins.py",
        "tests/plot/baseline/margins.png",
    },
    "how_to_add_an_estimator": {"src/mercer/estimators/svm/median.py", "tests/estimators/svm/test_median.py"},
}


@pytest.fixture
def follow(monkeypatch):
    """The first block of a page as a module of the library, for the time of a test."""

    def write(page, name):
        module = ModuleType(name)
        run(block(page, 0), vars(module))
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return write


def run(source, scope):
    exec(source, scope)  # noqa: S102 - our own pages are what is tested


def blocks(page, language):
    """The blocks of a page in another language than Python."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / f"docs/{page}.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )


def block(page, number):
    return python_blocks(f"docs/{page}.md")[number]


# --- an estimator ----------------------------------------------------------------------------


def test_the_estimator_is_certified_and_has_the_median(follow, monkeypatch, rng, tmp_path):
    median = follow("how_to_add_an_estimator", "mercer.estimators.svm.median")
    registry.known_names()  # all are registered before the toy is, and stay when it goes
    for table in ("_by_name", "_by_class"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))
    run(block("how_to_add_an_estimator", 1), vars(known_estimators))
    X = rng.normal(size=(61, 2))
    y = X[:, 0] + rng.standard_t(df=1.5, size=61)
    model = median.MedianSVR(kernel="linear", tol=1e-6).fit(X, y)
    assert model.status_ == mercer.Status.OPTIMAL
    assert model.certificate_.is_optimal(1e-6)
    residuals = y - model.predict(X)
    on_it = np.abs(residuals) < 1e-4
    above, below = np.sum(residuals[~on_it] > 0), np.sum(residuals[~on_it] < 0)
    assert abs(above - below) <= on_it.sum() < 10
    with pytest.raises(mercer.ParameterError, match="C must be"):
        median.MedianSVR(C=-1.0).fit(X, y)
    mercer.save(model, tmp_path / "median.mercer")
    again = mercer.load(tmp_path / "median.mercer")
    assert type(again) is median.MedianSVR
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# --- a command -------------------------------------------------------------------------------

FLOWERS = "length,species\n1.5,setosa\n4.5,versicolor\n1.4,setosa\n"


@pytest.fixture
def count(follow, monkeypatch):
    """The toy command, registered as those of the index are."""
    follow("how_to_add_a_command", "mercer.cli.commands.count")
    monkeypatch.setattr(cli, "COMMANDS", dict(cli.COMMANDS))
    run(block("how_to_add_a_command", 1), vars(cli))
    cli.app.command("mercer.cli.commands.count:count", help=cli.COMMANDS["count"])
    yield
    del cli.app["count"]


@pytest.mark.usefixtures("count")
def test_the_command_counts_explains_itself_and_refuses(capsys, tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text(FLOWERS)
    assert cli.run(["count", str(path), "--target", "species"]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == "2\tsetosa\n1\tversicolor\n"
    assert "3 rows" in printed.err
    assert cli.run(["count", str(path), "--target", "species", "--least", "2", "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {"rows": 3, "classes": {"setosa": 2}}
    assert cli.run(["count", str(path), "--target", "species", "--least", "0"]) == ExitCode.WRONG_USAGE
    assert "--least must be 1 or more, got 0" in capsys.readouterr().err
    assert cli.run(["count", str(tmp_path / "none.csv"), "--target", "species"]) == ExitCode.BAD_DATA
    capsys.readouterr()
    assert cli.run(["count", "--help"]) == ExitCode.DONE
    assert cli.COMMANDS["count"] in " ".join(capsys.readouterr().out.split())


# --- a file format ---------------------------------------------------------------------------


@pytest.fixture
def read_table(follow, monkeypatch):
    """`read_table` with the lines that the page puts into it."""
    page = "how_to_add_a_file_format"
    reader = follow(page, "mercer.io.record_lines")
    monkeypatch.setattr(formats, "_ENDINGS", dict(formats._ENDINGS))
    monkeypatch.setattr(formats, "FORMATS", formats.FORMATS)
    run(block(page, 1), vars(formats))
    changed = ModuleType("mercer.io.dataset")
    monkeypatch.setitem(sys.modules, changed.__name__, changed)
    beside = '    elif kind == "jsonl":\n'
    source = Path(dataset.__file__).read_text()
    assert source.count(beside) == 1
    run(source.replace(beside, block(page, 2) + beside), vars(changed))
    changed.read_record_lines = reader.read_record_lines
    changed._TABLES += ("rec",)
    return changed.read_table


def test_the_file_is_read(read_table, tmp_path):
    path = tmp_path / "people.rec"
    path.write_text("age: 31\ntown: Ulm\nbuys: yes\n\n\nage: 60\nbuys: no\n")
    found = read_table(path, target="buys")
    assert (found.kind, found.format, found.columns) == ("table", "rec", ["age", "town"])
    assert found.target.tolist() == ["yes", "no"]
    assert [*found.data.column("age").values] == [31.0, 60.0]
    assert found.data.column("town").missing.tolist() == [False, True]
    packed = io.BytesIO(gzip.compress(path.read_bytes()))
    assert read_table(packed, format="rec", target="buys").columns == ["age", "town"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("age 31\n", "line 1: 'name: value' was expected"), ("a: 1\na: 2\n", "line 2: the record has 'a' already")],
)
def test_a_file_that_is_none_is_refused(read_table, tmp_path, text, words):
    path = tmp_path / "people.rec"
    path.write_text(text)
    with pytest.raises(mercer.DataError, match=words):
        read_table(path)
    path.write_text("a: 1\n\n" * 1000)
    with pytest.raises(mercer.DataError, match="does not fit"):
        read_table(path, memory_limit=10_000)


def test_the_command_takes_every_format():
    hint = get_type_hints(DataOptions)["format"]
    assert get_args(get_args(hint)[0]) == formats.FORMATS


# --- a view of the Studio --------------------------------------------------------------------

STUDIO = ROOT / "src/mercer/studio/page"


def test_the_action_answers_with_the_matrix(follow):
    view = follow("how_to_add_a_studio_view", "mercer.studio.views.matrix")
    assert not set(view.ACTIONS) & set(studio.ACTIONS)
    scene = {"points": [[0, 0, 1], [1, 0, 0], [0, 2, 1]], "kernel": "rbf", "gamma": 0.5}
    ((header, arrays),) = view.ACTIONS["matrix"](scene, Job())
    assert header["order"].tolist() == [1, 0, 2]
    points = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    distances = ((points[:, None] - points) ** 2).sum(axis=2)
    assert arrays["matrix"] == pytest.approx(np.exp(-0.5 * distances))
    sent, back = unpack(pack(header, arrays))
    assert sent["says"] == "by_construction"
    assert back["matrix"].shape == (3, 3)
    with pytest.raises(mercer.DataError, match="there are 0 here"):
        next(view.ACTIONS["matrix"]({"points": []}, Job()))


def test_the_page_of_the_view_imports_what_is_there():
    (source,) = blocks("how_to_add_a_studio_view", "js")
    imports = re.findall(r'^import \{ (.+) \} from "\.\./(\w+\.js)";$', source, flags=re.MULTILINE)
    assert len(imports) == 4
    for names, file in imports:
        exported = re.findall(
            r"^export (?:async )?(?:function|const|class) (\w+)", (STUDIO / file).read_text(), re.MULTILINE
        )
        assert set(names.split(", ")) <= set(exported)
    (colour,) = re.findall(r'css\("(\w+)"\)', source)
    assert f"--{colour}:" in (STUDIO / "style.css").read_text()


def test_every_tab_of_the_studio_can_be_linked_to():
    tabs = re.findall(
        r'^  \["(\w+)", ".+", \(\) => import\("./views/([\w/]+)\.js"\)', (STUDIO / "main.js").read_text(), re.MULTILINE
    )
    (linked,) = re.findall(r"^const LINK = /.*?\(((?:\w+\|)+\w+)\)=", (STUDIO / "state.js").read_text(), re.MULTILINE)
    assert [key for key, _ in tabs] == linked.split("|") == list(links.VIEWS)
    assert all((STUDIO / "views" / f"{file}.js").exists() for _, file in tabs)


# --- an export format ------------------------------------------------------------------------


@pytest.fixture
def json_weights(follow):
    return follow("how_to_add_an_export_format", "mercer.exchange.text.json_weights")


def test_the_export_is_read_as_it_was_written(json_weights, rng, tmp_path):
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] > 0.2, "up", "down")
    path = tmp_path / "model.json"
    for model in (mercer.LinearSVC(), mercer.SVC(kernel="linear")):
        json_weights.write_json_model(model.fit(X, y), path)
        again = json_weights.read_json_model(path)
        assert again.predict(X).tolist() == model.predict(X).tolist()
        found = json.loads(path.read_text())
        assert X @ found["weights"] + found["bias"] == pytest.approx(model.decision_function(X), abs=1e-9)
        assert again.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-9)
    with pytest.raises(mercer.ParameterError, match="classes must be two"):
        json_weights.write_json_model(mercer.LinearSVC().fit(X, rng.permuted(np.arange(40) % 3)), path)
    with pytest.raises(mercer.ParameterError, match="linear model"):
        json_weights.write_json_model(mercer.SVC(kernel="rbf").fit(X, y), path)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        "\xff",
        "[" * 100_000,
        '{"classes": [1, 1], "weights": [1], "bias": 0}',
        '{"classes": [0, 1], "weights": [NaN], "bias": 0}',
        '{"classes": [0, 1], "weights": [], "bias": 0}',
        '{"classes": [0, 1], "weights": [1]}',
    ],
    ids=lambda text: text[:40],
)
def test_a_model_that_is_none_is_refused(json_weights, tmp_path, text):
    path = tmp_path / "model.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(mercer.DataError, match=r"model\.json"):
        json_weights.read_json_model(path)


# What the page has its reader put beside what is there, in the file of the command.
CONVERTED = {
    '"svmlight", "liblinear"]': '"svmlight", "liblinear", "json"]',
    '        "onnx": _refuse_onnx,': '        "onnx": _refuse_onnx,\n        "json": mercer.read_json_model,',
    '            "libsvm": mercer.write_libsvm_model,': (
        '            "libsvm": mercer.write_libsvm_model,\n            "json": mercer.write_json_model,'
    ),
    'kind == "svmlight"': 'kind in ("svmlight", "json")',
}


def test_the_command_converts_to_the_export_and_back(json_weights, monkeypatch, rng, tmp_path):
    source = Path(convert.__file__).read_text()
    for there, then in CONVERTED.items():
        assert source.count(there) == 1
        source = source.replace(there, then)
    changed = ModuleType("mercer.cli.commands.convert")
    run(source, vars(changed))
    run(block("how_to_add_an_export_format", 1), vars(changed))
    for name in ("read_json_model", "write_json_model"):
        monkeypatch.setattr(mercer, name, getattr(json_weights, name), raising=False)
    X = rng.normal(size=(40, 3))
    model = mercer.LinearSVC().fit(X, np.where(X[:, 0] > 0.2, "up", "down"))
    mercer.save(model, tmp_path / "model.mercer")
    assert changed.convert(tmp_path / "model.mercer", tmp_path / "model.json") == ExitCode.DONE
    assert changed.convert(tmp_path / "model.json", tmp_path / "again.mercer") == ExitCode.DONE
    assert mercer.load(tmp_path / "again.mercer").predict(X).tolist() == model.predict(X).tolist()


def test_the_command_converts_every_kind():
    assert set(get_args(convert.Kind)) == set(convert.ENDINGS.values()) == set(convert._readers())


# --- a display -------------------------------------------------------------------------------


def test_the_display_counts_margins(follow, monkeypatch, rng):
    follow("how_to_add_a_plot", "mercer.plot.displays.margins")
    monkeypatch.setattr(plot, "_INDEX", dict(plot._INDEX))
    run(block("how_to_add_a_plot", 1), vars(plot))
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=50) > 0, 1, -1)
    model = mercer.SVC(kernel="linear").fit(X, y)
    display = plot.MarginsDisplay.from_estimator(model, X, y, bins=[-100.0, 0.0, 100.0])
    mistakes = int(np.sum(model.predict(X) != y))
    assert mistakes > 0
    assert [bar.get_height() for bar in display.bars_] == [mistakes, 50 - mistakes]
    assert display.ax_.get_xlabel() == "margin y f(x)"
    figure, ax = plt.subplots()
    assert display.plot(ax=ax).figure_ is figure
    with pytest.raises(mercer.DataError, match="two classes, this one has 3"):
        plot.MarginsDisplay.from_estimator(mercer.SVC().fit(X, np.arange(50) % 3), X, y)
    with pytest.raises(mercer.ParameterError, match="needs a model with classes_"):
        plot.MarginsDisplay.from_estimator(mercer.SVR().fit(X, y), X, y)
    plt.close("all")


def test_the_picture_is_kept_as_the_page_says():
    scope = {}
    run(block("how_to_add_a_plot", 2), scope)
    assert {"assert_pictured", "test_it_looks_as_it_did"} <= set(scope)


# --- what pages name -------------------------------------------------------------------------


def named(page):
    """(place, test or None) of every file, folder and test of this repository that a page names."""
    return set(re.findall(r"`([a-z_]+/[\w/.-]+?)/?(?:::(\w+))?`", page.read_text()))


def found(place):
    """The file or folder of a name: from the root, or within the package."""
    return next((path for path in (ROOT / place, ROOT / "src/mercer" / place) if path.exists()), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_place_that_a_page_names_is_there(page):
    new = NEW.get(page.stem, set())
    places = {place: test for place, test in named(page) if place not in new}
    assert {place for place in places if found(place) is None} == set()
    assert {place for place in new if found(place) is not None} == set(), "the toy is in the library"
    for place, test in named(page):
        assert not test or re.search(rf"^def {test}\(", Path(found(place)).read_text(), flags=re.MULTILINE), test
