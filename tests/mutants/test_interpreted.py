"""Compiled functions as plain Python: they are, and give the same."""

import inspect
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy import sparse

from mercer._jit import row_steps, row_views
from tests.mutants.in_memory import PACKAGE
from tests.mutants.interpreted import _ON_ROWS, _for_python, interpret, is_compiled

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


def compiled(function):
    """A compiled function that does nothing but call this one."""
    names = ", ".join(inspect.signature(function).parameters)
    scope = {"function": function}
    exec(f"def call({names}):\n    return function({names})\n", scope)  # noqa: S102 - names of our own
    return numba.njit(scope["call"])


ARGUMENTS = {"step": 0.7, "other_step": -1.3, "i": 2}
SIZES = {"w": 6, "v": 6, "weights": 6, "out": 3, "steps": 3, "W": (6, 3), "H": (7, 6)}


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("module", "function"), _ON_ROWS, ids=[each.__name__ for _, each in _ON_ROWS])
def test_what_stands_in_for_a_function_of_compiled_code_does_the_same(module, function, form, dtype):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((4, 5)) < 0.6, rng.normal(size=(4, 5)), 0.0).astype(dtype)
    view, results = row_views.view_rows(form(X)), []
    for each in (function, compiled(getattr(module, function.__name__))):
        others = np.random.default_rng(1)
        given = [
            view if name == "rows" else ARGUMENTS[name] if name in ARGUMENTS else others.normal(size=SIZES[name])
            for name in inspect.signature(function).parameters
        ]
        results.append((each(*given), [value for value in given if isinstance(value, np.ndarray)]))
    (value, arrays), (expected, theirs) = results
    assert (value is None) == (expected is None)
    if value is not None:
        assert value == pytest.approx(expected, rel=1e-6)
    for one, other in zip(arrays, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)


def test_no_function_of_compiled_code_is_without_a_stand_in():
    room = {
        name
        for module in (row_views, row_steps)
        for name, each in inspect.getmembers(module, inspect.isfunction)
        if hasattr(module, f"_{name}") and each.__module__ == module.__name__
    }
    assert room == {each.__name__ for each in _for_python()} - {"prefetch", "vector_loop", "<lambda>"}
