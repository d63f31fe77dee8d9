"""Compiled code may assume that there are no infinities and no NaN: it must not name them either.

`mercer._jit.compile.FAST` holds "nnan" and "ninf". A comparison with infinity is then undefined: it may
be taken for true, for false, or for whatever makes the loop around it faster.
"""

import ast
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import SVC, SVCCV, PegasosSVC
from mercer._jit.compile import FAST, UNBOUNDED

SOURCES = sorted(Path(mercer.__file__).parent.rglob("*.py"))
NAMES = {"inf", "nan", "NaN", "Inf", "infty", "PINF", "NINF", "isnan", "isinf", "isfinite", "isposinf", "isneginf"}


def is_compiled(function):
    """Whether a decorator of it has jit or overload in its name."""
    return any("jit" in ast.unparse(each) or "overload" in ast.unparse(each) for each in function.decorator_list)


def names_infinity(node):
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES
    if isinstance(node, ast.Name):
        return node.id in NAMES
    return isinstance(node, ast.Constant) and (
        node.value in ("inf", "-inf", "nan") or (isinstance(node.value, float) and node.value - node.value != 0.0)
    )


def infinities(source, place="<text>"):
    """Lines of compiled functions that name infinity or NaN."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return sorted(
        f"{place}:{node.lineno} ({function.name})"
        for function in functions
        if is_compiled(function)
        for node in ast.walk(function)
        if names_infinity(node)
    )


def test_no_compiled_function_names_infinity_or_nan():
    assert {"nnan", "ninf"} <= FAST
    found = [line for path in SOURCES for line in infinities(path.read_text(encoding="utf-8"), path.name)]
    assert found == []


@pytest.mark.parametrize("expression", ["np.inf", "-math.inf", "float('inf')", "1e999", "np.isfinite(x)", "np.nan"])
def test_the_search_finds_them(expression):
    assert infinities(f"@jit\ndef f(x):\n    return x < {expression}\n") == ["<text>:3 (f)"]
    assert infinities(f"def f(x):\n    return x < {expression}\n") == []


@pytest.fixture
def separable(rng):
    X = rng.normal(size=(90, 2))
    return X + 8.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 30, axis=0), np.repeat([0, 1, 2], 30)


def test_boxes_without_a_bound_are_finite_in_compiled_code(separable, monkeypatch):
    """Pairs of classes with C = inf, all at once and along a series of C."""
    from mercer.estimators.fitting import all_pairs
    from mercer.selection.tuning import fold_series

    X, y = separable
    seen = []

    def spied(function):
        def call(*arguments):
            seen.extend(a for a in arguments if isinstance(a, np.ndarray) and a.dtype.kind == "f")
            return function(*arguments)

        return call

    monkeypatch.setattr(all_pairs, "solve_class_pairs", spied(all_pairs.solve_class_pairs))
    for name in ("solve_class_pairs", "solve_pair_paths"):
        monkeypatch.setattr(fold_series, name, spied(getattr(fold_series, name)))
    hard = SVC(C=np.inf, kernel="linear").fit(X, y)
    large = SVC(C=1e6, kernel="linear").fit(X, y)
    np.testing.assert_allclose(hard.decision_function(X), large.decision_function(X), atol=1e-3)
    assert SVCCV(kernel="linear", Cs=[1.0, 1e3], cv=3).fit(X, y).best_score_ == 1.0
    assert seen
    assert all(np.abs(values).max(initial=0.0) <= UNBOUNDED for values in seen)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_ball_and_a_ball_that_nothing_leaves_are_the_same(kernel, separable):
    X, y = separable
    options = {"kernel": kernel, "T": 3000, "random_state": 0, "batch_size": 2}
    free, held = (PegasosSVC(projected=p, **options).fit(X, y > 0) for p in (False, True))
    assert np.isfinite(free.decision_function(X)).all()
    assert (free.predict(X) == held.predict(X)).mean() > 0.9
