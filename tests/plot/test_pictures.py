import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.plot import pictures
from tests.plot.pictures import assert_pictured, difference, rendered


def draw(marker="o", shift=0.0, colour="#0072B2"):
    figure, ax = plt.subplots(figsize=(5, 4))
    ax.scatter([0, 1, 2 + shift], [0, 1, 0], marker=marker, c=colour, s=60)
    ax.set(xlim=(-1, 4), ylim=(-1, 2), xlabel="length")
    return figure


@pytest.fixture
def kept(monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "KEPT", tmp_path)
    monkeypatch.setenv("MERCER_KEEP_PICTURES", "1")
    assert_pictured(draw(), "marks")
    monkeypatch.delenv("MERCER_KEEP_PICTURES")


def test_the_same_figure_is_the_same_picture(kept):
    assert_pictured(draw(), "marks")


def test_a_mark_in_another_place_is_seen(kept):
    with pytest.raises(AssertionError, match="differs from the kept picture"):
        assert_pictured(draw(shift=0.5), "marks")


def test_another_colour_is_seen(kept):
    with pytest.raises(AssertionError, match="differs from the kept picture"):
        assert_pictured(draw(colour="#E69F00"), "marks")


def test_a_missing_picture_is_no_success(kept):
    with pytest.raises(AssertionError, match=r"there is no kept picture other\.png"):
        assert_pictured(draw(), "other")


def test_another_size_is_seen(kept):
    figure = draw()
    figure.set_size_inches(6, 4)
    with pytest.raises(AssertionError, match="is drawn"):
        assert_pictured(figure, "marks")


def test_a_letter_smoothed_otherwise_is_forgiven():
    picture = rendered(draw())
    noise = np.random.default_rng(0).normal(0.0, 0.01, picture.shape)
    typical, worst = difference(picture, picture + noise)
    assert typical < pictures.TYPICAL
    assert worst < pictures.WORST
