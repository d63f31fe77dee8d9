"""Where compiled code lives on disk.

Numba's own key sees a change in the file of a cached function, but not one in another file
from which it inlines. So the directory is keyed by a hash of the rooms from which compiled
code is taken: a new version of any function there gets a new directory, and stale code is
never loaded. The rooms above them (estimators, command, ...) may change without recompiling.
"""

import hashlib
import os
import platform
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without a lock, as Numba does by itself
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parent.parent

COMPILED_ROOMS = ("_jit", "io", "kernels", "problems", "solvers")
"""All compiled functions are here, and so is what they inline or read as a constant."""


def source_digest(package=_PACKAGE):
    """Hash of every Python file in the compiled rooms of `package`, independent of file times."""
    digest = hashlib.sha256()
    for path in sorted(path for room in COMPILED_ROOMS for path in (package / room).rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root():
    """The directory under which each version of the sources has its own folder, or None."""
    chosen = os.environ.get("MERCER_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # a user without a home; others must not reach what we load, so not /tmp
        return None
    return Path(base) / "mercer"


def _is_writable(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_directory():
    """A writable directory for this version's compiled code, or None when there is none."""
    root = cache_root()
    if root is None:
        return None
    folder = root / f"{source_digest()}-py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}"
    return folder if _is_writable(folder) else None


@contextmanager
def one_writer(folder):
    """Hold other processes off from writing to `folder` while the body runs."""
    if fcntl is None:
        yield
        return
    with open(folder / "lock", "ab") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
