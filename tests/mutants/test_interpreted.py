"""Compiled functions as plain Python: they are, and give the same."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.in_memory import PACKAGE
from tests.mutants.interpreted import interpret, is_compiled

IN_PYTHON = """
from types import FunctionType
import numpy as np
from scipy import sparse
from tests.mutants.interpreted import interpret
interpret("solvers")

import warnings
warnings.simplefilter("error")
from mercer import SVC
from mercer._jit import row_views
from mercer.solvers.dual_qp import pair_steps
from mercer.solvers.stochastic import feasible_dual, visit_order
assert isinstance(pair_steps.pair_steps, FunctionType)

X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
model = SVC(kernel="linear", C=1e3).fit(X, [-1, -1, 1, 1])
np.testing.assert_allclose(model.decision_function(X), X @ [1.0, -1.0] - 1.0, atol=1e-6)
assert 0.0 <= visit_order.uniform(7, 0, 3).min() < visit_order.uniform(7, 0, 3).max() < 1.0
for view in (row_views.view_rows(X), row_views.view_rows(sparse.csr_matrix(X))):
    w = np.array([1.0, 10.0])
    assert feasible_dual.row_dot(view, 1, w) == 22.0
    feasible_dual.row_add(view, 3, 2.0, w)
    assert w.tolist() == [7.0, 10.0]
"""


def test_a_fit_without_compiled_solvers_is_the_same():
    """The machine of four points whose margin is known by hand."""
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_room_that_is_compiled_already_is_refused():
    import mercer.solvers.dual_qp.pair_steps  # noqa: F401

    with pytest.raises(RuntimeError, match=r"mercer\.solvers has been imported"):
        interpret("solvers")


def test_which_functions_are_compiled():
    path = PACKAGE / "solvers" / "dual_qp" / "pair_steps.py"
    assert is_compiled(path, "pair_steps")
    assert not is_compiled(PACKAGE / "solvers" / "dual_qp" / "decomposition.py", "_Rounds")
