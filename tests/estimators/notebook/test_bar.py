"""A fit with verbose=1 in a notebook moves one bar in its place; elsewhere it writes lines."""

import re
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from mercer import SVC, KernelRidge, PegasosSVC
from mercer.estimators.notebook import bar

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)


class Shown:
    """What a notebook displays: one output, and everything it has been changed to."""

    def __init__(self):
        self.states = []

    def display(self, html, display_id):
        assert display_id is True
        assert not self.states, "a bar is displayed once and then updated"
        self.update(html)
        return self

    def update(self, html):
        self.states.append(html)


def value(html):
    found = re.search(r'value="([\d.]+)"', html)
    return None if found is None else float(found[1])


@pytest.fixture
def notebook(monkeypatch):
    """An IPython that runs in a kernel, as far as the bar asks it."""
    shown = Shown()
    shell, display = ModuleType("IPython"), ModuleType("IPython.display")
    shell.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.HTML, display.display = str, shown.display
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(bar, "BETWEEN", 0.0)
    return shown


def test_a_fit_moves_the_bar_to_its_end_and_writes_nothing_else(notebook, capsys):
    SVC(verbose=1).fit(X, y)
    assert value(notebook.states[-1]) == 1.0
    assert all(state.count("<progress") == 1 and "SVC" in state for state in notebook.states)
    assert "steps" in notebook.states[-1]
    assert capsys.readouterr().err == ""


def test_a_share_that_nobody_knows_is_a_bar_without_value(notebook):
    PegasosSVC(verbose=1, random_state=0).fit(X, y)
    assert notebook.states
    assert value(notebook.states[0]) is None
    assert value(notebook.states[-1]) == 1.0


def test_a_fit_that_fails_leaves_the_bar_where_it_was(notebook):
    def refuse(point):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SVC(verbose=1, callbacks=[refuse]).fit(X, y)
    assert value(notebook.states[-1]) < 1.0


def test_a_quiet_fit_shows_no_bar(notebook):
    SVC().fit(X, y)
    assert notebook.states == []


@pytest.mark.parametrize("shell", [None, SimpleNamespace(get_ipython=lambda: None),
                                   SimpleNamespace(get_ipython=SimpleNamespace)])  # fmt: skip
def test_a_terminal_gets_lines(shell, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert not bar.in_notebook()
    SVC(verbose=1).fit(X, y)
    KernelRidge(kernel="rbf", verbose=1, solver="cg").fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("[mercer] ") for line in lines)
