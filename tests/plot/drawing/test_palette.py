import sys

import pytest

from mercer import MissingExtraError
from mercer.plot.drawing.palette import class_styles, load_pyplot, two_sided_map


def luminance(colour):
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2


def test_sixty_four_classes_all_look_different():
    assert len(set(class_styles(64))) == 64


def test_two_classes_differ_on_grey_paper_too():
    (first, _), (second, _) = class_styles(2)
    assert abs(luminance(first) - luminance(second)) > 0.2


def test_zero_is_white():
    assert two_sided_map()(0.5)[:3] == pytest.approx((1.0, 1.0, 1.0), abs=0.01)


def test_missing_matplotlib_is_one_sentence_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"drawing needs matplotlib: pip install 'mercer\[plot\]'"):
        load_pyplot()
