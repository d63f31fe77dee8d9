"""Where compiled code lives on disk.

Numba's own key sees a change in the file of a cached function, but not one in another file
from which it inlines. So the directory is keyed by a hash of every file that compiles and of
every file those import, directly or not: whatever compiled code inlines or reads as a constant
is among them, so stale code is never loaded. All other files may change without recompiling.
"""

import hashlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without a lock, as Numba does by itself
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parent.parent

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


def compiled_sources(package: Path = _PACKAGE) -> dict[Path, str]:
    """Every file of `package` from which compiled code may be made, with what it holds."""
    paths = (path for room in COMPILED_ROOMS for path in (package / room).rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    found: dict[Path, str] = {}
    waiting = [path for path, text in texts.items() if _COMPILES.search(text)]
    while waiting:
        path = waiting.pop()
        if path in texts and path not in found:
            found[path] = texts[path]
            waiting.extend(_imported(texts[path], package))
    return found


def source_digest(package: Path = _PACKAGE) -> str:
    """Hash of every source from which compiled code may be made, independent of file times."""
    digest = hashlib.sha256()
    for path, text in sorted(compiled_sources(package).items()):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(text.encode())
    return digest.hexdigest()[:16]


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


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_directory() -> Path | None:
    """A writable directory for this version's compiled code, or None when there is none."""
    root = cache_root()
    if root is None:
        return None
    folder = root / f"{source_digest()}-py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
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
