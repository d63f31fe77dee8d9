"""Worked example 6, solved; and other small problems whose answers are known."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mercer import SVC, DataError, ParameterError, theory


def plane(u):
    return 6.0 * u[0] + 8.0 * u[1]


def outside_disc(u):
    return u @ u - 1.0


def test_the_paraboloid_on_a_line():
    found = theory.maximize(lambda u: 1.0 - u @ u, [0.0, 0.0], equalities=[lambda u: u[0] + u[1] - 1.0])
    assert len(found.points) == 1
    assert found.best.u == pytest.approx([0.5, 0.5], abs=1e-9)
    assert found.best.value == pytest.approx(0.5, abs=1e-9)
    assert found.best.multipliers == pytest.approx([-1.0], abs=1e-7)
    assert found.best.verdict == "strict local optimum"


@pytest.mark.parametrize("start", [[0.0, 0.0], [5.0, -3.0], [0.6, 0.8], [[1.0, 0.0], [-1.0, 0.0]]])
def test_the_plane_on_the_disc(start):
    found = theory.maximize(plane, start, inequalities=[outside_disc])
    assert found.best.u == pytest.approx([0.6, 0.8], abs=1e-8)
    assert found.best.value == pytest.approx(10.0, abs=1e-8)
    assert found.best.multipliers == pytest.approx([5.0], abs=1e-6)
    assert found.best.residuals.hold(1e-6)
    assert str(found.best) == "(0.6, 0.8): value 10, multipliers (5), strict local optimum"


def test_the_least_is_on_the_other_side():
    best = theory.minimize(plane, [0.0, 0.0], inequalities=[outside_disc]).best
    assert best.u == pytest.approx([-0.6, -0.8], abs=1e-8)
    assert best.multipliers == pytest.approx([5.0], abs=1e-6)


def test_with_the_constraint_as_misprinted_there_is_no_largest_value():
    found = theory.maximize(plane, [1.0, 1.0], inequalities=[lambda u: -outside_disc(u)])
    assert not any(point.holds for point in found.points)


def test_a_constraint_that_does_not_bind_has_multiplier_zero():
    best = theory.minimize(lambda u: (u[0] - 0.2) ** 2 + u[1] ** 2, [0.5, 0.5], inequalities=[outside_disc]).best
    assert best.u == pytest.approx([0.2, 0.0], abs=1e-7)
    assert best.multipliers == pytest.approx([0.0])
    assert best.verdict == "strict local optimum"


def test_all_minima_are_found_and_the_better_comes_first():
    found = theory.minimize(lambda u: (u[0] ** 2 - 1.0) ** 2 + 0.1 * u[0], [0.3], n_starts=12)
    optima = [point for point in found.points if point.verdict == "strict local optimum"]
    roots = np.roots([4.0, 0.0, -4.0, 0.1])
    assert [point.u[0] for point in optima] == pytest.approx([roots.min(), roots.max()], abs=1e-6)
    assert optima[0].value < optima[1].value


def test_a_saddle_is_called_one():
    best = theory.minimize(lambda u: u[0] ** 2 - u[1] ** 2, [0.0, 0.0], n_starts=1).best
    assert best.verdict == "saddle"
    assert best.holds


def test_a_flat_edge_is_a_kkt_point():
    best = theory.minimize(lambda u: u[0], [0.5, 0.5], inequalities=[lambda u: -u[0]], n_starts=1).best
    assert best.u[0] == pytest.approx(0.0, abs=1e-9)
    assert best.verdict == "KKT point"


def test_without_a_constraint_qualification_there_are_no_multipliers():
    """x^2 <= 0 has a gradient of 0 at its only point: Fritz John with no weight on f."""
    best = theory.minimize(lambda u: u[0], [1.0], inequalities=[lambda u: u[0] ** 2]).best
    assert best.u == pytest.approx([0.0], abs=1e-3)
    assert best.verdict == "no multipliers"


def test_constraints_that_contradict_each_other_are_infeasible():
    found = theory.minimize(lambda u: u @ u, [1.0, 1.0], equalities=[lambda u: u[0], lambda u: u[0] - 1.0])
    assert {point.verdict for point in found.points} == {"infeasible"}


@pytest.mark.parametrize("seed", range(5))
def test_linear_programs_as_highs_solves_them(seed):
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(6, 3)), rng.normal(size=3)
    rows = np.vstack([A, np.eye(3), -np.eye(3)])
    top = np.concatenate([rng.uniform(0.5, 2.0, size=6), np.ones(6)])
    expected = linprog(c, A_ub=rows, b_ub=top, bounds=(None, None))
    inequalities = [lambda u, a=a, t=t: a @ u - t for a, t in zip(rows, top, strict=True)]
    best = theory.minimize(lambda u: c @ u, np.zeros(3), inequalities=inequalities, n_starts=2).best
    assert best.value == pytest.approx(expected.fun, abs=1e-7)
    assert best.multipliers == pytest.approx(-expected.ineqlin.marginals, abs=1e-5)


def test_hard_svm_of_the_toy_set_as_a_lagrange_problem(toy):
    """The multipliers of the margins are alpha = (1/2, 1/2, 1, 0), and (w, b) = (1, -1, -1)."""
    X, y = np.asarray(toy[0], dtype=float), np.asarray(toy[1], dtype=float)
    y = np.where(y == y.max(), 1.0, -1.0)
    margins = [lambda u, x=x, s=s: 1.0 - s * (x @ u[:2] + u[2]) for x, s in zip(X, y, strict=True)]
    best = theory.minimize(lambda u: 0.5 * u[:2] @ u[:2], [1.0, 0.0, 0.0], inequalities=margins).best
    assert best.u == pytest.approx([1.0, -1.0, -1.0], abs=1e-6)
    assert best.multipliers == pytest.approx([0.5, 0.5, 1.0, 0.0], abs=1e-5)
    hard = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    assert best.value == pytest.approx(hard.certificate_.primal, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: theory.minimize(3.0, [0.0]), ParameterError, "f must be a function of u, got 3.0"),
        (lambda: theory.minimize(plane, [0.0], equalities=[1.0]), ParameterError, "equalities must be a sequence of"),
        (lambda: theory.minimize(plane, [np.nan, 0.0]), DataError, "start must be finite numbers of shape"),
        (lambda: theory.minimize(plane, []), DataError, "start must be finite numbers of shape"),
        (lambda: theory.minimize(plane, [0.0, 0.0], n_starts=0), ParameterError, "n_starts must be a positive whole"),
        (lambda: theory.minimize(plane, [0.0, 0.0], tol=0.0), ParameterError, "tol must be a positive"),
    ],
)
def test_what_they_need(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_derivatives_by_differences_are_those_by_hand(rng):
    from mercer.theory.differences import gradient_of, hessian_of

    u = rng.normal(size=3)
    value = lambda v: np.exp(v[0]) * np.sin(v[1]) + v[2] ** 3  # noqa: E731 - it is one line
    e, s, c = np.exp(u[0]), np.sin(u[1]), np.cos(u[1])
    assert gradient_of(value, u) == pytest.approx([e * s, e * c, 3 * u[2] ** 2], abs=1e-8)
    expected = np.array([[e * s, e * c, 0], [e * c, -e * s, 0], [0, 0, 6 * u[2]]])
    assert hessian_of(value, u) == pytest.approx(expected, abs=1e-5)
