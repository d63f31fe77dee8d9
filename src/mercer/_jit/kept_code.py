"""Compiled code on disk: the user's own, and what came with the package.

Code is looked for in the user's folder, compiled for exactly this processor; then among what a platform wheel
carries, compiled for a level of the instruction set that this processor has; and only then compiled. Nothing is
expected of a file: whatever is wrong with it (no space, a folder that went away, a file cut short by a power
failure), the function is compiled again.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from llvmlite.binding import get_host_cpu_features
from numba.core import config as numba_config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys

from mercer._jit.cache import PACKAGE, one_writer, python_and_machine
from mercer._jit.fingerprint import argument_layout, fingerprint
from mercer._jit.once import computed_once
from mercer._jit.waiting import is_apart

SHIPPED = PACKAGE / "_compiled"
"""What a platform wheel carries: a folder for each level and Python."""

# From the best to the least; the names are LLVM's own for a processor with just these.
LEVELS = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi", "bmi2", "fma", "f16c"),
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
}


class NotFound(Exception):
    """There is no code on disk, and this thread is not the one to compile it."""


def levels_of_processor() -> tuple[str, ...]:
    """The levels whose code this processor runs, the best first."""
    has = get_host_cpu_features()
    return tuple(level for level, needs in LEVELS.items() if all(has.get(feature) for feature in needs))


@lru_cache(maxsize=1)
def _shipped_folders() -> dict[str, Path]:
    """Where there is code that runs here, by level; none where the user has Numba compile for another processor."""
    if numba_config.CPU_NAME or numba_config.CPU_FEATURES is not None:
        return {}
    folders = {level: SHIPPED / level / python_and_machine() for level in levels_of_processor()}
    return {level: folder for level, folder in folders.items() if folder.is_dir()}


class _Place:
    """Where the code of one function is kept, in the words of Numba's cache."""

    def __init__(self, function: Callable[..., Any], folder: Path, mark: str) -> None:
        self._py_file = function.__code__.co_filename
        self.folder, self.mark = folder, mark

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)


class _Kept(CompileResultCacheImpl):
    """How a compiled function is written down: Numba's way, in a place of ours."""

    def __init__(self, function: Callable[..., Any], place: _Place) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = place

    def reduce(self, data: Any) -> Any:
        """What is written: without the annotated source, and without the environments of inlined functions that hold
        nothing; to load one imports the module of its function, which may be a large one of Numba's."""
        *code, _, initialisers, environments = super().reduce(data)
        return *code, "", initialisers, tuple(each for each in environments if each.consts)


class KeptCode(FunctionCache):
    """The compiled code of one function, for each combination of argument types.

    Numba numbers its files by reading an index and writing it back, so two processes could give one number to code for
    different types; hence one writer at a time, and what was loaded must be for the types that were asked for.
    """

    def __init__(self, dispatcher: Dispatcher, folder: Path | None) -> None:
        self._name, self._py_func = repr(dispatcher.py_func), dispatcher.py_func
        self._dispatcher, self._folder = dispatcher, folder
        self.enable()

    @computed_once
    def _mark(self) -> str:
        # When it is first asked for: a function may call others that its module defines below it.
        return fingerprint(self._dispatcher)

    @computed_once
    def _impl(self) -> _Kept:
        return _Kept(self._py_func, _Place(self._py_func, self._below(self._own_root), self._mark))

    @computed_once
    def _cache_file(self) -> IndexDataCacheFile:
        return self._file(self._own_root)

    @property
    def _own_root(self) -> Path:
        return self._folder or Path()

    @property
    def cache_path(self) -> str | None:
        """The folder of this function's code, or None where nothing is kept."""
        return None if self._folder is None else str(self._below(self._folder))

    def _below(self, root: Path) -> Path:
        return root / self._py_func.__module__.removeprefix(f"{PACKAGE.name}.")

    def _file(self, root: Path) -> IndexDataCacheFile:
        name = self._py_func.__qualname__.replace("<", "").replace(">", "")
        return IndexDataCacheFile(str(self._below(root)), f"{name}-{self._mark}", self._mark)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return self._key(sig, codegen.magic_tuple())

    def _key(self, sig: Any, processor: Any) -> Any:
        return sig, processor, argument_layout(tuple(sig))

    def _shipped(self, sig: Any, target_context: Any) -> Iterator[Any]:
        triple = target_context.codegen().magic_tuple()[0]
        for level, folder in _shipped_folders().items():
            data = self._file(folder).load(self._key(sig, (triple, level, "")))
            if data is not None:
                yield self._impl.rebuild(target_context, data)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types; None to whoever is to compile it, NotFound to anybody else."""
        found = self._loaded(sig, target_context)
        if found is None and not is_apart():
            raise NotFound
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            # The memory of arrays is all of Numba's runtime that code on disk needs. Numba would load all that it takes
            # to compile, too, which takes longer than everything else here.
            rtsys.initialize(target_context)
            found = self._load_overload(sig, target_context) if self._folder else None
        except Exception:  # noqa: BLE001 - a damaged file may raise anything
            self._forget()
            found = None
        if not _is_for(found, sig):
            try:
                found = next(self._shipped(sig, target_context), None)
            except Exception:  # noqa: BLE001 - the same; what was shipped is not ours to mend
                return None
        return found if _is_for(found, sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, for other processes."""
        if self._folder is None:
            return
        try:
            with one_writer(self._folder):
                super().save_overload(sig, data)
        except Exception:  # noqa: BLE001 - no space, no folder: then not
            self._forget()

    def _forget(self) -> None:
        """Empty the index, so that a damaged one does not stay for ever."""
        try:
            self.flush()
        except OSError:
            self.disable()


def _is_for(found: Any, sig: Any) -> bool:
    return found is not None and tuple(found.signature.args) == tuple(sig)
