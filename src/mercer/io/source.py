"""Sources of data: a path, standard input or an open file, compressed or not."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from mercer._errors import DataError, ParameterError
from mercer._jit.memory import available_bytes
from mercer.io.compressed import OPENERS
from mercer.io.encodings import decoded, encoding_by_mark, is_utf_8, require_encoding, translated

HEAD = 65_536
# Bytes read at a time, so that a file that unpacks to too much is noticed on the way.
PIECE = 2**22
# Bytes that a character of a text may take in memory, besides the one that it was read as.
_TEXT = 5
STDIN = "-"
_MAGIC = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
# Errors that unpacking a damaged file may raise.
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


class Source:
    """One file of data, whose uncompressed bytes can be read from the beginning any number of times.

    Parameters
    ----------
    source : str, path, or open binary file
        "-" is standard input. Compression is recognised by the first bytes.
    most : int, optional
        Bytes that may be taken into memory; by default, the free memory.
    lines_before : int
        Lines of the file before these, for messages about a part of a file.
    encoding : str, optional
        Of text; UTF-8 unless the file begins with the mark of another. Readers are given UTF-8.
    """

    def __init__(
        self,
        source: str | PathLike[str] | IO[bytes],
        most: int | None = None,
        lines_before: int = 0,
        encoding: str | None = None,
    ) -> None:
        self.most = available_bytes() if most is None else most
        self.lines_before, self.given_encoding = lines_before, encoding
        self._encoding: tuple[str | None] | None = None
        require_encoding(encoding)
        self.path, self._content = None, None
        if source == STDIN or hasattr(source, "read"):
            self.name = "standard input" if source == STDIN else str(getattr(source, "name", "the file"))
            self._content = self._taken(sys.stdin.buffer if source == STDIN else cast(IO[bytes], source))
        elif isinstance(source, str | os.PathLike):
            self.path, self.name = Path(source), str(source)
            self._require_readable()
            if not self.path.is_file() and not self.path.is_dir():
                # A pipe, such as `<(command)`: bytes can be read only once.
                with self._opened() as file:
                    self._content = self._taken(file)
        else:
            raise ParameterError(f"source must be a path, '-' or an open file, got {type(source).__name__}")

    def __str__(self) -> str:
        return self.name

    def _require_readable(self) -> None:
        if not cast(Path, self.path).exists():
            raise DataError(f"there is no file {self.name!r}{nearest_file(cast(Path, self.path))}")
        if not os.access(cast(Path, self.path), os.R_OK):
            raise DataError(f"{self.name}: no permission to read it")

    @property
    def is_folder(self) -> bool:
        return self.path is not None and self.path.is_dir()

    @property
    def ending(self) -> str:
        """The extension of the name in lower case, without that of the compression."""
        path = Path(self.name)
        return Path(path.stem).suffix.lower() if path.suffix.lower() in OPENERS else path.suffix.lower()

    @property
    def size(self) -> int:
        """Bytes as stored."""
        return len(self._content) if self._content is not None else cast(Path, self.path).stat().st_size

    @property
    def stored(self) -> bytes | None:
        """The bytes of a source that can be read only once; None for a file, which can be read again."""
        return self._content

    @property
    def is_plain(self) -> bool:
        """Whether the bytes are a file's own, which take no memory."""
        return self._content is None and self._opener() is None and self.encoding is None

    @property
    def plain_path(self) -> Path | None:
        """The path, if other libraries can read it themselves; otherwise None."""
        return self.path if self.is_plain else None

    @property
    def encoding(self) -> str | None:
        """The encoding that text is converted from; None for UTF-8."""
        if self._encoding is None:
            self._encoding = (self._seen_encoding(),)
        return self._encoding[0]

    def _seen_encoding(self) -> str | None:
        if self.given_encoding is not None:
            return None if is_utf_8(self.given_encoding) else self.given_encoding
        return None if self.is_folder else encoding_by_mark(self.stored_head(4))

    def stored_head(self, count: int = HEAD) -> bytes:
        """The first uncompressed bytes, as they are stored."""
        with self.open_stored() as file:
            return self._guarded(file.read, count)

    def open(self) -> IO[bytes]:
        """The uncompressed bytes as a file, text as UTF-8."""
        encoding = self.encoding
        return self.open_stored() if encoding is None else translated(self.open_stored(), encoding, self.name)

    def open_stored(self) -> IO[bytes]:
        """The uncompressed bytes as they are stored, as a file."""
        opener = self._opener()
        if self._content is None:
            return self._opened(opener)
        raw = io.BytesIO(self._content)
        cast(Any, raw).name = self.name
        return raw if opener is None else opener(raw, "rb")

    def _opened(self, opener: Callable[..., Any] | None = None) -> IO[bytes]:
        try:
            return cast(IO[bytes], (opener or open)(cast(Path, self.path), "rb"))
        except OSError as error:
            raise DataError(f"{self.name}: cannot be opened: {error.strerror}") from error

    def _opener(self) -> Callable[..., Any] | None:
        if self._content is not None:
            first = self._content[:6]
        else:
            with self._opened() as file:
                first = file.read(6)
        return cast(
            Callable[..., Any] | None,
            next((opener for magic, opener in _MAGIC.items() if first.startswith(magic)), None),
        )

    def head(self) -> bytes:
        """The first uncompressed bytes."""
        with self.open() as file:
            return self._guarded(file.read, HEAD)

    def read(self) -> bytes:
        """All uncompressed bytes; refused if they would not fit into memory."""
        self.require_room()
        with self.open() as file:
            return self._taken(file)

    def require_room(self, size: int | None = None) -> None:
        """Refuse what would take more memory than there is: this many bytes, or the file as stored."""
        if (self.size if size is None else size) > self.most:
            raise self.too_large()

    def _taken(self, file: IO[bytes]) -> bytes:
        pieces, size = [], 0
        while content := self._guarded(file.read, PIECE):
            if isinstance(content, str):
                raise ParameterError("source must be opened for reading bytes, got a file of text; open it with 'rb'")
            size += len(content)
            if size > self.most:
                raise self.too_large()
            pieces.append(content)
        return b"".join(pieces)

    def pieces(self) -> Iterator[bytes]:
        """The uncompressed bytes, a piece at a time."""
        with self.open() as file:
            while content := self._guarded(file.read, PIECE):
                yield content

    def lines(self) -> Iterator[tuple[int, str]]:
        """(number, text) of each line in order; DataError names a line that is not UTF-8."""
        rest, number = b"", 0
        for content in self.pieces():
            *whole, rest = (rest + content).split(b"\n")
            for line in whole:
                number += 1
                yield number, decoded(line, self.name, number - 1)
            self.require_room(len(rest) * _TEXT)
        if rest:
            yield number + 1, decoded(rest, self.name, number)

    def _guarded(self, read: Callable[[int], bytes], count: int) -> bytes:
        try:
            return read(min(count, sys.maxsize))
        except DataError:
            raise
        except _DAMAGED as error:
            raise DataError(f"{self.name}: cannot be read to its end: {error}") from error

    def too_large(self) -> DataError:
        """The error for data that do not fit into memory."""
        return DataError(
            f"{self.name}: does not fit into {self.most:,} bytes of memory; read a part of it, or allow more "
            "(memory_limit, --memory-limit)"
        )

    def text(self) -> str:
        """All of it as text; DataError names a line that is not UTF-8."""
        return decoded(self.read(), self.name)


def nearest_file(path: Path) -> str:
    """A suggestion of a file in the same folder."""
    folder = path.parent
    names = [each.name for each in folder.iterdir()] if folder.is_dir() and os.access(folder, os.R_OK) else []
    # An ending that two names share makes them no nearer.
    close = [each for each in get_close_matches(path.name, names) if get_close_matches(path.stem, [Path(each).stem])]
    return f"; did you mean {str(folder / close[0])!r}?" if close else ""
