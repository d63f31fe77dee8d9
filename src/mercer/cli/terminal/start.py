"""How the command's process begins and ends, spending no time on what it does not need.

scikit-learn imports scipy.stats for functions that the command never calls, and pandas for nothing; with what they
import in turn, that is as much as all the rest. A library has no business with what others import; a command's process
is its own. Whoever asks for one of them later has it: a model may hold rows of pandas.
"""

import atexit
import builtins
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

# Executed when one of their names is first asked for.
DEFERRED = frozenset({"asyncio", "numpy.f2py", "scipy.stats"})
# Modules that import a package at their top and make no use of it: for them alone it seems not to be installed.
FOR_NOTHING = {"sklearn.utils.fixes": "pandas"}
# Modules and compiled code are many objects, none of them garbage.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


class Deferred(ModuleType):
    """A module that is executed when the first of its names is asked for."""

    _lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        spec = self.__dict__["__spec__"].loader_state
        # What any module may be asked is answered without executing it; only a package has a path.
        if spec is None or (name.startswith("__") and (name != "__path__" or spec.submodule_search_locations is None)):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        with self._lock:
            if type(self) is Deferred:
                self._execute(spec)
        return getattr(self, name)

    def _execute(self, spec: ModuleSpec) -> None:
        self.__class__ = ModuleType  # type: ignore[assignment]
        vars(self).update(vars(module_from_spec(spec)))
        spec.loader.exec_module(self)  # type: ignore[union-attr]


class _Deferring(Loader):
    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""
        module.__class__ = Deferred


class _Without(Loader):
    """Executes a module as if a package were not installed."""

    def __init__(self, loader: Any, package: str) -> None:
        self._loader, self._package = loader, package

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """With an import statement of its own, which no other module or thread sees."""
        is_executed = False

        def imported(name: str, *context: Any) -> ModuleType:
            if name == self._package and name not in sys.modules and not is_executed:
                raise ImportError(f"{module.__name__} makes no use of {name}")
            return builtins.__import__(name, *context)

        vars(module)["__builtins__"] = {**vars(builtins), "__import__": imported}
        try:
            self._loader.exec_module(module)
        finally:
            # Its functions keep this import statement, which from now on is the usual one.
            is_executed = True


class _Finder(MetaPathFinder):
    """Finds modules that are deferred, and those with needless imports."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in DEFERRED and name not in FOR_NOTHING:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and name in FOR_NOTHING:
            found.loader = _Without(found.loader, FOR_NOTHING[name])
            return found
        return found and ModuleSpec(name, _Deferring(), origin=found.origin, loader_state=found)


def begin() -> None:
    """Before anything is imported."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    sys.meta_path.insert(0, _Finder())


def heed_signals() -> None:
    """Treat a request to end, or a closed terminal, like Ctrl-C: what has been fitted is kept.

    A signal that was already ignored stays ignored, as under nohup.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # not all systems have both
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


def end(code: int) -> None:
    """Leave with an exit code.

    Exit handlers run, and output is flushed. Taking modules and compiled code apart, object by object, would cost half
    a second, and the system reclaims the memory anyway. Threads that are still running are waited for as usual.
    """
    if threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
