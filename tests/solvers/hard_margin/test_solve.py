"""Machines without errors: within their memory, from kernel values or from coordinates."""

import numpy as np
import pytest

from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.hard_margin import HardMargin
from mercer.solvers.hard_margin import solve
from mercer.solvers.hard_margin.solve import Separation
from mercer.solvers.limits import Limits
from mercer.solvers.result import Status


@pytest.mark.parametrize(("memory", "columns"), [(16 * 8 * 3 + 5, 3), (10**9, solve.MOST_FEATURES), (0, 0)])
def test_coordinates_have_as_many_columns_as_memory_allows(memory, columns, rng, monkeypatch):
    X = rng.normal(size=(8, 3))
    asked = []
    monkeypatch.setattr(solve, "pivoted_factor", lambda matrix, most, stop: asked.append(most))
    problem = HardMargin(np.where(np.arange(8) % 2, 1.0, -1.0))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    found = solve.separate_matrix(problem, StoredMatrix.of(K), Limits(), 1e-6, memory)
    assert asked == [columns]
    assert isinstance(found, solve.Separation)


def test_a_distance_counts_the_bias_where_it_is_penalized():
    plain, penalized = (HardMargin(np.array([1.0, -1.0]), bias) for bias in ("free", "penalized"))
    assert solve._distance(plain, 0.25, lambda: 2.0) == 0.25
    assert solve._distance(penalized, 0.25, lambda: 2.0) == 0.5
    assert solve._distance(penalized, 0.0, lambda: 2.0) == 0.0
    assert solve._distance(penalized, 0.25, lambda: 0.0) == np.inf


@pytest.mark.parametrize("size", [5e-324, 1e-300, 0.3, 1.0, 7.0, 1e300, 1.7e308])
def test_units_are_powers_of_two_whose_squares_are_numbers(size):
    unit = solve._power_of_two(size)
    assert np.frexp(unit)[0] == 0.5
    assert 2.0**-1000 <= unit <= 2.0**1000
    assert unit in (2.0**-1000, 2.0**1000) or 0.5 <= size / unit < 1.0


def test_the_unit_of_nothing_is_one():
    assert solve._power_of_two(0.0) == 1.0
    assert solve._power_of_two(1.7e308) == 2.0**1000
    np.testing.assert_array_equal(solve.column_units(np.array([[0.0, -3.0], [0.0, 1.0]])), [1.0, 4.0])


@pytest.mark.parametrize(("margin", "status"), [(0.5, Status.STALLED), (0.0, Status.OPTIMAL)])
def test_a_margin_that_only_other_units_show_is_never_certain(margin, status, monkeypatch):
    """Rounding left none in the common unit, so the second answer cannot be better than inaccurate."""
    answers = [Separation.__new__(Separation) for _ in range(2)]
    for answer, its_margin in zip(answers, (-1e-20, margin), strict=True):
        answer.margin, answer.status = its_margin, Status.OPTIMAL
    monkeypatch.setattr(solve, "_separate", lambda *_: answers.pop(0))
    problem = HardMargin(np.array([1.0, -1.0]))
    assert solve.separate_features(problem, np.eye(2), Limits(), 1e-6).status is status
