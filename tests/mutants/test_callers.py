"""Which tests may notice a fault of compiled code: those that run a line which leads to it."""

from tests.mutants.callers import Callers, names_in
from tests.mutants.in_memory import PACKAGE


def test_plain_lines_that_lead_to_a_compiled_function_through_others():
    callers = Callers("solvers")
    names = callers.names("_steepest")
    assert {"_steepest", "walk"} <= names
    lines = callers.lines("_steepest")
    for file, line in lines:
        assert any(name in (PACKAGE / file).read_text(encoding="utf-8").splitlines()[line - 1] for name in names)
    assert lines


def test_names_of_a_file(tmp_path):
    (tmp_path / "a.py").write_text("from b import c\n\n\ndef f():\n    return c.d(3)\n")
    assert names_in(tmp_path / "a.py") == {"c", "d"}
