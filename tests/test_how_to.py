"""The toys of the how-to pages work: whoever follows a page to the letter gets what it promises."""

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import mercer
from mercer.estimators.fitting.fitted_parts import set_parts
from mercer.exchange.model_file import registry
from mercer.exchange.model_file.known import estimators as known_estimators
from tests.test_documents import ROOT, python_blocks

PAGES = sorted((ROOT / "docs").glob("how_to_add_*.md"))
# Files that a page has its reader write.
NEW = {
    "how_to_add_a_kernel": {"src/mercer/kernels/vector/cauchy.py"},
    "how_to_add_an_estimator": {"src/mercer/estimators/svm/median.py", "tests/estimators/svm/test_median.py"},
}


@pytest.fixture
def follow(monkeypatch):
    """Blocks of a page as modules of the library, for the time of a test."""

    def write(page, name, block=0):
        module = ModuleType(name)
        run(python_blocks(f"docs/{page}.md")[block], vars(module))
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return write


def run(source, scope):
    exec(source, scope)  # noqa: S102 - our own pages are what is tested


def test_the_estimator_is_certified_and_has_the_median(follow, monkeypatch, rng, tmp_path):
    median = follow("how_to_add_an_estimator", "mercer.estimators.svm.median")
    registry.known_names()  # all are registered before the toy is, and stay when it goes
    for table in ("_by_name", "_by_class"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))
    run(python_blocks("docs/how_to_add_an_estimator.md")[1], vars(known_estimators))
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
    set_parts(model, traces=list)  # a model without the rounds of its solver, as one that another tool has fitted
    mercer.save(model, tmp_path / "median.mercer")
    again = mercer.load(tmp_path / "median.mercer")
    assert type(again) is median.MedianSVR
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


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
