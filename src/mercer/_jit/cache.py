"""Where compiled code lives on disk, and which files it is made from.

Each function has files of its own, named by its fingerprint (`mercer._jit.fingerprint`), so that code of
several versions, or of several copies of the sources, lives side by side and none is mistaken for another.
"""

import hashlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without a lock, as Numba does by itself
    fcntl = None  # type: ignore[assignment]

PACKAGE = Path(__file__).resolve().parent.parent

COMPILED_ROOMS = ("_jit", "io", "kernels", "problems", "solvers")
"""All compiled functions are here, and so is what they inline or read as a constant."""

_COMPILES = re.compile(r"^(?:from|import) numba|_jit\.compile import", re.MULTILINE)
_IMPORTS = re.compile(r"^from (mercer[.\w]*) import (\([^)]*\)|.*)$", re.MULTILINE)


def _imported(text: str, package: Path) -> Iterator[Path]:
    """The files of `package` that a module with this text imports when it is itself imported."""
    for module, names in _IMPORTS.findall(text):
        folder = package.joinpath(*module.split(".")[1:])
        yield from (folder / f"{name}.py" for name in re.findall(r"\w+", names))
        yield from (folder.with_suffix(".py"), folder / "__init__.py")


def _text(path: Path, package: Path) -> str | None:
    """What a file of the rooms with compiled code holds; None for any other."""
    if not (path.is_relative_to(package) and path.relative_to(package).parts[0] in COMPILED_ROOMS and path.is_file()):
        return None
    return path.read_text(encoding="utf-8")


# A first fit asks for few of them, and reading all would take longer than its own work.
_text_once = lru_cache(maxsize=None)(_text)


def _closure(start: Iterable[Path], package: Path, read: Callable[[Path, Path], str | None] = _text) -> dict[Path, str]:
    """The files of `start` and all that they import, directly or not, with what they hold."""
    found: dict[Path, str] = {}
    waiting = list(start)
    while waiting:
        path = waiting.pop()
        if path not in found and (text := read(path, package)) is not None:
            found[path] = text
            waiting.extend(_imported(text, package))
    return found


def _digest(files: dict[Path, str], package: Path) -> str:
    """Hash of files, independent of their times and of where the package is."""
    digest = hashlib.sha256()
    for path, text in sorted(files.items()):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def compiled_sources(package: Path = PACKAGE) -> dict[Path, str]:
    """Every file of `package` from which compiled code may be made, with what it holds."""
    paths = (path for room in COMPILED_ROOMS for path in (package / room).rglob("*.py"))
    return _closure((path for path in paths if _COMPILES.search(_text(path, package) or "")), package)


def source_digest(package: Path = PACKAGE) -> str:
    """Hash of every source from which compiled code may be made."""
    return _digest(compiled_sources(package), package)


def closure_digest(file: Path) -> str:
    """Hash of one file of this package and of all that it imports."""
    return _digest(_closure([file], PACKAGE, _text_once), PACKAGE)


def cache_root() -> Path | None:
    """The directory under which each version of the sources has its own folder, or None."""
    chosen = os.environ.get("MERCER_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a user without a home; others must not reach what we load, so not /tmp
        return None
    return Path(base) / "mercer"


def python_and_machine() -> str:
    """What compiled code is bound to beside the sources, as the name of a folder."""
    return f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_directory() -> Path | None:
    """A writable directory for the compiled code of this Python, or None when there is none."""
    root = cache_root()
    if root is None:
        return None
    folder = root / python_and_machine()
    return folder if _is_writable(folder) else None


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold other processes off from writing to `folder` while the body runs."""
    if fcntl is None:
        yield
        return
    with open(folder / "lock", "ab") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
