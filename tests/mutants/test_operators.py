"""The faults that mutation tests put in, and how they get into functions that are imported already."""

import ast
import importlib.util
import weakref

import pytest
from numba.core.caching import NullCache

from tests.mutants.in_memory import Imported
from tests.mutants.operators import mutants, with_fault


def shown(body, is_none=True):
    """The faults of a function with this body, with those that are none or without."""
    found = mutants("f.py", f"def f(x, y):\n    {body}\n")
    return {(each.before, each.after) for each in found if is_none or not each.is_none}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("z = x < y", ("x < y", "x <= y")),
        ("z = x + y", ("x + y", "x - y")),
        ("x += y", ("x += y", "pass")),
        ("z = x and y", ("x and y", "x or y")),
        ("z = not x", ("not x", "x")),
        ("z = -x", ("-x", "x")),
        ("z = 3", ("3", "4")),
        ("z = 0.5", ("0.5", "1.0")),
        ("z = True", ("True", "False")),
        ("z = 'a'", ("'a'", "'Xa'")),
        ("z = max(x, y)", ("max(x, y)", "min(x, y)")),
        ("z = x.any()", ("x.any()", "x.all()")),
        ("z = x(y, z=y)", ("x(y, z=y)", "x(y)")),
        ("return x", ("return x", "return None")),
        ("x.sort()", ("x.sort()", "pass")),
    ],
)
def test_each_kind_of_fault(body, fault):
    assert fault in shown(body)


@pytest.mark.parametrize(
    "body",
    [
        '"""Words."""',
        "raise ValueError('words', 3)",
        "warnings.warn('words', stacklevel=2)",
        "z = f'words {x}'",
        "pass",
        "z = zip(x, strict=True)",
        "z = cast('int', x)",
    ],
)
def test_words_for_people_are_left_alone(body):
    assert not shown(body)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("z = x if x < y else y", ("x < y", "x <= y")),
        ("z = y if x.a >= y else x.a", ("x.a >= y", "x.a > y")),
        ("z = max(x, 1e-300)", ("1e-300", "2e-300")),
        ("z = x < 1e300", ("1e+300", "2e+300")),
        ("z = np.empty((x, y), order='F')", ("np.empty((x, y), order='F')", "np.empty((x, y))")),
        ("vector_loop()", ("vector_loop()", "pass")),
        ("z = x.dtype.kind in 'iu'", ("'iu'", "'Xiu'")),
    ],
)
def test_what_changes_no_result_whatever_the_numbers_are_is_no_fault(body, fault):
    assert fault in shown(body)
    assert fault not in shown(body, is_none=False)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("z = x if x < y else 0", ("x < y", "x <= y")),
        ("z = x if x == y else y", ("x == y", "x != y")),
        ("z = x if not x < y else y", ("not x < y", "x < y")),
        ("z = max(x, 1e-12)", ("1e-12", "2e-12")),
        ("z = 0.0", ("0.0", "1.0")),
        ("z = x.dtype.kind == 'i'", ("'i'", "'Xi'")),
        ("z = x in 'iu'", ("'iu'", "'Xiu'")),
        ("z = x.reshape(y, order='F')", ("x.reshape(y, order='F')", "x.reshape(y)")),
        ("z = np.empty((x, y), dtype=x)", ("np.empty((x, y), dtype=x)", "np.empty((x, y))")),
    ],
)
def test_what_looks_like_it_and_may_change_a_result_is_a_fault(body, fault):
    assert fault in shown(body, is_none=False)


def test_what_a_check_would_say_is_left_alone_and_the_check_is_not():
    assert shown("_require(x > y, 'words')") == {
        ("x > y", "x >= y"),
        ("_require(x > y, 'words')", "pass"),
    }


def test_defaults_and_types_are_left_alone():
    assert not mutants("f.py", "def f(x: int = 3) -> 'str':\n    y: 'float' = x\n")


def test_lines_are_those_of_a_statement_or_of_its_head():
    source = "def f(x):\n    if x > 1:\n        y = g(\n            2,\n        )\n    return 3 + x\n"
    lines = {each.before: (each.first, each.last) for each in mutants("f.py", source)}
    assert lines == {"x > 1": (2, 2), "1": (2, 2), "2": (3, 5), "3 + x": (6, 6), "3": (6, 6), "return 3 + x": (6, 6)}


