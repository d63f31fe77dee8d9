import matplotlib.pyplot as plt
import numpy as np
import pytest

from mercer import ParameterError
from mercer.plot.drawing.canvas import legend_below, one_panel, panels


def test_given_axes_are_used():
    _, ax = plt.subplots()
    assert one_panel(ax) is ax
    assert one_panel(None) is not ax


def test_a_new_figure_has_as_many_panels_as_asked_for():
    axes = panels(None, rows=2, columns=3, figsize=(9, 4))
    assert len(axes) == 6
    assert tuple(axes[0].figure.get_size_inches()) == (9, 4)


def test_one_place_is_divided():
    figure, (left, right) = plt.subplots(1, 2)
    above, below = panels(left, rows=2, height_ratios=(3, 1))
    assert not left.axison
    assert right.axison
    assert above.get_position().y0 > below.get_position().y0
    assert above.get_position().x1 <= right.get_position().x0
    assert above.get_position().height > 2 * below.get_position().height
    assert above.figure is figure


def test_several_axes_are_taken_as_they_are():
    _, axes = plt.subplots(2, 1)
    assert panels(axes, rows=2) == list(axes)
    assert panels(list(axes), rows=2) == list(axes)


def test_too_few_axes_are_refused():
    _, axes = plt.subplots(3, 1)
    with pytest.raises(ParameterError, match="ax must be one Axes or 2 of them, got 3"):
        panels(np.array(axes), rows=2)


def test_a_place_that_is_no_subplot_cannot_be_divided():
    ax = plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))
    with pytest.raises(ParameterError, match="ax must be a subplot"):
        panels(ax, rows=2)


def test_the_legend_stands_below_the_axes():
    figure, ax = plt.subplots(layout="constrained")
    ax.plot([0, 1], label="line")
    legend = legend_below(ax)
    figure.canvas.draw()
    assert legend.get_window_extent().y1 < ax.get_window_extent().y0
