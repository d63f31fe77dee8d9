"""Solvers that know a box and one sum refuse programs that have more, which they would not solve."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import ParameterError
from mercer.kernels import RBF
from mercer.kernels.gram.kernel_matrix import StoredMatrix
from mercer.problems.svm.nu import NuMargin
from mercer.problems.svm.one_class import OneClass
from mercer.problems.svm.soft_margin import SoftMargin
from mercer.solvers.limits import Limits
from mercer.solvers.registry import SOLVERS

SIGNS = np.where(np.arange(20) % 2, 1.0, -1.0)
PLAIN = SoftMargin(SIGNS, np.ones(20)).dual()
MORE = {
    "kink": replace(PLAIN, kink=0.1),
    "groups and total": NuMargin(SIGNS, np.ones(20), 0.5, np.ones(20)).dual(),
    "total": OneClass(np.ones(20), 0.3).dual(),
}


def solved(name, problem, rng):
    matrix = StoredMatrix.of(RBF(0.5)(rng.normal(size=(20, 2))))
    return SOLVERS[name](problem, matrix, tol=1e-3, limits=Limits(), convex=True)


@pytest.mark.parametrize("name", ["chunking", "chunking:qp", "dual_cd", "qp", "sgd"])
@pytest.mark.parametrize("what", MORE)
def test_a_program_that_a_solver_does_not_know_is_refused(what, name, rng):
    with pytest.raises(ParameterError, match=rf"solver='{name.split(':')[0]}' .* also has {what} .* solver='smo'"):
        solved(name, MORE[what], rng)


@pytest.mark.parametrize("name", ["auto", "smo"])
@pytest.mark.parametrize("what", MORE)
def test_the_others_solve_it(what, name, rng):
    assert solved(name, MORE[what], rng).status.name == "OPTIMAL"


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_solves_a_box_and_one_sum(name, rng):
    assert solved(name, PLAIN, rng).status.name == "OPTIMAL"