def test_each_number_is_one_fault():
    source = "class A:\n    def f(self, x):\n        return x * 2 if x > 1 else 3\n"
    found = mutants("f.py", source)
    assert {each.function for each in found} == {"A.f"}
    assert len({ast.unparse(with_fault(source, each.number)) for each in found}) == len(found)
    with pytest.raises(LookupError):
        with_fault(source, len(found))


@pytest.fixture
def module(tmp_path):
    """A module on disk that is imported, with a function, a property, and something that holds on to the function."""
    file = tmp_path / "subject.py"
    file.write_text(
        "def double(x):\n    return 2 * x\n\n\n"
        "class A:\n    @property\n    def three(self):\n        return 1 + 2\n\n\n"
        "class B(A):\n    def __init__(self, x):\n        super().__init__()\n        self.x = x\n\n\n"
        "def times(factor):\n    def of(x):\n        return factor * x\n    return of\n\n\n"
        "KEPT = [double, times(5)]\n"
    )
    spec = importlib.util.spec_from_file_location("subject", file)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def number_of(path, before, after):
    found = mutants(str(path), path.read_text())
    return next(each.number for each in found if (each.before, each.after) == (before, after))


def test_a_fault_is_seen_by_whoever_holds_the_function(module, tmp_path):
    path = tmp_path / "subject.py"
    before = path.read_bytes()
    assert Imported().put_in(path, number_of(path, "2 * x", "2 / x"))
    assert module.KEPT[0](4) == 0.5
    assert path.read_bytes() == before


def test_a_weak_proxy_whose_object_is_gone_is_passed_over(module):
    proxy = weakref.proxy(module.A())
    assert isinstance(Imported(), Imported)
    with pytest.raises(ReferenceError):
        proxy.three  # noqa: B018 - that it is gone is what makes this a test


def test_a_fault_gets_into_a_property(module, tmp_path):
    a = module.A()
    path = tmp_path / "subject.py"
    assert Imported().put_in(path, number_of(path, "1 + 2", "1 - 2"))
    assert a.three == -1


def test_a_fault_that_needs_no_variable_of_the_function_around_it_gets_in(module, tmp_path):
    path = tmp_path / "subject.py"
    assert Imported().put_in(path, number_of(path, "return factor * x", "return None"))
    assert module.KEPT[1](4) is None


def test_a_fault_gets_in_that_forgets_the_class_above(module, tmp_path):
    path = tmp_path / "subject.py"
    assert Imported().put_in(path, number_of(path, "super().__init__()", "pass"))
    assert module.B(4).x == 4


def test_what_has_inlined_a_compiled_function_is_compiled_anew(tmp_path):
    file = tmp_path / "inlined.py"
    file.write_text(
        "import numba\n\n\n@numba.njit\ndef inner(x):\n    return 2 * x\n\n\n"
        "@numba.njit\ndef outer(x):\n    return inner(x) + 1\n\n\n@numba.njit\ndef other(x):\n    return x\n\n\n"
        "def plain(x):\n    return 3 * x\n"
    )
    spec = importlib.util.spec_from_file_location("inlined", file)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    imported = Imported()
    assert imported.compiles_anew(file, "outer")
    assert not imported.compiles_anew(file, "plain")
    for function in (found.inner, found.outer, found.other):
        function._cache = "on disk"
    assert imported.put_in(file, number_of(file, "2 * x", "2 / x"))
    assert isinstance(found.inner._cache, NullCache)
    assert isinstance(found.outer._cache, NullCache)
    assert found.other._cache == "on disk"
    assert found.outer(4) == 1.5


def test_what_was_loaded_before_is_compiled_anew_too(tmp_path):
    file = tmp_path / "loaded.py"
    file.write_text(
        "import numba\n\n\n@numba.njit(cache=True)\ndef inner(x):\n    return 2 * x\n\n\n"
        "@numba.njit(cache=True)\ndef outer(x):\n    return inner(x) + 1\n"
    )
    spec = importlib.util.spec_from_file_location("loaded", file)
    first, second = (importlib.util.module_from_spec(spec) for _ in range(2))
    spec.loader.exec_module(first)
    assert first.outer(4) == 9
    spec.loader.exec_module(second)
    imported = Imported()
    imported.load_compiled()
    assert second.outer.overloads
    assert imported.put_in(file, number_of(file, "2 * x", "2 / x"))
    assert second.outer(4) == 1.5
