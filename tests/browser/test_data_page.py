"""Upload, train, stop, download, reload; and a file that is up to no good."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

import mercer

# The first visit may have to wait for compilation.
pytestmark = pytest.mark.timeout(400)


def open_data(page):
    page.click(".tabs [data-view=data]")
    page.wait_for_selector("[data-resumed]")


def upload(page, name, body):
    page.set_input_files("input[data-name=file]", {"name": name, "mimeType": "text/csv", "buffer": body})


@pytest.fixture(scope="module")
def noise():
    """A set on which a large C takes long."""
    rng = np.random.default_rng(31)
    X = rng.normal(size=(5000, 8))
    y = np.where(X[:, 0] * X[:, 1] + 2 * rng.normal(size=5000) > 0, "yes", "no")
    lines = [
        "a,b,c,d,e,f,g,h,answer",
        *(",".join([*(f"{v:.4f}" for v in row), k]) for row, k in zip(X, y, strict=True)),
    ]
    return "\n".join(lines).encode()


def test_upload_train_stop_download_reload(page, noise):
    open_data(page)
    upload(page, "noise.csv", noise)
    page.wait_for_selector("[data-rows='5000']")
    assert page.locator("select[data-name=target]").input_value() == "answer"
    page.locator("input[data-name=data-C-box]").fill("100000")
    page.locator("input[data-name=data-C-box]").press("Enter")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-busy=train]")
    page.click("[data-name=stop]")
    page.wait_for_selector("[data-status=INTERRUPTED]", timeout=120_000)
    with page.expect_download() as waiting:
        page.click("[data-name=download-model]")
    model = mercer.load(Path(waiting.value.path()))
    assert model.classes_.tolist() == ["no", "yes"]
    with page.expect_download() as waiting:
        page.click("[data-name=download-report]")
    assert "<!doctype html>" in Path(waiting.value.path()).read_text()
    page.reload()
    page.wait_for_selector("[data-status=INTERRUPTED]")
    page.wait_for_selector("[data-number=score]")


def test_a_shipped_set_is_trained_explained_and_opened_again(page, tmp_path):
    open_data(page)
    page.click("[data-set=iris]")
    page.wait_for_selector("[data-rows='150']")
    page.select_option("select[data-name=data-kernel]", "columns")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-number=score]", timeout=60_000)
    page.locator("tr.pick").first.press("Enter")
    page.wait_for_selector("[data-name=contributions]")
    assert "petal" in page.text_content("[data-name=contributions]")
    with page.expect_download() as waiting:
        page.click("[data-name=download-model]")
    upload(page, "iris.mercer", Path(waiting.value.path()).read_bytes())
    page.wait_for_selector("[data-inspected='iris.mercer']")
    assert "SVC" in page.text_content(".cards")
    assert "setosa" in page.text_content(".cards")


# A search of 150 rows takes a part of a second: who asks for the count now and then may miss all that is between.
WATCH_HEAT = """() => {
    window.heats = [];
    new MutationObserver((changes) => changes.forEach((change) => window.heats.push(Number(change.oldValue))))
        .observe(document, {subtree: true, attributeFilter: ["data-heat"], attributeOldValue: true});
}"""


def test_the_heat_map_fills_in(page):
    open_data(page)
    page.click("[data-set=iris]")
    page.wait_for_selector("[data-rows='150']")
    page.evaluate(WATCH_HEAT)
    page.click("[data-name=tune]")
    page.wait_for_selector("[data-number=score]", timeout=90_000)
    seen, fits = page.evaluate("window.heats"), int(page.get_attribute(".view", "data-heat"))
    assert any(0 < heat < fits for heat in seen)
    assert seen == sorted(seen)
    scores = page.locator(".heat-cell").all_text_contents()
    # Several kernels with several C each, and no score without a fit.
    assert 8 < len([score for score in scores if score]) <= fits
    assert page.locator(".heat-cell.best").count() == 1


def test_broken_files_are_a_sentence_and_markup_stays_text(page):
    open_data(page)
    upload(page, "empty.csv", b"")
    page.wait_for_selector("[data-error=true]")
    assert "empty" in page.text_content("[data-name=data-notice]")
    upload(page, "broken.parquet", b"PAR1 nothing PAR1")
    page.wait_for_function("() => document.querySelector('[data-name=data-notice]').textContent.includes('parquet')")
    script = "<img src=x onerror=\"document.title='owned'\">"
    quoted = '"' + script.replace('"', '""') + '"'
    rows = "".join(f"{k},{quoted if k % 2 else 'b'}\n" for k in range(40))
    upload(page, "names.csv", f"a,{quoted}\n{rows}".encode())
    page.wait_for_selector("[data-rows='40']")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-number=score]", timeout=60_000)
    assert page.title() != "owned"
    assert page.locator(".view img").count() == 0
    assert script in page.text_content(".cards")


def test_a_connection_lost_while_training_leaves_everything_usable(page, noise):
    """The work ends with the connection; the page says so, and can be asked again."""
    open_data(page)
    upload(page, "noise.csv", noise)
    page.wait_for_selector("[data-rows='5000']")
    page.locator("input[data-name=data-C-box]").fill("100000")
    page.locator("input[data-name=data-C-box]").press("Enter")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-busy=train]")
    page.evaluate("mercerStudio.drop()")
    page.wait_for_selector("[data-error=true]")
    assert "connection was lost" in page.text_content("[data-name=data-notice]")
    page.wait_for_selector(".live[data-state=on]")
    assert page.is_enabled("[data-name=train]")
    assert not page.is_enabled("[data-name=stop]")
    page.locator("input[data-name=data-C-box]").fill("0.01")
    page.locator("input[data-name=data-C-box]").press("Enter")
    page.click("[data-name=train]")
    page.wait_for_selector("[data-number=score]", timeout=120_000)
    assert page.get_attribute(".view", "data-error") == "false"


def test_a_column_that_names_the_rows_is_left_out_until_it_is_ticked(page):
    open_data(page)
    rows = "\n".join(f"{k},{k * 7 % 50},{'yes' if k * 7 % 50 > 25 else 'no'}" for k in range(40))
    upload(page, "people.csv", f"id,age,buys\n{rows}\n".encode())
    own = page.locator("label.check", has_text="id").first
    expect(own).to_contain_text("names the rows")
    assert not own.locator("input").is_checked()
    assert page.locator("label.check", has_text="age").locator("input").is_checked()
    own.locator("input").check()
    assert own.locator("input").is_checked()
