"""Where the slope along a step is zero, and where it is looked for."""

import numpy as np

from mercer.solvers.blocks.line_search import crossing, inner_points, root


def test_between_two_lengths_it_is_looked_for_at_equal_distances():
    np.testing.assert_allclose(inner_points(0.2, 0.4, 3), [0.25, 0.3, 0.35])


def test_from_nothing_on_it_is_looked_for_at_equal_ratios_before_equal_distances():
    found = inner_points(0.0, 0.003, 24)
    assert len(found) == 24
    assert 0.0 < found[0] < 1e-11
    assert found[-1] < 0.003
    np.testing.assert_allclose(found[1:13] / found[:12], found[1] / found[0])
    np.testing.assert_allclose(np.diff(found[12:]), 0.003 / 13)


def test_the_root_is_where_the_slope_changes_its_sign():
    t, slopes = np.array([0.0, 0.25, 0.5, 1.0]), np.array([-3.0, -1.0, 1.0, 4.0])
    assert crossing(slopes) == 1
    assert root(t, slopes) == 0.375
    assert root(t, -np.ones(4)) == 1.0
