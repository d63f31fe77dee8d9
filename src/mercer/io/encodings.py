"""Text in any encoding, converted to UTF-8 for readers."""

import codecs
import io
from typing import IO, cast

from mercer._errors import DataError, ParameterError

# Byte order marks of encodings other than UTF-8; longer ones first, because shorter ones are their prefixes.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Bytes translated in one go.
_PIECE = 2**20
# The Windows encoding of Western Europe and its fallback: most files that are not UTF-8 are one of these.
_USUAL = "cp1252"
_SHOWN = 24


def require_encoding(name: str | None) -> None:
    """Refuse an encoding that Python does not know, or that is not a text encoding."""
    if name is None:
        return
    try:
        "".encode(name)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            f"encoding must be one that Python knows, such as utf-8, utf-16, cp1252 or latin-1, got {name!r}"
        ) from error


def is_utf_8(name: str) -> bool:
    """Whether a name stands for UTF-8, with or without its mark."""
    return codecs.lookup(name).name in ("utf-8", "utf-8-sig")


def encoding_by_mark(first: bytes) -> str | None:
    """The encoding that the first bytes of a text declare; None for UTF-8 or nothing."""
    return next((name for mark, name in _MARKS.items() if first.startswith(mark)), None)


def translated(file: IO[bytes], encoding: str, name: str) -> IO[bytes]:
    """A text file in some encoding as one in UTF-8; `name` is used in messages."""
    return cast(IO[bytes], io.BufferedReader(_Translation(file, encoding, name), _PIECE))


class _Translation(io.RawIOBase):
    """The bytes of a text as UTF-8, a piece at a time."""

    def __init__(self, file: IO[bytes], encoding: str, name: str) -> None:
        super().__init__()
        self._file, self._encoding, self.name = file, encoding, name
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._rest, self._is_over, self._lines = b"", False, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        while not self._rest and not self._is_over:
            content = self._file.read(_PIECE)
            self._is_over = not content
            self._rest = self._decoded(content)
            self._lines += self._rest.count(b"\n")
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def _decoded(self, content: bytes) -> bytes:
        try:
            return self._decoder.decode(content, final=self._is_over).encode()
        except UnicodeError as error:
            line = self._lines + 1
            if isinstance(error, UnicodeDecodeError):
                line += error.object[: error.start].decode(self._encoding, "ignore").count("\n")
            raise DataError(
                f"{self.name}, line {line}: {self._encoding} was expected, got bytes that are not valid; "
                "name its real encoding (encoding, --encoding), or save it as UTF-8"
            ) from error

    def close(self) -> None:
        self._file.close()
        super().close()


def decoded(content: bytes, name: str, lines_before: int = 0) -> str:
    """Bytes as UTF-8 text, or a DataError that names the line and the column, and suggests an encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = lines_before + content.count(b"\n", 0, error.start) + 1
        begin = content.rfind(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise DataError(
            f"{name}, line {line}, column {error.start - begin + 1}: UTF-8 was expected, got byte 0x{byte:02x}; "
            f"{_remedy(content[begin:], error.start - begin)}"
        ) from error


def _remedy(line: bytes, place: int) -> str:
    """A remedy for a line that is not UTF-8: the usual encoding, if that gives letters."""
    other = "name its real encoding (encoding, --encoding), or save it as UTF-8"
    try:
        text = line.split(b"\n")[0].decode(_USUAL)
    except UnicodeDecodeError:
        return other
    if not text[place].isalpha():
        return other
    around = text[max(0, place - _SHOWN // 2) : place + _SHOWN // 2].strip()
    return f"encoding={_USUAL!r} (--encoding {_USUAL}) would read {around!r} there; otherwise {other}"
