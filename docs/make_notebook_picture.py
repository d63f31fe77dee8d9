"""Draws docs/_static/notebook.png: a fitted model as a notebook shows it, on a light and on a dark page.

``python docs/make_notebook_picture.py`` needs playwright and a chromium that it finds on the path.
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

from mercer import SVC

PICTURE = Path(__file__).parent / "_static" / "notebook.png"
PAGE = """<body style="margin: 0; display: flex; font: 13px sans-serif">{}</body>"""
HALF = """<div style="width: 440px; padding: 12px; background: {0}; color: {1}; color-scheme: {2}">{3}</div>"""
THEMES = (("#fff", "#111", "light"), ("#111", "#ddd", "dark"))


def main() -> None:
    """Fit, draw, keep."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["sepal length", "sepal width", "petal length", "petal width"]
    model = SVC(kernel="rbf + linear", C=10.0)
    # The second fit has nothing to compile, and tells how long a fit takes.
    shown = model.fit(X, y).fit(X, y)._repr_html_()
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 928, "height": 260}, device_scale_factor=1.5)
        page.set_content(PAGE.format("".join(HALF.format(*theme, shown) for theme in THEMES)))
        page.screenshot(path=PICTURE, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
