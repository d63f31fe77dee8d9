"""What the README and the gallery show must run as it stands."""

import doctest
import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import mercer
from mercer.kernels import RBF

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))


def python_blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)


def test_quickstart_of_the_readme_takes_five_lines_and_runs(capsys):
    quickstart, _ = python_blocks("README.md")
    assert len(quickstart.splitlines()) == 5
    exec(quickstart, {})  # noqa: S102 - our own page is what is tested
    accuracy, status = capsys.readouterr().out.split()
    assert float(accuracy) > 0.9
    assert status == "OPTIMAL"


def test_the_texts_of_the_readme_are_told_apart(capsys):
    _, texts = python_blocks("README.md")
    exec(texts, {})  # noqa: S102 - our own page is what is tested
    assert capsys.readouterr().out.strip() == "[1 0]"


def test_the_kernel_of_the_how_to_page_is_a_kernel(rng):
    source = python_blocks("docs/how_to_add_a_kernel.md")[0]
    # On disk it would be a module; here its docstring's import of itself is not run.
    scope = {"__name__": "cauchy"}
    exec(source.replace("@jit\n", ""), scope)  # noqa: S102 - our own page is what is tested
    kernel = scope["Cauchy"](scale=2.0)
    X = rng.normal(size=(6, 3))
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    assert kernel(X) == pytest.approx(1.0 / (1.0 + 2.0 * distances))
    assert mercer.mercer_check(kernel + RBF(gamma=1.0)).kind == "by_construction"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_prompt_of_the_documentation_answers_as_shown(page):
    # A fence ends the expected output, as an empty line would. Prompts that are indented
    # belong to a docstring that the page shows.
    text = re.sub(r"^(```| +>>>).*$", "", page.read_text(), flags=re.MULTILINE)
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    wrong = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    outcome = runner.run(session, out=wrong.append)
    plt.close("all")
    assert outcome.failed == 0, "".join(wrong)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_every_page_of_the_gallery_runs(script, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    runpy.run_path(str(script))


def test_every_worked_example_names_pages_that_exist():
    text = (ROOT / "docs/theory.md").read_text()
    table = text[text.index("## Worked examples of the sources") :].partition("```")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| the example")]
    assert len(rows) >= 18
    stems = {script.stem for script in EXAMPLES}
    for row in rows:
        shown = set(re.findall(r"`(plot_\w+)`", row))
        linked = set(re.findall(r"\]\((\w+)\.md", row))
        assert shown <= stems, row
        assert linked <= {page.stem for page in PAGES}, row
        assert shown or linked, row


def test_every_page_of_the_documentation_is_in_its_contents():
    listed = set(re.findall(r"^([a-z_]+)$", (ROOT / "docs/index.md").read_text(), flags=re.MULTILINE))
    pages = {page.stem for page in PAGES} - {"index"}
    assert pages <= listed


def test_pins_name_every_direct_dependency_and_no_place_to_fetch_it_from():
    pins = (ROOT / "constraints.txt").read_text()
    assert "://" not in pins
    assert "--" not in pins
    named = {line.partition("==")[0].lower().replace("_", "-") for line in pins.splitlines() if "==" in line}
    project = (ROOT / "pyproject.toml").read_text()
    wanted = set(re.findall(r'^\s*(?:[a-z]+ = \[)?"([a-z-]+)>=', project, flags=re.MULTILINE))
    assert wanted - named == set()
    assert len(wanted) > 15


@pytest.mark.parametrize("page", ["CHANGELOG.md", "CITATION.cff"])
def test_version_is_the_same_everywhere(page):
    assert mercer.__version__ in (ROOT / page).read_text()
