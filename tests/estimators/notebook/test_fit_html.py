"""What a fitted estimator shows in a notebook."""

import html
import pickle
import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from mercer import SVC, SVCCV, SVR, KernelDensity, LinearSVC
from mercer.estimators.fitting.certificate import CertifiedLazily

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)


def told(model):
    """name -> words of the list above the diagram."""
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", model._repr_html_())
    return {name: html.unescape(words) for name, words in pairs}


def test_a_machine_tells_status_gap_support_vectors_source_and_time():
    model = SVC(C=2.0).fit(X, y)
    shown = told(model)
    assert shown["status"].startswith("OPTIMAL")
    assert float(shown["gap"].split()[2]) == pytest.approx(model.certificate_.relative_gap, rel=0.1)
    assert shown["support vectors"].startswith(f"{len(model.support_)} of 60 rows")
    assert shown["learnt from"] == "60 rows, 3 columns, 2 classes (0, 1)"
    assert re.fullmatch(r"[\d.e-]+ m?s", shown["time"])
    assert shown["kernel"] == f"rbf(gamma={model.expansion_.kernel.gamma:.4g})"


def test_the_diagram_of_scikit_learn_is_still_there():
    assert "sk-container" in SVC().fit(X, y)._repr_html_()
    assert told(SVC()) == {}
    assert "sk-container" in SVC()._repr_html_()
    with config_context(display="text"):
        assert not hasattr(SVC(), "_repr_html_")


def test_columns_and_classes_go_by_their_names_and_many_are_cut_short():
    import pandas as pd

    frame = pd.DataFrame(np.tile(X, 3)[:, :8], columns=[f"c<{k}>" for k in range(8)])
    model = SVC(kernel="linear").fit(frame, np.where(y, "yes & no", "no"))
    assert told(model)["learnt from"] == (
        "60 rows, 8 columns (c<0>, c<1>, c<2>, c<3>, c<4>, c<5>, ...), 2 classes (no, yes & no)"
    )
    assert "c<0>" not in model._repr_html_().split("sk-container")[0]


def test_items_are_no_rows():
    assert told(SVC(kernel="spectrum").fit(["ab", "abc", "xy"], [0, 0, 1]))["learnt from"].startswith("3 items, ")


def test_a_fit_that_ended_early_looks_different():
    with pytest.warns(ConvergenceWarning):
        model = SVC(max_iter=1, C=1e3).fit(X, y)
    assert told(model)["status"].startswith("ITERATION_LIMIT")
    assert 'class="mercer-fit mercer-short"' in model._repr_html_()


def test_several_problems_linear_machines_searches_and_densities_tell_what_they_know():
    assert "the largest of 3 problems" in told(SVC().fit(X, np.arange(60) % 3))["gap"]
    assert "support vectors" not in told(LinearSVC().fit(X, y))
    assert told(SVR().fit(X, X[:, 0]))["learnt from"] == "60 rows, 3 columns"
    assert "rbf" in told(SVCCV(Cs=[1.0], gammas=[0.1], cv=2).fit(X, y))["kernel"]
    assert "status" not in told(KernelDensity().fit(X))


def test_a_model_without_its_data_shows_what_is_left():
    model = SVC().fit(X, y)
    rows = X.copy()
    changed = SVC().fit(rows, y)
    rows += 1.0
    assert "gap" not in told(changed)
    assert told(changed)["status"].startswith("OPTIMAL")
    assert "support vectors" in told(pickle.loads(pickle.dumps(model)))  # noqa: S301


def test_listing_what_there_is_computes_nothing(monkeypatch):
    model = SVC().fit(X, y)

    def refuse(self, *_):
        raise AssertionError("computed for nobody")

    monkeypatch.setattr(CertifiedLazily, "_told", refuse)
    assert "certificate_" in dir(model)
    assert "certificate_" not in dir(SVC())
    assert "predict_proba" not in dir(model)
    assert "sk-container" in make_pipeline(model)._repr_html_()


def test_a_pipeline_shows_a_model_whose_data_have_been_changed():
    rows = X.copy()
    pipeline = make_pipeline(SVC()).fit(rows, y)
    rows += 1.0
    assert "SVC" in pipeline._repr_html_()
    assert "certificate_" in dir(pipeline[-1])


def test_labels_are_shown_and_never_run():
    hostile = "<script>alert(1)</script>"
    model = SVC().fit(X, np.where(y == 1, hostile, "no"))
    assert hostile in told(model)["learnt from"]
    assert hostile not in re.findall(r"<dd>.*?</dd>", model._repr_html_())[4]
