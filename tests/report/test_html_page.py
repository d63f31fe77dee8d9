"""The page of a report: whole, safe, and true to its record."""

import io
import json
import re
import warnings
from html import escape
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer import SVC, LowRank
from mercer.io import read_table
from mercer.kernels import Linear, Sigmoid
from mercer.kernels.notation.words import kernel_words
from mercer.kernels.table.frame import Frame, as_frame
from mercer.report import Record, page, score, write_page
from mercer.report.figures import Shown, _map, figures
from mercer.report.model_words import columns_of, describe_model
from mercer.report.record import bounds_of
from mercer.report.svg import Scale, ticks
from mercer.workflow.assemble import assemble

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Every tag and attribute of a page, and whether all that was opened is closed."""

    VOID = ("meta", "br", "img")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def fitted(content, target, **options):
    data = read_table(io.BytesIO(content), target=target)
    found = assemble(data, **options)
    model = found.estimator.fit(found.X, found.y)
    record = Record.of_model("a title", model, data, found.task, len(data))
    record.scores = {**score(found.task, found.y, model.predict(found.X)), "how": "held out"}
    record.bounds, record.no_bounds = bounds_of(model, found.X, found.y)
    record.notes = list(found.notes)
    return record, Shown(model, (found.X, found.y), (found.X, found.y), data)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(5)
    rows = [(f"{rng.normal():.3f}", rng.choice(["Ulm", "Bonn"]), "a long note of words") for _ in range(60)]
    lines = [f"{x},{town},{note},{'yes' if float(x) > 0 else HOSTILE}" for x, town, note in rows]
    return fitted(("wind,town,<b>note</b>,late\n" + "\n".join(lines)).encode(), "late")


@pytest.fixture(scope="module")
def quantity():
    x = np.linspace(-2, 2, 50)
    return fitted(("a,y\n" + "\n".join(f"{v:.3f},{np.sin(v):.4f}" for v in x)).encode(), "y")


def test_bounds_of_a_table_read_its_columns_and_make_no_dictionary_of_any_row(mixed, monkeypatch):
    record, shown = mixed
    X, y = shown.learnt
    monkeypatch.setattr(Frame, "rows", lambda *_: pytest.fail("rows became dictionaries"))
    found, _ = bounds_of(shown.model, as_frame(X), y)
    assert found == record.bounds
    assert any(one["applies"] for one in found)


@pytest.fixture(scope="module")
def pages(mixed, quantity):
    return page(*mixed), page(*quantity)


def test_the_page_is_well_formed_and_needs_nothing_else(pages):
    for text in pages:
        found = Tags(text)
        assert found.open == []
        assert not {"script", "link", "iframe", "object", "embed", "form"} & set(found.tags)
        assert not [
            value for name, value in found.attributes if name in ("src", "href") and not value.startswith("data:")
        ]
        assert not [name for name, _ in found.attributes if name.startswith("on")]
        assert "http://" not in text
        assert "https://" not in text
        assert "default-src 'none'" in text


def test_labels_and_column_names_are_escaped(pages):
    text, _ = pages
    assert HOSTILE not in text
    assert "<b>note</b>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_page_says_what_the_record_says(mixed, pages):
    (record, _), (text, _) = mixed, pages
    assert f"{record.scores['accuracy']:.1%}" in text
    assert f"{record.model['n_support']}" in text
    assert record.model["status"] in text
    assert len(record.bounds) == 7
    assert [one["key"] for one in record.bounds if escape(one["name"]) not in text] == []
    assert text.count('class="cell"') == 4


def test_pictures_of_a_mixed_table(mixed):
    titles = [figure.title for figure in figures(*mixed)]
    assert titles[:3] == ["How sure it is", "As the kernel sees them", "What it looks at"]


def test_the_histogram_holds_every_row(mixed):
    record, shown = mixed
    picture = figures(record, shown)[0].picture
    counted = sum(int(found) for found in re.findall(r": (\d+) rows from", picture))
    assert counted == 60


def test_a_quantity_is_drawn_against_its_truth(quantity):
    (figure, *_) = figures(*quantity)
    assert figure.title == "Predicted and true"
    assert figure.picture.count("<circle") == 50


def test_a_single_problem_is_not_counted(pages):
    assert all("two-class problems" not in text for text in pages)


def test_the_page_follows_the_light_and_prints(pages):
    text, _ = pages
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text


def test_a_page_is_written_whole_or_not_at_all(mixed, tmp_path, monkeypatch):
    path = write_page(tmp_path / "new" / "r.html", *mixed)
    before = path.read_text()
    monkeypatch.setattr("mercer.report.html_page.page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_page(path, *mixed)
    assert path.read_text() == before
    assert [each.name for each in path.parent.iterdir()] == ["r.html"]


def test_a_record_is_plain_and_finite(mixed):
    record, _ = mixed
    record.seconds = {"fit": float("inf")}
    said = json.loads(json.dumps(record.as_dict(), allow_nan=False))
    assert said["seconds"] == {"fit": None}
    assert said["data"]["columns"] == ["wind", "town", "<b>note</b>"]


# ------------------------------------------------------------------ words and numbers


def test_scores_by_hand():
    found = score("classification", np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]))
    assert found["accuracy"] == pytest.approx(0.6)
    assert found["balanced_accuracy"] == pytest.approx((0.5 + 2 / 3) / 2)
    assert found["baseline"] == pytest.approx(0.6)
    assert found["classes"][1]["precision"] == pytest.approx(2 / 3)
    low, high = found["interval"]
    # The roots of Wilson's equation (p - q)^2 = z^2 q (1 - q) / n.
    for q in (low, high):
        assert (0.6 - q) ** 2 == pytest.approx(1.959963984540054**2 * q * (1 - q) / 5)
    found = score("regression", np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    assert found["r2"] == pytest.approx(0.5)
    assert found["mean_absolute_error"] == pytest.approx(1 / 3)


def test_kernels_are_said_as_expressions_that_mean_the_same():
    from mercer.kernels import RBF, Delta, Linear, On, Polynomial, Spectrum, parse

    kernels = [
        0.5 * RBF(gamma=0.25) + Linear(),
        Polynomial(degree=2, gamma=1.0, coef0=1.0) * Linear(),
        On("town", Delta()) + 2 * On("note", Spectrum(length=3).normalized()),
        (RBF(gamma=2.0) + Linear()) ** 2,
    ]
    for kernel in kernels:
        assert parse(kernel_words(kernel)) == kernel


def test_columns_come_from_names_or_from_the_kernel(mixed):
    _, shown = mixed
    assert columns_of(shown.model) == ["wind", "town", "<b>note</b>"]
    assert columns_of(SVC().fit([[0.0], [1.0]], [0, 1])) is None
    assert describe_model(SVC().fit([[0.0], [1.0]], [0, 1]))["columns"] is None


def test_ticks_are_round_and_within():
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(3.0, 3.0) == [3.0]
    assert Scale(0, 10, 100, 200)(5) == 150


@pytest.mark.parametrize("kernel", [Sigmoid(gamma=0.5, coef0=-1.0), Linear()])
def test_a_map_of_any_kernel_is_drawn_without_warnings(kernel):
    X, y = np.random.default_rng(0).normal(size=(40, 1)), np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(kernel=kernel, gamma=0.5, coef0=-1.0).fit(X, y)
    shown = Shown(model, (X, y), None, None)
    assert _map(shown).title == "As the kernel sees them"


@pytest.mark.parametrize(
    ("gamma", "meaning"),
    [
        (0.1, "landmarks; the exact machine gains at most "),
        (100.0, "too large to say anything; take more than 5 landmarks"),
    ],
)
def test_a_distance_from_the_exact_machine_comes_with_what_it_means(gamma, meaning):
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = SVC(gamma=gamma, C=10.0, approximation=LowRank(5)).fit(X, X[:, 0] > 0)
    distance = describe_model(model)["distance"]
    assert (distance["relative"] < 1) == (gamma < 1)
    assert meaning in distance["meaning"]
