"""Files that are written completely or not at all, whatever happens.

The bytes go to a temporary file in the same folder, which is flushed to the disk and then replaces
the old one in a single step of the file system. Anyone who opens the path sees either the old file or
the new one. A killed process leaves at most the temporary file behind, and the next one that writes
to that folder removes it.
"""

import contextlib
import errno
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks: leftovers of a killed process stay there
    fcntl = None  # type: ignore[assignment]

# The prefix of temporary files, used by no other program.
_LEFT_BEHIND = re.compile(r"\..*\.[0-9a-f]{12}\.mercer-part")
# Seconds after which an unlocked temporary file has no writer any more: writers lock it when they create it.
_ABANDONED = 60.0
# Bytes passed to the system at a time; an interrupted write continues.
_PIECE = 2**26


def replace_file(
    path: str | PathLike[str], pieces: Iterable[Any], check: Callable[[Path], object] | None = None
) -> None:
    """Write `pieces` (buffers) to `path` completely.

    Parameters
    ----------
    path : str or path
    pieces : list of buffers
    check : callable, optional
        ``check(temporary)`` is called with the path of the complete temporary file; if it raises, the
        old file stays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mercer.io.replace_file import replace_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder) / "note", [b"one ", b"two"])
    ...     (Path(folder) / "note").read_bytes()
    b'one two'
    """
    # A link stays a link: its target is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(target))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "only a file can be replaced, not a device or a pipe", str(target))
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.mercer-part")
    _remove_abandoned(target.parent)
    with _blaming(path, temporary):
        _write(target, temporary, pieces, check)
    _flush_folder(target.parent)


@contextlib.contextmanager
def _blaming(path: str | PathLike[str], temporary: Path) -> Iterator[None]:
    """Make disk errors name the requested path: the temporary one means nothing to the user."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise


def _write(target: Path, temporary: Path, pieces: Iterable[Any], check: Callable[[Path], object] | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(temporary, flags, _mode(target))
    try:
        with _locked(descriptor):
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                for piece in pieces:
                    _write_all(file, piece)
                os.fsync(file.fileno())
            if check is not None:
                check(temporary)
            temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


@contextlib.contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Hold the lock of a file, even after `descriptor` is closed; the system releases it when the process ends."""
    if fcntl is None:
        yield
        return
    held = os.dup(descriptor)
    try:
        _lock(held)
        yield
    finally:
        os.close(held)


def _lock(descriptor: int) -> bool:
    """Whether this process now holds the lock of a file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another holds it, or this file system has no locks
        return False
    return True


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files whose writers have died; one that cannot be removed does no harm."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _LEFT_BEHIND.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(path: Path) -> None:
    if time.time() - path.stat().st_mtime < _ABANDONED:
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        if _lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or by default those of the user's mask."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        return 0o666


def _write_all(file: Any, piece: Any) -> None:
    left = memoryview(piece).cast("B")
    while len(left):
        left = left[file.write(left[:_PIECE]) :]


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a power failure, if folders can be flushed."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        # The folder may be written but not read: the rename has been done anyway.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
