"""scikit-learn's installed tests, executed with Mercer's classes in the place of its own."""

import importlib.util
import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import sklearn


def load(tests, subject, **replacements):
    """The module `tests` of scikit-learn's, executed with these classes in place of those of its module `subject`.

    Both are named from below ``sklearn``: "svm.tests.test_svm", "svm".
    """
    spec = importlib.util.find_spec(f"sklearn.{tests}")
    module = ModuleType(f"{tests.rpartition('.')[2]}_with_mercer")
    module.__file__ = spec.origin
    code = compile(Path(spec.origin).read_text(encoding="utf-8"), spec.origin, "exec")
    stand_in = SimpleNamespace(**{**vars(import_module(f"sklearn.{subject}")), **replacements})
    # `from sklearn import svm` looks at the package, `from sklearn.svm import SVC` at the list of modules.
    with patch.object(sklearn, subject, stand_in), patch.dict(sys.modules, {f"sklearn.{subject}": stand_in}):
        exec(code, vars(module))  # noqa: S102 - the installed tests are the subject
    return module


def functions_of(module):
    """Its test functions by name."""
    found = inspect.getmembers(module, inspect.isfunction)
    return {name: function for name, function in found if name.startswith("test_")}


def as_class(name, tests, left_out):
    """A class of the tests that are not left out, which pytest finds under this name."""
    return type(name, (), {each: staticmethod(test) for each, test in tests.items() if each not in left_out})
