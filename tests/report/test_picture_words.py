"""What a screen reader says of a picture: what somebody would see in it."""

import re
from html import unescape

import numpy as np

from mercer.report import pictures


def said(picture):
    (label,) = re.findall(r'role="img" aria-label="([^"]*)"', picture)
    return unescape(label)


def test_a_histogram_tells_where_each_group_lies():
    values = np.array([-1.0, -2.0, -3.0, 4.0])
    label = said(pictures.margin_histogram(values, np.array([0, 0, 0, 1]), ['"no"', "yes", "maybe"], "decision value"))
    assert label.startswith("Histogram of decision value. ")
    assert '"no": 3 rows, median -2, eight in ten from -2.8 to -1.2' in label
    assert "yes: one row, at 4" in label
    assert "maybe: no rows" in label


def test_a_scatter_tells_how_far_off_predictions_are():
    truth = np.arange(11.0)
    label = said(pictures.scatter(truth, truth + np.arange(11.0) / 10, "price"))
    assert "11 rows; half of them lie within 0.5 of the truth, nine in ten within 0.9" in label


def test_a_map_counts_items_and_support_vectors():
    places = np.random.default_rng(0).normal(size=(5, 2))
    label = said(pictures.kernel_map(places, np.array([0, 0, 1, 1, 1]), ["a", "b"], np.array([1, 0, 0, 1, 0], bool)))
    assert label == "Map of 5 items by kernel principal components. a: 2, b: 3; 2 of them are support vectors"


def test_a_course_tells_its_beginning_and_its_end():
    trace = [{"seconds": 0.5, "violation": 1.0, "gap": None}, {"seconds": 2.0, "violation": 1e-4, "gap": 1e-3}]
    label = said(pictures.convergence(trace, 1e-3))
    assert label.startswith("How the fit went in 2 seconds: violation from 1.0e+00 to 1.0e-04")
    assert label.endswith("goal for the violation 0.001")


def test_bars_tell_their_numbers():
    assert said(pictures.horizontal_bars(["wind", "a < b"], [0.5, -0.25], "contributions")) == (
        "contributions: wind 0.5, a < b -0.25"
    )


def test_of_many_classes_the_first_ten_are_told():
    values, groups = np.zeros(12), np.arange(12)
    label = said(pictures.margin_histogram(values, groups, [f"class {k}" for k in range(12)], "decision value"))
    assert "class 9" in label
    assert "class 10" not in label
    assert label.endswith("; and 2 more")
